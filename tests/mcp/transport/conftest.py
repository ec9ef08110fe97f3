import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolvet.mcp.transport import StdioTarget

HERE = Path(__file__).parent


@pytest.fixture
def hostile() -> Callable[[str], StdioTarget]:
    """The hostile server in a mode."""
    return lambda mode: StdioTarget(sys.executable, (str(HERE / "hostile_server.py"), mode))


@pytest.fixture(scope="session")
def sdk_url() -> Iterator[str]:
    """A server of the official SDK that speaks both eras over Streamable HTTP."""
    command = [sys.executable, str(HERE / "sdk_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        process.terminate()


@pytest.fixture
def runs() -> Callable[[int], bool]:
    """Whether a process runs; a zombie, which only waits for its parent, does not."""

    def running(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"

    return running


@pytest.fixture
def ends(runs: Callable[[int], bool]) -> Callable[[int], bool]:
    """Whether a process that was killed when its killer exited is gone soon: a signal is not an end yet."""

    def ended(pid: int) -> bool:
        for _ in range(1000):
            if not runs(pid):
                return True
            time.sleep(0.01)
        return False

    return ended
