"""The files that a user names: which one holds the settings, and what is in it. It loads no parser (60 ms)."""
# ruff: noqa: PTH111, PTH113, PTH118, PTH120, PTH123 - pathlib would cost every start 4 ms.

import os

from toolvet.errors import ConfigError, UsageError


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


def read_user_file(path: str) -> bytes:
    """Return the content of a file that the user named. Raises ConfigError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path) from error


def beside(file: str, path: str) -> str:
    """Return a path that a file names: it begins at the folder of the file, and `~` is the home."""
    return os.path.join(os.path.dirname(file), os.path.expanduser(path))
