"""The reply to a request, what else a peer did, and the two interfaces between a peer and its pipe or socket.

`Channel` sends for the peer, `Inbox` receives for it. All durations are seconds.
"""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec

from toolvet.mcp.transport.target import quotable
from toolvet.mcp.wire import Oversize


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The request succeeded. `result` is any JSON value, `raw` the whole message as it came."""

    result: object
    raw: bytes
    duration: float


class RpcError(msgspec.Struct, frozen=True, kw_only=True):
    """The server answered with a JSON-RPC error.

    `data` is None when absent; `status` is the HTTP status that the error came with, None over stdio.
    """

    code: int
    message: str
    data: object = None
    raw: bytes = b""
    duration: float
    status: int | None = None


class TimedOut(msgspec.Struct, frozen=True, kw_only=True):
    """No answer came in time. The peer was sent a cancellation where the protocol allows one."""

    duration: float


class ConnectionLost(msgspec.Struct, frozen=True, kw_only=True):
    """The channel has ended: the process ended or closed its stdout, or the connection broke or was refused.

    `exit_code` is negative for a signal, None while the process lives and over HTTP. `stderr_tail` holds the last
    lines that the process wrote to stderr.
    """

    reason: str
    exit_code: int | None = None
    stderr_tail: str = ""
    duration: float


class Malformed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer is not a legal JSON-RPC response to this request.

    Over HTTP this includes every status without a JSON-RPC body: `status` is then set, and `challenge` is the
    `WWW-Authenticate` header.
    """

    reason: str
    raw: bytes
    duration: float
    status: int | None = None
    challenge: str = ""


Reply: TypeAlias = Answer | RpcError | TimedOut | ConnectionLost | Malformed

AnomalyKind: TypeAlias = Literal[
    "noise",  # something on the channel that is not a message
    "duplicate_answer",  # a second answer to the same request
    "late_answer",  # an answer to a request that we had cancelled
    "unknown_id",  # an answer to a request that was never made, or an error without id to a notification
    "null_id",  # an error without id, taken as the answer to the only open request
    "unexpected_request",  # a request to us that nothing we announced allows
    "bad_notification",  # the params of a notification are not JSON
    "notification_refused",  # HTTP: a notification of ours was answered with an error
    "opening_refused",  # the first attempt to open a session spoiled the channel
    "protocol_version",  # the server answered a version that does not exist
    "illegal_opening",  # initialize or server/discover was answered with something of another shape
    "half_character",  # the opening or a list contains half of a surrogate pair; it was read anyway
    "bad_session_id",  # HTTP, legacy: an Mcp-Session-Id that is not visible ASCII; it is not sent back
    "session_expired",  # HTTP, legacy: the server forgot the session, and we opened another
    "cursor_cycle",  # tools/list: a cursor came twice
    "too_many_pages",  # tools/list: we stopped reading
    "too_many_entries",  # tools/list: we stopped reading, and dropped the rest of the page
    "bad_cursor",  # tools/list: nextCursor is not a string
    "bad_page",  # tools/list: a page without a `tools` array
    "page_failed",  # tools/list: a page was refused, lost, malformed or late
    "bad_parameter_header",  # an x-mcp-header annotation that the specification forbids
]


class Anomaly(msgspec.Struct, frozen=True):
    """Something a well-behaved peer does not do. `evidence` quotes it, cut and safe to print."""

    kind: AnomalyKind
    evidence: str


def describe_reply(reply: Reply) -> str:
    """Describe `reply` as the end of a sentence about the server: `refused with -32601 "Method not found"`."""
    match reply:
        case Answer():
            return f"answered {quotable(reply.raw, 200)}"
        case RpcError():
            return f'refused with {reply.code} "{quotable(reply.message, 200)}"'
        case TimedOut():
            return f"no answer within {reply.duration:.3g} s"
        case ConnectionLost():
            ending = "" if reply.exit_code is None else f" with exit code {reply.exit_code}"
            return f"{reply.reason}{ending}"
        case Malformed():
            return f"answered with something that is not JSON-RPC: {reply.reason}"


class Inbox(Protocol):
    """Receives everything that arrives on a channel; `Peer` implements it."""

    def receive(self, message: bytes, *, answers: int | None = None, status: int | None = None) -> None:
        """Take one message.

        Over HTTP `answers` is the id of the request whose response carried the message, `status` the HTTP status.
        """
        ...

    def receive_oversize(self, message: Oversize, *, answers: int | None = None) -> None:
        """Take a message over the size limit, of which only the ends were kept."""
        ...

    def reject(self, id_: int, reason: str, raw: bytes, *, status: int | None = None, challenge: str = "") -> None:
        """Resolve request `id_`: its answer is not a JSON-RPC message."""
        ...

    def lose(self, reason: str, *, id_: int | None = None) -> None:
        """Resolve request `id_`, or all requests when None: no answer can arrive any more."""
        ...

    def fail(self, id_: int, error: BaseException) -> None:
        """Raise `error`, which is a bug of ours, for the caller of request `id_`."""
        ...

    def awaits(self, id_: int) -> bool:
        """Whether request `id_` is still open."""
        ...

    def note(self, kind: AnomalyKind, evidence: bytes | str) -> None:
        """Remember something that a well-behaved peer does not do."""
        ...


class Channel(Protocol):
    """One pipe or socket. No method raises because of what the peer did."""

    session_id: str | None

    @property
    def kind(self) -> Literal["stdio", "http"]:
        """The transport, in the specification's terms."""
        ...

    @property
    def alive(self) -> bool:
        """Whether a request can be sent."""
        ...

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process once it ended; negative for a signal."""
        ...

    @property
    def stderr(self) -> str:
        """The last part of what the process wrote to stderr."""
        ...

    async def start(self, inbox: Inbox) -> None:
        """Open the channel; call this first. Raises UnreachableError when that is impossible."""
        ...

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """Send a request and return at once; the answer goes to the inbox."""
        ...

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """Send a notification or an answer of ours, and wait until the channel has taken it."""
        ...

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Stop waiting for request `id_`; `notice` is the cancellation to send, None if none may be sent."""
        ...

    def use_version(self, version: str) -> None:
        """Use this protocol version from now on."""
        ...

    async def close(self, grace: float) -> None:
        """Close the channel and end what was started for it, after `grace` seconds by force."""
        ...
