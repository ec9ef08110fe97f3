"""`toolvet peers` with the peers themselves, if they are on PATH."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.assess.replay.recording import LIBRARY

from toolvet.assess.peers import peer_programs
from toolvet.cli import run

pytestmark = pytest.mark.live
BOOKSHOP = str(Path(__file__).parents[2] / "examples" / "bookshop_server.py")


def compared(capsys: pytest.CaptureFixture[str], name: str, *words: str) -> tuple[dict[str, object], set[str]]:
    """The row of a peer, and the checks that it and we found."""
    peer = peer_programs()[name]
    if shutil.which(peer.program) is None:
        pytest.skip(f"{name} is not installed: {peer.install}")
    assert run(["peers", "--json", *words]) == 0
    report = json.loads(capsys.readouterr().out)
    row = next(each for each in report["runs"] if each["name"] == name)
    return row, {each["check"] for each in report["findings"] if {"toolvet", name} <= set(each["found_by"])}


def test_mcpscore_and_we_agree_on_definitions(capsys: pytest.CaptureFixture[str]) -> None:
    row, shared = compared(capsys, "mcpscore", "--", sys.executable, BOOKSHOP)
    assert (row["outcome"], row["exit_code"]) == ("ran", 0)
    assert shared >= {"tool-undescribed", "parameter-undescribed", "annotations-contradict"}


def test_mcp_assert_and_we_agree_on_crashes(capsys: pytest.CaptureFixture[str]) -> None:
    row, shared = compared(capsys, "mcp-assert", "--", *LIBRARY, "new")
    assert row["outcome"] == "ran"
    assert shared == {"server-died"}


def test_the_inspector_lists_the_tools(capsys: pytest.CaptureFixture[str]) -> None:
    row, _ = compared(capsys, "inspector", "--", *LIBRARY, "old")
    assert (row["outcome"], row["exit_code"]) == ("ran", 0)


def test_a_peer_that_takes_too_long_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    row, _ = compared(capsys, "mcpscore", "--timeout", "0.2", "--", *LIBRARY, "old")
    assert row["outcome"] == "failed"
    assert "more than 0.2 s" in str(row["problem"])
