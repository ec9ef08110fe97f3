"""Servers that others wrote, assessed as they are, each in an environment of its own that `make live` installs.

Each finding that is asserted here was read, and a person would agree with it.
"""

import asyncio
import subprocess
from pathlib import Path
from typing import Literal

import pytest
from tests.live.servers import everything_server, git_server, sqlite_server, time_server

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

pytestmark = pytest.mark.live


def run(target: StdioTarget, options: Options) -> Report:
    return asyncio.run(assess(target, options))


def found(report: Report) -> set[tuple[str, str]]:
    return {(finding.id, finding.severity.value) for finding in report.findings}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init", "--initial-branch=main")
    (tmp_path / "example.txt").write_text("one\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "Add an example")
    (tmp_path / "example.txt").write_text("two\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("era", "version"), [("modern", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_time_server_works_in_both_eras(era: Literal["modern", "legacy"], version: str) -> None:
    report = run(time_server(), Options(era=era))
    assert report.server.protocol_version == version
    assert report.status == "fully_working"
    assert {tool.status for tool in report.tools} == {"fully_working"}
    assert all(severity != "error" for _, severity in found(report))


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_git_server_works_on_a_real_repository_in_both_eras(
    era: Literal["modern", "legacy"], repository: Path
) -> None:
    target = StdioTarget(command=git_server().command, args=("--repository", str(repository)))
    report = run(target, Options(era=era, values={"repo_path": str(repository)}))
    skipped = {tool.name for tool in report.tools if tool.skipped}
    assert skipped == {"git_add", "git_checkout", "git_commit", "git_create_branch", "git_reset"}
    assert all(severity != "error" for _, severity in found(report))
    status = next(tool for tool in report.tools if tool.name == "git_status")
    assert status.status == "fully_working"


def test_the_sqlite_server_reports_errors_without_the_flag(tmp_path: Path) -> None:
    report = run(StdioTarget(command=str(sqlite_server()), args=("--db-path", str(tmp_path / "x.db"))), Options())
    assert report.server.protocol_version == "2025-11-25"
    assert ("error-without-flag", "error") in found(report)
    assert ("unknown-tool-answer", "error") in found(report)
    assert {tool.name for tool in report.tools if tool.skipped} == {"write_query", "create_table", "append_insight"}


def test_the_everything_server_is_assessed_whole() -> None:
    report = run(everything_server(), Options(exclude=("gzip-file-as-resource",)))
    assert report.server.protocol_version == "2025-11-25"
    by_name = {tool.name: tool for tool in report.tools}
    assert "task" in (by_name["simulate-research-query"].skipped or "")
    assert by_name["echo"].status == "fully_working"
    assert by_name["get-structured-content"].status == "fully_working"
    assert {tool for tool in by_name if by_name[tool].status == "broken"} == set()
