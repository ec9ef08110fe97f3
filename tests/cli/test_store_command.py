"""`toolvet store …` from outside, and the other commands that take `--store`."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from toolvet.store import Store, VerdictFilter

ROOT = Path(__file__).parent.parent.parent
REFUSAL = "I cannot help with that request."
GOOD = "The museum opens at nine."


def toolvet(*words: str, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=170,
        check=False,
    )


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A folder whose settings name a store with two answers."""
    (tmp_path / "toolvet.toml").write_text('store = "kept.db"\n', encoding="utf-8")
    for text in (REFUSAL, GOOD):
        given = json.dumps({"answer": text, "calls": [{"name": "look", "arguments": {}, "result": "x"}]})
        assert toolvet("check", "answer", "--fail-on", "never", cwd=tmp_path, given=given).returncode == 0
    return tmp_path


def test_the_settings_name_the_store_of_every_command(filled: Path) -> None:
    done = toolvet("store", "check", cwd=filled)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 verdicts, 1 signals, 0 events, 0 assessments" in done.stdout
    assert done.stdout.splitlines()[-1] == "sound"
    health = json.loads(toolvet("store", "check", "--json", cwd=filled).stdout)
    assert (health["verdicts"], health["problems"]) == (2, [])
    with Store(filled / "kept.db") as store:
        (answer,) = store.verdicts(VerdictFilter(escalated=True))
    assert answer.detail["calls"] == [{"tool": "look", "arguments": {}, "result": "x"}]


def test_a_store_travels_through_a_file(filled: Path) -> None:
    done = toolvet("store", "export", "all.jsonl", cwd=filled)
    assert (done.returncode, done.stderr) == (0, "2 records in all.jsonl\n")
    for new in (2, 0):
        done = toolvet("store", "import", "all.jsonl", "--store", "copy.db", cwd=filled)
        assert done.stderr == f"2 records read, {new} verdicts new\n"
    assert toolvet("store", "export", "few.jsonl", "--newer-than", "1h", "--kind", "call", cwd=filled).returncode == 0
    assert (filled / "few.jsonl").read_text(encoding="utf-8") == ""
    assert "has to end in .jsonl or .parquet" in toolvet("store", "export", "all.csv", cwd=filled).stderr


def test_old_verdicts_are_deleted(filled: Path) -> None:
    assert "what may go?" in toolvet("store", "prune", cwd=filled).stderr
    assert "not an age" in toolvet("store", "prune", "--older-than", "soon", cwd=filled).stderr
    done = toolvet("store", "prune", "--older-than", "1d", cwd=filled)
    assert done.stderr.startswith("deleted 0 verdicts, 0 events and 0 assessments; ")
    assert toolvet("store", "prune", "--older-than", "0s", cwd=filled).stderr.startswith("deleted 2 verdicts")


def test_what_is_broken_is_said(filled: Path) -> None:
    connection = sqlite3.connect(filled / "kept.db")
    connection.execute("INSERT INTO signals VALUES (999, 'x', '', NULL)")
    connection.commit()
    connection.close()
    done = toolvet("store", "check", cwd=filled)
    assert (done.returncode, "broken: 1 signals belong to no verdict" in done.stdout) == (1, True)
    missing = toolvet("store", "check", "--store", "none.db", cwd=filled)
    assert (missing.returncode, "there is no such store" in missing.stderr) == (2, True)
    assert not (filled / "none.db").exists()


def test_an_assessment_is_added_to_the_store(tmp_path: Path) -> None:
    server = (sys.executable, str(ROOT / "tests" / "proxy" / "quick_server.py"))
    done = toolvet("assess", "--quiet", "--fail-on", "never", "--store", "kept.db", "--", *server, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "kept.db", missing="refuse") as store:
        (kept,) = store.assessments()
    assert "quick_server.py" in kept.target
    assert kept.detail["schema"] == "toolvet-report/1"
