"""The environment a server starts with: enough to find programs and a home, and none of our secrets."""

import os
import sys
from collections.abc import Mapping

# What the official SDK passes on, so that a server behaves as under a desktop client.
_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_WINDOWS = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
)
# Beyond the SDK: without a locale a server prints its stderr as ASCII with question marks, and without TMPDIR it may
# write where it must not. Deliberately absent: proxies and package indexes (their URLs carry passwords), VIRTUAL_ENV
# (it would make a server's behaviour depend on the shell that toolvet was started from).
_ALSO = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TMPDIR", "TZ")


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of ours that a child inherits, and `extra` over them."""
    names = _WINDOWS if sys.platform == "win32" else _POSIX
    own = {name: value for name in (*names, *_ALSO) if (value := os.environ.get(name)) is not None}
    # A value that starts like this is an exported shell function of old bash (CVE-2014-6271), never a setting.
    own = {name: value for name, value in own.items() if not value.startswith("()")}
    return {**own, **(extra or {})}
