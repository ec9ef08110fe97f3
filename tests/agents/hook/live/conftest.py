"""A client is installed by the first test that needs it, some hundred megabytes each; how long hooks took is shown."""

from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

_SECONDS = 1_200
HookTimes = dict[tuple[str, str], list[tuple[float, float]]]
_TIMES = pytest.StashKey[HookTimes]()


@pytest.fixture
def hook_times(pytestconfig: pytest.Config) -> HookTimes:
    """Seconds that the client waited and CPU seconds of the hook's process, by client and moment."""
    return pytestconfig.stash.setdefault(_TIMES, defaultdict(list))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the medians, for docs/hooks.md."""
    for (client, moment), times in sorted(config.stash.get(_TIMES, {}).items()):
        waited, cpu = zip(*times, strict=True)
        shown = f"waited {median(waited):.2f} s (at most {max(waited):.2f} s), CPU {median(cpu):.2f} s"
        terminalreporter.write_line(f"{client:8} {moment:7} {len(times):3} hooks: {shown}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the time that an installation may take."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(_SECONDS))
