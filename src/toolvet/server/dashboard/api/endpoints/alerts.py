"""`GET /v1/alerts`: the rules of the settings, and whether each is an alert now."""

import msgspec

from toolvet.server.dashboard.alerting import alert_states
from toolvet.server.dashboard.api.endpoint import ApiRequest, Endpoint, Nothing


class AlertReply(msgspec.Struct, frozen=True, kw_only=True):
    """One rule and its state. Times are in seconds since the epoch; None is not known yet."""

    name: str
    state: str
    measure: str
    above: float | None
    below: float | None
    clear: float
    window_minutes: int
    lasting_minutes: int
    value: float | None
    since: float | None
    beyond_since: float | None
    checked: float | None
    delivered: bool


class AlertList(msgspec.Struct, frozen=True, kw_only=True):
    """All rules, in the order of the settings."""

    alerts: list[AlertReply]
    firing: int


def _list(asked: ApiRequest[Nothing]) -> AlertList:
    found = [
        AlertReply(
            name=rule.name,
            state="firing" if state.firing else "pending" if state.beyond_since is not None else "quiet",
            measure=rule.measure,
            above=rule.above,
            below=rule.below,
            clear=rule.end,
            window_minutes=rule.window,
            lasting_minutes=rule.lasting,
            value=state.value,
            since=state.since,
            beyond_since=state.beyond_since,
            checked=state.checked,
            delivered=state.delivered,
        )
        for rule, state in alert_states(asked.site.store, asked.site.alerts)
    ]
    return AlertList(alerts=found, firing=sum(each.state == "firing" for each in found))


ENDPOINTS = (
    Endpoint("GET", "/v1/alerts", "The alerts: rules and their states.", Nothing, _list, reply=AlertList, waits=True),
)
