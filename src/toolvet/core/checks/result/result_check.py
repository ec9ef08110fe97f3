"""`ResultCheck`: `check_result` with the user's own words and rules, for all tools and for some."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, Literal, TypedDict

from toolvet.core.checks.result.check import check_result
from toolvet.core.checks.result.verdict import ResultVerdict
from toolvet.core.checks.result_settings import OwnText, ResultSettings, ToolResultSettings
from toolvet.core.matching import UnsafePattern
from toolvet.core.tools import view_of

_MOST_KNOWN: Final = 4096  # Clients can invent names, so the data kept for them must be bounded.


class _ResultOptions(TypedDict, total=False):
    """The options of `check_result`."""

    extra_patterns: tuple[str | re.Pattern[str], ...]
    strong_patterns: tuple[str | re.Pattern[str], ...]
    failure_patterns: tuple[str | re.Pattern[str], ...]
    exceptions: tuple[str | re.Pattern[str], ...]
    factors: dict[str, tuple[str | re.Pattern[str], int]]
    weights: dict[str, int]
    threshold: float
    thresholds: dict[str, float]
    expects_validation: bool
    any_response: bool


class ResultCheck:
    """A check of results with its settings, for many results under the same ones.

    Raises:
        UnsafePattern: A pattern is not a regular expression, or cannot be matched in linear time (a ValueError).
        BadRule: A weight, a threshold or the name of a factor cannot be used (a ValueError).

    Example:
        >>> settings = ResultSettings(tools={"trade_*": ToolResultSettings(strong_patterns=("margin call",))})
        >>> result = {"isError": True, "content": [{"type": "text", "text": "Internal error: margin call"}]}
        >>> check = ResultCheck(settings)
        >>> [str(check({"name": name}, {}, result).error_kind) for name in ("trade_stock", "get_quote")]
        ['business', 'tool_failure']
    """

    def __init__(self, settings: ResultSettings | None = None) -> None:
        self._settings = settings if settings is not None else ResultSettings()
        self._is_default = self._settings == ResultSettings()
        self._known: dict[str, _ResultOptions] = {}
        for section in (self._settings, *self._settings.tools.values()):
            # What cannot be looked for is refused now, and not with the first result.
            check_result({}, {}, None, **_options((section,)))

    @property
    def settings(self) -> ResultSettings:
        """The settings that it was made with."""
        return self._settings

    def __call__(
        self,
        tool: object,
        arguments: object,
        result: object,
        category: str | None = None,
        *,
        shape: Literal["any", "mcp", "mcp_json"] = "any",
        trace: str | None = None,
    ) -> ResultVerdict:
        """Judge one response of a tool; see `check_result`."""
        if self._is_default:
            return check_result(tool, arguments, result, category, shape=shape, trace=trace)
        name = view_of(tool).name
        own = self._known.get(name)
        if own is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            # The sections that win last: all tools, patterns in order, the tool's own name.
            tools = self._settings.tools
            matching = (given for pattern, given in tools.items() if pattern != name and fnmatchcase(name, pattern))
            sections = (self._settings, *matching, *((tools[name],) if name in tools else ()))
            own = self._known[name] = _options(sections)
        draft = self._settings.draft_outputs
        return check_result(tool, arguments, result, category, shape=shape, draft_outputs=draft, trace=trace, **own)


def _options(sections: tuple[ToolResultSettings, ...]) -> _ResultOptions:
    """Merge the sections: patterns, factors and weights add up, and of other options the last that is set counts."""
    options = _ResultOptions(
        extra_patterns=_merge(each.extra_patterns for each in sections),
        strong_patterns=_merge(each.strong_patterns for each in sections),
        failure_patterns=_merge(each.failure_patterns for each in sections),
        exceptions=_merge(each.exceptions for each in sections),
        factors={
            name: (_pattern(factor.pattern), factor.weight)
            for each in sections
            for name, factor in (each.factors or {}).items()
        },
        weights={name: weight for each in sections for name, weight in (each.weights or {}).items()},
        thresholds=_thresholds(sections),
    )
    for section in sections:
        if section.threshold is not None:
            options["threshold"] = section.threshold
        if section.expects_validation is not None:
            options["expects_validation"] = section.expects_validation
        if section.any_response is not None:
            options["any_response"] = section.any_response
    return options


def _thresholds(sections: tuple[ToolResultSettings, ...]) -> dict[str, float]:
    """The thresholds by type of tool; a later section's `threshold` for all types replaces those of earlier ones."""
    found: dict[str, float] = {}
    for section in sections:
        if section.threshold is not None:
            found.clear()
        found.update(section.thresholds or {})
    return found


def _merge(patterns: Iterable[tuple[OwnText, ...] | None]) -> tuple[str | re.Pattern[str], ...]:
    return tuple(dict.fromkeys(_pattern(each) for given in patterns for each in given or ()))


def _pattern(given: OwnText) -> str | re.Pattern[str]:
    if isinstance(given, str):
        return given
    try:
        return re.compile(given.regex, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as problem:
        raise UnsafePattern(given.regex, f"it is not a regular expression: {problem}") from None
