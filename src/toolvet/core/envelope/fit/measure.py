"""The length of a response, in the unit of its budget."""

from collections.abc import Callable
from typing import Literal, cast

from toolvet.errors import EnvelopeError, EnvelopeTypeError

Counter = Callable[[str], int]
Unit = Literal["characters", "bytes"]


class Measure:
    """Counts JSON text in characters, in bytes, or with a function of the caller.

    `additive` is true where the length of a text is the sum of the lengths of its parts, as for characters and bytes.

    Raises EnvelopeError for an unknown unit, EnvelopeTypeError for a counter that is not a function.
    """

    def __init__(self, counter: Unit | Counter) -> None:
        if isinstance(counter, str):
            if counter not in ("characters", "bytes"):
                raise EnvelopeError("counter", f'must be "characters", "bytes" or a function, not {counter!r:.40}')
        elif not callable(counter):
            kind = type(counter).__name__
            raise EnvelopeTypeError("counter", f'must be "characters", "bytes" or a function, not {kind}')
        self._counter = counter
        self.additive = isinstance(counter, str)

    def __call__(self, encoded: bytes) -> int:
        """The length of UTF-8 text. Raises EnvelopeError where the caller's counter returns no natural number."""
        if self._counter == "bytes" or (self._counter == "characters" and encoded.isascii()):
            return len(encoded)
        text = encoded.decode()
        if isinstance(self._counter, str):
            return len(text)
        found = cast("Callable[[str], object]", self._counter)(text)
        if isinstance(found, bool) or not isinstance(found, int):
            raise EnvelopeTypeError("counter", f"must give a whole number, not {type(found).__name__}")
        if found < 0:
            raise EnvelopeError("counter", f"must not give a negative number, such as {found}")
        return found


def check_budget(budget: object) -> int:
    """`budget` if it is a positive whole number; raises EnvelopeError for any other."""
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise EnvelopeTypeError("budget", f"must be a whole number, not {type(budget).__name__}")
    if budget < 1:
        raise EnvelopeError("budget", f"must be at least 1, not {budget}")
    return budget
