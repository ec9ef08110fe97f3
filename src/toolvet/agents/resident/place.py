"""Where the resident of this user, this installation and this kind of call listens, and who may be there."""
# ruff: noqa: PTH102, PTH118 - every call imports this: pathlib and typing would cost more than the call.

import os
import stat
import sys

from toolvet.version import __version__

try:
    # The same function; `hashlib` loads OpenSSL first.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

VARIABLE = "TOOLVET_RESIDENT"
_IDLE_SECONDS = 600
_WORDS = {"": 0, "off": 0, "on": _IDLE_SECONDS}
_MOST_IDLE_SECONDS = 24 * 3600
_MOST_PATH_BYTES = 107  # The length of an address in the kernel, without its last byte.
# What Python reads when it starts: another value may be another answer. The rest goes along with each request.
_OF_PYTHON = ("PYTHON", "LANG", "LC_")
_OTHERS = 0o077


def idle_seconds() -> int:
    """How long a resident stays without a call, as the environment says; 0 where none is wanted."""
    given = os.environ.get(VARIABLE, "").strip().lower()
    seconds = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else _WORDS.get(given, 0)
    return min(seconds, _MOST_IDLE_SECONDS)


def address() -> str | None:
    """The path of the socket; None where there is no folder that is this user's alone.

    The name follows from the version, the place of the package and of Python, and what Python's start depends on: a
    resident of anything else is never asked, and ends when it is idle.
    """
    folder = _folder()
    if folder is None:
        return None
    settings = sorted(item for item in os.environ.items() if item[0].startswith(_OF_PYTHON))
    identity = (__version__, __file__, sys.executable, sys.version, tuple(sys.flags), sys.stdout.encoding, settings)
    name = blake2b(repr(identity).encode("utf-8", "replace"), digest_size=16).hexdigest()
    path = os.path.join(folder, f"{name}.sock")
    return path if len(os.fsencode(path)) <= _MOST_PATH_BYTES else None


def _folder() -> str | None:
    """The folder for sockets, made if it is missing; None if it is not this user's, or not closed to others."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = (
        os.path.join(base, "toolvet")
        if base
        else os.path.join(os.environ.get("TMPDIR") or "/tmp", f"toolvet-{os.getuid()}-run")  # noqa: S108 - it is looked at
    )
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    try:
        # A link would lead into a folder that somebody else chose.
        seen = os.lstat(folder)
    except OSError:
        return None
    return folder if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid() and not seen.st_mode & _OTHERS else None
