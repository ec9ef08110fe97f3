"""The same assessment over Streamable HTTP, in both eras, against the example server on a loopback port."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from tests.serving import serving

from toolvet.assess import Options, assess
from toolvet.mcp.transport import HttpTarget

SERVER = Path(__file__).parents[2] / "examples" / "bookshop_server.py"


@pytest.fixture
def url() -> Iterator[str]:
    with serving(sys.executable, str(SERVER), "--http", "PORT") as found:
        yield found


@pytest.mark.parametrize(("era", "version"), [("modern", "2026-07-28"), ("legacy", "2025-11-25")])
def test_faults_are_found_and_fine_tools_are_fine(era: Literal["modern", "legacy"], version: str, url: str) -> None:
    report = asyncio.run(assess(HttpTarget(url=url), Options(timeout=1.5, era=era, exclude=("export_catalog",))))
    found = {(finding.id, finding.tool) for finding in report.findings}
    assert (report.server.transport, report.server.protocol_version) == ("http", version)
    assert found >= {
        ("call-timeout", "read_reviews"),
        ("error-without-flag", "check_stock"),
        ("valid-call-failed", "recommend_books"),
    }
    assert not {tool for _, tool in found} & {"search_books", "get_book"}


def test_a_server_that_does_not_come_back_ends_the_run_and_is_said_so(url: str) -> None:
    report = asyncio.run(assess(HttpTarget(url=url), Options(timeout=1.5, tools=("export_catalog", "get_book"))))
    assert ("server-died", "export_catalog") in {(finding.id, finding.tool) for finding in report.findings}
    assert report.incomplete is not None
    assert "did not come back" in report.incomplete
