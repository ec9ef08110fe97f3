"""`toolvet batch` from outside: a line of JSON for each row, and a summary on stderr."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
