"""Rows that cannot be read are counted and named, all others are judged, and no run ends in silence."""

import csv
import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet.batch import location
from toolvet.batch.judging import ChunkJudge
from toolvet.batch.reading import lines
from toolvet.errors import OutputError, UsageError


def test_broken_lines_are_named_and_the_others_judged(tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.jsonl"
    records = [
        json.dumps({"text": REFUSAL, "id": 7}).encode(),
        b'{"text": "cut of',
        b"",
        b"[1, 2]",
        b'{"id": 8}',
        b'{"text": 12, "id": "nine"}',
        b'{"text": ["I cannot help ", {"type": "text", "text": "with that request."}]}',
        b'{"text": "\xff"}',
        json.dumps({"text": GOOD}).encode(),
    ]
    source.write_bytes(b"\n".join(records))
    outcome = judge(source, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["row"] for row in rows] == [1, 2, 4, 5, 6, 7, 8, 9]
    assert [row["score"] for row in rows] == [0.25, None, None, 0.2, None, 0.25, None, 1.0]
    assert [(row["problem"] or "")[:30] for row in rows] == [
        "",
        "not JSON: unexpected end of da",
        "must be a JSON object, not lis",
        "",
        "must be a text, not int",
        "",
        "not JSON: str is not valid UTF",
        "",
    ]
    assert [row["id"] for row in rows] == ["7", None, None, "8", "nine", None, None, None]
    assert outcome.tally.problems == 4
    assert not outcome.is_complete
    assert outcome.tally.shown[0] == ("row 2", rows[1]["problem"])


def test_json_that_is_written_for_people_says_how_to_make_lines_of_it(tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.json"
    source.write_text("\n".join(json.dumps({"text": REFUSAL}, indent=each) for each in (None, 2)), encoding="utf-8")
    judge(source, tmp_path / "out.parquet")
    plain, wide, *_ = rows_of(tmp_path / "out.parquet")
    assert plain["problem"] is None
    assert wide["problem"].endswith("`jq -c . FILE` makes it one line")


def test_a_damaged_page_loses_its_rows_and_no_others(tmp_path: Path, judge: Judge) -> None:
    path = tmp_path / "in.parquet"
    table = pa.table({"text": [f"{GOOD} Room {row} is open, too." for row in range(300)]})
    pq.write_table(table, path, row_group_size=100, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    place = content.index(b"Room 150 is open")
    content[place : place + 4] = b"Hall"
    path.write_bytes(content)
    outcome = judge(path, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["row"] for row in rows] == list(range(1, 301))
    lost = [row["row"] for row in rows if row["problem"] is not None]
    assert lost == list(range(101, 201))
    assert (
        "could not verify page integrity" in rows[100]["problem"].lower() or "checksum" in rows[100]["problem"].lower()
    )
    assert outcome.tally.problems == 100
    assert outcome.tally.rows == 300


def test_rows_of_a_table_with_other_cells_than_columns_are_named(tmp_path: Path, judge: Judge) -> None:
    (tmp_path / "in.csv").write_text(
        f'id,text\n1,{GOOD}\n2\n3,"a ""b"" c",d\n4,"{REFUSAL}\nSorry."\n', encoding="utf-8"
    )
    judge(tmp_path / "in.csv", tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["id"] for row in rows] == ["1", None, None, "4"]
    assert [row["problem"] for row in rows] == [
        None,
        "has 1 cells, where the first line names 2 columns",
        "has 3 cells, where the first line names 2 columns",
        None,
    ]
    assert rows[3]["should_escalate"]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quote_that_is_never_closed_is_named(end: str, tmp_path: Path, judge: Judge) -> None:
    (tmp_path / "in.csv").write_text(f'id,text\n1,"{REFUSAL}"\n2,"{GOOD}\n3,{REFUSAL}{end}', encoding="utf-8")
    outcome = judge(tmp_path / "in.csv", tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["should_escalate"] for row in rows] == [True, None]
    assert rows[1]["problem"] == "has a quote that is never closed, so that all behind it is one cell"
    assert outcome.tally.shown[0][0] == "row 2"


def test_a_file_among_many_that_cannot_be_read_is_a_row_with_a_problem(tmp_path: Path, judge: Judge) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    pq.write_table(pa.table({"text": [GOOD]}), root / "a.parquet")
    (root / "b.parquet").write_bytes(b"no Parquet")
    pq.write_table(pa.table({"words": [GOOD]}), root / "c.parquet")
    pq.write_table(pa.table({"text": [REFUSAL]}), root / "d.parquet")
    outcome = judge(root, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["score"] for row in rows] == [1.0, None, None, 0.25]
    assert "not a Parquet file" in rows[1]["problem"]
    assert "has no column 'text'" in rows[2]["problem"]
    assert outcome.tally.problems == 2


def test_nulls_and_columns_of_the_wrong_type(tmp_path: Path, judge: Judge) -> None:
    pq.write_table(pa.table({"text": pa.array([None, REFUSAL, ""])}), tmp_path / "in.parquet")
    judge(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert [row["score"] for row in rows_of(tmp_path / "out.parquet")] == [0.2, 0.25, 0.2]
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "numbers.parquet")
    with pytest.raises(UsageError, match="the column 'text' holds int64, not texts"):
        judge(tmp_path / "numbers.parquet", tmp_path / "out.parquet")


def test_a_row_of_50_mb_is_judged(tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        "".join(f"{json.dumps({'text': text})}\n" for text in (f"{GOOD} " * 1_150_000, REFUSAL, GOOD)), encoding="utf-8"
    )
    assert source.stat().st_size > 50_000_000
    outcome = judge(source, tmp_path / "out.parquet")
    assert outcome.tally.rows == 3
    assert [row["score"] for row in rows_of(tmp_path / "out.parquet")][1:] == [0.25, 1.0]


def test_a_line_without_end_is_given_up(tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LONGEST_LINE", 2**20)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 2**18)
    source = tmp_path / "in.jsonl"
    source.write_text(f"{json.dumps({'text': GOOD})}\n" + "x" * 3_000_000, encoding="utf-8")
    judge(source, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["problem"] for row in rows] == [None, "the line is longer than 1 MiB; so is all behind it"]


def test_what_a_file_grows_by_is_not_read_and_is_said(
    tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f"{json.dumps({'text': GOOD})}\n" * 3 + '{"text": "half of a', encoding="utf-8")
    real = ChunkJudge.__call__

    def grows(self: ChunkJudge, chunk: Any, most: int | None = None) -> Any:
        with source.open("a", encoding="utf-8") as file:
            file.write(f' line."}}\n{json.dumps({"text": REFUSAL})}\n')
        return real(self, chunk, most)

    monkeypatch.setattr(ChunkJudge, "__call__", grows)
    outcome = judge(source, tmp_path / "out.parquet")
    assert outcome.tally.rows == 3
    assert [name for name, _ in outcome.grown] == [str(source)]
    assert not outcome.is_complete


def test_a_compressed_file_that_breaks_off_is_read_so_far(tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.jsonl.gz"
    stream = location.locate(str(source)).system.open_output_stream(str(source), compression="gzip")
    with stream:
        stream.write(f"{json.dumps({'text': GOOD})}\n".encode() * 200_000)
    source.write_bytes(source.read_bytes()[:-2_000])
    outcome = judge(source, tmp_path / "out.parquet")
    assert outcome.tally.problems == 1
    assert outcome.tally.rows > 1_000
    assert "cannot be read further" in rows_of(tmp_path / "out.parquet")[-1]["problem"]


def test_a_full_disk_keeps_what_was_judged_and_leaves_no_half_file(tmp_path: Path, judge: Judge) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        "".join(f"{json.dumps({'text': REFUSAL, 'id': row})}\n" for row in range(4_000)), encoding="utf-8"
    )
    words = ["batch", "answers", str(source), str(tmp_path / "out.jsonl"), "--jobs", "1"]
    code = (
        "from toolvet.batch import output; from toolvet.batch.reading import lines; "
        "from toolvet.__main__ import main;"
        f"output._PART_BYTES = 1; lines.CHUNK_BYTES = 20_000; import sys; sys.argv = ['toolvet', *{words!r}]; main()"
    )

    def small() -> None:
        # No file may become larger than this, as on a disk that is full.
        resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))

    done = subprocess.run([sys.executable, "-c", code], preexec_fn=small, capture_output=True, text=True, check=False)
    assert done.returncode == 6, done.stderr
    assert "out.jsonl cannot be written" in done.stderr
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("out")] == []
    outcome = judge(source, tmp_path / "out.jsonl")
    assert outcome.resumed
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 4_000


def test_an_output_that_cannot_be_made_is_an_error_in_words(logs: Path, tmp_path: Path, judge: Judge) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="file"):
        judge(logs, tmp_path / "file" / "out.parquet")


