"""Finds the messages of a connection that interceptors want, and makes messages of what they decided.

A request of the client is intercepted before the session checks it, and a result before the session judges it: the
proxy's own checks have the last word on what an interceptor made of a message. Errors, notifications and the server's
own requests are not intercepted.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from toolvet.core.json_value import members
from toolvet.mcp.interceptors import Phase
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    InvalidJson,
    Noise,
    Request,
    Result,
    encode_error,
    encode_members,
    encode_raw,
    parse,
    shallow,
    split_batch,
    split_members,
)
from toolvet.proxy.interception.servers import Interception
from toolvet.proxy.session import PolicyFault

if TYPE_CHECKING:
    from concurrent.futures import Future

_MOST_OPEN: Final = 65_536
_MOST_ALIKE: Final = 100
_INTERNAL_ERROR: Final = -32603
_UNREADABLE: Final = "it cannot be read, so that no interceptor can see it"


class Intercepted(NamedTuple):
    """What became of a line: the line to go on with, if any, and the messages that were blocked.

    `blocked` has requests with the reason, or the errors that replace results.
    """

    data: bytes | None
    blocked: tuple[tuple[bytes, str], ...] = ()
    notes: tuple[PolicyFault, ...] = ()


class Traffic:
    """The open requests of one connection (over HTTP: of one exchange) whose results are intercepted.

    `session` is an id of the client's session, for interceptors that remember what they saw.
    """

    def __init__(self, interception: Interception, session: str) -> None:
        self._interception = interception
        self._session = session
        # By id the methods, the newest last: a client may use the id of an open request again.
        self._open: dict[Id, tuple[str, ...]] = {}

    def of_client(self, data: bytes) -> "Coroutine[object, object, Intercepted] | None":
        """Return what decides on a line of the client, to be awaited; None if it passes."""
        return self._of_line(data, self._request)

    def of_server(self, data: bytes) -> "Coroutine[object, object, Intercepted] | None":
        """Return what decides on a line of the server, to be awaited; None if it passes."""
        return self._of_line(data, self._result) if self._open else None

    def _of_line(
        self, data: bytes, of: "Callable[[bytes], Coroutine[object, object, Intercepted] | None]"
    ) -> "Coroutine[object, object, Intercepted] | None":
        if not data.lstrip().startswith(b"["):
            return of(data)
        deciding = [(each, of(each)) for each in split_batch(data)]
        return _together(deciding) if any(one for _, one in deciding) else None

    def _request(self, data: bytes) -> "Coroutine[object, object, Intercepted] | None":
        message = parse(data)
        is_readable = not isinstance(message, Noise)
        if isinstance(message, Noise) and message.kind == "too_deep":
            message = parse(shallow(data))
        if not isinstance(message, Request):
            return None
        event, params = message.method, message.params
        if message.id in self._open or self._interception.hooks_into(event, "response"):
            self._open[message.id] = (*self._open.get(message.id, ())[-_MOST_ALIKE:], event)
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        if not self._interception.hooks_into(event, "request"):
            return None
        if not is_readable or isinstance(params, InvalidJson):
            return _blocked(data, f"the request was blocked: {_UNREADABLE}")
        payload = {"method": event, **({} if params is None else {"params": params})}
        return self._decide(message.id, data, event, "request", payload)

    def _result(self, data: bytes) -> "Coroutine[object, object, Intercepted] | None":
        message = parse(data)
        id_ = message.reply_to if isinstance(message, Noise) else getattr(message, "id", None)
        events = self._open.get(id_) if id_ is not None else None
        if id_ is None or events is None or not isinstance(message, Result | ErrorReply | Noise):
            return None
        *others, event = events
        if others:
            self._open[id_] = tuple(others)
        else:
            del self._open[id_]
        if isinstance(message, ErrorReply) or not self._interception.hooks_into(event, "response"):
            return None
        if isinstance(message, Noise) or isinstance(message.result, InvalidJson):
            return _blocked(encode_error(id_, _INTERNAL_ERROR, f"The result was blocked: {_UNREADABLE}"), "")
        return self._decide(id_, data, event, "response", message.result)

    async def _decide(self, id_: Id, data: bytes, event: str, phase: Phase, payload: object) -> Intercepted:
        outcome = await self._interception.run(event, phase, payload, self._session)
        if outcome.blocked and phase == "request":
            return Intercepted(None, ((data, outcome.blocked),), outcome.notes)
        if outcome.blocked:
            error = encode_error(id_, _INTERNAL_ERROR, f"The result was blocked: {outcome.blocked}")
            return Intercepted(None, ((error, outcome.blocked),), outcome.notes)
        if outcome.payload is payload:
            return Intercepted(data, (), outcome.notes)
        parts = split_members(data)
        if phase == "response":
            parts["result"] = encode_raw(outcome.payload)
        else:
            parts["params"] = encode_raw(members(outcome.payload)["params"])
        return Intercepted(encode_members(parts), (), outcome.notes)


async def _blocked(data: bytes, why: str) -> Intercepted:
    return Intercepted(None, ((data, why),))


async def _together(
    deciding: "Sequence[tuple[bytes, Coroutine[object, object, Intercepted] | None]]",
) -> Intercepted:
    """Return what became of a batch: its messages that passed, as a batch again."""
    decided = await asyncio.gather(*(one for _, one in deciding if one is not None))
    left = iter(decided)
    made = [Intercepted(data) if one is None else next(left) for data, one in deciding]
    passed = [each.data for each in made if each.data is not None]
    blocked = tuple(one for each in made for one in each.blocked)
    notes = tuple(note for each in made for note in each.notes)
    return Intercepted(b"[" + b",".join(passed) + b"]" if passed else None, blocked, notes)


class LineGate:
    """Lines of one side, in their order: those behind an intercepted line wait for it, and are intercepted meanwhile.

    Args:
        interception: The interceptors.
        decide: `Traffic.of_client` or `Traffic.of_server`.
        wake: Called in another thread when `ready` may have more lines.
    """

    def __init__(
        self,
        interception: Interception,
        decide: "Callable[[bytes], Coroutine[object, object, Intercepted] | None]",
        wake: Callable[[], None],
    ) -> None:
        self._interception = interception
        self._decide = decide
        self._wake = wake
        self._lines: deque[tuple[bytes, Future[Intercepted] | None]] = deque()

    def __bool__(self) -> bool:
        """Whether lines wait."""
        return bool(self._lines)

    def put(self, lines: Sequence[bytes]) -> None:
        """Take lines."""
        for line in lines:
            deciding = self._decide(line)
            future = None if deciding is None else self._interception.submit(deciding)
            self._lines.append((line, future))
            if future is not None:
                future.add_done_callback(lambda _: self._wake())

    def ready(self, *, cut: str | None = None) -> list[Intercepted]:
        """Return what can go on now. With `cut` nothing waits: what is not decided is blocked, for this reason."""
        found: list[Intercepted] = []
        while self._lines:
            line, future = self._lines[0]
            if future is None:
                found.append(Intercepted(line))
            elif future.done():
                found.append(future.result())
            elif cut is not None:
                future.cancel()
                messages = split_batch(line) if line.lstrip().startswith(b"[") else [line]
                found.append(Intercepted(None, tuple((each, cut) for each in messages if cut)))
            else:
                break
            self._lines.popleft()
        return found
