"""A raw JSON-RPC peer over one channel: matches answers to requests by id, and remembers what else arrived."""

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from time import perf_counter
from typing import Final, Literal, TypeAlias

from toolvet.mcp.transport.reply import (
    Anomaly,
    AnomalyKind,
    Answer,
    Channel,
    ConnectionLost,
    Malformed,
    Reply,
    RpcError,
    TimedOut,
)
from toolvet.mcp.transport.target import last_lines, printable, quotable
from toolvet.mcp.wire import (
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
from toolvet.mcp.wire.message import reply_hint

Era: TypeAlias = Literal["legacy", "modern"]

# Neither may be cancelled: before them the peer does not know what a cancellation is.
_OPENERS: Final = frozenset({"initialize", "server/discover"})
_PARSE_ERROR: Final = -32700  # The one error for which JSON-RPC knows no id; our notifications parse.
_KEPT_PER_KIND: Final = 50
_KEPT_NOTIFICATIONS: Final = 1000
_KEPT_NOTIFICATION_BYTES: Final = 4 * 1024 * 1024
_EVIDENCE_CHARACTERS: Final = 300
# Seconds that our answers to the server's own requests may still take when we close.
_ANSWER_SECONDS: Final = 0.5


class Peer:
    """Send requests and get a `Reply` to each; no method raises because of what the peer did.

    `anomalies` holds up to 50 of each kind, `anomaly_counts` counts them all. `notifications` holds the last 1000, or
    fewer if they are over 4 MiB. `era` is None until a session decides it. Of the server's own requests, `ping` is
    answered, `roots/list` is answered with `roots` unless that is None, and all others get the error -32601.
    """

    def __init__(self, channel: Channel, *, roots: tuple[str, ...] | None = None) -> None:
        self.era: Era | None = None
        self.anomalies: list[Anomaly] = []
        self.anomaly_counts: Counter[AnomalyKind] = Counter()
        self.notifications: deque[Notification] = deque()
        self.messages = 0
        self._channel = channel
        self._roots = roots
        self._pending: dict[Id, _Pending] = {}
        self._abandoned: set[Id] = set()
        self._late_openers: set[Id] = set()
        # Notifications that an error without an id may be about: hand-written servers answer them.
        self._unanswered_notices = 0
        self._kept_bytes = 0
        self._last_id = 0
        self._lost: str | None = None
        self._waited = 0.0
        self._waiting_since = 0.0
        self._background: set[asyncio.Task[None]] = set()

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """The transport, in the specification's terms."""
        return self._channel.kind

    @property
    def alive(self) -> bool:
        """Whether a request can still be answered."""
        return self._lost is None and self._channel.alive

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process once it ended; negative for a signal, None over HTTP."""
        return self._channel.exit_code

    @property
    def stderr(self) -> str:
        """The last part of what the process wrote to stderr, decoded leniently; "" over HTTP."""
        return self._channel.stderr

    @property
    def wait_seconds(self) -> float:
        """Seconds during which at least one request was open, plus the seconds that closing took."""
        return self._waited + (perf_counter() - self._waiting_since if self._pending else 0.0)

    async def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - a reply that says TimedOut, not an exception.
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request and return its reply.

        Args:
            method: the JSON-RPC method.
            params: any JSON value, also an illegal one; None leaves the member out.
            timeout: seconds to wait; then the reply is `TimedOut` and the server gets a cancellation. None: no end.
            headers: HTTP headers of this request; ignored over stdio.

        Raises:
            ValueError, TypeError: `params` cannot be written as JSON.
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
        return outcome if not isinstance(outcome, tuple) else _decode_reply(*outcome, started)

    async def notify(self, method: str, params: object = None, *, headers: Mapping[str, str] | None = None) -> None:
        """Send a notification and return when the channel has taken it; does nothing on a closed channel."""
        if self.alive:
            self._unanswered_notices += 1
            await self._channel.deliver(encode_notification(method, params), headers or {})

    @property
    def session_id(self) -> str | None:
        """The `Mcp-Session-Id` of a legacy HTTP session, None elsewhere."""
        return self._channel.session_id

    def forget_session(self) -> None:
        """Send no session id until the server gives us another one."""
        self._channel.session_id = None

    def use_era(self, era: Era, version: str) -> None:
        """Set the era and the protocol version that the opening exchange decided."""
        self.era = era
        self._channel.use_version(version)

    async def close(self, grace: float) -> None:
        """Close the channel and end what was started for it, after `grace` seconds by force; open requests are lost."""
        started = perf_counter()
        self.lose("we closed the channel")
        try:
            if self._background:
                # The server still waits for our answers to its requests.
                await asyncio.wait(self._background, timeout=min(grace, _ANSWER_SECONDS))
            for task in self._background:
                task.cancel()
            await self._channel.close(grace)
        finally:
            self._waited += perf_counter() - started

    # The methods that the channel calls (see channel.Inbox).

    def receive(self, message: bytes, *, answers: int | None = None, status: int | None = None) -> None:
        """Take one message from the peer."""
        parsed = parse(message)
        if isinstance(parsed, Result):
            self._take_answer(parsed.id, parsed, answers, status)
        elif isinstance(parsed, ErrorReply):
            self._take_error(parsed, answers, status)
        elif isinstance(parsed, Notification):
            self._take_notification(parsed)
        elif isinstance(parsed, Request):
            self._answer_request(parsed)
        else:
            self._take_noise(parsed, answers, status)

    def receive_oversize(self, message: Oversize, *, answers: int | None = None) -> None:
        """Take a message over the size limit."""
        reason = f"a message of {message.length:,} bytes is over the limit of {message.limit:,} (max_message_bytes)"
        hint = reply_hint(message.head + b" " + message.tail)
        if hint is None and answers is None and (message.is_endless or message.head.lstrip()[:1] in {b"{", b"["}):
            # Any of the open requests may wait for it.
            for key in list(self._pending):
                if pending := self._pop(key):
                    took = perf_counter() - pending.started
                    pending.resolve(Malformed(reason=reason, raw=message.head, duration=took))
        self._take_noise(Noise("oversize", reason, message.head, hint), answers, None)

    def reject(self, id_: int, reason: str, raw: bytes, *, status: int | None = None, challenge: str = "") -> None:
        """Settle request `id_` as `Malformed`."""
        if pending := self._pop(id_):
            took = perf_counter() - pending.started
            pending.resolve(Malformed(reason=reason, raw=raw, duration=took, status=status, challenge=challenge))

    def lose(self, reason: str, *, id_: int | None = None) -> None:
        """Settle request `id_`, or all when None, as `ConnectionLost`."""
        if id_ is None and self._lost is None:
            self._lost = reason
        for key in [id_] if id_ is not None else list(self._pending):
            if pending := self._pop(key):
                pending.resolve(self._lost_reply(reason, pending.started))

    def fail(self, id_: int, error: BaseException) -> None:
        """Raise `error`, a bug of ours, for the caller of request `id_`."""
        if (pending := self._pop(id_)) and not pending.future.done():
            pending.future.set_exception(error)

    def awaits(self, id_: int) -> bool:
        """Whether request `id_` is still open."""
        return id_ in self._pending

    def note(self, kind: AnomalyKind, evidence: bytes | str) -> None:
        """Remember something odd; secrets in `evidence` are replaced."""
        self.anomaly_counts[kind] += 1
        if self.anomaly_counts[kind] <= _KEPT_PER_KIND:
            self.anomalies.append(Anomaly(kind, quotable(evidence, _EVIDENCE_CHARACTERS)))

    def _take_answer(self, id_: Id, message: Message, answers: int | None, status: int | None) -> None:
        self.messages += 1
        if pending := self._pop(id_):
            pending.resolve((message, status))
        elif answers is not None and answers in self._pending and id_ != answers:
            self.reject(answers, f"the answer names id {id_!r}, the request was {answers}", message.raw, status=status)
        elif (number := _number_of(id_)) in self._pending:
            self.reject(number, f"the answer names id {id_!r}, a string; the request was {number}", message.raw)
        elif id_ in self._late_openers:
            self._late_openers.discard(id_)
        elif id_ in self._abandoned:
            self._abandoned.discard(id_)
            self.note("late_answer", message.raw)
        elif isinstance(id_, int) and 0 < id_ <= self._last_id:
            self.note("duplicate_answer", message.raw)
        else:
            self.note("unknown_id", message.raw)

    def _take_error(self, message: ErrorReply, answers: int | None, status: int | None) -> None:
        if message.id is not None and message.id in self._pending:
            self._take_answer(message.id, message, answers, status)
        elif answers in self._pending:
            # An HTTP response answers one request: servers that refuse before they read the body send any id.
            self._take_answer(answers, message, answers, status)
        elif message.id is not None:
            self._take_answer(message.id, message, answers, status)
        elif len(self._pending) == 1 and (not self._unanswered_notices or message.code == _PARSE_ERROR):
            self.note("null_id", message.raw)
            self._take_answer(next(iter(self._pending)), message, answers, status)
        else:
            # It answers no request of ours: a notification, or one of several.
            self._unanswered_notices = max(0, self._unanswered_notices - 1)
            self.messages += 1
            self.note("unknown_id", message.raw)

    def _take_noise(self, noise: Noise, answers: int | None, status: int | None) -> None:
        reply_to = noise.reply_to if answers is None else answers
        if reply_to is not None and reply_to in self._pending:
            self.messages += noise.reply_to is not None
            if pending := self._pop(reply_to):
                took = perf_counter() - pending.started
                pending.resolve(Malformed(reason=noise.reason, raw=noise.raw, duration=took, status=status))
        elif noise.kind != "empty":
            self.note("noise", noise.raw)

    def _take_notification(self, message: Notification) -> None:
        self.messages += 1
        if isinstance(message.params, InvalidJson):
            self.note("bad_notification", message.raw)
        self._kept_bytes += len(message.raw)
        while self.notifications and (
            self._kept_bytes > _KEPT_NOTIFICATION_BYTES or len(self.notifications) == _KEPT_NOTIFICATIONS
        ):
            self._kept_bytes -= len(self.notifications.popleft().raw)
        self.notifications.append(message)

    def _answer_request(self, message: Request) -> None:
        if message.id in self._pending and message.method in _OPENERS:
            # `cat` and shells with echo send our request back; no server initializes its client.
            self._take_noise(Noise("ambiguous", "it sent our own request back", message.raw, message.id), None, None)
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
            pending.resolve(TimedOut(duration=perf_counter() - pending.started))

    def _abandon(self, id_: int, method: str, reason: str) -> None:
        self._pop(id_)
        # A slow server gets the opening requests of both eras and we take the first answer: the other is not odd.
        (self._late_openers if method in _OPENERS else self._abandoned).add(id_)
        # On modern HTTP closing the response stream is the cancellation.
        silent = method in _OPENERS or (self.era == "modern" and self.transport == "http")
        self._unanswered_notices += not silent
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
    """A request that waits for its answer."""

    __slots__ = ("future", "started")

    def __init__(self, future: "asyncio.Future[_Outcome]", started: float) -> None:
        self.future = future
        self.started = started

    def resolve(self, outcome: "Reply | tuple[Message, int | None]") -> None:
        # The caller may have been cancelled in the same turn of the loop.
        if not self.future.done():
            self.future.set_result((*outcome, perf_counter()) if isinstance(outcome, tuple) else outcome)


def _decode_reply(message: Message, status: int | None, arrived: float, started: float) -> Reply:
    """Decode the message that answered a request; the duration of the request does not include this."""
    took = arrived - started
    if isinstance(message, Result):
        result = message.result
        if isinstance(result, InvalidJson):
            return Malformed(reason=f"the result is not JSON: {result.reason}", raw=message.raw, duration=took)
        return Answer(result=result, raw=message.raw, duration=took)
    if isinstance(message, ErrorReply):
        data = message.data
        if isinstance(data, InvalidJson):
            return Malformed(reason=f"the error's data is not JSON: {data.reason}", raw=message.raw, duration=took)
        return RpcError(
            code=message.code, message=message.message, data=data, raw=message.raw, duration=took, status=status
        )
    return Malformed(reason="not an answer", raw=message.raw, duration=took, status=status)


def _number_of(id_: Id) -> int:
    """Return our number for an id that the peer sent as a string; 0, which is never pending, for any other id."""
    return int(id_) if isinstance(id_, str) and id_.isascii() and id_.isdecimal() and len(id_) < 18 else 0
