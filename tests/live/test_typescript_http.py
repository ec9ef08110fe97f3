"""The transport of servers on the official TypeScript SDK: blamed only for what their authors can switch."""

import asyncio
import shutil
from functools import cache
from pathlib import Path

import pytest
from tests.assess.test_http_sdks import check
from tests.live.servers import typescript_sdk
from tests.serving import serving

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import HttpTarget

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed, and runs the server"),
]
SERVER = Path(__file__).parents[1] / "servers" / "http_typescript.mjs"
# The SDK answers arrays by itself, and the page of errors is that of Express in development.
OF_EXPRESS = {"http-batch-answered": "info", "http-error-leak": "info"}
EXPECTED = {
    "app": {**OF_EXPRESS, "http-origin-unchecked": "info"},
    "express": {**OF_EXPRESS, "http-origin-unchecked": "warning"},
    "stateless": {**OF_EXPRESS, "http-origin-unchecked": "info"},
}


@cache
def report(style: str) -> Report:
    with serving("node", str(SERVER), "PORT", style, SDK=str(typescript_sdk().parent)) as url:
        return asyncio.run(assess(HttpTarget(url), Options(timeout=20)))


@pytest.mark.parametrize("style", EXPECTED)
def test_a_typescript_server_is_blamed_for_what_its_author_can_switch_only(style: str) -> None:
    check(report(style), EXPECTED[style])


def test_the_warning_names_the_setting_of_the_sdk() -> None:
    (finding,) = (finding for finding in report("express").findings if finding.id == "http-origin-unchecked")
    assert "createMcpExpressApp" in finding.remedy
