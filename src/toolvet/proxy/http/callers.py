"""Who asks over HTTP: requests with the same credentials in the same session share what was learned of the server.

MCP forbids to show one caller's tool list to another, and a server may list other tools to each (2026-07-28, caching),
so nothing is shared further. Of credentials only a keyed hash is kept, and the key dies with the process.
"""

import hashlib
import secrets
from time import monotonic
from typing import Final

from toolvet.session import Catalogue, SchemaLearned, Session
from toolvet.wire.http_head import RequestHead

SESSION_ID: Final = b"mcp-session-id"
_MOST_CALLERS: Final = 1024
_MOST_UNANSWERED: Final = 256
# A list without a lifetime is read again after so long (seconds): over HTTP nobody need tell us that it changed. One
# whose lifetime is nought is used a little all the same, because reading it before each call would double the calls.
_LIFETIME: Final = 300.0
_LEAST: Final = 10.0
_MOST: Final = 3600.0

# What says nothing of who asks. Every other header may be a credential, also one that nobody has heard of.
_NEUTRAL: Final = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"accept-language",
        b"baggage",
        b"cache-control",
        b"connection",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"date",
        b"expect",
        b"host",
        b"keep-alive",
        b"last-event-id",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"pragma",
        b"priority",
        b"te",
        b"traceparent",
        b"tracestate",
        b"transfer-encoding",
        b"x-request-id",
    }
)


class Caller:
    """What one caller's exchanges share. `unanswered` are sessions whose call may be answered on another stream yet."""

    __slots__ = ("_expires", "catalogue", "unanswered")

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        self.unanswered: list[Session] = []
        self._expires: float | None = None

    def learned(self, note: SchemaLearned) -> None:
        """The tool list was read: how long it holds."""
        if note.complete:
            told = note.lifetime_ms
            lifetime = _LIFETIME if told is None else min(max(told / 1000, _LEAST), _MOST)
            self._expires = monotonic() + lifetime

    def refresh(self) -> None:
        """Forget a list that is too old."""
        if self._expires is not None and monotonic() > self._expires:
            self._expires = None
            self.catalogue.forget()

    def leave(self, session: Session) -> Session | None:
        """The stream of this call ended before its answer came. Returns the session that had to make room for it."""
        self.unanswered.append(session)
        return self.unanswered.pop(0) if len(self.unanswered) > _MOST_UNANSWERED else None


class Callers:
    """The callers of late; those that were not heard of for longest are forgotten."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._known: dict[bytes, Caller] = {}

    def of(self, head: RequestHead) -> Caller:
        """The caller that sent this request."""
        return self._known_as(self._name(head, head.get(SESSION_ID)))

    def opened(self, head: RequestHead, session_id: bytes) -> Caller:
        """The caller got a session: what it learned while it opened it goes along."""
        before = self._known_as(self._name(head, None))
        caller = self._known_as(self._name(head, session_id))
        caller.catalogue = before.catalogue
        # The next client that opens a session begins with nothing.
        self._known.pop(self._name(head, None), None)
        return caller

    def closed(self, head: RequestHead) -> Caller | None:
        """The session was ended."""
        return self._known.pop(self._name(head, head.get(SESSION_ID)), None)

    def _known_as(self, name: bytes) -> Caller:
        known = self._known
        caller = known.pop(name, None)
        if caller is None:
            caller = Caller()
            if len(known) >= _MOST_CALLERS:
                del known[next(iter(known))]
        known[name] = caller
        return caller

    def _name(self, head: RequestHead, session_id: bytes | None) -> bytes:
        told = [
            lower + b":" + value
            for name, value in head.fields
            if (lower := name.lower()) not in _NEUTRAL and lower != SESSION_ID and not lower.startswith(b"mcp-param-")
        ]
        told.sort()
        told.append(b"session:" + session_id if session_id is not None else b"")
        told.append(head.target)
        return hashlib.blake2b(b"\n".join(told), key=self._key, digest_size=16).digest()
