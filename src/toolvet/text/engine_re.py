"""The slow twin: the standard library's `re`, one pattern after the other.

It says what is right, and serves where Hyperscan has no wheel. `re` backtracks: an unbounded repeat inside another takes exponential time on a hostile text, so such a pattern is
refused here, though Hyperscan matches it in linear time.
"""

import re
from collections.abc import Mapping, Sequence

from toolvet.text.dialect import Translation, UnsafePattern


class ReEngine:
    """Finds expressions with `re`."""

    def __init__(self, expressions: Sequence[Translation], same_width: Mapping[int, int]) -> None:
        for expression in expressions:
            if expression.nested:
                problem = "a repeat inside a repeat takes exponential time without Hyperscan, which is not installed"
                raise UnsafePattern(expression.regex, problem)
        self._patterns = [re.compile(expression.python, expression.flags) for expression in expressions]
        self._same_width = same_width

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Every match, in characters."""
        # A lone surrogate is no character; the other engine reads it as a question mark too.
        text = text.encode("utf-8", "replace").decode("utf-8").translate(self._same_width)
        return [
            (index, match.start(), match.end())
            for index, pattern in enumerate(self._patterns)
            for match in pattern.finditer(text)
        ]
