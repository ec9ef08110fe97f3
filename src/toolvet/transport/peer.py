"""A raw JSON-RPC peer over one channel: requests and answers matched by id, and a memory for what else happened."""

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from time import perf_counter
from typing import Literal, TypeAlias

from toolvet.redact import redact_text
from toolvet.transport.channel import Channel
from toolvet.transport.quote import last_lines, printable
from toolvet.transport.reply import (
    Answer,
    ConnectionLost,
    Malformed,
    Oddity,
    OddityKind,
    Reply,
    RpcError,
    TimedOut,
)
from toolvet.wire import (
    ErrorReply,
    Id,
    InvalidJson,
    Message,
    Noise,
    Notification,
    Oversize,
    Request,
    Result,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
)
from toolvet.wire.message import reply_hint

Era: TypeAlias = Literal["legacy", "modern"]

# Neither may be cancelled: before them the peer does not know what a cancellation is.
_OPENERS = frozenset({"initialize", "server/discover"})
_KEPT_PER_KIND = 50
_KEPT_NOTIFICATIONS = 1000
_KEPT_NOTIFICATION_BYTES = 4 * 1024 * 1024
_EVIDENCE = 300
_LAST_ANSWERS = 0.5


class Peer:
    """Ask, and get a `Reply`: nothing here raises for the peer's fault.

    `oddities` holds up to 50 of each kind, `odd` counts them all; `notifications` holds the last
    1000, or fewer if they are over 4 MiB. `era` is None
    until a session settles it. Server-to-client requests: `ping` is answered, `roots/list` when `roots` is not None
    (with these URIs), everything else gets -32601.
    """

    def __init__(self, channel: Channel, *, roots: tuple[str, ...] | None = None) -> None:
        self.era: Era | None = None
        self.oddities: list[Oddity] = []
        self.odd: Counter[OddityKind] = Counter()
        self.notifications: deque[Notification] = deque()
        self.messages = 0
        self._channel = channel
        self._roots = roots
        self._pending: dict[Id, _Pending] = {}
        self._abandoned: set[Id] = set()
        self._forgiven: set[Id] = set()
        self._kept_bytes = 0
        self._last_id = 0
        self._lost: str | None = None
        self._waited = 0.0
        self._waiting_since = 0.0
        self._background: set[asyncio.Task[None]] = set()

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """What it speaks over."""
        return self._channel.kind

    @property
    def alive(self) -> bool:
        """Whether a request has a chance of an answer."""
        return self._lost is None and self._channel.alive

    @property
    def exit_code(self) -> int | None:
        """The process's, once it ended; negative for a signal."""
        return self._channel.exit_code

    @property
    def stderr(self) -> str:
        """The last part of what the process wrote to stderr, decoded leniently; "" over HTTP."""
        return self._channel.stderr

    @property
    def wait_seconds(self) -> float:
        """How long at least one request was open, plus the time that closing took."""
        return self._waited + (perf_counter() - self._waiting_since if self._pending else 0.0)

    async def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a reply that says TimedOut, not an exception.
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and wait for its reply, at most `timeout` seconds. `headers` go with it over HTTP only.

        Raises ValueError or TypeError for `params` that JSON cannot say.
        """
        self._last_id = id_ = self._last_id + 1
        message = encode_request(id_, method, params)
        started = perf_counter()
        if not self.alive:
            return self._lost_reply(self._lost or "the channel is closed", started)
        loop = asyncio.get_running_loop()
        pending = _Pending(loop.create_future(), started)
        if not self._pending:
            self._waiting_since = started
        self._pending[id_] = pending
        timer = None if timeout is None else loop.call_later(timeout, self._expire, id_, method)
        try:
            self._channel.post(id_, message, headers or {})
            outcome = await pending.future
        finally:
            if timer is not None:
                timer.cancel()
            if id_ in self._pending:
                self._abandon(id_, method, "cancelled")
        return outcome if not isinstance(outcome, tuple) else _reply(*outcome, started)

    async def notify(self, method: str, params: object = None, *, headers: Mapping[str, str] | None = None) -> None:
        """Send a notification; returns when the channel has taken it."""
        if self.alive:
            await self._channel.deliver(encode_notification(method, params), headers or {})

    @property
    def session_id(self) -> str | None:
        """The `Mcp-Session-Id` of a legacy HTTP session."""
        return self._channel.session_id

    def forget_session(self) -> None:
        """Send no session id until the server gives another one."""
        self._channel.session_id = None

    def settle(self, era: Era, version: str) -> None:
        """The session's first exchange decided era and protocol version."""
        self.era = era
        self._channel.settle(version)

    async def close(self, grace: float) -> None:
        """End the channel and whatever was started for it, after `grace` seconds by force; open requests are lost."""
        started = perf_counter()
        self.lose("we closed the channel")
        try:
            if self._background:
                # The server still waits for these answers of ours.
                await asyncio.wait(self._background, timeout=min(grace, _LAST_ANSWERS))
            for task in self._background:
                task.cancel()
            await self._channel.close(grace)
        finally:
            self._waited += perf_counter() - started

    # What the channel delivers (see channel.Inbox).

    def receive(self, message: bytes, *, answers: int | None = None, status: int | None = None) -> None:
        """One message from the peer."""
        parsed = parse(message)
        if isinstance(parsed, Result):
            self._answered(parsed.id, parsed, answers, status)
        elif isinstance(parsed, ErrorReply):
            self._refused(parsed, answers, status)
        elif isinstance(parsed, Notification):
            self._notified(parsed)
        elif isinstance(parsed, Request):
            self._asked(parsed)
        else:
            self._heard(parsed, answers, status)

    def receive_oversize(self, message: Oversize, *, answers: int | None = None) -> None:
        """A message over the size limit."""
        reason = f"a message of {message.length:,} bytes is over the limit of {message.limit:,}"
        hint = reply_hint(message.head + b" " + message.tail)
        self._heard(Noise("oversize", reason, message.head, hint), answers, None)

    def reject(self, id_: int, reason: str, raw: bytes, *, status: int | None = None, challenge: str = "") -> None:
        """An answer that is no JSON-RPC message."""
        if pending := self._pop(id_):
            took = perf_counter() - pending.started
            pending.settle(Malformed(reason=reason, raw=raw, duration=took, status=status, challenge=challenge))

    def lose(self, reason: str, *, id_: int | None = None) -> None:
        """No answer can come any more."""
        if id_ is None and self._lost is None:
            self._lost = reason
        for key in [id_] if id_ is not None else list(self._pending):
            if pending := self._pop(key):
                pending.settle(self._lost_reply(reason, pending.started))

    def fail(self, id_: int, error: BaseException) -> None:
        """A mistake of ours met request `id_`: its caller hears of it."""
        if (pending := self._pop(id_)) and not pending.future.done():
            pending.future.set_exception(error)

    def awaits(self, id_: int) -> bool:
        """Whether request `id_` is still open."""
        return id_ in self._pending

    def note(self, kind: OddityKind, evidence: bytes | str) -> None:
        """Remember something odd, in words without secrets."""
        self.odd[kind] += 1
        if self.odd[kind] <= _KEPT_PER_KIND:
            self.oddities.append(Oddity(kind, redact_text(printable(evidence, _EVIDENCE))))

    def _answered(self, id_: Id, message: Message, answers: int | None, status: int | None) -> None:
        self.messages += 1
        if pending := self._pop(id_):
            pending.settle((message, status))
        elif answers is not None and answers in self._pending and id_ != answers:
            self.reject(answers, f"the answer names id {id_!r}, the request was {answers}", message.raw, status=status)
        elif (twin := _twin(id_)) in self._pending:
            self.reject(twin, f"the answer names id {id_!r}, a string; the request was {twin}", message.raw)
        elif id_ in self._forgiven:
            self._forgiven.discard(id_)
        elif id_ in self._abandoned:
            self._abandoned.discard(id_)
            self.note("late_answer", message.raw)
        elif isinstance(id_, int) and 0 < id_ <= self._last_id:
            self.note("duplicate_answer", message.raw)
        else:
            self.note("unknown_id", message.raw)

    def _refused(self, message: ErrorReply, answers: int | None, status: int | None) -> None:
        if message.id is not None and message.id in self._pending:
            self._answered(message.id, message, answers, status)
        elif answers in self._pending:
            # One HTTP response answers one request: servers that refuse before reading the body put any id there.
            self._answered(answers, message, answers, status)
        elif message.id is not None:
            self._answered(message.id, message, answers, status)
        elif len(self._pending) == 1:
            self.note("null_id", message.raw)
            self._answered(next(iter(self._pending)), message, answers, status)
        else:
            self.messages += 1
            self.note("unknown_id", message.raw)

    def _heard(self, noise: Noise, answers: int | None, status: int | None) -> None:
        reply_to = noise.reply_to if answers is None else answers
        if reply_to is not None and reply_to in self._pending:
            self.messages += noise.reply_to is not None
            if pending := self._pop(reply_to):
                took = perf_counter() - pending.started
                pending.settle(Malformed(reason=noise.reason, raw=noise.raw, duration=took, status=status))
        elif noise.kind != "empty":
            self.note("noise", noise.raw)

    def _notified(self, message: Notification) -> None:
        self.messages += 1
        if isinstance(message.params, InvalidJson):
            self.note("bad_notification", message.raw)
        self._kept_bytes += len(message.raw)
        while self.notifications and (
            self._kept_bytes > _KEPT_NOTIFICATION_BYTES or len(self.notifications) == _KEPT_NOTIFICATIONS
        ):
            self._kept_bytes -= len(self.notifications.popleft().raw)
        self.notifications.append(message)

    def _asked(self, message: Request) -> None:
        if message.id in self._pending and message.method in _OPENERS:
            # `cat` and shells with echo do this; no server initializes its client.
            self._heard(Noise("ambiguous", "it sent our own request back", message.raw, message.id), None, None)
            return
        self.messages += 1
        roots = self._roots if message.method == "roots/list" and self.era != "modern" else None
        if roots is not None:
            answer = encode_result(message.id, {"roots": [{"uri": uri} for uri in roots]})
        elif message.method == "ping" and self.era != "modern":
            answer = encode_result(message.id, {})
        else:
            self.note("unexpected_request", message.raw)
            answer = encode_error(message.id, -32601, f"toolvet does not offer {printable(message.method, 80)}")
        task = asyncio.ensure_future(self._channel.deliver(answer, {}))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _expire(self, id_: int, method: str) -> None:
        if pending := self._pending.get(id_):
            self._abandon(id_, method, "timeout")
            pending.settle(TimedOut(duration=perf_counter() - pending.started))

    def _abandon(self, id_: int, method: str, reason: str) -> None:
        self._pop(id_)
        # Opening asks both eras' questions of a slow server and takes the first answer: the other is no oddity.
        (self._forgiven if method in _OPENERS else self._abandoned).add(id_)
        # On modern HTTP closing the response stream is the cancellation.
        silent = method in _OPENERS or (self.era == "modern" and self.transport == "http")
        notice = encode_notification("notifications/cancelled", {"requestId": id_, "reason": reason})
        self._channel.abandon(id_, None if silent else notice)

    def _pop(self, id_: Id) -> "_Pending | None":
        pending = self._pending.pop(id_, None)
        if pending is not None and not self._pending:
            self._waited += perf_counter() - self._waiting_since
        return pending

    def _lost_reply(self, reason: str, started: float) -> ConnectionLost:
        return ConnectionLost(
            reason=reason,
            exit_code=self._channel.exit_code,
            stderr_tail=last_lines(self._channel.stderr, 20),
            duration=perf_counter() - started,
        )


