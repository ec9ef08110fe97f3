"""The local engine: every row once, in order, whatever the format; a run that was stopped goes on."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet import check_answer
from toolvet.batch import location, run as running
from toolvet.batch.chunk import ReadPosition
from toolvet.batch.engines import Pool
from toolvet.batch.executors.executor import EngineFigures
from toolvet.batch.job import Job
from toolvet.batch.judging import ChunkJudge
from toolvet.batch.plan import make_plan
from toolvet.batch.reading import lines, parquet
from toolvet.errors import UsageError


def write_lines(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_each_row_of_parquet_has_its_verdict_in_its_place(logs: Path, tmp_path: Path, judge: Judge) -> None:
    outcome = judge(logs, tmp_path / "out.parquet", columns={"text": "response"}, keep=("model",))
    rows = rows_of(tmp_path / "out.parquet")
    texts = pq.read_table(logs)["response"].to_pylist()
    assert [row["id"] for row in rows] == list(range(300))
    assert [row["row"] for row in rows] == list(range(1, 301))
    assert [row["score"] for row in rows] == [check_answer(text).score for text in texts]
    assert {row["model"] for row in rows} == {"m"}
    assert (outcome.tally.rows, outcome.tally.flagged, outcome.tally.problems) == (300, 30, 0)
    assert outcome.tally.counts == {"refusal": 30}
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_two_processes_give_the_bytes_of_one(
    logs: Path, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 500)
    judge(logs, tmp_path / "one.parquet")
    judge(logs, tmp_path / "two.parquet", jobs=2)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz", "in.csv", "in.tsv.gz"])
def test_other_formats_are_read_as_parquet_is(name: str, logs: Path, tmp_path: Path, judge: Judge) -> None:
    table = pq.read_table(logs).to_pylist()
    separator = "\t" if "tsv" in name else ","
    written = (
        "".join(f"{json.dumps(row)}\n" for row in table)
        if "jsonl" in name
        else separator.join(("id", "response", "model"))
        + "\r\n"
        + "".join(f'{row["id"]}{separator}"{row["response"]}"{separator}m\r\n' for row in table)
    ).encode()
    (tmp_path / name).write_bytes(gzip.compress(written) if name.endswith("gz") else written)
    judge(logs, tmp_path / "wanted.parquet", columns={"text": "response"})
    judge(tmp_path / name, tmp_path / "found.parquet", columns={"text": "response"})
    wanted, found = rows_of(tmp_path / "wanted.parquet"), rows_of(tmp_path / "found.parquet")
    assert [str(row.pop("id")) for row in wanted] == [str(row.pop("id")) for row in found]
    assert wanted == found


def test_jsonl_and_csv_hold_what_parquet_holds(logs: Path, tmp_path: Path, judge: Judge) -> None:
    for form in ("parquet", "jsonl", "csv", "jsonl.gz"):
        judge(logs, tmp_path / f"out.{form}", limit=11)
    rows = rows_of(tmp_path / "out.parquet")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["signals"] for record in records] == [
        [{name: value for name, value in each.items() if value is not None} for each in row["signals"]] for row in rows
    ]
    assert records[0]["signal_counts"] == {"refusal": 1}
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == (tmp_path / "out.jsonl").read_bytes()
    cells = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert cells[0].startswith("row,id,length,likely_good,score,should_escalate,reason")
    assert cells[1].startswith("1,0,32,0.05,0.25,true,")
    assert len(rows) == len(records) == len(cells) - 1 == 11


def test_a_folder_is_one_input_and_names_the_file_of_each_row(tmp_path: Path, judge: Judge) -> None:
    root = tmp_path / "logs"
    for day in ("2026-01-02", "2026-01-01"):
        (root / f"day={day}").mkdir(parents=True)
        write_lines(root / f"day={day}" / "a.jsonl", [{"text": GOOD}, {"text": REFUSAL}])
    write_lines(root / "_SUCCESS.jsonl", [{"text": GOOD}])
    judge(root, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [(Path(row["file"]).parent.name, row["row"]) for row in rows] == [
        ("day=2026-01-01", 1),
        ("day=2026-01-01", 2),
        ("day=2026-01-02", 1),
        ("day=2026-01-02", 2),
    ]
    judge(root, f"{tmp_path}/verdicts/")
    written = sorted(str(each.relative_to(tmp_path)) for each in (tmp_path / "verdicts").rglob("*.parquet"))
    assert written == ["verdicts/day=2026-01-01/a.parquet", "verdicts/day=2026-01-02/a.parquet"]


def test_limit_and_sample_choose_the_same_rows_each_time(
    logs: Path, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(logs, tmp_path / "some.parquet", sample=0.2)
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 700)
    judge(logs, tmp_path / "again.parquet", sample=0.2)
    judge(logs, tmp_path / "few.parquet", sample=0.2, limit=7)
    some = [row["row"] for row in rows_of(tmp_path / "some.parquet")]
    assert 30 < len(some) < 95
    assert [row["row"] for row in rows_of(tmp_path / "again.parquet")] == some
    assert [row["row"] for row in rows_of(tmp_path / "few.parquet")] == some[:7]


def test_a_stopped_run_goes_on_and_gives_the_same_bytes(
    logs: Path, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 1_000)
    judge(logs, tmp_path / "whole.parquet")
    real, seen = ChunkJudge.__call__, []

    def stops(self: ChunkJudge, chunk: Any, most: int | None = None) -> Any:
        seen.append(chunk.row)
        if len(seen) == 8:
            raise KeyboardInterrupt
        return real(self, chunk, most)

    monkeypatch.setattr(ChunkJudge, "__call__", stops)
    with pytest.raises(running.Interrupted) as stopped:
        judge(logs, tmp_path / "out.parquet")
    assert stopped.value.kept
    assert not (tmp_path / "out.parquet").exists()
    before = len(seen)
    outcome = judge(logs, tmp_path / "out.parquet")
    assert outcome.resumed
    assert outcome.tally.rows == 300
    assert seen[before] == seen[before - 1]  # It begins with the chunk that was not finished.
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("change", ["input", "option", "restart"])
def test_what_is_another_run_begins_anew(
    change: str, logs: Path, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 1_000)
    with monkeypatch.context() as patch:
        patch.setattr(running, "write_output", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            judge(logs, tmp_path / "out.parquet")
    if change == "input":
        pq.write_table(pa.table({"response": [GOOD]}), logs)
    outcome = judge(
        logs, tmp_path / "out.parquet", restart=change == "restart", limit=5 if change == "option" else None
    )
    assert not outcome.resumed


def test_a_killed_run_leaves_no_output_and_the_next_one_ends_the_same(tmp_path: Path, judge: Judge) -> None:
    source = write_lines(tmp_path / "in.jsonl", [{"text": f"{GOOD} {row}."} for row in range(30_000)])
    judge(source, tmp_path / "whole.jsonl")
    words = ["batch", "answers", str(source), str(tmp_path / "out.jsonl"), "--jobs", "1", "--quiet"]
    # A part for each chunk, so that there is something to go on from.
    code = (
        "from toolvet.batch import output; from toolvet.batch.reading import lines; "
        "from toolvet.__main__ import main;"
        f"output._PART_BYTES = 1; lines.CHUNK_BYTES = 50_000; import sys; sys.argv = ['toolvet', *{words!r}]; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    folder = tmp_path / ".out.jsonl.toolvet-batch"
    while process.poll() is None and not (folder / "part-00003").exists():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out.jsonl").exists()
    # A part that no manifest names, as a kill between the two would leave it.
    (folder / "part-99999.new").write_bytes(b"half")
    outcome = judge(source, tmp_path / "out.jsonl")
    assert outcome.resumed
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not folder.exists()


# Kills itself before its Nth change to the output or its folder: argv is N, then the command.
KILLED = """
import os, signal, sys
from toolvet.batch import output
from toolvet.batch.reading import lines
from toolvet.__main__ import main

