"""`identity`: what decides about verdicts, in one line: two processes with the same one give the same verdicts."""

import platform
from functools import cache
from typing import Final

from toolvet.core.discover.cache import fingerprint
from toolvet.version import __version__

# The code, the phrases and rules, and the tables: all that a verdict comes from.
_FILES: Final = (".py", ".toml", ".json")


@cache
def identity() -> str:
    """Return the version of toolvet, a digest of its rules and code, and the version of Python."""
    rules = fingerprint("toolvet", *_FILES).hex()[:12]
    python = ".".join(platform.python_version_tuple()[:2])
    return f"toolvet {__version__} (rules {rules}), Python {python}"
