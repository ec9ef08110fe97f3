"""`settings_file`: which file holds the settings, if there is one. It needs none of what reads the settings (60 ms)."""
# ruff: noqa: PTH113, PTH123 - pathlib would cost every start 4 ms.

import os

from toolvet.errors import UsageError


def settings_file(given: str | None) -> str | None:
    """Return the path of the settings file: `given`, or the one of the current folder; None where there is none.

    A pyproject.toml in which nothing is about toolvet is none, whatever else is in it.

    Raises:
        UsageError: there is no file `given`.
    """
    if given is not None:
        if not os.path.isfile(given):
            raise UsageError(f"--settings {given}: no such file")
        return given
    if os.path.isfile("toolvet.toml"):
        return "toolvet.toml"
    return "pyproject.toml" if os.path.isfile("pyproject.toml") and _is_about_us("pyproject.toml") else None


def _is_about_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"toolvet" in file.read()
    except OSError:
        # Whoever reads it says what is wrong with it.
        return True
