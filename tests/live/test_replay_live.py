"""`toolvet replay`, at length: what `make test` has no time for."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.assess.replay.recording import LIBRARY, PLANTED, SECRET, Mode, record_calls, replayed, told
from tests.serving import serving

from toolvet.cli import run

pytestmark = pytest.mark.live


@pytest.fixture(scope="module", params=["legacy", "auto"], ids=["legacy", "modern"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A record of each era, over stdio."""
    mode: Mode = request.param
    path = tmp_path_factory.mktemp("record") / "record.db"
    record_calls(path, mode, "--", *LIBRARY, "old")
    return str(path)


@pytest.mark.parametrize("version", ["old", "text"])
def test_nothing_is_told_of_the_same_version_and_of_other_texts(
    record: str, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = replayed(capsys, record, "--all", "--", *LIBRARY, version)
    assert told(report) == {}
    assert (code, report["same"], report["recorded"]) == (0, 15, 17)
    assert all(call["new"]["ending"] in ("success", "refusal") for call in report["calls"])


def test_what_may_change_things_is_skipped_and_told_and_identical_calls_are_made_once(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = replayed(capsys, record, "--", *LIBRARY, "old")
    assert report["skipped"] == [
        {
            "tool": "add_book",
            "calls": 1,
            "reason": "its annotations say readOnlyHint: false; --include add_book calls it",
        },
        {"tool": "get_secret", "calls": 1, "reason": "its arguments were redacted in the record"},
    ]
    assert {call["tool"]: call["calls"] for call in report["calls"] if call["calls"] > 1} == {
        "get_news": 2,
        "list_random": 5,
    }
    assert [call["number"] for call in report["calls"]] == [1, 2, 3, 4, 5, 6, 7, 9, 16, 17]
    assert SECRET not in json.dumps(report)
    _, report = replayed(
        capsys, record, "--include", "add_*", "--limit", "3", "--exclude", "get_*", "--", *LIBRARY, "old"
    )
    assert [call["tool"] for call in report["calls"]] == ["find_renamed", "list_enum", "list_enum"]
    assert {each["reason"] for each in report["skipped"] if each["tool"] == "add_book"} == {"left out by --limit 3"}


@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["legacy", "modern"])
def test_a_version_at_a_url_is_replayed_alike(mode: Mode, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "record.jsonl"
    with serving(*LIBRARY, "old", "--http", "PORT") as url:
        record_calls(store, mode, url)
        assert replayed(capsys, str(store), url)[1]["same"] == 15
    with serving(*LIBRARY, "new", "--http", "PORT") as url:
        code, report = replayed(capsys, str(store), url)
    assert code == 1
    assert told(report) == {**PLANTED, "get_shape": {"shape"}}


def test_the_report_of_an_assessment_is_a_record_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assessed = tmp_path / "assessed.json"
    run(["assess", "-q", "--tools-only", "--report", f"json={assessed}", "--fail-on", "never", "--", *LIBRARY, "old"])
    code, report = replayed(capsys, str(assessed), "--", *LIBRARY, "text")
    assert (code, told(report)) == (0, {})
    assert report["same"] > 10
    code, report = replayed(capsys, str(assessed), "--tool", "get_crash", "--", *LIBRARY, "new")
    assert (code, set(told(report))) == (1, {"get_crash"})


def test_the_deadline_and_ctrl_c_leave_a_report(
    record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marker = tmp_path / "hangs"
    hanging = ["--env", f"MARKER={marker}", "--", *LIBRARY, "hangs"]
    code, report = replayed(capsys, record, "--tool", "get_news", "--timeout", "0.2", *hanging)
    assert code == 1
    assert report["calls"][0]["new"]["ending"] == "timeout"
    _, report = replayed(capsys, record, "--deadline", "2", *hanging)
    assert report["incomplete"] == "the deadline of 2 s passed"
    assert [call["tool"] for call in report["calls"]][:2] == ["find_renamed", "list_enum"]
    if sys.platform == "win32":
        return
    marker.unlink()
    command = [sys.executable, "-m", "toolvet", "replay", record, "--json", *hanging]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
        while not marker.exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    assert json.loads(out)["incomplete"] == "interrupted"


def test_a_person_reads_what_changed(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        ["replay", record, "--tool", "get_crash", "--tool", "get_shape", "--fail-on", "never", "--", *LIBRARY, "new"]
    )
    words = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "success → died" in words
    assert "1 changed, 1 worse; 15 not replayed" in words
