"""The callers over HTTP: requests with the same credentials in the same session share what was learned of the server.

MCP forbids showing one caller's tool list to another, and a server may list other tools to each (2026-07-28, caching),
so nothing is shared beyond that. Of credentials only a keyed hash is kept, and the key lives in this process only.
"""

import hashlib
import secrets
from time import monotonic
from typing import Final

from toolvet.mcp.wire import RequestHead
from toolvet.proxy.quiet import QuietWatch
from toolvet.proxy.session import Catalogue, SchemaLearned, Session

SESSION_ID: Final = b"mcp-session-id"
_MOST_CALLERS: Final = 1024
_MOST_UNANSWERED: Final = 256
# A list without a lifetime is read again after so many seconds: over HTTP a server need not report that it changed. One
# whose lifetime is zero is still used for a while, because reading it before each call would double the calls.
_LIFETIME: Final = 300.0
_LEAST: Final = 10.0
_MOST: Final = 3600.0

# Headers that do not identify a caller. Every other header may be a credential, an unknown one as well.
NEUTRAL: Final = frozenset(
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
    """The state that all exchanges of one caller share.

    `unanswered` are the sessions whose call may still be answered on another stream.
    """

    __slots__ = ("_expires", "_quiet", "catalogue", "unanswered")

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        # Without a session, requests of many conversations may look alike.
        self.catalogue.is_one_conversation = False
        self._quiet = QuietWatch()
        self.unanswered: list[Session] = []
        self._expires: float | None = None

    def note_list(self, note: SchemaLearned) -> None:
        """Note until when the tool list that was just read may be used."""
        if note.complete:
            ttl = note.lifetime_ms
            lifetime = _LIFETIME if ttl is None else min(max(ttl / 1000, _LEAST), _MOST)
            self._expires = monotonic() + lifetime

    def refresh(self) -> None:
        """Forget the tool list when it is too old; the caller begins another exchange now."""
        self._quiet.note_message(self.catalogue)
        if self._expires is not None and monotonic() > self._expires:
            self._expires = None
            self.catalogue.forget()

    def note_answer(self) -> None:
        """Note that the server answers this caller now."""
        self._quiet.note_answer()

    def keep_session(self, session: Session) -> Session | None:
        """Keep the session of a call whose stream ended before its answer came.

        Returns the oldest session when there is no room for both: the caller has to close it.
        """
        self.unanswered.append(session)
        return self.unanswered.pop(0) if len(self.unanswered) > _MOST_UNANSWERED else None


class Callers:
    """The most recent callers; the one that sent nothing for longest is forgotten first."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._known: dict[bytes, Caller] = {}

    def name_of(self, head: RequestHead) -> bytes:
        """Return the name of the caller that sends requests with this head: a keyed hash of it."""
        return self._hash(head, head.get(SESSION_ID))

    def named(self, name: bytes) -> Caller:
        """Return the caller of this name; a new one if it was not seen lately."""
        known = self._known
        caller = known.pop(name, None)
        if caller is None:
            caller = Caller()
            if len(known) >= _MOST_CALLERS:
                del known[next(iter(known))]
        known[name] = caller
        return caller

    def move_to_session(self, head: RequestHead, session_id: bytes) -> Caller:
        """Move what was learned of the server to the session that this request opened, and return its caller."""
        before = self.named(self._hash(head, None))
        caller = self.named(self._hash(head, session_id))
        caller.catalogue = before.catalogue
        caller.catalogue.is_one_conversation = True
        # The next client that opens a session begins with nothing.
        self._known.pop(self._hash(head, None), None)
        return caller

    def forget(self, head: RequestHead) -> Caller | None:
        """Forget the caller whose session this request ended; return it, None if it was not known."""
        return self._known.pop(self._hash(head, head.get(SESSION_ID)), None)

    def _hash(self, head: RequestHead, session_id: bytes | None) -> bytes:
        identity = [
            lower + b":" + value
            for name, value in head.fields
            if (lower := name.lower()) not in NEUTRAL and lower != SESSION_ID and not lower.startswith(b"mcp-param-")
        ]
        identity.sort()
        identity.append(b"session:" + session_id if session_id is not None else b"")
        identity.append(head.target)
        return hashlib.blake2b(b"\n".join(identity), key=self._key, digest_size=16).digest()
