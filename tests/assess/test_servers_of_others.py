"""Two servers from PyPI that are in the development environment; `make live` assesses more of them."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from toolvet.assess import Options, assess
from toolvet.mcp.transport import StdioTarget

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(("era", "version"), [("modern", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_time_server_works_fully_in_both_eras(era: Literal["modern", "legacy"], version: str) -> None:
    report = asyncio.run(assess(StdioTarget(command=str(BIN / "mcp-server-time")), Options(era=era)))
    assert (report.server.name, report.server.protocol_version, report.status) == ("mcp-time", version, "fully_working")
    assert {finding.severity.value for finding in report.findings} <= {"info", "warning"}


def test_the_git_server_reads_a_repository_and_is_not_asked_to_change_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    target = StdioTarget(command=str(BIN / "mcp-server-git"), args=("--repository", str(tmp_path)))
    report = asyncio.run(
        assess(target, Options(tools=("git_status", "git_commit"), values={"repo_path": str(tmp_path)}))
    )
    tools = {tool.name: tool for tool in report.tools}
    assert tools["git_status"].status == "fully_working"
    assert tools["git_status"].scenarios[0].arguments == {"repo_path": str(tmp_path)}
    assert "commit" in (tools["git_commit"].skipped or "")
    assert len(report.filtered) == 10
