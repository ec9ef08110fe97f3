"""`toolvet replay`: a record of real calls against a second version of a real server."""

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from tests.assess.replay.recording import LIBRARY, PLANTED, Mode, record_calls, replayed, told

from toolvet.cli import run
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import new_id


@pytest.fixture(scope="module", params=["legacy", "auto"], ids=["legacy", "modern"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A record of each era, over stdio."""
    mode: Mode = request.param
    path = tmp_path_factory.mktemp("record") / "record.db"
    record_calls(path, mode, "--", *LIBRARY, "old")
    return str(path)


def test_nothing_is_told_of_other_texts_ids_and_orders(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = replayed(capsys, record, "--all", "--", *LIBRARY, "text")
    assert told(report) == {}
    assert (code, report["same"], report["recorded"]) == (0, 15, 17)
    assert all(call["new"]["ending"] in ("success", "refusal") for call in report["calls"])


def test_every_planted_fault_is_told(record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junit, page, markdown = (tmp_path / name for name in ("r.xml", "r.html", "r.md"))
    formats = [f"--report=junit={junit}", f"--report=html={page}", f"--report=markdown={markdown}"]
    code, report = replayed(capsys, record, *formats, "--", *LIBRARY, "new")
    assert code == 1
    assert told(report) == {**PLANTED, "get_shape": {"shape"}}
    worse = {call["tool"] for call in report["calls"] if call["comparison"] == "worse"}
    assert worse == set(PLANTED)
    crash = next(call for call in report["calls"] if call["tool"] == "get_crash")
    assert crash["new"]["ending"] == "died"
    assert "exit code 3" in crash["new"]["words"]
    assert report["incomplete"] is None
    suite = ET.parse(junit).getroot()[0]  # noqa: S314 - our own file
    assert suite.attrib["failures"] == "6"
    assert Counter(child.tag for case in suite for child in case) == {"failure": 6, "skipped": 2}
    assert "get_crash" in page.read_text(encoding="utf-8")
    assert "find_renamed" in markdown.read_text(encoding="utf-8")


def test_a_record_of_verdicts_says_what_to_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.db"
    with Store(path) as store:
        store.add_records([VerdictRecord(id=new_id(), at=1.0, kind="call", tool="get_news", outcome="success")])
    assert run(["replay", str(path), "--", *LIBRARY, "old"]) == 2
    assert 'Set `record = "calls"` under [proxy]' in capsys.readouterr().err
    assert run(["replay", str(tmp_path / "none.db"), "--", *LIBRARY, "old"]) == 2
    assert "there is no such store" in capsys.readouterr().err
    for words in (["--report", "sarif=x"], ["--limit", "0"]):
        assert run(["replay", str(path), *words, "--", *LIBRARY, "old"]) == 2
