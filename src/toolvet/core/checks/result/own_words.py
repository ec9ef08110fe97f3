"""The caller's own words and rules for errors: patterns, exceptions, factors, weights and a threshold, compiled."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from toolvet.core.checks.result.evidence import FirstHits
from toolvet.core.checks.result.verdict import Factor
from toolvet.core.matching import Hit, Pattern, PatternSet, literal
from toolvet.errors import UsageError

OwnPattern = str | re.Pattern[str]

FACTOR_NAMES: Final = (
    "mcp_error_code", "business_pattern", "http_status", "structured_error", "test_data", "validation_expected_tool",
)  # fmt: skip
"""The factors of every verdict, whose weights the caller may change."""


TOOL_TYPES: Final = ("validation_expected", "other")
"""The types of tools that may have thresholds of their own."""


class BadRule(UsageError, ValueError):  # noqa: N818 - reads as what it says.
    """A rule for results that cannot be used as given; the message says what can."""


class OwnRuleValues(NamedTuple):
    """The caller's rules as given; equal ones are compiled once."""

    extra: tuple[OwnPattern, ...] = ()
    strong: tuple[OwnPattern, ...] = ()
    failures: tuple[OwnPattern, ...] = ()
    exceptions: tuple[OwnPattern, ...] = ()
    factors: tuple[tuple[str, OwnPattern, int], ...] = ()
    weights: tuple[tuple[str, int], ...] = ()
    threshold: float | None = None
    thresholds: tuple[tuple[str, float], ...] = ()
    expects_validation: bool | None = None


class OwnWords:
    """The caller's rules for one kind of tool.

    `expects_validation` is the type of the tool; with None its name decides.
    """

    def __init__(self, given: OwnRuleValues) -> None:
        self.expects_validation = given.expects_validation
        self._threshold = given.threshold
        self._thresholds = dict(given.thresholds)
        self._extra = _set("extra", given.extra)
        self._strong = _set("strong", given.strong)
        self._failures = _set("failure", given.failures)
        self._exceptions = _set("exception", given.exceptions)
        self._factors = [(name, weight, _set(name, (pattern,))) for name, pattern, weight in given.factors]
        self._weights = dict(given.weights)

    def threshold(self, *, expects_validation: bool) -> float | None:
        """The share (0 to 1) of the weight of all factors from which an error that no word decides is business logic.

        None leaves that to the measured prior.
        """
        return self._thresholds.get("validation_expected" if expects_validation else "other", self._threshold)

    def look(self, text: str, evidence: FirstHits) -> None:
        """Add the matches to the evidence."""
        evidence.own = _first(self._extra, text)
        evidence.own_strong = _first(self._strong, text)
        evidence.own_failure = _first(self._failures, text)

    def is_exception(self, text: str) -> bool:
        """Whether the caller's own words show that `text`, which reads like an error, is not one."""
        return _first(self._exceptions, text) is not None

    def table(self, factors: tuple[Factor, ...], evidence: FirstHits) -> tuple[Factor, ...]:
        """Return the factors with the caller's weights, and the caller's own factors after them."""
        own: list[Factor] = []
        for name, weight, patterns in self._factors:
            hit = _first(patterns, evidence.text)
            words = "" if hit is None else evidence.words(hit)
            own.append(Factor(name, weight, present=hit is not None, evidence=words))
        weighed = (
            msgspec.structs.replace(each, weight=self._weights[each.name]) if each.name in self._weights else each
            for each in factors
        )
        return (*weighed, *own)


def share_of(factors: Sequence[Factor]) -> tuple[int, int]:
    """Return the weight of the factors that are present, and of all."""
    return sum(each.weight for each in factors if each.present), sum(each.weight for each in factors)


def own_words(
    *,
    extra_patterns: Sequence[OwnPattern],
    strong_patterns: Sequence[OwnPattern],
    failure_patterns: Sequence[OwnPattern],
    exceptions: Sequence[OwnPattern],
    factors: Mapping[str, tuple[OwnPattern, int]] | None,
    weights: Mapping[str, int] | None,
    threshold: float | None,
    thresholds: Mapping[str, float] | None,
    expects_validation: bool | None,
) -> OwnWords | None:
    """Compile the caller's rules (see `check_result`); None if the caller has none.

    Raises:
        UnsafePattern: A pattern cannot be matched in linear time.
        BadRule: A factor or type of tool with that name does not exist, or a weight or threshold is out of range.
    """
    own_factors = [(name, pattern, _weight(name, weight)) for name, (pattern, weight) in (factors or {}).items()]
    own_weights: list[tuple[str, int]] = []
    for name, weight in (weights or {}).items():
        if name not in FACTOR_NAMES:
            raise BadRule(f"weights: there is no factor '{name}'; there are {', '.join(FACTOR_NAMES)}")
        own_weights.append((name, _weight(name, weight)))
    share = None if threshold is None else _share("threshold", threshold)
    shares: list[tuple[str, float]] = []
    for name, value in (thresholds or {}).items():
        if name not in TOOL_TYPES:
            raise BadRule(f"thresholds: there is no type of tool '{name}'; there are {', '.join(TOOL_TYPES)}")
        shares.append((name, _share(name, value)))
    given = OwnRuleValues(
        tuple(extra_patterns),
        tuple(strong_patterns),
        tuple(failure_patterns),
        tuple(exceptions),
        tuple(own_factors),
        tuple(own_weights),
        share,
        tuple(shares),
        expects_validation,
    )
    return None if given == OwnRuleValues() else _compiled(given)


@lru_cache(maxsize=64)
def _compiled(given: OwnRuleValues) -> OwnWords:
    return OwnWords(given)


def _weight(name: str, weight: object) -> int:
    if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight <= 100:
        raise BadRule(f"the weight of '{name}' must be a whole number from 0 to 100, not {weight!r}")
    return weight


def _share(name: str, threshold: object) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        said = name if name == "threshold" else f"the threshold of '{name}'"
        raise BadRule(f"{said} must be a number from 0 to 1, not {threshold!r}")
    return float(threshold)


def _set(name: str, patterns: Sequence[OwnPattern]) -> PatternSet | None:
    if not patterns:
        return None
    return PatternSet(
        literal(f"{name}:{number}", each)
        if isinstance(each, str)
        else Pattern(f"{name}:{number}", each.pattern, re.RegexFlag(each.flags))
        for number, each in enumerate(patterns)
    )


def _first(patterns: PatternSet | None, text: str) -> Hit | None:
    if patterns is None:
        return None
    hits = patterns.scan(text)
    return hits[0] if hits else None
