"""Who sent a request, as its head says, and the notes of its calls without the credentials that it sent."""

import time
from secrets import token_hex
from typing import Final

import msgspec

from toolvet.core.checks import ResultVerdict
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.core.redact import SecretMask, is_secret_key
from toolvet.mcp.wire import RequestHead
from toolvet.proxy.http.callers import NEUTRAL, SESSION_ID, Callers
from toolvet.proxy.session import CallEnded, PolicyFault, Step
from toolvet.proxy.session.trace import TRACE_KEY, TRACE_PARENT, TraceSource

# What a client says of its trace in `_meta`.
_TRACE_KEYS: Final = (TRACE_KEY, TRACE_PARENT, "tracestate")
_MOST_CLEAN: Final = 64
# A mask takes so many characters of a secret for a part of it.
_PART: Final = 4
_TIME: Final = (1 << 48) - 1


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


def sender_of(head: RequestHead, callers: Callers) -> Requester:
    """Return the sender of a request with this head."""
    session_id, parent = head.get(SESSION_ID), head.get(b"traceparent")
    words = None if parent is None else parent.decode("latin-1")
    traces = None if session_id is None else TraceSource(f"session {session_id.decode('latin-1')}", words)
    return Requester(callers.name_of(head), credentials(head), words, traces)


def credentials(head: RequestHead) -> SecretMask | None:
    """Return a mask of the client's own secrets in the fields of a request; None where it has none."""
    found = {
        name: value.decode("latin-1")
        for field, value in head.fields
        if field.lower() not in NEUTRAL and is_secret_key(name := field.decode("latin-1"))
    }
    mask = SecretMask.learned(found)
    return mask or None
