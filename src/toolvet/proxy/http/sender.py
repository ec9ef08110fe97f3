"""Who sent a request, as its head says."""

from secrets import token_hex

import msgspec

from toolvet.proxy.http.callers import NEUTRAL, SESSION_ID, Callers
from toolvet.redact import SecretMask, is_secret_key
from toolvet.session.trace import TraceSource
from toolvet.wire.http_head import RequestHead


class Sender(msgspec.Struct, frozen=True):
    """The sender of a request: the name of its caller, its own secrets, and the source of its trace ids.

    `credentials` are the client's own for the server, which must not be in the record where the server repeats them.
    `traces` is None for a request outside any session.
    """

    caller: bytes
    credentials: SecretMask | None
    parent: str | None
    traces: TraceSource | None

    def trace_source(self) -> TraceSource:
        """Return the source of the trace ids of one request: its `traceparent`, else its session with the ids in that.

        Without a session all clients count their requests from 1, so that each request is a connection of its own.
        """
        return self.traces if self.traces is not None else TraceSource(token_hex(16), self.parent)


def sender_of(head: RequestHead, callers: Callers) -> Sender:
    """Return the sender of a request with this head."""
    session_id, parent = head.get(SESSION_ID), head.get(b"traceparent")
    words = None if parent is None else parent.decode("latin-1")
    traces = None if session_id is None else TraceSource(f"session {session_id.decode('latin-1')}", words)
    return Sender(callers.name_of(head), credentials(head), words, traces)


def credentials(head: RequestHead) -> SecretMask | None:
    """Return a mask of the client's own secrets in the fields of a request; None where it has none."""
    found = {
        name: value.decode("latin-1")
        for field, value in head.fields
        if field.lower() not in NEUTRAL and is_secret_key(name := field.decode("latin-1"))
    }
    return SecretMask.learned(found) if found else None
