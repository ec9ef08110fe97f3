"""Tables: a row of a CSV or Parquet file is a record, and never is the whole file one answer."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from tests.cli.in_process import check as toolvet

from toolvet.cli.commands.check.input import is_table
from toolvet.cli.commands.check.tables import open_table
from toolvet.errors import UsageError

REFUSAL = "I cannot help with that request."
FINE = "The three largest harbours are Shanghai,\nSingapore and Ningbo."


def written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def cells(file: str) -> list[list[object]]:
    with open_table(file) as table:
        return [list(row.cells.values()) for row in table.rows(table.columns)]


def test_each_row_of_a_csv_file_is_an_answer(tmp_path: Path) -> None:
    call = json.dumps([{"name": "ports", "arguments": {}, "result": "Shanghai"}]).replace('"', '""')
    rows = f'id,question,response,calls,finish_reason\na,"Why, then?",{REFUSAL},,\nb,Which?,"{FINE}","{call}",length\n'
    file = written(tmp_path, "answers.csv", rows)
    done = toolvet("answer", file, "--json")
    assert done.returncode == 1
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["id"], [signal["type"] for signal in first["signals"]]) == ("a", ["refusal"])
    assert (second["id"], [signal["type"] for signal in second["signals"]]) == ("b", ["incomplete_reasoning"])


def test_the_column_of_the_answers_has_to_be_clear(tmp_path: Path) -> None:
    file = written(tmp_path, "t.csv", f"id,prompt,model_output\n1,Why?,{REFUSAL}\n")
    done = toolvet("answer", file)
    assert done.returncode == 2
    assert "which column? Give --field NAME; it has id, prompt, model_output" in done.stderr
    assert toolvet("answer", file, "--field", "model_output").returncode == 1
    done = toolvet("answer", file, "--field", "output")
    assert (done.returncode, "no column 'output'; it has id, prompt, model_output" in done.stderr) == (2, True)
    assert toolvet("answer", written(tmp_path, "one.csv", f"said\n{REFUSAL}\n")).returncode == 1


def test_a_key_of_objects_can_be_named_as_well(tmp_path: Path) -> None:
    file = written(tmp_path, "a.jsonl", f"{json.dumps({'completion': REFUSAL})}\n")
    assert toolvet("answer", file, "--field", "completion").returncode == 1
    done = toolvet("answer", file, "--field", "said")
    assert (done.returncode, "no 'said' in it; it has completion" in done.stderr) == (2, True)
    done = toolvet("answer", written(tmp_path, "a.txt", REFUSAL), "--field", "said")
    assert (done.returncode, "needs a table" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "a,b\n1,2\n3,4\n"),
        ("a.CSV", "a,b\r\n1,2\r\n\r\n3,4"),
        ("a.tsv", "a\tb\n1\t2\n3\t4\n"),
        ("a.csv", "a;b\n1;2\n3;4\n"),
        ("a.csv", '"a",b\n1,2\n3,4\n'),
        ("a.csv", "\ufeffa,b\n1,2\n3,4\n"),
        ("a.csv", "a,b\n1,2\n3,4\n".encode("utf-16")),
        ("a.csv.gz", "a,b\n1,2\n3,4\n"),
        ("a.tsv.gz", "a\tb\n1\t2\n3\t4\n"),
    ],
)
def test_separated_values_are_read_as_programs_write_them(tmp_path: Path, name: str, content: str | bytes) -> None:
    file = written(tmp_path, name, content)
    assert is_table(file)
    assert cells(file) == [["1", "2"], ["3", "4"]]


def test_cells_may_be_long_and_go_over_lines(tmp_path: Path) -> None:
    long = "word " * 100_000
    assert cells(written(tmp_path, "a.csv", f'a,b\n"{long}","x\n""y"""\n')) == [[long, 'x\n"y"']]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", ""),
        ("a.csv", "\n"),
        ("a.csv.gz", b""),
        ("a.parquet", b"PAR1 but not really"),
        ("a.parquet", b""),
    ],
)
def test_what_is_no_table_is_an_error(tmp_path: Path, name: str, content: str | bytes) -> None:
    file = written(tmp_path, name, content)
    with pytest.raises(UsageError, match=name), open_table(file):
        pass


def test_a_file_that_is_not_gzip_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"a,b\n")
    with pytest.raises(UsageError, match="gz"), open_table(str(path)):
        pass


def test_results_and_arguments_are_read_from_tables(tmp_path: Path) -> None:
    file = written(tmp_path, "r.csv", "tool,returned\nweather,21 degrees\nweather,Error: connection refused\n")
    done = toolvet("result", file, "--field", "returned", "--json")
    assert done.returncode == 1
    assert [json.loads(line)["classification"] for line in done.stdout.splitlines()] == ["fully_working", "error"]
    tool = written(tmp_path, "tool.json", json.dumps({"name": "w", "inputSchema": {"required": ["city"]}}))
    file = written(tmp_path, "c.csv", 'id,arguments\n1,"{""city"": ""Rome""}"\n2,{}\n')
    done = toolvet("arguments", file, "--tool", tool, "--json")
    assert [(each["id"], each["valid"]) for each in map(json.loads, done.stdout.splitlines())] == [
        ("1", True),
        ("2", False),
    ]
    for command in ("result", "arguments"):
        words = [command, "--field", "x", *(["--tool", tool] if command == "arguments" else [])]
        assert "needs a table" in toolvet(*words).stderr


def test_each_row_of_a_parquet_file_is_an_answer(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    calls = [[{"name": "ports", "result": "Shanghai"}], None]
    columns = {"id": [1, 2], "said": [REFUSAL, None], "calls": calls, "score": [0.5, 1.0]}
    file = tmp_path / "answers.parquet"
    parquet.write_table(arrow.table(columns), file)
    # The only column of texts needs no name.
    done = toolvet("answer", str(file), "--json")
    assert [(each["id"], each["score"]) for each in map(json.loads, done.stdout.splitlines())] == [(1, 0.25), (2, 0.2)]
    messages = [[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": REFUSAL, "tool_calls": None}]]
    parquet.write_table(arrow.table({"id": ["a"], "messages": messages}), file)
    done = toolvet("conversation", str(file), "--json")
    assert (done.returncode, json.loads(done.stdout)["id"]) == (1, "a")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with (
        pytest.raises(UsageError, match=r"pip install 'toolvet\[batch\]"),
        open_table(written(tmp_path, "a.parquet", b"PAR1")),
    ):
        pass
