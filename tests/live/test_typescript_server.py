"""A faultless server on the official TypeScript SDK gets no error, no warning and 100."""

import asyncio
import shutil
from pathlib import Path

import pytest
from tests.live.servers import typescript_sdk

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed, and runs the server"),
]
SERVER = Path(__file__).parents[1] / "servers" / "idiomatic_typescript.mjs"
# Behaviour of the SDK that the server's author cannot change: each is one note of the server.
OF_THE_SDK = {"unknown-argument-ignored", "unknown-tool-answer", "arguments-not-object"}


def assessed(*flags: str) -> Report:
    env = {"SDK": str(typescript_sdk().parent)}
    return asyncio.run(assess(StdioTarget("node", (str(SERVER), *flags), env), Options(timeout=20)))


@pytest.mark.parametrize("flags", [(), ("--annotated",)], ids=["plain", "annotated"])
def test_a_faultless_typescript_server_gets_100_and_no_blame(flags: tuple[str, ...]) -> None:
    report = assessed(*flags)
    assert [finding for finding in report.findings if finding.severity.value != "info"] == []
    assert (report.score, report.status) == (100.0, "fully_working")
    assert len(report.tools) == 5
    assert all(tool.skipped is None for tool in report.tools)


def test_what_the_sdk_does_is_one_note_of_the_server() -> None:
    about_server = [finding.id for finding in assessed().findings if not finding.concerns]
    assert sorted(about_server) == sorted(set(about_server))
    assert set(about_server) <= OF_THE_SDK
    assert not OF_THE_SDK & {finding.id for finding in assessed().findings if finding.concerns}
