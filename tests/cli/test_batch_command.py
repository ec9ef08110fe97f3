"""`toolvet batch` from outside: a line of JSON for each row, and a summary on stderr."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.in_process import Done

from toolvet.cli import run as start

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'toolvet[batch]'")

_TOOL = {"name": "get", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
_REFUSAL = "I cannot help with that."


def run(folder: Path, command: str, rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str, int]:
    """What `toolvet batch …` prints about these rows, what it says on stderr, and how it exits."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "rows.jsonl", "-", "--jobs", "1"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


@pytest.mark.parametrize(
    ("command", "row", "field", "value"),
    [
        ("toolvet batch answers", {"answer": _REFUSAL}, "should_escalate", True),
        ("toolvet batch results", {"result": {"isError": True, "content": []}}, "is_error", True),
        ("toolvet batch arguments", {"tool": _TOOL, "arguments": {"n": "3"}}, "repaired", '{"n":3}'),
        ("toolvet batch envelopes", {"envelope": {"success": True}}, "valid", False),
        (
            "toolvet batch conversations",
            {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": _REFUSAL}]},
            "should_escalate",
            True,
        ),
    ],
)
def test_a_row_has_a_verdict(tmp_path: Path, command: str, row: dict[str, Any], field: str, value: object) -> None:
    found, said, code = run(tmp_path, command, [{"id": "a", **row}])
    assert [(each["row"], each["id"], each[field]) for each in found] == [(1, "a", value)]
    assert said.startswith(f"1 {command.rsplit(maxsplit=1)[-1]} ")
    assert code == 0


def test_a_row_that_cannot_be_judged_is_told_with_its_number(tmp_path: Path) -> None:
    found, said, code = run(tmp_path, "toolvet batch answers", [{"answer": _REFUSAL}, {"answer": 7}])
    assert [each.get("should_escalate") for each in found] == [True, None]
    assert "row 2" in said
    assert code == 2


def call(folder: Path, *words: str) -> Done:
    """What `toolvet batch report` and `toolvet batch compare` do in a folder, without a process for each case."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setenv("COLUMNS", "100")
        code = start(["batch", *words])
    return Done(code, out.getvalue(), err.getvalue())


def test_a_run_writes_its_report_and_the_output_can_be_reported_and_compared_again(tmp_path: Path) -> None:
    rows = [
        {"id": n, "answer": _REFUSAL if n % 2 else f"Hall {n} opens at nine, daily.", "day": "2026-03-02"}
        for n in range(40)
    ]
    rows += [{"id": 40, "answer": "It opens at ten, as always.", "day": "2026-03-03", "checked": "wrong"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    flags = (
        "--report",
        "html=r.html",
        "--report",
        "json=r.json",
        "--time",
        "day",
        "--label",
        "checked",
        "--bad",
        "wrong",
    )
    done = call(tmp_path, "answers", "in.jsonl", "out.parquet", *flags)
    assert done.returncode == 0, done.stderr
    assert "20 of 41 to escalate" in done.stderr
    assert "Too few rows in each day to tell a change from chance." in done.stderr
    assert "41 answers" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert (tmp_path / "r.html").stat().st_mode & 0o077 == 0
    again = call(tmp_path, "report", "out.parquet", *flags[4:], "--json")
    written = json.loads((tmp_path / "r.json").read_bytes())
    assert json.loads(again.stdout) == written
    assert (written["flagged"]["count"], written["labels"]["passed_bad"]) == (20, 1)
    same = call(tmp_path, "compare", "out.parquet", "out.parquet", "--fail-on", "changed")
    assert (same.returncode, same.stdout.splitlines()[0]) == (0, "0 of 41 verdicts on answers changed, joined by id")


def test_what_a_report_cannot_do_is_said(tmp_path: Path) -> None:
    row = {"answer": "Hall 2 opens at nine, daily.", "checked": True}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / "out.jsonl").write_text('{"row": 1, "likely_good": 1.0, "should_escalate": false, "checked": true}\n')
    for words, code, said in (
        (("report", "out.jsonl", "--label", "checked"), 2, "('true') says by itself what is bad: give --bad LABEL"),
        (("report", "out.jsonl", "--time", "when"), 2, "no column 'when' (--time); it has row, likely_good"),
        (("report", "in.jsonl"), 2, "not an output of `toolvet batch`; it has answer, checked"),
        (("report", "-"), 2, "verdicts are read from files"),
        (("report", "none.parquet"), 2, "no such file or folder"),
        (("report", "out.jsonl", "--bad", "x"), 2, "give --label COLUMN, too"),
        (("report", "out.jsonl", "--report", "pdf=x"), 2, "no report format is named 'pdf'; use one of html, json"),
        (("report", "out.jsonl", "--report", "html=no/x"), 2, "there is no folder"),
        (("answers", "in.jsonl", "new.parquet", "--time", "when"), 2, "no column 'when' (--keep, --time or --label)"),
        (("answers", "in.jsonl", "-", "--report", "json=x"), 2, "give a file instead of -"),
    ):
        done = call(tmp_path, *words)
        assert (done.returncode, said in " ".join(done.stderr.split())) == (code, True), (words, done.stderr)
