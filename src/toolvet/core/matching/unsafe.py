"""`UnsafePattern`: the error for a pattern that is refused."""

from toolvet.errors import UsageError

_LONGEST_SHOWN = 100


class UnsafePattern(UsageError, ValueError):  # noqa: N818 - reads as what it says: this pattern is unsafe.
    """This pattern cannot be matched in time that grows linearly with the text, or is not a regular expression."""

    def __init__(self, pattern: str, problem: str) -> None:
        shown = pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}…"
        super().__init__(f"pattern {shown!r} is refused: {problem}")
        self.pattern = pattern
        self.problem = problem
