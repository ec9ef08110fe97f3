"""`AlertWatch`: evaluates the rules while the dashboard runs."""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from toolvet.alerts import AlertRule, AlertState, measured, next_state, sentence
from toolvet.dashboard.alerting.webhook import WebhookCall, WebhookFailed, payload, post, webhook_of
from toolvet.errors import StoreError, UsageError
from toolvet.store import FigureFilter, Store
from toolvet.store.alert_states import locked_state, read_states, write_state
from toolvet.store.records import EventRecord, new_id

_MINUTE: Final = 60
_JOIN_SECONDS: Final = 0.25
_EVERY_SECONDS: Final = 15.0

Poster = Callable[[WebhookCall, Mapping[str, object]], None]
"""What posts a document to a webhook. Raises WebhookFailed."""


class AlertWatch:
    """Compares the sums of the last whole minutes with the rules, and says where something changed.

    Args:
        store: Where the sums are, and where states and events are kept.
        rules: The rules; their names differ.
        environment: Where rules find their webhooks and keys.
        say: Gets a sentence for each change and each webhook that failed; None writes them to stderr.
        deliver: Posts to a webhook.

    Raises:
        UsageError: Two rules have one name, or a variable of the environment is missing.
    """

    def __init__(
        self,
        store: Store,
        rules: Sequence[AlertRule],
        environment: Mapping[str, str],
        *,
        say: Callable[[str], None] | None = None,
        deliver: Poster = post,
    ) -> None:
        names = [rule.name for rule in rules]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"two alerts are named {twice}: their names must differ")
        self._store = store
        self._rules = {rule.name: rule for rule in rules}
        self._webhooks = {rule.name: webhook_of(rule, environment) for rule in rules}
        self._say = say or _to_stderr
        self._deliver = deliver
        self._complained: set[str] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Evaluate four times a minute, in a thread, until `close`."""
        self._thread = threading.Thread(target=self._run, name="toolvet-alerts", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; a webhook that does not answer is not waited for."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)

    def check(self, now: float) -> list[AlertState]:
        """Evaluate all rules at `now` (seconds since the epoch), tell what changed, and return the states.

        Raises StoreError where the store cannot be read or written.
        """
        return [self._check_rule(rule, now) for rule in self._rules.values()]

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_SECONDS):
            try:
                self.check(time.time())
            except StoreError as error:
                self._complain("the store", f"alerts cannot be evaluated: {error}")
            except Exception as error:  # noqa: BLE001 - the watch must outlive what nobody thought of
                self._complain("the store", f"alerts cannot be evaluated: {type(error).__name__}: {error}")
            else:
                self._complained.discard("the store")

    def _check_rule(self, rule: AlertRule, now: float) -> AlertState:
        until = now // _MINUTE * _MINUTE
        wanted = FigureFilter(
            since=until - rule.window * _MINUTE,
            until=until,
            kind=rule.kind,
            server=rule.server,
            tool=rule.tool,
            model=rule.model,
            variant=rule.variant,
        )
        sums = self._store.overview(wanted, most=1).total
        value = measured(rule, sums)
        # One transaction: of several servers on one database, one sees the change and says so.
        with self._store.connect() as connection:
            before = locked_state(connection, rule.name) or AlertState(name=rule.name)
            state = next_state(rule, before, value, now)
            write_state(connection, state)
        if state.firing != before.firing:
            self._tell(rule, state, now)
        if not state.delivered:
            state = self._send(rule, state, sums.verdicts)
        return state

    def _tell(self, rule: AlertRule, state: AlertState, now: float) -> None:
        words = sentence(rule, state)
        self._say(f"{'alert' if state.firing else 'alert ended'}: {words}")
        kind = "alert" if state.firing else "alert_ended"
        event = EventRecord(id=new_id(now), at=now, kind=kind, message=words, server=rule.server or "", tool=rule.tool)
        self._store.add_records([event])

    def _send(self, rule: AlertRule, state: AlertState, verdicts: int) -> AlertState:
        webhook = self._webhooks[rule.name]
        if webhook is not None:
            try:
                self._deliver(webhook, payload(rule, state, verdicts))
            except WebhookFailed as error:
                self._complain(rule.name, f"the alert {rule.name} was not delivered, and is tried again: {error}")
                return state
        self._complained.discard(rule.name)
        with self._store.connect() as connection:
            present = locked_state(connection, rule.name) or state
            # Another process may have seen the next change meanwhile: that one is still to be delivered.
            if (present.firing, present.since) != (state.firing, state.since):
                return present
            state = msgspec.structs.replace(present, delivered=True)
            write_state(connection, state)
        return state

    def _complain(self, about: str, words: str) -> None:
        """Say it once, until it went well in between."""
        if about not in self._complained:
            self._complained.add(about)
            self._say(words)


def alert_states(store: Store, rules: Sequence[AlertRule]) -> list[tuple[AlertRule, AlertState]]:
    """Return the rules with their last states. Raises StoreError where the store cannot be read."""
    with store.reading() as connection:
        known = read_states(connection)
    return [(rule, known.get(rule.name, AlertState(name=rule.name))) for rule in rules]


def _to_stderr(words: str) -> None:
    sys.stderr.write(f"toolvet: {words}\n")
    sys.stderr.flush()
