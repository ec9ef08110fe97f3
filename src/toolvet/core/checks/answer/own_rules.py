"""What the caller says of signals that toolvet found: which do not count (exceptions), and what a type costs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import msgspec

from toolvet.core.checks.answer.custom import BadOption, CustomPatterns, custom_patterns
from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.checks.answer.read import sentence_around


class OwnRules:
    """The caller's exceptions and weights.

    `exceptions` void a signal of their type where one is found in its sentence. `weights` are what the types cost at
    most; each signal of a type is scaled by its new weight over its default.
    """

    def __init__(self, exceptions: CustomPatterns, weights: Mapping[SignalType, float]) -> None:
        self._exceptions = exceptions
        self.weights = weights
        self.changes_nothing = exceptions.patterns is None and not weights

    def apply(self, text: str, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
        """Return the signals that count, each with what it costs."""
        if self.changes_nothing:
            return list(signals)
        return [
            self._weighed(each) for each in signals if self.weights.get(each.type) != 0 and self._counts(text, each)
        ]

    def _counts(self, text: str, signal: FailureSignal) -> bool:
        if self._exceptions.patterns is None:
            return True
        start = signal.position or 0
        sentence = sentence_around(text, start, start + len(signal.evidence))
        return all(found.type is not signal.type for found in self._exceptions.signals(sentence))

    def _weighed(self, signal: FailureSignal) -> FailureSignal:
        weight = self.weights.get(signal.type)
        if weight is None:
            return signal
        return msgspec.structs.replace(signal, weight=round(min(1.0, signal.weight * weight / signal.type.weight), 4))


NO_OWN_RULES: Final = OwnRules(custom_patterns(None), {})


def own_rules(
    exceptions: Mapping[str, Iterable[str | re.Pattern[str]]] | None, weights: Mapping[str, float] | None
) -> OwnRules:
    """Compile the caller's exceptions and weights.

    Args:
        exceptions: For each signal type patterns (as in `custom_patterns`): a signal of that type does not count where
            one of them is found in its sentence.
        weights: For each signal type what it costs, 0 to 1; 0 leaves the type out.

    Raises:
        BadOption: There is no such type, or a weight is not a number from 0 to 1.
        UnsafePattern: A pattern is not a regular expression, or cannot be matched in linear time.
    """
    if not exceptions and not weights:
        return NO_OWN_RULES
    compiled = custom_patterns(exceptions, option="exceptions")
    return OwnRules(compiled, _weights(weights or {}))


def _weights(given: object) -> Mapping[SignalType, float]:
    if not isinstance(given, Mapping):
        raise BadOption(f"weights must map signal types to numbers, and is of type {type(given).__name__}")
    found: dict[SignalType, float] = {}
    for name, weight in cast("Mapping[object, object]", given).items():
        if name not in list(SignalType):
            raise BadOption(f"weights: there is no signal type {name!r}; there are {', '.join(SignalType)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise BadOption(f"weights[{str(name)!r}] must be a number from 0 to 1, not {weight!r}")
        found[SignalType(str(name))] = float(weight)
    return found
