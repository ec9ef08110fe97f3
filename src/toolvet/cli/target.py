"""The server of a command line: `-- COMMAND ARGS…` or a URL, with its headers, variables and folder."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from toolvet.core.json_value import whole
from toolvet.errors import UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target

_ADDRESS: Final = re.compile(r"([A-Za-z0-9][\w.-]*|\[[0-9a-fA-F:]+\]):\d{1,5}(?:/\S*)?")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_INTERPRETERS: Final = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node"}


def read_target(
    words: Sequence[str], *, headers: Mapping[str, str], environment: Mapping[str, str], cwd: str | None
) -> Target:
    """Return the server that these words name, at least one.

    A script is started with its interpreter, and `localhost:8000/mcp` is a URL. Raises UsageError for words that do not
    go together.

    >>> read_target(["localhost:8000/mcp"], headers={}, environment={}, cwd=None).describe()
    'http://localhost:8000/mcp'
    """
    found = _ADDRESS.fullmatch(words[0])
    if found is not None and shutil.which(words[0]) is None:
        if found[1] not in _LOOPBACK:
            raise UsageError(f"{words[0]}: begin a URL with https:// or http://")
        words = [f"http://{words[0]}", *words[1:]]
    interpreter = _INTERPRETERS.get(Path(words[0]).suffix)
    if interpreter is not None and Path(words[0]).is_file() and not os.access(words[0], os.X_OK):
        words = [interpreter, *words]
    if is_url(words[0]):
        if len(words) > 1:
            raise UsageError(f"one URL at a time; unexpected: {' '.join(words[1:])}")
        return HttpTarget(url=words[0], headers=headers)
    if headers:
        raise UsageError("--header is for a URL; a command gets its secrets through --env NAME")
    return StdioTarget(command=words[0], args=tuple(words[1:]), env=environment, cwd=cwd)


def parse_variable(text: str) -> tuple[str, str]:
    """Read `NAME=VALUE`, or `NAME` for a variable of our own environment. Raises UsageError where we have none."""
    name, equals, value = text.partition("=")
    if equals:
        return name, value
    problem = f"--env {name}: our own environment has no such variable; give one as {name}=VALUE"
    return name, read_variable(name, problem=problem)


def is_url(word: str) -> bool:
    """Whether the first word of a target is the URL of a server; else it is a command to start."""
    return word.startswith(("http://", "https://"))


def parse_header(text: str) -> tuple[str, str]:
    """Split `Name: value`. Raises UsageError for a text without a name, or with a line break.

    >>> parse_header("Authorization: Bearer abc")
    ('Authorization', 'Bearer abc')
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(letter in text for letter in "\r\n"):
        raise UsageError(f"--header {name.strip()!r}: write it as 'Name: value'")
    return name.strip(), value.strip()


def read_variable(name: str, *, problem: str) -> str:
    """Return the environment variable `name`. Raises UsageError with `problem` if it is not set."""
    value = os.environ.get(name)
    if value is None:
        raise UsageError(problem)
    return value


def parse_address(text: str) -> tuple[str, int]:
    """Split `127.0.0.1:8080`, `[::1]:8080` or `localhost:0` into host and port; port 0 takes any that is free.

    Raises UsageError for anything else.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or (number := whole(port)) is None or number > 65535:
        raise UsageError(f"--metrics {text}: write it as HOST:PORT, such as 127.0.0.1:8080")
    return host.removeprefix("[").removesuffix("]"), number
