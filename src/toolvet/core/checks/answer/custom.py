"""The caller's own patterns, compiled into one set."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import cast

from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.matching import Pattern, PatternSet
from toolvet.errors import UsageError

_AROUND = 40  # Characters of context on either side of the evidence.


class BadOption(UsageError, ValueError):  # noqa: N818 - reads as what it says.
    """An option of an answer check that cannot be used as given; the message says what can."""


def names_of(option: str, given: object) -> tuple[str, ...]:
    """Return the names that an option lists; one text is a list of one. Raises BadOption for anything else."""
    names: tuple[object, ...] = (given,)
    if not isinstance(given, str):
        names = tuple(cast("Iterable[object]", given)) if isinstance(given, Iterable) else (None,)
    found = tuple(each for each in names if isinstance(each, str))
    if len(found) != len(names):
        raise BadOption(f"{option} must be a list of names, not {given!r}")
    return found


class CustomPatterns:
    """Patterns of the caller's own, per signal type; `replaced` are the types whose built-in phrases they replace."""

    def __init__(
        self, given: tuple[tuple[SignalType, str, re.RegexFlag], ...], replaced: frozenset[SignalType]
    ) -> None:
        self.replaced = replaced
        self.patterns = (
            PatternSet(Pattern(f"{number}", regex, flags) for number, (_, regex, flags) in enumerate(given))
            if given
            else None
        )
        self._types = tuple(signal_type for signal_type, _, _ in given)

    def signals(self, text: str, offset: int = 0) -> list[FailureSignal]:
        """Return the matches of the patterns in `text`, also in quotations and code. The text begins at `offset`."""
        if self.patterns is None:
            return []
        return [
            FailureSignal(
                type=self._types[int(hit.id)],
                evidence=text[hit.start : hit.end],
                weight=self._types[int(hit.id)].weight,
                position=hit.start + offset,
                context=text[max(0, hit.start - _AROUND) : hit.end + _AROUND],
                source="custom",
            )
            for hit in self.patterns.scan(text)
        ]


NO_CUSTOM = CustomPatterns((), frozenset())


def custom_patterns(
    given: Mapping[str, Iterable[str | re.Pattern[str]]] | None,
    *,
    replace: bool = False,
    option: str = "custom_patterns",
) -> CustomPatterns:
    """Compile the patterns; the same ones again cost a look-up.

    Args:
        given: For each signal type its patterns: strings (found in upper and lower case, as the built-in phrases are)
            or compiled regular expressions with their flags.
        replace: Whether the built-in phrases of these types are left out.
        option: The name of the caller's option, for messages.

    Raises:
        UnsafePattern: A pattern is not a regular expression, or cannot be matched in linear time.
        BadOption: `given` is not a mapping of signal types to patterns.
    """
    if not given:
        return NO_CUSTOM
    by_type = cast("object", given)
    if not isinstance(by_type, Mapping):
        raise BadOption(f"{option} must map signal types to patterns, and is of type {type(by_type).__name__}")
    named: dict[SignalType, Iterable[object]] = {}
    for name, patterns in cast("Mapping[object, object]", by_type).items():
        try:
            kind = SignalType(f"{name}")
        except ValueError:
            known = ", ".join(SignalType)
            raise BadOption(f"{option}: there is no signal type {name!r}; there are {known}") from None
        if isinstance(patterns, str | re.Pattern) or not isinstance(patterns, Iterable):
            raise BadOption(f"{option}[{name!r}] must be a list of patterns")
        named[kind] = cast("Iterable[object]", patterns)
    entries = tuple((kind, *_regex(pattern, kind, option)) for kind, patterns in named.items() for pattern in patterns)
    replaced: frozenset[SignalType] = frozenset(named) if replace else frozenset()
    return _compiled(entries, replaced)


@lru_cache(maxsize=64)
def _compiled(
    given: tuple[tuple[SignalType, str, re.RegexFlag], ...], replaced: frozenset[SignalType]
) -> CustomPatterns:
    return CustomPatterns(given, replaced)


def _regex(pattern: object, kind: SignalType, option: str) -> tuple[str, re.RegexFlag]:
    if isinstance(pattern, str):
        return pattern, re.IGNORECASE
    if isinstance(pattern, re.Pattern):
        compiled = cast("re.Pattern[str] | re.Pattern[bytes]", pattern)
        if isinstance(compiled.pattern, str):
            return compiled.pattern, re.RegexFlag(compiled.flags) & ~re.UNICODE
    raise BadOption(f"{option}[{kind.value!r}] must hold strings or compiled patterns for text")
