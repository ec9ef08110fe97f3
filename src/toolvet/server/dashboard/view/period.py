"""`Period`: the period that a page is about, as its URL says: `?period=24h`, or `?since=…&until=…`.

?period=24h at 12:40 → 12:40 yesterday to 12:40, before that 12:40 the day before yesterday to 12:40 yesterday
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from toolvet.core.envelope import validation_error
from toolvet.server.failures import ApiError
from toolvet.store.overview import FigureFilter

_HOUR: Final = 3600
_DAY: Final = 86_400
_MINUTE: Final = 60
# The length of a period, and of the steps of its charts, in seconds.
_CHOICES: Final[Mapping[str, tuple[int, int]]] = {
    "1h": (_HOUR, _MINUTE),
    "24h": (_DAY, _HOUR),
    "7d": (7 * _DAY, 3 * _HOUR),
    "30d": (30 * _DAY, 12 * _HOUR),
    "90d": (90 * _DAY, _DAY),
}
_WORDS: Final = {"1h": "hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_STEP_NAMES: Final = {
    _MINUTE: "minute",
    _HOUR: "hour",
    3 * _HOUR: "3 hours",
    12 * _HOUR: "12 hours",
    _DAY: "day",
    7 * _DAY: "week",
}
_USUAL: Final = "24h"
_MOST_STEPS: Final = 100
# A hundred years: each step is a point of each chart.
_LONGEST: Final = 36_525 * _DAY
# The end of the year 9999, in every zone.
_LATEST: Final = 253_402_300_799


@dataclass(frozen=True)
class Period:
    """From `since` to `until` (seconds since the epoch, whole minutes), in steps of `step` seconds for charts.

    `key` is its name in the URL, empty if the URL gives `since` and `until` themselves.
    """

    since: float
    until: float
    step: int
    key: str = ""

    @property
    def before(self) -> "Period":
        """The period of the same length just before it."""
        return Period(max(0.0, self.since - (self.until - self.since)), self.since, self.step)

    @property
    def words(self) -> str:
        """The period's name: `24 hours`."""
        return _WORDS.get(self.key) or f"{_shown(self.since)} to {_shown(self.until)}"

    @property
    def step_name(self) -> str:
        """The name of a step of charts: `hour`."""
        return _STEP_NAMES[self.step]

    @property
    def choices(self) -> Mapping[str, str]:
        """The periods that a reader may choose, by their names in the URL."""
        return _WORDS

    def figures(self, *, server: str | None = None, tool: str | None = None, kind: str | None = None) -> FigureFilter:
        """Return the filter of sums within this period."""
        return FigureFilter(since=self.since, until=self.until, server=server, tool=tool, kind=kind)


def read_period(query: Mapping[str, str], now: float, usual: str = _USUAL) -> Period:
    """Return the period that a URL names. Raises ApiError with 422 for one that does not exist.

    >>> read_period({"period": "1h"}, 7_200.0).since
    3600.0
    """
    end = -(-now // _MINUTE) * _MINUTE
    since, until = read_time(query, "since"), read_time(query, "until")
    if since is not None or until is not None:
        until = end if until is None else until
        since = max(0.0, until - _DAY) if since is None else since
        if since >= until:
            raise ApiError(422, validation_error("since must be before until", field="since"))
        if until - since > _LONGEST:
            raise ApiError(422, validation_error("since must be at most a hundred years before until", field="since"))
        length = until - since
        step = next((step for step in _STEP_NAMES if length / step <= _MOST_STEPS), 7 * _DAY)
        return Period(since, until, step)
    key = query.get("period") or usual
    if key not in _CHOICES:
        raise ApiError(422, validation_error(f"period must be one of {', '.join(_CHOICES)}", field="period"))
    length, step = _CHOICES[key]
    return Period(end - length, end, step, key)


def read_time(query: Mapping[str, str], name: str) -> float | None:
    """Return a time of the URL, a date or seconds since the epoch; None without one. Raises ApiError with 422."""
    given = query.get(name, "").strip()
    if not given:
        return None
    try:
        if given.replace(".", "", 1).isdecimal():
            at = datetime.fromtimestamp(float(given), UTC).timestamp()
        else:
            read = datetime.fromisoformat(given)
            at = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        at = -1.0
    if not 0 <= at <= _LATEST:
        message = f"{name} must be a date (2026-11-22), a time (2026-11-22T18:00) or seconds since 1970"
        raise ApiError(422, validation_error(message, field=name))
    return at


def _shown(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
