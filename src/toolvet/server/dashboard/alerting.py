"""`AlertWatch`: evaluates the rules of alerts while the dashboard runs → events, lines of the log, webhooks."""

import hashlib
import hmac
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from toolvet.core.visible import one_line
from toolvet.errors import StoreError, UsageError
from toolvet.store import FigureFilter, Store
from toolvet.store.alert_states import locked_state, read_states, write_state
from toolvet.store.alerts import AlertRule, AlertState, check_webhook, measured, next_state, sentence
from toolvet.store.records import EventRecord, new_id
from toolvet.version import __version__

_MINUTE: Final = 60
_JOIN_SECONDS: Final = 0.25
_EVERY_SECONDS: Final = 15.0
# A webhook that is down: tried again after 15, 30, 60 … seconds, at most this long, and for a day.
_LONGEST_PAUSE: Final = 900.0
_GIVE_UP_SECONDS: Final = 24 * 3600.0


class WebhookCall(msgspec.Struct, frozen=True):
    """Where to post, and the key that signs; None posts without a signature. Neither is ever shown."""

    url: str
    key: bytes | None = None

    @property
    def shown(self) -> str:
        """The address without its path and query, which often are a secret."""
        parts = urlsplit(self.url)
        port = "" if parts.port is None else f":{parts.port}"
        return f"{parts.scheme}://{parts.hostname}{port}"


Poster = Callable[[WebhookCall, Mapping[str, object]], None]
"""What posts a document to a webhook. Raises WebhookFailed."""


class _Tries(NamedTuple):
    """How often the message of the change at `since` was tried in vain, and when last."""

    since: float | None
    number: int
    last: float


