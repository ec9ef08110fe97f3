"""A faultless server, written as its framework teaches, gets no error, no warning and 100.

`tests/live` assesses the TypeScript one.
"""

import asyncio
import sys
from functools import cache
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVERS = Path(__file__).parents[1] / "servers"
PYTHON = ("idiomatic_fastmcp.py", "idiomatic_mcpserver.py", "idiomatic_lowlevel.py")
# Behaviour of the SDK is reported for the server, not for its tools.
OF_THE_SERVER = {
    *("unknown-argument-ignored", "unknown-tool-answer", "text-mirror-missing"),
    *("prompt-absent-answer", "completion-absent-answer"),
}


@cache
def report(server: str, *flags: str) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVERS / server), *flags))
    return asyncio.run(assess(target, Options(timeout=20)))


@pytest.mark.parametrize("flags", [(), ("--annotated",)], ids=["plain", "annotated"])
@pytest.mark.parametrize("server", PYTHON)
def test_a_faultless_python_server_gets_100_and_no_blame(server: str, flags: tuple[str, ...]) -> None:
    check(report(server, *flags))


@pytest.mark.parametrize("server", PYTHON)
def test_what_the_framework_does_is_one_note_of_the_server(server: str) -> None:
    about_server = [finding.id for finding in report(server).findings if finding.tool is None]
    assert sorted(about_server) == sorted(set(about_server))
    assert set(about_server) <= OF_THE_SERVER
    assert not OF_THE_SERVER & {finding.id for finding in report(server).findings if finding.tool is not None}


@pytest.mark.parametrize("server", PYTHON)
def test_words_of_the_framework_earn_its_author_no_score(server: str) -> None:
    assert all(tool.error_message_score is None for tool in report(server).tools)


def check(found: Report) -> None:
    assert [finding for finding in found.findings if finding.severity.value != "info"] == []
    assert (found.score, found.status) == (100.0, "fully_working")
    assert len(found.tools) == 5
    assert all(tool.skipped is None for tool in found.tools)
    items = (*found.items.resources, *found.items.resource_templates, *found.items.prompts)
    assert found.items.resources
    assert found.items.resource_templates
    assert found.items.prompts
    assert [(item.identity, item.why_not) for item in items if not item.exercised] == []
    asked = [request for item in items for request in item.requests] + found.items.others
    assert [request for request in asked if request.passed is False] == []
