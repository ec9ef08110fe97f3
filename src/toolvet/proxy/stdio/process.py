"""The server as a child process of the proxy: start it, signal it, and end it with everything it started.

It leads a session and a process group of its own, so that a signal reaches it once, from the proxy, and so that all it
starts can be ended with it. It shares our stderr: what it writes there goes where it would go without the proxy.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final, cast

from toolvet.errors import UnreachableError
from toolvet.mcp.transport import end_orphans, forget, starting_helper, starting_server
from toolvet.proxy.stdio.pipe import PipeWriter, enlarge

# A killed proxy cannot clean up, so a second process watches: the watchdog reads a pipe that only the proxy holds open.
# A line means that all is well; the end of the pipe means that the proxy died. Then the server has seen the end of its
# stdin, too, gets a second to act on it, and is ended as the proxy would. PR_SET_PDEATHSIG would make the watchdog
# unnecessary on Linux, but kills only the direct child (`uvx`, `npx` and shells leave the server itself alive) and is
# set in a forked Python.
_WATCHDOG: Final = """
read -r word && exit 0
for signal in 0 TERM KILL; do
  kill -s $signal -- "-$1" 2>/dev/null || exit 0
  [ $signal = KILL ] || sleep 1
done
"""

# The time that a server's own children have to end after it, in seconds.
_GROUP_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.01


class ServerProcess:
    """A running server: `stdin` to write to, the descriptor `stdout` to read from, and ways to end it."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None) -> None:
        """Start the server. `env` None passes our entire environment on. Raises UnreachableError if it cannot start."""
        try:
            # Unbuffered, because the loop reads the descriptors itself.
            with starting_server() as started:
                self._popen = subprocess.Popen(  # noqa: S603 - the command is what the user asked for.
                    list(command),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=env,
                    cwd=cwd,
                    start_new_session=True,
                )
                started(self._popen.pid)
        except (OSError, ValueError) as error:
            raise UnreachableError(_explain_failure(command, cwd, error)) from error
        self.pid = self._popen.pid
        self._watchdog = _start_watchdog(self.pid)
        fd = _detach(self._popen.stdin)
        os.set_blocking(fd, False)
        enlarge(fd)
        self.stdin = PipeWriter(fd)
        self.stdout = _detach(self._popen.stdout)
        enlarge(self.stdout)

    @property
    def exit_code(self) -> int | None:
        """The exit code as a shell reports it: 128 plus the number for a signal; None while the server runs."""
        code = self._popen.poll()
        return code if code is None or code >= 0 else 128 - code

    @property
    def ended_by(self) -> str:
        """How the server ended, in words."""
        code = self._popen.returncode
        if code is None or code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    def send_signal(self, number: int) -> None:
        """Send a signal to the server and all it started."""
        self._signal_group(number)

    def close(self) -> None:
        """End the server with all it started, then the watchdog."""
        if self._popen.poll() is None:
            # Only when the proxy itself failed.
            self.send_signal(signal.SIGKILL)
            self._popen.wait()
        # `npx` and `uvx` may end before their server, which gets a moment to clean up.
        deadline = monotonic() + _GROUP_SECONDS
        number: int = signal.SIGTERM
        while self._signal_group(number):
            if monotonic() > deadline:
                self._signal_group(signal.SIGKILL)
                break
            # The system does not report the end of a grandchild.
            sleep(_POLL_SECONDS)
            number = 0
        for _ in end_orphans(self.pid):
            sleep(_POLL_SECONDS)
        forget(self.pid)
        self.stdin.close()
        os.close(self.stdout)
        if self._watchdog is not None and self._watchdog.stdin is not None:
            try:
                self._watchdog.stdin.write(b"\n")
                self._watchdog.stdin.close()
            except OSError:
                # The watchdog was ended from outside.
                pass
            self._watchdog.wait()
            forget(self._watchdog.pid)

    def _signal_group(self, number: int) -> bool:
        """Send a signal (0: none) to the group. Returns whether it has any process left."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # macOS reports EPERM where only zombies are left.
            return False
        return True


def _start_watchdog(pid: int) -> "subprocess.Popen[bytes] | None":
    try:
        with starting_helper() as started:
            watchdog = subprocess.Popen(  # noqa: S603 - a constant command.
                ["/bin/sh", "-c", _WATCHDOG, "toolvet-guard", str(pid)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
            started(watchdog.pid)
            return watchdog
    except OSError:
        # An image without a shell. The server still sees the end of its stdin when the proxy dies.
        return None


def _detach(stream: IO[bytes] | None) -> int:
    """Return a descriptor of the stream without its file object, which would close it when collected."""
    fd = os.dup(cast("IO[bytes]", stream).fileno())
    cast("IO[bytes]", stream).close()
    return fd


def _explain_failure(command: Sequence[str], cwd: str | None, error: OSError | ValueError) -> str:
    name = command[0]
    if cwd is not None and not Path(cwd).is_dir():
        return f"cannot start `{name}`: there is no folder {cwd}"
    if isinstance(error, FileNotFoundError):
        if os.sep in name:
            return f"cannot start `{name}`: there is no such file (or its interpreter is missing)"
        return f"cannot start `{name}`: there is no such program on PATH; is it installed, and is the name right?"
    if isinstance(error, PermissionError):
        return f"cannot start `{name}`: it is not executable"
    return f"cannot start `{name}`: {error}"
