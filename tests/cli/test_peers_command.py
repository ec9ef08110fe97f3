"""`toolvet peers`: with no peer, and with one real executable. `make live` runs the peers themselves."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.assess.replay.recording import LIBRARY

from toolvet.assess.peers import PeerFinding, peer_programs, read_output
from toolvet.assess.rules import cards
from toolvet.cli import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the peers are looked for as a POSIX program")


def test_what_is_not_installed_is_named_and_what_is_no_peer_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A real program by the name of a peer: it answers, but not as that peer does.
    program = shutil.which("false")
    assert program is not None
    (tmp_path / "mcpscore").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    page, markdown = tmp_path / "c.html", tmp_path / "c.md"
    reports = [f"--report=html={page}", f"--report=markdown={markdown}"]
    assert run(["peers", "--json", *reports, "--", *LIBRARY, "old"]) == 0
    report = json.loads(capsys.readouterr().out)
    ours, mcpscore, *others = report["runs"]
    assert (ours["name"], ours["outcome"]) == ("toolvet", "ran")
    assert (mcpscore["outcome"], mcpscore["exit_code"]) == ("failed", 1)
    assert "its output is not JSON" in mcpscore["problem"]
    assert {each["outcome"] for each in others} == {"not_installed"}
    assert all(set(each["found_by"]) == {"toolvet"} for each in report["findings"])
    assert "npm install -g @modelcontextprotocol/inspector" in page.read_text(encoding="utf-8")
    assert "pip install mcp-assert" in markdown.read_text(encoding="utf-8")


def test_the_findings_of_peers_lead_to_checks_that_exist() -> None:
    for peer in peer_programs().values():
        assert {each.check for each in peer.same} <= set(cards())
    crash = PeerFinding("E201", "get_book: internal error: Traceback (most recent call last)")
    assert peer_programs()["mcp-assert"].check_of(crash) == "crash-leaked"
    assert peer_programs()["mcp-assert"].check_of(PeerFinding("E201", "get_book: odd")) is None


@pytest.mark.parametrize("kind", ["mcpscore", "mcp-assert", "inspector"])
@pytest.mark.parametrize("output", [b"", b"[1]", b"{}", b'{"results": [7, null]}', b"\xff", b"[" * 100_000])
def test_any_output_of_a_peer_is_read(kind: str, output: bytes) -> None:
    assert not read_output(kind, output).findings


def test_wrong_words_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["peers"]) == 2
    assert run(["peers", "--report", "junit=x", "--", "server"]) == 2
    assert "no report format is named 'junit'" in capsys.readouterr().err
