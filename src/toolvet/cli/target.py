"""The server of a command line: `-- COMMAND ARGS…` or a URL, with its headers, variables and folder."""

from collections.abc import Mapping, Sequence

from toolvet.cli.values import is_url, read_variable
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
