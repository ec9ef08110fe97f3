"""A call → the command line that makes it again."""

import shlex
from collections.abc import Mapping

import orjson

from toolvet.redact import redact
from toolvet.transport import StdioTarget, Target

_LONGEST = 2_000  # Characters of arguments in a command line that people copy.


def reproduce(target: Target, tool: str | None = None, arguments: Mapping[str, object] | None = None) -> str:
    """A shell command for one call, or for the whole server. Secrets are masked: put them back before running it."""
    words = ["toolvet", "assess"]
    if tool is not None:
        words += ["--tool", tool]
    if arguments is not None:
        text = orjson.dumps(redact(dict(arguments)), option=orjson.OPT_NON_STR_KEYS).decode()
        if len(text) > _LONGEST:
            return f"{shlex.join(words)} {_shown(target)}"
        words += ["--arguments", text]
    elif tool is not None:
        words.append("--plan-only")
    return f"{shlex.join(words)} {_shown(target)}"


def _shown(target: Target) -> str:
    """The words that name the server; `describe` has masked its secrets."""
    return f"-- {target.describe()}" if isinstance(target, StdioTarget) else target.describe()
