"""Work that takes seconds: a terminal shows a notice, and another process does the work if one can be started.

python -m toolvet.core.discover.background toolvet.core.matching.engine_hyperscan KEY     # what `start_building` starts
"""
# ruff: noqa: PTH119, PTH120 - as in `cache`

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Final, TextIO

_WAIT: Final = "wait"
_NICE: Final = 10
# Ends at once and leaves a process without a parent, so that the caller need not wait for it.
_SHELL: Final = 'trap "" HUP INT; "$@" </dev/null >/dev/null 2>&1 &'
_announced: set[str] = set()
_started: set[tuple[str, str]] = set()


def announce(how: str = "this takes some seconds, and is kept") -> None:
    """Say once at a terminal that something is prepared that takes long."""
    stream: TextIO | None = sys.stderr
    if _announced or stream is None:
        return
    _announced.add(how)
    # It may be closed: then the message has no reader.
    with suppress(OSError, ValueError):
        if stream.isatty():
            stream.write(f"toolvet: preparing the phrases of all languages; {how}\n")
            stream.flush()


def start_building(module: str, key: bytes) -> bool:
    """Have `module.build(key)` run by a process of its own, once; return whether it was started.

    It is not where `TOOLVET_PREPARE=wait` says so, on Windows, and where this program is not a plain Python, which
    would not understand what it should run.
    """
    job = module, key.hex()
    if job in _started:
        return True
    program = sys.executable or ""
    if (
        os.environ.get("TOOLVET_PREPARE") == _WAIT
        or os.name != "posix"
        or getattr(sys, "frozen", False)
        or not os.path.basename(program).startswith("python")
    ):
        return False
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100 - as above
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    words = ["/bin/sh", "-c", _SHELL, "sh", program, "-P", "-m", __name__, *job]
    try:
        process = os.posix_spawn(words[0], words, {**os.environ, "PYTHONPATH": path})
    except OSError:
        return False
    _started.add(job)
    # A program may wait for all its children itself.
    with suppress(ChildProcessError):
        os.waitpid(process, 0)
    return True


def main() -> None:
    """Build the entries that the command line names, at a low priority."""
    module, key = sys.argv[1:]
    os.nice(_NICE)
    import_module(module).build(bytes.fromhex(key))


if __name__ == "__main__":
    main()
