"""Calls a webhook: one POST with JSON, signed where there is a key, tried again where that can help."""

import hashlib
import hmac
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from toolvet.core.visible import one_line
from toolvet.errors import UsageError
from toolvet.store.alerts import AlertRule, AlertState, check_webhook, sentence
from toolvet.version import __version__

FORMAT: Final = "toolvet-alert/1"
_TIMEOUT_SECONDS: Final = 10.0
_PAUSES: Final = (1.0, 4.0, 15.0)
# Chats read `<…>` as markup, and so do pages.
_NO_MARKUP: Final = str.maketrans("<>", "\u2039\u203a")
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


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


class WebhookFailed(Exception):  # noqa: N818 - as EmbedderFailed
    """The webhook did not take it; the message says why, without the URL."""


def webhook_of(rule: AlertRule, environment: Mapping[str, str]) -> WebhookCall | None:
    """Return where a rule's alerts go; None for the log only.

    Raises UsageError where a variable is missing or wrong.
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
    with httpx2.Client(
        timeout=_TIMEOUT_SECONDS, follow_redirects=False, trust_env=False, verify=_certificates(call.url)
    ) as client:
        for wait in (*_PAUSES, None):
            try:
                reply = client.post(call.url, content=body, headers=_headers(call, document, body, now()))
                if reply.is_success:
                    return
                problem, again = f"answered {reply.status_code}", reply.status_code in _AGAIN
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
                problem, again = type(error).__name__, True
            if wait is None or not again:
                raise WebhookFailed(f"{call.shown} {problem}")
            pause(wait)


def _certificates(url: str) -> ssl.SSLContext:
    """Return the authorities that are trusted, also those that SSL_CERT_FILE names; for HTTP none, which is quicker."""
    if urlsplit(url).scheme.lower() == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpx2  # noqa: PLC0415 - as above

    return httpx2.create_ssl_context(trust_env=True)


def _headers(call: WebhookCall, document: Mapping[str, object], body: bytes, now: float) -> dict[str, str]:
    stamp = str(int(now))
    headers = {
        "content-type": "application/json",
        "user-agent": f"toolvet/{__version__}",
        "x-toolvet-delivery": str(document.get("id", "")),
        "x-toolvet-timestamp": stamp,
    }
    if call.key is not None:
        digest = hmac.new(call.key, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers["x-toolvet-signature"] = f"sha256={digest}"
    return headers
