"""One process for all clients of the era without sessions (MCP 2026-07-28): requests in, for each a response.

Requests go to it under ids of the bridge. Between a request and its answer only progress and subscriptions
say whose they are; other messages go to the only open request or are dropped: a client must not receive messages for
another.

For example, two clients both send a request with id 1 and progress token "a". The server gets

    {"id": 7, "method": "tools/call", "params": {…, "_meta": {"progressToken": 7}}}
    {"id": 8, "method": "tools/call", "params": {…, "_meta": {"progressToken": 8}}}

and its `{"id": 8, "result": …}` goes to the second client with id 1, its progress for 8 with the token "a". Only these
members are replaced; everything else of a message stays byte for byte.
"""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

import msgspec

from toolvet.core.json_value import elements, members, whole
from toolvet.core.meta import MCP_META_PREFIX, PROTOCOL_VERSION_KEY
from toolvet.mcp.transport import Introduction, from_discover, request_meta
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    Noise,
    Notification,
    Oversize,
    ParameterHeaders,
    Request,
    Result,
    encode_error,
    encode_event,
    encode_members,
    encode_notification,
    encode_raw,
    encode_request,
    parameter_headers,
    parse,
    split_member,
    split_members,
)
from toolvet.proxy.bridge.headers import PARAMETER, find_parameter_mismatch
from toolvet.proxy.bridge.process import BridgedProcess
from toolvet.proxy.bridge.responses import (
    PING_SECONDS,
    EventStream,
    error_response,
    json_response,
    waiting_for,
    words_for,
)
from toolvet.proxy.bridge.session import ENDED
from toolvet.proxy.http.message import RequestHead
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse

# The HTTP status for a JSON-RPC error code (MCP 2026-07-28, transports; -32600 as both official SDKs).
_STATUS: Final[Mapping[int, int]] = {-32600: 400, -32601: 404, -32020: 400, -32021: 400, -32022: 400}
_HEADER_MISMATCH: Final = -32020
_MOST_PAGES: Final = 100
# How long a tool list is used when it does not say so itself, and the least and the most, in seconds.
_LIFETIME: Final = 30.0
_LEAST: Final = 10.0
_MOST: Final = 300.0
_QUESTION_SECONDS: Final = 10.0
_SUBSCRIPTION: Final = f"{MCP_META_PREFIX}subscriptionId"


