"""The server of a command line: `-- COMMAND ARGS…` or a URL, with its headers, variables and folder."""

import os
from collections.abc import Mapping, Sequence

from toolvet.core.json_value import whole
from toolvet.errors import UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target


def read_target(
    words: Sequence[str], *, headers: Mapping[str, str], environment: Mapping[str, str], cwd: str | None
) -> Target:
    """Return the server that these words name, at least one. Raises UsageError for words that do not go together."""
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