output._PART_BYTES, lines.CHUNK_BYTES, left = 1, 10_000, [int(sys.argv.pop(1))]

def kill(event, args):
    changes = event in {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
    if (changes or (event == "open" and args[1] == "w")) and "out.jsonl" in str(args[0]):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
main()
"""


def test_a_run_killed_at_any_stage_goes_on(tmp_path: Path, judge: Judge) -> None:
    source = write_lines(tmp_path / "in.jsonl", [{"text": f"{GOOD} {row}."} for row in range(400)])
    judge(source, tmp_path / "whole.jsonl")
    whole, output, resumed = (tmp_path / "whole.jsonl").read_bytes(), tmp_path / "out.jsonl", []
    command = ["batch", "answers", str(source), str(output), "--jobs", "1", "--quiet"]
    for stage in range(1, 100):
        ended = subprocess.run([sys.executable, "-c", KILLED, str(stage), *command], check=False).returncode
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        assert not output.exists() or output.read_bytes() == whole
        resumed.append(judge(source, output).resumed)
        assert output.read_bytes() == whole
        assert sorted(each.name for each in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl", "whole.jsonl"], stage
        output.unlink()
    assert ended == 0
    # Before the manifest names a part there is nothing to go on from.
    assert len(resumed) > 15
    assert resumed.count(True) > len(resumed) // 2


def test_a_file_of_another_machine_is_read_and_written(
    logs: Path, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/logs.parquet", logs.read_bytes())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    judge("memory://bucket/logs.parquet", "memory://bucket/verdicts.parquet")
    judge(logs, tmp_path / "out.parquet")
    assert memory.cat("/bucket/verdicts.parquet") == (tmp_path / "out.parquet").read_bytes()
    assert [each["name"] for each in memory.ls("/bucket")] == ["/bucket/logs.parquet", "/bucket/verdicts.parquet"]
    assert location.locate(f"file://{logs}").system == pafs.LocalFileSystem()


def test_the_output_is_never_the_input(logs: Path, judge: Judge) -> None:
    with pytest.raises(UsageError, match="is the input, too"):
        judge(logs, logs)


def test_what_a_wrong_command_lacks_is_named(logs: Path, tmp_path: Path, judge: Judge) -> None:
    with pytest.raises(UsageError, match=r"has no column 'words' \(--text\); it has id, response, model"):
        judge(logs, tmp_path / "out.parquet", columns={"text": "words"})
    with pytest.raises(UsageError, match=r"has no column 'words' \(--keep, --time or --label\)"):
        judge(logs, tmp_path / "out.parquet", keep=("words",))
    with pytest.raises(UsageError, match=r"must end with \.parquet, \.jsonl or \.csv"):
        judge(logs, tmp_path / "out.txt")
    with pytest.raises(UsageError, match="no such file or folder"):
        judge(tmp_path / "none.parquet", tmp_path / "out.parquet")
    table = pq.read_table(logs).rename_columns(["id", "said", "model"])
    pq.write_table(table, tmp_path / "said.parquet")
    with pytest.raises(UsageError, match=r"which column has the text\? Give --text NAME; it has id, said, model"):
        judge(tmp_path / "said.parquet", tmp_path / "out.parquet")


def test_a_process_that_dies_loses_only_the_row_that_kills_it(
    tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = tmp_path / "sitecustomize.py"
    deadly.write_text(
        "import os, sys\n"
        "if 'toolvet.batch.process' in sys.orig_argv:\n"
        "    from toolvet import AnswerCheck\n"
        "    real = AnswerCheck.__call__\n"
        "    def call(self, text, **more):\n"
        "        if text and 'deadly' in text: os._exit(9)\n"
        "        return real(self, text, **more)\n"
        "    AnswerCheck.__call__ = call\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    source = write_lines(tmp_path / "in.jsonl", [{"text": text} for text in (REFUSAL, "a deadly one:", REFUSAL, GOOD)])
    judge(source, tmp_path / "out.parquet", jobs=2)
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["score"] for row in rows] == [0.25, None, 0.25, 1.0]
    assert rows[1]["problem"] == "the process that judged this row died"


def test_who_ends_a_run_starts_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The first process judges for ever; one that is started in its place judges at once.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib, sys, time\n"
        "if 'toolvet.batch.process' in sys.orig_argv:\n"
        "    from toolvet.batch import judging\n"
        f"    seen = pathlib.Path({str(tmp_path)!r}, 'started')\n"
        "    def call(self, chunk, most=None):\n"
        "        is_first = not seen.exists()\n"
        "        with seen.open('a') as file: file.write(f'{os.getpid()}\\n')\n"
        "        if is_first: time.sleep(3600)\n"
        "        raise TypeError('started again')\n"
        "    judging.ChunkJudge.__call__ = call\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    source = write_lines(tmp_path / "in.jsonl", [{"text": GOOD}] * 9)
    reader = lines.LinesReader(location.locate(str(source)), 0)
    plan = make_plan(Job(kind="answers"), reader, ["in.jsonl"], "jsonl", source="in.jsonl")
    pool = Pool(plan, 1, EngineFigures())
    found = threading.Thread(target=lambda: list(pool.judged(reader.chunks((), ReadPosition()))), daemon=True)
    found.start()
    started = tmp_path / "started"
    # The file is there before its first line is.
    while not started.exists() or not started.stat().st_size:
        time.sleep(0.01)
    pool.close()
    found.join()
    assert len(started.read_text(encoding="utf-8").splitlines()) == 1


def test_a_chunk_is_some_megabytes_however_large_the_rows_are(tmp_path: Path) -> None:
    texts = [GOOD, "x" * 3_000_000, "y" * 9_000_000, GOOD]
    pq.write_table(pa.table({"text": texts * 2}), tmp_path / "big.parquet")
    reader = parquet.ParquetReader(location.locate(str(tmp_path / "big.parquet")), 0)
    sizes = [(chunk.rows, len(chunk.body)) for chunk in reader.chunks(("text",), ReadPosition())]
    assert sum(rows for rows, _ in sizes) == 8
    assert max(size for _, size in sizes) < 9_100_000
    write_lines(tmp_path / "big.jsonl", [{"text": text} for text in texts * 2])
    line_reader = lines.LinesReader(location.locate(str(tmp_path / "big.jsonl")), 0)
    assert (
        max(len(chunk.body) for chunk in line_reader.chunks((), ReadPosition())) < 9_000_000 + 2 * parquet.CHUNK_BYTES
    )