_Outcome: TypeAlias = "Reply | tuple[Message, int | None, float]"


class _Pending:
    __slots__ = ("future", "started")

    def __init__(self, future: "asyncio.Future[_Outcome]", started: float) -> None:
        self.future = future
        self.started = started

    def settle(self, outcome: "Reply | tuple[Message, int | None]") -> None:
        # The caller may have been cancelled in the same turn of the loop.
        if not self.future.done():
            self.future.set_result((*outcome, perf_counter()) if isinstance(outcome, tuple) else outcome)


def _reply(message: Message, status: int | None, arrived: float, started: float) -> Reply:
    """Decoding happens here, after the clock of the request has stopped."""
    took = arrived - started
    if isinstance(message, Result):
        result = message.result
        if isinstance(result, InvalidJson):
            return Malformed(reason=f"the result is no JSON: {result.reason}", raw=message.raw, duration=took)
        return Answer(result=result, raw=message.raw, duration=took)
    if isinstance(message, ErrorReply):
        data = message.data
        if isinstance(data, InvalidJson):
            return Malformed(reason=f"the error's data is no JSON: {data.reason}", raw=message.raw, duration=took)
        return RpcError(
            code=message.code, message=message.message, data=data, raw=message.raw, duration=took, status=status
        )
    return Malformed(reason="not an answer", raw=message.raw, duration=took, status=status)


def _twin(id_: Id) -> int:
    """Our id for which the peer answered a string; 0, which is never pending, when there is none."""
    return int(id_) if isinstance(id_, str) and id_.isascii() and id_.isdecimal() and len(id_) < 18 else 0
