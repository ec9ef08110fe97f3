"""`toolvet batch`: words in, a file of verdicts out, a summary on stderr, and an exit code that says what was lost."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from toolvet.batch.judging import ChunkJudge
from toolvet.cli import run

GOOD = "The museum opens at nine and closes at six."
REFUSAL = "I cannot help with that request."


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def batch(*words: object, given: bytes = b"") -> Done:
    """Run `toolvet batch` in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(given)), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run(["batch", *map(str, words)])
        out.flush()
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "logs.jsonl"
    path.write_text("".join(f"{json.dumps({'text': text})}\n" for text in (GOOD, REFUSAL, GOOD)), encoding="utf-8")
    return path


def test_a_run_says_what_it_found(logs: Path, tmp_path: Path) -> None:
    done = batch("answers", logs, tmp_path / "out.jsonl")
    assert done.returncode == 0
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith("3 answers in ")
    assert first.endswith(": 1 to escalate")
    assert second == "  refusal 1"
    scores = [json.loads(line)["score"] for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert scores == [1.0, 0.25, 1.0]


def test_rows_that_cannot_be_judged_are_named_and_give_exit_code_2(logs: Path, tmp_path: Path) -> None:
    with logs.open("a", encoding="utf-8") as file:
        file.write('{"text": 7}\nno JSON\n')
    done = batch("answers", logs, tmp_path / "out.csv")
    assert done.returncode == 2
    assert "2 could not be judged; the column `problem` says why:\n    row 4: must be a text, not int" in done.stderr
    assert "row 5: not JSON" in done.stderr


def test_fail_on_flagged_and_a_summary_as_json(logs: Path, tmp_path: Path) -> None:
    done = batch("answers", logs, tmp_path / "out.jsonl", "--fail-on", "flagged", "--json")
    assert done.returncode == 1
    document = json.loads(done.stderr)
    assert (document["rows"], document["flagged"], document["counts"]) == (3, 1, {"refusal": 1})
    assert batch("answers", logs, tmp_path / "out.jsonl", "--quiet") == (0, "", "")


def test_stdin_and_stdout_are_json_lines() -> None:
    done = batch("answers", "-", "-", "--jobs", 1, given=json.dumps({"text": REFUSAL, "id": 4}).encode())
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert (record["row"], record["id"], record["should_escalate"]) == (1, 4, True)


def test_a_stopped_run_says_how_to_go_on(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ChunkJudge, "__call__", stops)
    done = batch("answers", logs, tmp_path / "out.jsonl")
    assert done.returncode == 130
    assert done.stderr == "stopped after 0 rows; run the same line again to go on from there\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sample", "2"), "--sample: must be above 0 and at most 1"),
        (("--limit", "0"), "--limit: must be 1 or more"),
        (("--jobs", "0"), "--jobs: must be 1 or more"),
        (("--text", "words"), "has no column 'words' (--text); it has text"),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_words(
    words: tuple[str, ...], said: str, logs: Path, tmp_path: Path
) -> None:
    done = batch("answers", logs, tmp_path / "out.jsonl", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_pyarrow_the_command_says_how_to_install_it(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("toolvet.batch", "toolvet.cli.commands.batch.run"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = batch("answers", logs, tmp_path / "out.jsonl")
    assert done == (2, "", "toolvet: batch needs pyarrow and numpy: pip install 'toolvet[batch]'\n")
