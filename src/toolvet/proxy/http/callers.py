"""The callers over HTTP: requests with the same credentials in the same session share what was learned of the server.

MCP forbids showing one caller's tool list to another, and a server may list other tools to each (2026-07-28, caching),
so nothing is shared beyond that. Of credentials only a keyed hash is kept, and the key lives in this process only.

`sender_of` says who sent a request, as its head says; the notes of its calls leave out the credentials that it sent.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from secrets import token_hex
from time import monotonic
from typing import Final

import msgspec

from toolvet.core.checks import ResultVerdict
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.core.redact import SecretMask, is_secret_key
from toolvet.errors import could_not_check
from toolvet.proxy.driver import QuietWatch
from toolvet.proxy.http.message import RequestHead
from toolvet.proxy.session import CallEnded, Catalogue, PolicyFault, SchemaLearned, Session, Step
from toolvet.proxy.session.trace import TRACE_KEY, TRACE_PARENT, TraceSource

SESSION_ID: Final = b"mcp-session-id"
_MOST_CALLERS: Final = 1024
_MOST_UNANSWERED: Final = 256
# A list without a lifetime is read again after this many seconds: over HTTP a server need not report that it changed.
# One whose lifetime is zero is still used for a while, because reading it before each call would double the calls.
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
# A client's trace is under these keys of `_meta`.
_TRACE_KEYS: Final = (TRACE_KEY, TRACE_PARENT, "tracestate")
_MOST_CLEAN: Final = 64
# A mask takes this many characters of a secret for a part of it.
_PART: Final = 4
_TIME: Final = (1 << 48) - 1


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


class Requester(msgspec.Struct, frozen=True):
    """The sender of a request: the name of its caller, its own secrets, and the source of its trace ids.

    `credentials` are the client's own for the server, which must not be in the record where the server repeats them.
    `traces` is None for a request outside any session.
    """

    caller: bytes
    credentials: SecretMask | None
    parent: str | None
    traces: TraceSource | None
    # The words of plain calls that were found to hold none of the credentials.
    clean: set[tuple[str, ...]] = msgspec.field(default_factory=set[tuple[str, ...]])

    def trace_source(self) -> TraceSource:
        """Return the source of the trace ids of one request: its `traceparent`, else its session with the ids in that.

        Without a session all clients count their requests from 1, so that each request is a connection of its own.
        """
        if self.traces is not None:
            return self.traces
        return TraceSource(token_hex(16), self.parent, order=f"{int(time.time() * 1000) & _TIME:012x}")

    def without_credentials(self, note: Step) -> Step:
        """Return a note that hides the credentials, wherever it goes."""
        mask = self.credentials
        if mask is None:
            return note
        if isinstance(note, CallEnded):
            return note if self._is_clean(note, mask) else msgspec.structs.replace(note, mask=note.mask | mask)
        if isinstance(note, PolicyFault):
            return msgspec.structs.replace(note, message=mask.known(note.message))
        return note

    def _is_clean(self, note: CallEnded, mask: SecretMask) -> bool:
        """Whether a note is of a plain call, and none of its words are credentials: reading its record takes 90 us."""
        verdict = note.verdict
        if verdict is None or not _is_plain(note) or not _is_good(verdict):
            return False
        number = str(note.id)
        if len(number) >= _PART and any(number in secret or secret in number for secret in mask.secrets):
            return False
        about = verdict.metadata
        version = note.meta.get(PROTOCOL_VERSION_KEY)
        words = (note.tool, *verdict.evidence, *about.content_types, version if isinstance(version, str) else "")
        if words in self.clean:
            return True
        if any(mask.text(each) != each for each in words):
            return False
        if len(self.clean) >= _MOST_CLEAN:
            self.clean.clear()
        self.clean.add(words)
        return True


def _is_plain(note: CallEnded) -> bool:
    """Whether a note has nothing of the client or the server but the name of the tool, and what its verdict says."""
    quoted = note.mask or note.unjudged or note.issues or note.why or note.changed or note.hidden or note.blocked
    kept = note.repaired is not None or note.arguments is not None or note.result is not None
    is_traced = note.traces.parent is not None or any(key in note.meta for key in _TRACE_KEYS)
    return type(note.id) is int and not (quoted or kept or is_traced or note.would_block or note.code is not None)


def _is_good(verdict: ResultVerdict) -> bool:
    """Whether a verdict has no other words than its evidence and the types of content."""
    about = verdict.metadata
    found = verdict.issues or verdict.factors or verdict.leaks or verdict.reports_error
    named = verdict.framework or verdict.error_code or verdict.trace_id or about.taken_for or about.other_counts
    said = about.warnings or about.pagination or about.content_fidelity or about.dropped_content_ids
    return verdict.is_valid and not (found or named or said or about.output_schema_validation is not None)


def sender_of(head: RequestHead, callers: Callers, complain: Callable[[str], None] = lambda _: None) -> Requester:
    """Return the sender of a request with this head. `complain` gets the words for a bug of ours."""
    session_id, parent = head.get(SESSION_ID), head.get(b"traceparent")
    words = None if parent is None else parent.decode("latin-1")
    traces = None if session_id is None else TraceSource(f"session {session_id.decode('latin-1')}", words)
    return Requester(callers.name_of(head), credentials(head, complain), words, traces)


def credentials(head: RequestHead, complain: Callable[[str], None]) -> SecretMask | None:
    """Return a mask of the client's own secrets in the fields of a request; None if it has none."""
    found = {
        name: value.decode("latin-1")
        for field, value in head.fields
        if field.lower() not in NEUTRAL and is_secret_key(name := field.decode("latin-1"))
    }
    try:
        return SecretMask.learned(found) or None
    except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the request: the values are masked as wholes
        complain(f"a message {could_not_check(error)}")
        return SecretMask(found.values())
