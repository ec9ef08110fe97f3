"""`AlertState` and how it goes on: hysteresis over the sums of the last minutes."""

from typing import Protocol

import msgspec

from toolvet.store.alerts.rule import AlertRule


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
    """What is known of an alert. Times are in seconds since the epoch.

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
    """Return the value of a rule's measure; None where there are too few verdicts to say."""
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
