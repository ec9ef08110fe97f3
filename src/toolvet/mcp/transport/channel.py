"""The two interfaces between a peer and its pipe or socket: `Channel` sends for the peer, `Inbox` receives for it."""

from collections.abc import Mapping
from typing import Literal, Protocol

from toolvet.mcp.transport.reply import AnomalyKind
from toolvet.mcp.wire import Oversize


class Inbox(Protocol):
    """What a channel calls when something arrives; `Peer` implements it."""

    def receive(self, message: bytes, *, answers: int | None = None, status: int | None = None) -> None:
        """Take one message.

        Over HTTP `answers` is the id of the request whose response carried the message, `status` the HTTP status.
        """
        ...

    def receive_oversize(self, message: Oversize, *, answers: int | None = None) -> None:
        """Take a message over the size limit, of which only the ends were kept."""
        ...

    def reject(self, id_: int, reason: str, raw: bytes, *, status: int | None = None, challenge: str = "") -> None:
        """Settle request `id_`: its answer is not a JSON-RPC message."""
        ...

    def lose(self, reason: str, *, id_: int | None = None) -> None:
        """Settle request `id_`, or all requests when None: no answer can arrive any more."""
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
        """Stop waiting for request `id_`; `notice` is the cancellation to send, None where none may be sent."""
        ...

    def settle(self, version: str) -> None:
        """Use this protocol version from now on."""
        ...

    async def close(self, grace: float) -> None:
        """Close the channel and end what was started for it, after `grace` seconds by force."""
        ...
