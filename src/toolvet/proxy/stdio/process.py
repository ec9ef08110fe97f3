"""The server as a child process of the proxy: started, told to end, and gone for certain.

It leads a session and a process group of its own, so that a signal reaches it once, from us, and so that all it starts
can be ended with it. Its stderr is ours: what it writes there goes where it would have gone without us.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final, cast

from toolvet.errors import UnreachableError
from toolvet.proxy.stdio.pipe import Outlet, enlarge

# A killed proxy cannot clean up, so somebody else watches: the guard reads a pipe that only we hold open. A line means
# that all is well; the end of the pipe means that we died. Then the server has seen the end of its stdin, too, gets a
# second to act on it, and is ended like by us. PR_SET_PDEATHSIG would spare the guard on Linux, but kills only the
# direct child (`uvx`, `npx` and shells leave the server itself alive) and is set in a forked Python.
_GUARD = """
read -r word && exit 0
for signal in 0 TERM KILL; do
  kill -s $signal -- "-$1" 2>/dev/null || exit 0
  [ $signal = KILL ] || sleep 1
done
"""

# What a server's own children get to end, once it did.
_GROUP_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.01


class ServerProcess:
    """A running server: `stdin` to write to, `stdout` to read from, and ways to end it."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None) -> None:
        """Start it. `env` None means ours, whole. Raises UnreachableError when it cannot be started."""
        try:
            # Unbuffered, because the loop reads the descriptors itself.
            self._popen = subprocess.Popen(  # noqa: S603 - the command is what the user asked for.
                list(command),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UnreachableError(_why_not_started(command, cwd, error)) from error
        self.pid = self._popen.pid
        self._guard = _guard(self.pid)
        fd = _detached(self._popen.stdin)
        os.set_blocking(fd, False)
        enlarge(fd)
        self.stdin = Outlet(fd)
        self.stdout = _detached(self._popen.stdout)
        enlarge(self.stdout)

    @property
    def exit_code(self) -> int | None:
        """As a shell has it: 128 and the number of the signal for a server that a signal ended; None while it runs."""
        code = self._popen.poll()
        return code if code is None or code >= 0 else 128 - code

    @property
    def ended_by(self) -> str:
        """How it ended, in words."""
        code = self._popen.returncode
        if code is None or code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    def send_signal(self, number: int) -> None:
        """To the server and all it started."""
        self._signalled(number)

    def close(self) -> None:
        """Nothing that it started is left, and the guard may go."""
        if self._popen.poll() is None:
            # Only if we fail ourselves.
            self.send_signal(signal.SIGKILL)
            self._popen.wait()
        self._end_group()
        self.stdin.close()
        os.close(self.stdout)
        if self._guard is not None and self._guard.stdin is not None:
            try:
                self._guard.stdin.write(b"\n")
                self._guard.stdin.close()
            except OSError:
                # Somebody ended the guard.
                pass
            self._guard.wait()

    def _end_group(self) -> None:
        """`npx` and `uvx` may end before the server they started, which needs a moment to put its things in order."""
        deadline = monotonic() + _GROUP_SECONDS
        number: int = signal.SIGTERM
        while self._signalled(number):
            if monotonic() > deadline:
                self._signalled(signal.SIGKILL)
                return
            # Nobody is told when a grandchild ends.
            sleep(_POLL_SECONDS)
            number = 0

    def _signalled(self, number: int) -> bool:
        """Whether there is anybody left in the group."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # macOS says EPERM where only zombies are left.
            return False
        return True


def _guard(pid: int) -> "subprocess.Popen[bytes] | None":
    try:
        return subprocess.Popen(  # noqa: S603 - our own words.
            ["/bin/sh", "-c", _GUARD, "toolvet-guard", str(pid)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        # An image without a shell. The server still sees the end of its stdin when we die.
        return None


def _detached(stream: IO[bytes] | None) -> int:
    """The descriptor alone, so that no file object closes it behind our back."""
    fd = os.dup(cast("IO[bytes]", stream).fileno())
    cast("IO[bytes]", stream).close()
    return fd


def _why_not_started(command: Sequence[str], cwd: str | None, error: OSError | ValueError) -> str:
    name = command[0]
    if cwd is not None and not Path(cwd).is_dir():
        return f"cannot start `{name}`: there is no folder {cwd}"
    if isinstance(error, FileNotFoundError):
        if os.sep in name:
            return f"cannot start `{name}`: there is no such file (or its interpreter is missing)"
        return f"cannot start `{name}`: no such program on PATH; is it installed, and spelled so?"
    if isinstance(error, PermissionError):
        return f"cannot start `{name}`: it is not executable"
    return f"cannot start `{name}`: {error}"
