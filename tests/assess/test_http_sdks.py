"""The transport of servers on the real SDKs: no error and no warning but for what their authors can switch."""

import asyncio
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.serving import serving

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import HttpTarget

SERVERS = Path(__file__).parents[1] / "servers"
TOKEN = "a-token-for-tests"

# Findings about the transport of each server, with their severity.
PYTHON: dict[str, dict[str, str]] = {
    "fastmcp": {"http-origin-unchecked": "warning"},
    "fastmcp-protected": {},
    "fastmcp-json": {"http-origin-unchecked": "warning"},
    "mcpserver": {},
    "mcpserver-open": {"http-origin-unchecked": "warning"},
    "lowlevel": {},
}
SETTINGS = {
    "fastmcp": "host_origin_protection",
    "mcpserver-open": "TransportSecuritySettings",
}


@cache
def report(style: str) -> Report:
    headers = {"Authorization": f"Bearer {TOKEN}"} if style.endswith("token") else None
    with serving(sys.executable, str(SERVERS / "over_http.py"), style, "PORT") as url:
        # The tools of all styles are the same ones, so a few of them are enough for the others.
        only = () if style in {"fastmcp", "mcpserver", "lowlevel"} else ("list_*",)
        return asyncio.run(assess(HttpTarget(url, headers), Options(timeout=20, tools=only)))


def about_transport(found: Report) -> dict[str, str]:
    return {finding.id: finding.severity.value for finding in found.findings if finding.id.startswith("http-")}


def check(found: Report, expected: dict[str, str]) -> None:
    assert about_transport(found) == expected
    assert [f for f in found.findings if f.severity.value != "info" and not f.id.startswith("http-")] == []
    assert found.score == 100.0
    assert found.transport is not None
    assert len(found.transport.probes) > 15
    assert found.transport.not_probed is None


@pytest.mark.parametrize("style", PYTHON)
def test_a_python_server_is_blamed_for_what_its_author_can_switch_only(style: str) -> None:
    check(report(style), PYTHON[style])


@pytest.mark.parametrize("style", SETTINGS)
def test_a_warning_names_the_setting_of_the_sdk(style: str) -> None:
    (finding,) = (finding for finding in report(style).findings if finding.id == "http-origin-unchecked")
    assert SETTINGS[style] in finding.remedy


def test_a_python_server_that_checks_host_and_origin_answers_every_probe_as_wanted() -> None:
    seen = report("mcpserver").transport
    assert seen is not None
    assert [probe.id for probe in seen.probes if probe.as_wanted is not True] == []


def test_credentials_keep_web_pages_out_and_their_lack_is_answered_properly() -> None:
    assert about_transport(report("fastmcp-token")) == {"http-origin-unchecked": "info", **CHALLENGE}


# Its verifier knows no authorization server, so it has no place to name.
CHALLENGE = {"http-challenge-missing": "info"}
