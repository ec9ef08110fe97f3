"""What all tests need of the process they run in."""

import signal
import sys

# The proxy does not run on Windows and says so (tests/cli/test_platform.py); its modules cannot be imported there.
collect_ignore = ["proxy"] if sys.platform == "win32" else []


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that tests start.

    A shell starts background jobs with SIGINT ignored, and children inherit that; with a handler they do not.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
