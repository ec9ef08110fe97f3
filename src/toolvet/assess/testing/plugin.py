"""The plugin that pytest finds (entry point `pytest11`). Every test run imports it, so it imports nothing itself."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolvet.assess import Options, Report
    from toolvet.assess.testing.server import ServerUnderTest
    from toolvet.mcp.transport import Target

_MISSING = (
    "toolvet: which server? Set toolvet_server in pytest's settings (toolvet_server = python server.py, or a URL), "
    "give --toolvet-server, or write a fixture `toolvet_target` that returns a list of words or a URL."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and the setting of the same name."""
    group = parser.getgroup("toolvet")
    about = "the MCP server under test: a command line, or a URL"
    group.addoption("--toolvet-server", metavar="COMMAND", help=about)
    group.addoption(
        "--toolvet-update", action="store_true", help="write the snapshots of tool definitions instead of comparing"
    )
    parser.addini("toolvet_server", about, default="")


@pytest.fixture(scope="session")
def toolvet_target(pytestconfig: pytest.Config) -> "str | list[str] | Target":
    """The server under test, from `--toolvet-server` or the setting. Write a fixture of this name for another one."""
    given = pytestconfig.getoption("--toolvet-server") or pytestconfig.getini("toolvet_server")
    if not given:
        pytest.fail(_MISSING, pytrace=False)
    return str(given) if "://" in str(given).partition(" ")[0] else shlex.split(str(given))


@pytest.fixture(scope="session")
def toolvet_options() -> "Options":
    """The options of an assessment, from `toolvet.toml` or `[tool.toolvet]`; to change them, override this fixture."""
    from toolvet.assess.given import read_options  # noqa: PLC0415
    from toolvet.core.settings import load_settings  # noqa: PLC0415

    return read_options(load_settings(None))


@pytest.fixture(scope="session")
def toolvet_server(
    toolvet_target: "str | list[str] | Target", toolvet_options: "Options", pytestconfig: pytest.Config
) -> "ServerUnderTest":
    """The server under test: `assess`, `call`, `definitions`, and assertions about them."""
    from toolvet.assess.testing.server import ServerUnderTest  # noqa: PLC0415
    from toolvet.mcp.transport import HttpTarget, StdioTarget  # noqa: PLC0415

    if isinstance(toolvet_target, str):
        return ServerUnderTest(HttpTarget(url=toolvet_target), toolvet_options)
    if isinstance(toolvet_target, list):
        command, *args = map(str, toolvet_target)
        target = StdioTarget(command, tuple(args), cwd=str(pytestconfig.rootpath))
        return ServerUnderTest(target, toolvet_options)
    return ServerUnderTest(toolvet_target, toolvet_options)


@pytest.fixture(scope="session")
def assert_assessment(toolvet_server: "ServerUnderTest") -> "Callable[..., Report]":
    """Assert that the server is as good as that: `assert_assessment(score=90)`."""
    return toolvet_server.assert_assessment


@pytest.fixture
def assert_definitions(toolvet_server: "ServerUnderTest", request: pytest.FixtureRequest) -> "Callable[..., None]":
    """Assert that the tools are defined as in the snapshot beside the test: `assert_definitions()`."""
    update = bool(request.config.getoption("--toolvet-update"))
    test: Any = request.node
    folder = Path(test.path).parent
    own = Path("__toolvet__", f"{Path(test.path).stem}.json")

    def compare(snapshot: "str | Path" = own) -> None:
        __tracebackhide__ = True
        toolvet_server.assert_definitions(folder / snapshot, update=update)

    return compare
