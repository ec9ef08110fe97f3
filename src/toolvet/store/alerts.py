"""Alerts: a rule, its last state and the sums of the last minutes → its next state. No clock, no store, no network.

An `AlertRule` says what is measured, over how long, and from when on it is an alert. It is `[[serve.alerts]]` as well.
"""

import re
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

AlertMeasure: TypeAlias = Literal["escalation_rate", "failure_rate", "average_score", "verdicts"]
"""The value that is compared with a threshold: a share of the verdicts, their mean score, or their number."""

_MOST_MINUTES: Final = 7 * 24 * 60
# How far the way back is, where the rule does not say it.
_BACK: Final = 0.9
_WEBHOOK: Final = re.compile(r"https?://[^/\s?#]+(?:[/?][^\s#]*)?", re.IGNORECASE)


class AlertRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to raise an alert, and when to take it back.

    Attributes:
        name: Names the alert everywhere; a state is kept under it.
        measure: The figure to watch, over the verdicts of the last `window` minutes.
        above: It is an alert above this. Give `above` or `below`.
        below: It is an alert below this.
        clear: The alert ends at this value: for `above` it is at most that, for `below` at least. None is a tenth of
            the way back.
        window: Over how many whole minutes the verdicts are added up.
        lasting: For how many minutes the value must be beyond the threshold first.
        least: With fewer verdicts in the window nothing changes: so few prove nothing. Not for `verdicts`.
        kind: Only verdicts of this kind; `server`, `tool`, `model` and `variant` likewise.
        webhook: The http or https URL that gets a POST when the alert begins and when it ends.
        webhook_env: The variable of the environment that has this URL, where the URL itself is secret.
        secret_env: The variable of the environment with the key that signs what is sent.

    Raises:
        ValueError: The members contradict each other.

    >>> AlertRule(name="escalations", measure="escalation_rate", above=0.2).end
    0.18
    """

    name: str
    measure: AlertMeasure
    above: float | None = None
    below: float | None = None
    clear: float | None = None
    window: int = 5
    lasting: int = 0
    least: int = 20
    kind: str | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    webhook: str | None = None
    webhook_env: str | None = None
    secret_env: str | None = None

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable():
            raise ValueError("name must be a word that names the alert")
        if (self.above is None) == (self.below is None):
            raise ValueError(f"{self.name} needs 'above' or 'below', and not both")
        if self.above is not None and self.end > self.above:
            raise ValueError(f"{self.name} has 'clear' above 'above': it could never stay")
        if self.below is not None and self.end < self.below:
            raise ValueError(f"{self.name} has 'clear' below 'below': it could never stay")
        if not 1 <= self.window <= _MOST_MINUTES or not 0 <= self.lasting <= _MOST_MINUTES:
            raise ValueError(f"{self.name}: 'window' is 1 to {_MOST_MINUTES} minutes, 'lasting' 0 to {_MOST_MINUTES}")
        if self.least < 0:
            raise ValueError(f"{self.name} has 'least' below 0")
        if self.webhook is not None and self.webhook_env is not None:
            raise ValueError(f"{self.name} has 'webhook' and 'webhook_env': give one of them")
        if self.webhook is not None:
            check_webhook(self.webhook)

    @property
    def threshold(self) -> float:
        """The value from which on it is an alert."""
        return self.above if self.above is not None else self.below or 0.0

    @property
    def end(self) -> float:
        """The value at which an alert ends."""
        if self.clear is not None:
            return self.clear
        return round(self.threshold * _BACK if self.above is not None else self.threshold / _BACK, 6)

    def is_beyond(self, value: float) -> bool:
        """Whether a value is one for an alert."""
        return value > self.above if self.above is not None else value < self.threshold

    def is_clear(self, value: float) -> bool:
        """Whether a value ends an alert."""
        return value <= self.end if self.above is not None else value >= self.end


def check_webhook(url: str) -> None:
    """Raise ValueError unless this is an http or https URL. The message omits the URL, which may be secret."""
    if _WEBHOOK.fullmatch(url) is None:
        raise ValueError("a webhook is an http:// or https:// URL with a host")


class MeasuredSums(Protocol):
    """The sums over the verdicts of a window; `toolvet.store.VerdictFigures` has these members."""

    @property
    def verdicts(self) -> int:
        """How many there were."""
        ...

    @property
    def failure_rate(self) -> float:
        """The share (0 to 1) that failed."""
        ...

    @property
    def escalation_rate(self) -> float:
        """The share (0 to 1) that a person should see."""
        ...

    @property
    def average_score(self) -> float | None:
        """The mean score; None without scores."""
        ...


class AlertState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an alert. Times are in seconds since the epoch.

    `since` is when it began or ended last, `beyond_since` since when the value has been beyond the threshold without
    being an alert yet, `value` the last one that was measured, `checked` when. `delivered` says whether the webhook
    knows the present state.
    """

    name: str
    firing: bool = False
    since: float | None = None
    beyond_since: float | None = None
    value: float | None = None
    checked: float | None = None
    delivered: bool = True


