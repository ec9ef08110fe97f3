"""Readers are called again after a tool that changes things."""

import asyncio
import sys
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "desk.py"


def assessed(*words: str, include: tuple[str, ...] = ()) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVER), *words))
    return asyncio.run(assess(target, Options(timeout=10, include=include)))


def found(report: Report) -> list[tuple[str, str | None]]:
    checks = {"lifecycle-broken", "reader-changes"}
    return [(finding.id, finding.tool) for finding in report.findings if finding.id in checks]


@pytest.mark.parametrize("include", [(), ("*",)])
def test_tools_that_do_what_they_say(include: tuple[str, ...]) -> None:
    assert found(assessed(include=include)) == []


def test_what_was_made_and_is_not_there() -> None:
    report = assessed("forgets", include=("*",))
    assert found(report) == [("lifecycle-broken", "create_note")]
    # By the listing, and by the reader of one note.
    assert [finding.occurrences for finding in report.findings if finding.id == "lifecycle-broken"] == [2]


def test_what_was_deleted_and_is_still_there() -> None:
    report = assessed("keeps", include=("*",))
    assert found(report) == [("lifecycle-broken", "delete_note")]


def test_a_reader_that_takes_away() -> None:
    assert found(assessed("takes")) == [("reader-changes", "next_job")]


def test_a_reader_that_changes_something() -> None:
    report = assessed("renames")
    assert found(report) == [("reader-changes", "next_job")]
    assert [finding.severity.value for finding in report.findings if finding.id == "reader-changes"] == ["warning"]


@pytest.mark.parametrize(("word", "tools"), [("once", ["review_notes"]), ("late", []), ("mixes", [])])
def test_a_reader_that_works_only_once(word: str, tools: list[str]) -> None:
    findings = [finding for finding in assessed(word).findings if finding.id == "reader-changes"]
    assert [(finding.tool, finding.severity.value) for finding in findings] == [(tool, "error") for tool in tools]
    assert all('"Tool upgrade_notes is already registered"' in finding.message for finding in findings)


def test_what_changes_without_a_call_is_nobodys_change() -> None:
    assert found(assessed("drifts")) == []
