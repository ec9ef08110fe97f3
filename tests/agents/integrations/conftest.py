import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from toolvet.mcp.transport import HttpTarget, StdioTarget, Target

PROGRAM = str(Path(__file__).parent / "flights.py")
KINDS = ("fastmcp", "mcpserver", "lowlevel")


@pytest.fixture(scope="session")
def urls() -> Iterator[dict[str, str]]:
    """Every kind of server over Streamable HTTP."""
    with ExitStack() as stack:
        found: dict[str, str] = {}
        for kind in KINDS:
            command = [sys.executable, PROGRAM, kind, "http"]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.terminate)
            assert process.stdout is not None
            found[kind] = f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        yield found


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, urls: dict[str, str]) -> Target:
    """A server that validates, over HTTP: it is started once for all tests."""
    return HttpTarget(urls[request.param])


@pytest.fixture(params=KINDS)
def program(request: pytest.FixtureRequest) -> StdioTarget:
    """The same server as a program that speaks through pipes; each test starts its own."""
    return StdioTarget(sys.executable, (PROGRAM, request.param, "stdio"))