def measured(rule: AlertRule, sums: MeasuredSums) -> float | None:
    """Return the value of a rule's measure; None if there are too few verdicts."""
    if rule.measure == "verdicts":
        return float(sums.verdicts)
    if sums.verdicts < max(1, rule.least):
        return None
    if rule.measure == "escalation_rate":
        return sums.escalation_rate
    return sums.failure_rate if rule.measure == "failure_rate" else sums.average_score


def next_state(rule: AlertRule, state: AlertState, value: float | None, now: float) -> AlertState:
    """Return the state after `value` was measured at `now`. It is another alert where `firing` changed.

    None, which is too few verdicts, begins no alert and ends none.

    >>> rule = AlertRule(name="failures", measure="failure_rate", above=0.5, clear=0.3)
    >>> state = AlertState(name="failures")
    >>> [(state := next_state(rule, state, value, 0.0)).firing for value in (0.5, 0.6, 0.4, 0.3)]
    [False, True, True, False]
    """
    if value is None:
        return msgspec.structs.replace(state, beyond_since=None, value=None, checked=now)
    state = msgspec.structs.replace(state, value=value, checked=now)
    if state.firing:
        if not rule.is_clear(value):
            return state
        return msgspec.structs.replace(state, firing=False, since=now, beyond_since=None, delivered=False)
    if not rule.is_beyond(value):
        return msgspec.structs.replace(state, beyond_since=None)
    # A clock that was set back must not keep an alert waiting.
    began = now if state.beyond_since is None else min(state.beyond_since, now)
    if now - began < rule.lasting * 60:
        return msgspec.structs.replace(state, beyond_since=began)
    return msgspec.structs.replace(state, firing=True, since=now, beyond_since=None, delivered=False)


def sentence(rule: AlertRule, state: AlertState) -> str:
    """Return what a person should read of a state.

    >>> rule = AlertRule(name="failures", measure="failure_rate", above=0.5, server="books")
    >>> sentence(rule, AlertState(name="failures", firing=True, value=0.75))
    'failures: failure rate is 0.75, above 0.5, over 5 minutes (server books)'
    """
    value = "unknown" if state.value is None else f"{state.value:.4g}"
    which = ", ".join(
        f"{name} {given}"
        for name in ("kind", "server", "tool", "model", "variant")
        if (given := getattr(rule, name)) is not None
    )
    side = "above" if rule.above is not None else "below"
    place = f"{side} {rule.threshold:g}" if state.firing else f"no longer {side} {rule.threshold:g}"
    minutes = "1 minute" if rule.window == 1 else f"{rule.window} minutes"
    about = rule.measure.replace("_", " ") if rule.measure != "verdicts" else "the number of verdicts"
    return f"{rule.name}: {about} is {value}, {place}, over {minutes}" + (f" ({which})" if which else "")
