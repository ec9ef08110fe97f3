"""The slow twin: the standard library's `re`, one pattern after the other.

It says what is right, and serves where Hyperscan has no wheel. `re` backtracks, and an unbounded repeat inside another
takes it exponential time on a hostile text: such a pattern is refused here.
"""

import re
from collections.abc import Sequence

from toolvet.text.dialect import Translation, UnsafePattern
from toolvet.text.lookalikes import as_ascii, narrow


class ReEngine:
    """Finds expressions with `re`."""

    def __init__(self, expressions: Sequence[Translation]) -> None:
        self._patterns = [(for_re(expression), expression.spans) for expression in expressions]

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Every match, in characters."""
        # A lone surrogate is no character; the other engine reads it as a question mark too.
        text = narrow(as_ascii(text.encode("utf-8", "replace").decode("utf-8")))
        found: list[tuple[int, int, int]] = []
        for index, (pattern, spans) in enumerate(self._patterns):
            for match in pattern.finditer(text):
                found.append((index, match.start() if spans else match.end(), match.end()))
                if not spans:
                    break
        return found


def for_re(expression: Translation) -> re.Pattern[str]:
    """The expression as `re` runs it; raises `UnsafePattern` where that would take exponential time."""
    if expression.nested:
        raise UnsafePattern(expression.regex, "a repeat inside a repeat can take exponential time")
    try:
        pattern = re.compile(expression.python, expression.flags | (re.ASCII if expression.is_ascii else 0))
    except (re.error, OverflowError, RecursionError) as problem:
        raise UnsafePattern(expression.regex, f"not a regular expression ({problem})") from None
    if pattern.match("") is not None:
        raise UnsafePattern(expression.regex, "it matches the empty text, so it is found everywhere")
    return pattern