@pytest.mark.parametrize("first", [True, False], ids=["the first file", "a later file"])
def test_an_odd_column_is_the_problem_of_its_file(tmp_path: Path, judge: Judge, *, first: bool) -> None:
    root = tmp_path / "logs"
    root.mkdir()
    odd, good = ("a", "b") if first else ("b", "a")
    pq.write_table(pa.table({"text": [1, 2]}), root / f"{odd}.parquet")
    pq.write_table(pa.table({"text": [GOOD]}), root / f"{good}.parquet")
    outcome = judge(root, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert sorted(
        (row["score"], "holds int64, not texts" in (row["problem"] or "")) for row in rows if row["score"]
    ) == [(1.0, False)]
    assert [row["row"] for row in rows if row["problem"]] == [1]
    assert outcome.tally.problems == 1
    outcome = judge(root, f"{tmp_path}/out/")
    assert [path.name for path in (tmp_path / "out").glob("*.parquet")] == [f"{good}.parquet"]
    assert (outcome.tally.rows, outcome.tally.problems) == (2, 1)
    assert outcome.tally.shown == [(str(root / f"{odd}.parquet"), "the column 'text' holds int64, not texts")]


def test_a_folder_in_which_no_file_can_be_judged_is_an_error(tmp_path: Path, judge: Judge) -> None:
    (tmp_path / "logs").mkdir()
    pq.write_table(pa.table({"words": [GOOD]}), tmp_path / "logs" / "a.parquet")
    with pytest.raises(UsageError, match="text"):
        judge(tmp_path / "logs", f"{tmp_path}/out/")


@pytest.mark.parametrize("command", ["batch answers {} {}.jsonl --jobs 1", "check answer {}"])
@pytest.mark.parametrize("heading", [b"text\n", b"", b'"'], ids=["a cell", "the first line", "an open quote"])
def test_a_compressed_bomb_takes_bounded_memory(command: str, heading: bytes, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(heading)
        for _ in range(100):
            file.write(b"a" * 4_000_000)
    words = command.format(bomb, bomb).split()
    code = (
        "import resource, subprocess, sys\n"
        f"ended = subprocess.run([sys.executable, '-m', 'toolvet', *{words!r}], capture_output=True, text=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, ended.returncode, ended.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, returned, said = ended.stdout.split(" ", 2)
    assert returned == "2"
    assert "a line is longer than 32 MiB" in said
    assert int(peak) < 400 * 1024


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *((f"{start}cmd|' /C calc'!A0", f"'{start}cmd|' /C calc'!A0") for start in "=+@\t-"),
        ("-5.5", "-5.5"),
        ("-1,5", "-1,5"),
        ("a=b", "a=b"),
        ("'=1", "'=1"),
    ],
)
def test_no_cell_is_a_formula(text: str, cell: str, tmp_path: Path, judge: Judge) -> None:
    name = text.replace("\t", "=")
    pq.write_table(pa.table({"text": [REFUSAL], "id": [text], name: [text]}), tmp_path / "in.parquet")
    judge(tmp_path / "in.parquet", tmp_path / "out.csv", keep=(name,), columns={"id": "id"})
    with (tmp_path / "out.csv").open(newline="") as file:
        heading, row = csv.reader(file)
    assert row.count(cell) == 2
    assert all(each[:1] not in "=+@\t" for each in [*heading, *row] if each)


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.csv", "out.jsonl.gz"])
def test_an_output_is_for_its_owner_alone(name: str, tmp_path: Path, judge: Judge) -> None:
    pq.write_table(pa.table({"text": [REFUSAL]}), tmp_path / "in.parquet")
    before = os.umask(0)
    try:
        judge(tmp_path / "in.parquet", tmp_path / name)
    finally:
        os.umask(before)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
