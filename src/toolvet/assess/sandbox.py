"""The command that starts a server where it can write to nothing but its own folders and reach no network.

    wrap_in_sandbox(Sandboxed(command="/usr/bin/node", args=("index.js",), cwd="/tmp/p/work", writable=("/tmp/p",)))
    # ("bwrap", "--ro-bind", "/", "/", …, "--chdir", "/tmp/p/work", "--", "/usr/bin/node", "index.js")

Bubblewrap does it if it is installed and works, else `unshare` of util-linux with `sandbox.sh`. Reading is limited in
one way: /tmp, /var/tmp and /run are new, and hold only what the server's command line names.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal

from toolvet.core.discover import data_file
from toolvet.errors import UsageError

_HIDDEN: Final = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - they are hidden, not written to.
_PROGRAMS: Final = frozenset({"bin", "Scripts", ".bin"})
_PROBE_SECONDS: Final = 10.0
_UNSHARE: Final = (
    "unshare", "--mount", "--pid", "--ipc", "--net", "--fork", "--kill-child", "--propagation", "private",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sandboxed:
    """What to start: its absolute working folder, the folders it may write to, and the variables it is given.

    `scratch_mib` bounds each of the new folders /tmp, /var/tmp and /run, which lie in memory; None leaves that to the
    system.
    """

    command: str
    args: tuple[str, ...] = ()
    cwd: str
    writable: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    scratch_mib: int | None = None


def wrap_in_sandbox(server: Sandboxed) -> tuple[str, ...]:
    """Return the command line that starts `server` in a sandbox. Raises UsageError if no program can make one."""
    tool = sandbox_tool()
    readable = tuple(dict.fromkeys(_readable(server)))
    command = (server.command, *server.args)
    if tool == "bwrap":
        mounts = [word for path in readable for word in ("--ro-bind-try", path, path)]
        mounts += [word for path in server.writable for word in ("--bind", path, path)]
        return (
            *_bubblewrap(server.scratch_mib if _has_sizes() else None),
            *mounts,
            "--chdir",
            server.cwd,
            "--",
            *command,
        )
    script = data_file("toolvet.assess", "sandbox.sh").decode()
    folders = (str(len(server.writable)), *server.writable, str(len(readable)), *readable)
    size = "" if server.scratch_mib is None else f",size={server.scratch_mib}m"
    return (*_unshare(), "sh", "-c", script, "sandbox", size, server.cwd, *folders, *command)


@cache
def sandbox_tool() -> Literal["bwrap", "unshare"]:
    """Return the program that makes sandboxes here. Raises UsageError, which says what to install, without one."""
    if sys.platform != "linux":
        raise UsageError(
            "--sandbox needs Linux, because it is made of its namespaces; elsewhere run toolvet in a container or a VM"
        )
    if shutil.which("bwrap") and _works((*_bubblewrap(), "--", "true")):
        return "bwrap"
    if shutil.which("unshare") and _works((*_unshare(), "true")):
        return "unshare"
    raise UsageError(
        "--sandbox: neither bwrap nor unshare can make a sandbox here; install bubblewrap (apt install bubblewrap, "
        "dnf install bubblewrap), or, in a container, allow user namespaces"
    )


@cache
def _has_sizes() -> bool:
    """Whether bubblewrap is one (0.7 or newer) that can bound a folder in memory."""
    return _works((*_bubblewrap(1), "--", "true"))


def _bubblewrap(scratch_mib: int | None = None) -> tuple[str, ...]:
    size = () if scratch_mib is None else ("--size", str(scratch_mib << 20))
    fresh = [word for folder in _HIDDEN for word in (*size, "--tmpfs", folder)]
    system = ("--ro-bind-try", "/run/current-system", "/run/current-system")  # The programs of NixOS.
    namespaces = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net")
    devices = ("--dev", "/dev", "--proc", "/proc")
    return ("bwrap", "--ro-bind", "/", "/", *devices, *fresh, *system, *namespaces, "--die-with-parent")


def _unshare() -> tuple[str, ...]:
    return (*_UNSHARE, *(() if os.geteuid() == 0 else ("--map-root-user",)))


def _works(command: tuple[str, ...]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=False)  # noqa: S603 - our own words.
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _readable(server: Sandboxed) -> Iterator[str]:
    """The folders of files that command line and variables name; for /tmp/env/bin/python all of /tmp/env."""
    words = [os.getcwd(), server.command, *server.args, *(word.partition("=")[2] for word in server.args)]  # noqa: PTH109 - a string among strings.
    paths = [*words, *server.env.values(), *os.environ.get("PATH", "").split(os.pathsep)]
    for word in paths:
        path = Path(word)
        try:
            if not path.is_absolute() or not _is_hidden(path) or not path.exists():
                continue
        except (OSError, ValueError):
            continue
        folder = path if path.is_dir() else path.parent
        if folder.name in _PROGRAMS:
            folder = folder.parent
        shown = folder if _is_hidden(folder) else path
        if str(shown) not in server.writable:
            yield str(shown)


def _is_hidden(path: Path) -> bool:
    return any(Path(folder) in path.parents for folder in _HIDDEN)