class BridgedRequest:
    """A client's request. `response` is set with the server's first message: JSON when that is the answer, else events.

    If a server is silent for long, its response is a stream as well: an intermediary may close a silent connection.
    """

    def __init__(self, request: Request, forget: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._id = request.id
        self._forget = forget
        self._stream: EventStream | None = None
        self._timer = loop.call_later(PING_SECONDS, self._open_stream)
        # The progress token as the client wrote it, if it was replaced.
        self.token: msgspec.Raw | None = None
        self.response: asyncio.Future[UpstreamResponse] = loop.create_future()

    def pass_on(self, message: bytes) -> None:
        """Pass on a message that comes before the answer."""
        self._open_stream().feed(encode_event(restore_notification(message, self._id, self.token)))

    def answer(self, message: bytes, *, is_ours: bool = False) -> None:
        """Pass on the answer, under the client's id."""
        self.close()
        parsed = parse(message)
        if isinstance(parsed, Noise):
            words = f"The MCP server's answer cannot be read: {parsed.reason}."
            restored, status = encode_error(self._id, -32603, words), 502
        else:
            code = parsed.code if isinstance(parsed, ErrorReply) else None
            restored = restore_answer(message, self._id)
            status = 502 if is_ours else _STATUS.get(code, 200) if code is not None else 200
        if self._stream is not None:
            self._stream.feed(encode_event(restored))
            self._stream.finish()
        elif not self.response.done():
            self.response.set_result(json_response(restored, status))

    def close(self) -> None:
        """Wait no longer."""
        self._timer.cancel()

    def _open_stream(self) -> EventStream:
        if self._stream is None:
            self._stream = EventStream()
            response = self._stream.connect(self._forget)
            if not self.response.done():
                self.response.set_result(response)
            self._stream.feed(b": waiting\n\n")
        return self._stream


class OwnQuestion:
    """A question of the bridge: `result` is the server's, None for an error or none."""

    def __init__(self) -> None:
        self.result: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    def pass_on(self, message: bytes) -> None:
        """Ignore what comes before the answer."""

    def answer(self, message: bytes, *, is_ours: bool = False) -> None:
        """Keep the result."""
        del is_ours
        parsed = parse(message)
        if not self.result.done():
            self.result.set_result(parsed.result if isinstance(parsed, Result) else None)


class SharedServer:
    """The process that all clients of the modern era share, and their open requests."""

    def __init__(self, process: BridgedProcess) -> None:
        self.process = process
        self._open: dict[Id, BridgedRequest | OwnQuestion] = {}
        self._numbers = 0
        self._introduction: Introduction | None = None
        self._declared: dict[str, ParameterHeaders] = {}
        self._declared_until = 0.0
        process.connect(self._receive, self._end)

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self.process.over.is_set()

    async def open(self) -> None:
        """Ask for what the server is: servers of the SDKs fix their era at the first request."""
        self._introduction = from_discover(await self._question("server/discover", {"_meta": request_meta({})}))

    async def ask(self, head: RequestHead, request: Request) -> UpstreamResponse:
        """Send a request and return its response. Raises UpstreamError when the server has ended."""
        if self.is_over:
            raise UpstreamError("the server ended", sent=False)
        refusal = None if self._introduction is None else await self._refuse(self._introduction, head, request)
        if refusal is not None:
            return refusal
        self._numbers += 1
        number = self._numbers
        line, token = renumber_request(request, number)
        bridged = BridgedRequest(request, lambda: self._forget(number))
        bridged.token = token
        self._open[number] = bridged
        self.process.send(line)
        try:
            return await bridged.response
        except asyncio.CancelledError:
            self._forget(number)
            raise

    # Checks that a pipe does not make. A server of the other era refuses everything with its own messages.

    async def _refuse(self, introduction: Introduction, head: RequestHead, request: Request) -> UpstreamResponse | None:
        version = members(members(request.params).get("_meta")).get(PROTOCOL_VERSION_KEY)
        if version not in introduction.supported_versions:
            # Some servers look at the version of the first request only.
            data = {"supported": list(introduction.supported_versions), "requested": version}
            return json_response(encode_error(request.id, -32022, "Unsupported protocol version", data), 400)
        problem = await self._parameter_mismatch(head, request)
        return None if problem is None else error_response(400, request.id, _HEADER_MISMATCH, problem)

    async def _parameter_mismatch(self, head: RequestHead, request: Request) -> str | None:
        params = members(request.params)
        name, arguments = params.get("name"), params.get("arguments")
        if request.method != "tools/call" or not isinstance(name, str):
            return None
        if not arguments and not any(field.lower().startswith(PARAMETER) for field, _ in head.fields):
            return None
        meta = {key: value for key, value in members(params.get("_meta")).items() if key != "progressToken"}
        if monotonic() > self._declared_until:
            await self._read_tools(meta)
        elif (declared := self._declared.get(name)) is not None:
            if find_parameter_mismatch(head, declared, arguments) is None:
                return None
            # The list may have changed, and may differ for this client.
            await self._read_tools(meta)
        declared = self._declared.get(name)
        return None if declared is None else find_parameter_mismatch(head, declared, arguments)

    async def _read_tools(self, meta: Mapping[str, object]) -> None:
        declared: dict[str, ParameterHeaders] = {}
        lifetime = _LIFETIME
        cursor: object = None
        for _ in range(_MOST_PAGES):
            params: dict[str, object] = {"_meta": meta} if cursor is None else {"_meta": meta, "cursor": cursor}
            page = members(await self._question("tools/list", params))
            for tool in map(members, elements(page.get("tools"))):
                declared[str(tool.get("name"))] = parameter_headers(tool.get("inputSchema"))
            seconds = page.get("ttlMs")
            if isinstance(seconds, int | float):
                lifetime = min(max(seconds / 1000, _LEAST), _MOST)
            last, cursor = cursor, page.get("nextCursor")
            if not isinstance(cursor, str) or cursor == last:
                break
        self._declared, self._declared_until = declared, monotonic() + lifetime

    async def _question(self, method: str, params: Mapping[str, object]) -> object:
        self._numbers += 1
        number = self._numbers
        question = OwnQuestion()
        self._open[number] = question
        self.process.send(encode_request(number, method, params))
        try:
            async with asyncio.timeout(_QUESTION_SECONDS):
                return await question.result
        except TimeoutError:
            return None
        finally:
            self._open.pop(number, None)

    # Towards the clients.

    def _receive(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            for lost in waiting_for(line, self._open):
                self._open.pop(lost).answer(encode_error(lost, -32603, words_for(line)), is_ours=True)
            return
        message = parse(line)
        id_ = message.id if isinstance(message, Result | ErrorReply) else None
        id_ = message.reply_to if isinstance(message, Noise) else id_
        if id_ is not None:
            waiting = self._open.pop(id_, None)
            if waiting is not None:
                waiting.answer(line)
            return
        number = number_of(message) if isinstance(message, Notification) else None
        waiting = self._open.get(number) if number is not None else None
        if waiting is not None:
            waiting.pass_on(line)
        elif number is None and not isinstance(message, Noise) and len(self._open) == 1:
            next(iter(self._open.values())).pass_on(line)

    def _forget(self, key: Id) -> None:
        bridged = self._open.pop(key, None)
        if isinstance(bridged, BridgedRequest):
            bridged.close()
            self.process.send(encode_notification("notifications/cancelled", {"requestId": key}))

    def _end(self) -> None:
        for id_ in list(self._open):
            self._open.pop(id_).answer(encode_error(id_, -32603, ENDED), is_ours=True)


def renumber_request(request: Request, number: int) -> tuple[bytes, msgspec.Raw | None]:
    """Replace id and progress token by `number`. Returns the message and the client's token, None if it has none."""
    message = split_members(request.raw)
    message["id"] = encode_raw(number)
    token: msgspec.Raw | None = None
    if request.body is not None and bytes(request.body).lstrip().startswith(b"{"):
        params = split_member(message, "params")
        meta = split_member(params, "_meta")
        if "progressToken" in meta:
            token = msgspec.Raw(bytes(meta["progressToken"]))
            meta["progressToken"] = encode_raw(number)
            params["_meta"] = encode_raw(meta)
            message["params"] = encode_raw(params)
    return encode_members(message), token


def restore_answer(answer: bytes, id_: Id) -> bytes:
    """Return the answer under the id that the client gave."""
    message = split_members(answer)
    message["id"] = encode_raw(id_)
    if "result" in message and bytes(message["result"]).lstrip().startswith(b"{"):
        _restore_subscription(message, "result", id_)
    return encode_members(message)


def number_of(notification: Notification) -> int | None:
    """Return the number of the request that a notification is about: its progress token, or its subscription."""
    try:
        params = _ADDRESS.decode(notification.body) if notification.body is not None else None
    except msgspec.MsgspecError:
        return None
    if params is None:
        return None
    number = params.progress_token if params.progress_token is not None else params.meta.get(_SUBSCRIPTION)
    if isinstance(number, str):
        return whole(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def restore_notification(notification: bytes, id_: Id, token: msgspec.Raw | None) -> bytes:
    """Return the notification with the client's own token and subscription in it."""
    message = split_members(notification)
    params = split_member(message, "params")
    if "progressToken" in params and token is not None:
        params["progressToken"] = token
        message["params"] = encode_raw(params)
    _restore_subscription(message, "params", id_)
    return encode_members(message)


def _restore_subscription(message: "dict[str, msgspec.Raw]", key: str, id_: Id) -> None:
    holder = split_member(message, key)
    meta = split_member(holder, "_meta")
    if _SUBSCRIPTION in meta:
        # A subscription is named after its request, as a string or as the number it is.
        was_text = bytes(meta[_SUBSCRIPTION]).lstrip().startswith(b'"')
        meta[_SUBSCRIPTION] = encode_raw(str(id_) if was_text else id_)
        holder["_meta"] = encode_raw(meta)
        message[key] = encode_raw(holder)


class _NotificationAddress(msgspec.Struct):
    """The members of `params` that name a request."""

    progress_token: object = msgspec.field(name="progressToken", default=None)
    meta: dict[str, object] = msgspec.field(name="_meta", default_factory=dict[str, object])


_ADDRESS: Final = msgspec.json.Decoder(_NotificationAddress)