def post(
    call: WebhookCall,
    document: Mapping[str, object],
    *,
    now: Callable[[], float] = time.time,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Post a document. Raises WebhookFailed after four attempts, or at once where another would be refused as well.

    The signature is `X-Toolvet-Signature: sha256=…`, the HMAC-SHA256 of `X-Toolvet-Timestamp`, a dot and the body.
    Redirects are not followed: the rule names the address that may get this.
    """
    # Few servers have webhooks, and it takes four megabytes.
    import httpx2  # noqa: PLC0415

    body = msgspec.json.encode(document)
    # The authorities that are trusted, also those that SSL_CERT_FILE names; for HTTP none, which is quicker.
    is_plain = urlsplit(call.url).scheme.lower() == "http"
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx2.create_ssl_context(trust_env=True)
    with httpx2.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False, trust_env=False, verify=trusted) as client:
        for wait in (*_PAUSES, None):
            stamp = str(int(now()))
            headers = {
                "content-type": "application/json",
                "user-agent": f"toolvet/{__version__}",
                "x-toolvet-delivery": str(document.get("id", "")),
                "x-toolvet-timestamp": stamp,
            }
            if call.key is not None:
                digest = hmac.new(call.key, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
                headers["x-toolvet-signature"] = f"sha256={digest}"
            try:
                reply = client.post(call.url, content=body, headers=headers)
                if reply.is_success:
                    return
                problem, again = f"answered {reply.status_code}", reply.status_code in _AGAIN
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
                problem, again = type(error).__name__, True
            if wait is None or not again:
                raise WebhookFailed(f"{call.shown} {problem}")
            pause(wait)


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
        self._tries: dict[str, _Tries] = {}
        self._under_way: set[str] = set()
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
        """Evaluate all rules at `now` (seconds since the epoch), send the changes, and return the states.

        Raises StoreError if the store cannot be read or written.
        """
        # First all rules: a webhook that hangs must not hold up the alert that is next.
        measured_states = [(rule, *self._evaluate(rule, now)) for rule in self._rules.values()]
        return [self._deliver_due(rule, state, verdicts, now) for rule, state, verdicts in measured_states]

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_SECONDS):
            try:
                now = time.time()
                for rule in self._rules.values():
                    state, verdicts = self._evaluate(rule, now)
                    if not state.delivered and rule.name not in self._under_way:
                        self._under_way.add(rule.name)
                        words = (rule, state, verdicts, now)
                        threading.Thread(target=self._deliver_apart, args=words, daemon=True).start()
            except StoreError as error:
                self._complain("the store", f"alerts cannot be evaluated: {error}")
            except Exception as error:  # noqa: BLE001 - the watch must outlive unexpected errors
                self._complain("the store", f"alerts cannot be evaluated: {type(error).__name__}: {error}")
            else:
                self._complained.discard("the store")

    def _deliver_apart(self, rule: AlertRule, state: AlertState, verdicts: int, now: float) -> None:
        try:
            self._deliver_due(rule, state, verdicts, now)
        except Exception as error:  # noqa: BLE001 - as above
            self._complain(rule.name, f"the alert {rule.name} was not delivered: {type(error).__name__}: {error}")
        finally:
            self._under_way.discard(rule.name)

    def _evaluate(self, rule: AlertRule, now: float) -> tuple[AlertState, int]:
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
            words = alert_text(rule, state)
            self._say(f"{'alert' if state.firing else 'alert ended'}: {words}")
            kind = "alert" if state.firing else "alert_ended"
            event = EventRecord(
                id=new_id(now), at=now, kind=kind, message=words, server=rule.server or "", tool=rule.tool
            )
            self._store.add_records([event])
        return state, sums.verdicts

    def _deliver_due(self, rule: AlertRule, state: AlertState, verdicts: int, now: float) -> AlertState:
        """Post what the webhook does not know yet, unless it is too early to try again, or too late."""
        if state.delivered:
            return state
        tries = self._tries.get(rule.name)
        if tries is None or tries.since != state.since:
            tries = _Tries(state.since, 0, now)
        elif now < tries.last + min(_EVERY_SECONDS * 2 ** min(tries.number - 1, 10), _LONGEST_PAUSE):
            return state
        if state.since is not None and now > state.since + _GIVE_UP_SECONDS:
            self._complain(f"{rule.name} given up", f"the alert {rule.name} could not be delivered for a day: given up")
            return state
        self._tries[rule.name] = _Tries(state.since, tries.number + 1, now)
        state = self._send(rule, state, verdicts)
        if state.delivered:
            self._tries.pop(rule.name, None)
            self._complained.discard(f"{rule.name} given up")
        return state

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
        if about not in self._complained:
            self._complained.add(about)
            self._say(words)


def alert_states(store: Store, rules: Sequence[AlertRule]) -> list[tuple[AlertRule, AlertState]]:
    """Return the rules with their last states. Raises StoreError if the store cannot be read."""
    with store.reading() as connection:
        known = read_states(connection)
    return [(rule, known.get(rule.name, AlertState(name=rule.name))) for rule in rules]


def _to_stderr(words: str) -> None:
    sys.stderr.write(f"toolvet: {words}\n")
    sys.stderr.flush()


FORMAT: Final = "toolvet-alert/1"
_TIMEOUT_SECONDS: Final = 10.0
_PAUSES: Final = (1.0, 4.0, 15.0)
# Chats read `<…>` as markup, and so do pages.
_NO_MARKUP: Final = str.maketrans("<>", "\u2039\u203a")
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class WebhookFailed(Exception):  # noqa: N818 - as EmbedderFailed
    """The webhook did not take it; the message says why, without the URL."""


def webhook_of(rule: AlertRule, environment: Mapping[str, str]) -> WebhookCall | None:
    """Return where a rule's alerts go; None for the log only.

    Raises UsageError if a variable is missing or wrong.
    """
    url, key = rule.webhook, None
    if rule.webhook_env is not None:
        url = environment.get(rule.webhook_env)
        if not url:
            raise UsageError(f"the alert {rule.name} needs {rule.webhook_env} in the environment: the webhook's URL")
        try:
            check_webhook(url)
        except ValueError as error:
            raise UsageError(f"the alert {rule.name}: {rule.webhook_env} in the environment: {error}") from error
    if rule.secret_env is not None:
        key = environment.get(rule.secret_env, "").encode()
        if not key:
            raise UsageError(f"the alert {rule.name} needs {rule.secret_env} in the environment: the key that signs")
    return None if url is None else WebhookCall(url, key)


def alert_text(rule: AlertRule, state: AlertState) -> str:
    """Return what a person should read, on one line and without markup, whatever names the settings have."""
    return one_line(sentence(rule, state)).translate(_NO_MARKUP)


def payload(rule: AlertRule, state: AlertState, verdicts: int | None) -> Mapping[str, object]:
    """Return what is posted. `id` is that of the change: the same one when it is posted again."""
    change = f"{rule.name}\0{state.firing}\0{state.since!r}".encode()
    return {
        "schema": FORMAT,
        "id": hashlib.sha256(change).hexdigest()[:32],
        "alert": rule.name,
        "state": "firing" if state.firing else "resolved",
        "text": alert_text(rule, state),
        "measure": rule.measure,
        "value": state.value,
        "above": rule.above,
        "below": rule.below,
        "clear": rule.end,
        "window_minutes": rule.window,
        "verdicts": verdicts,
        "since": state.since,
        "filter": {
            name: given
            for name in ("kind", "server", "tool", "model", "variant")
            if (given := getattr(rule, name)) is not None
        },
        "toolvet_version": __version__,
    }
