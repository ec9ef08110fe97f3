"""Foreign words about a failure, made fit for a sentence and a log."""

from toolvet.redact import redact_text
from toolvet.transport.quote import printable

_LONGEST = 300


def reason_of(problem: str | BaseException) -> str:
    """On one line, printable, without secrets, and not long; an exception without words has its name."""
    words = problem if isinstance(problem, str) else str(problem) or type(problem).__name__
    return printable(" ".join(redact_text(words[: 4 * _LONGEST]).split()), _LONGEST)
