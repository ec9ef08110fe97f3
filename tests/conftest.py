"""What all tests need of the process they run in."""

import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.store.postgres import PostgresServer

# The proxy does not run on Windows and says so (tests/cli/test_platform.py); its modules cannot be imported there.
collect_ignore = ["proxy", "story"] if sys.platform == "win32" else []

# Nothing here judges by the clock: neither a deadline for an example nor a limit on how long drawing examples takes.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    # Every run draws the same examples, so a red test is due to a change. `make fuzz` draws others.
    derandomize=True,
)
# For `make test`: a fifth of the examples.
settings.register_profile("quick", settings.get_profile("suite"), max_examples=20)
# For `make fuzz`.
settings.register_profile("fuzz", settings.get_profile("suite"), max_examples=1_000, derandomize=False)
# For `make model`.
settings.register_profile("model", settings.get_profile("suite"), max_examples=10_000, derandomize=False)


_HERE = Path(__file__).parent
FULL = tuple(line for line in (_HERE / "full.txt").read_text("utf-8").splitlines() if line and line[0] != "#")
"""What only `make test-full` runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`."""
    parser.addoption("--full", action="store_true", help="Run what tests/full.txt lists, too, and more examples.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what only `make test-full` runs, unless it is named."""
    if config.getoption("--full") or not collection_path.is_relative_to(_HERE):
        return None
    place = collection_path.relative_to(_HERE).as_posix()
    named = any(
        (config.invocation_params.dir / each.partition("::")[0]).is_relative_to(collection_path) for each in config.args
    )
    return True if place in FULL and not named else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out."""
    if not config.getoption("--full"):
        terminalreporter.write_line(
            f"{len(FULL)} slow files, folders and tests were left out (tests/full.txt): make test-full runs them"
        )


def pytest_configure(config: pytest.Config) -> None:
    """Give signals to the programs that tests start, and compile the phrases before several processes need them."""
    # A shell starts background jobs with SIGINT ignored, `nohup` does so with SIGHUP, and children inherit that; what
    # has a handler here has its default there.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)
    if not config.getoption("hypothesis_profile", None):
        settings.load_profile("suite" if config.getoption("--full") else "quick")
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        compile_phrases()


@pytest.hookimpl(optionalhook=True)  # Some runs are without xdist.
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: many tests wait for a process."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out single slow tests, and skip those that read labelled data if they are not beside the project."""
    slow = [item for item in items if item.nodeid.removeprefix("tests/") in FULL]
    if slow and not config.getoption("--full"):
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)
    if not labelled.FOLDER.is_dir():
        for item in items:
            if item.get_closest_marker("labelled"):
                item.add_marker(pytest.mark.skip("the labelled data are not beside the project"))


def compile_phrases() -> None:
    """Fill the cache folder: until it is, the slow engine serves every worker."""
    from toolvet.core.turn.warming import prepare  # noqa: PLC0415 - One room in one process can do without.

    prepare()


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    """A PostgreSQL server of this run: one for the tests of all folders."""
    from tests.store.postgres import PostgresServer, programs  # noqa: PLC0415 - not on Windows

    folder = programs()
    if folder is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    if find_spec("psycopg") is None:
        pytest.skip('needs psycopg: pip install "toolvet[postgres]"')
    server = PostgresServer(folder)
    yield server
    server.close()
