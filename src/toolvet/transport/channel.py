"""What lies between a peer and its pipe or socket: the two halves each other's file implements."""

from collections.abc import Mapping
from typing import Literal, Protocol

from toolvet.transport.reply import OddityKind
from toolvet.wire import Oversize


class Inbox(Protocol):
    """Where a channel delivers."""

    def receive(self, message: bytes, *, answers: int | None = None, status: int | None = None) -> None:
        """One message. Over HTTP `answers` names the request whose response carried it, and `status` its status."""
        ...

    def receive_oversize(self, message: Oversize, *, answers: int | None = None) -> None:
        """A message over the size limit, of which only the ends were kept."""
        ...

    def reject(self, id_: int, reason: str, raw: bytes, *, status: int | None = None, challenge: str = "") -> None:
        """Request `id_` got an answer that is no JSON-RPC message."""
        ...

    def lose(self, reason: str, *, id_: int | None = None) -> None:
        """No answer can come any more: to request `id_`, or to any when None."""
        ...

    def fail(self, id_: int, error: BaseException) -> None:
        """A mistake of ours met request `id_`."""
        ...

    def awaits(self, id_: int) -> bool:
        """Whether request `id_` is still open."""
        ...

    def note(self, kind: OddityKind, evidence: bytes | str) -> None:
        """Something odd."""
        ...


class Channel(Protocol):
    """One pipe or socket. Nothing here raises for the peer's fault."""

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
        """The process's, once it ended; negative for a signal."""
        ...

    @property
    def stderr(self) -> str:
        """The last part of what the process wrote to stderr."""
        ...

    async def start(self, inbox: Inbox) -> None:
        """Open it; comes before everything else. Raises UnreachableError when that is impossible."""
        ...

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        """Send a request; its answer comes to the inbox. Never waits."""
        ...

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        """Send a notification or an answer of ours, and wait until it was taken."""
        ...

    def abandon(self, id_: int, notice: bytes | None) -> None:
        """Stop waiting for request `id_`; `notice` is the cancellation to send, None where none may be sent."""
        ...

    def settle(self, version: str) -> None:
        """From now on this protocol version is spoken."""
        ...

    async def close(self, grace: float) -> None:
        """End it, and everything that was started for it, after `grace` seconds by force."""
        ...
