"""A message of the client on its way to a server at a URL, and the headers that repeat parts of it."""

import asyncio
from typing import TYPE_CHECKING

from toolvet.core.json_value import members
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    Message,
    Noise,
    Notification,
    ParameterHeaders,
    Request,
    Result,
    mirror,
    parameter_headers,
    parse,
    request_headers,
    split_batch,
)
from toolvet.proxy.session import Catalogue

if TYPE_CHECKING:
    from toolvet.proxy.session.catalogue import KnownTool


class PostedMessage:
    """A message that is sent in one POST.

    `unanswered` are the ids that the response must answer; it is empty for a notification. `version` is the protocol
    version that a modern request names, None in the legacy era. `cancels` is the id that a cancellation names. `begun`
    is set when the server has accepted the POST.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.method = ""
        self.params: object = None
        self.unanswered: set[Id] = set()
        self.version: str | None = None
        self.cancels: Id | None = None
        self.is_cancelled = False
        self.begun = asyncio.Event()

    @property
    def is_subscription(self) -> bool:
        """Whether the stream that answers is meant to stay open."""
        return self.method == "subscriptions/listen"

    def note_reply(self, message: bytes) -> None:
        """Strike the ids that a message of the server answers, if any, from `unanswered`."""
        if self.unanswered:
            self.unanswered.difference_update(_answered_ids(message))


def read_posted(data: bytes) -> PostedMessage:
    """Read a message of the client. Total, as `parse` is: bytes that are not a message become one without an answer."""
    posted = PostedMessage(data)
    message = parse(data)
    if isinstance(message, Request):
        posted.method, posted.params = message.method, message.params
        posted.unanswered.add(message.id)
    elif isinstance(message, Notification):
        posted.method, posted.params = message.method, message.params
        if message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            posted.cancels = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    elif isinstance(message, Noise) and message.kind == "batch":
        posted.unanswered.update(each.id for each in _parse_batch(data) if isinstance(each, Request))
    version = members(members(posted.params).get("_meta")).get(PROTOCOL_VERSION_KEY)
    if isinstance(version, str) and version.isascii() and version.isprintable():
        posted.version = version
    return posted


class MirroredHeaders:
    """The headers that repeat parts of a modern request: version, method, name, and parameters that its tool marks."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        # The last known definition of a tool is still used when the list is forgotten.
        self._known: dict[str, tuple[KnownTool, ParameterHeaders]] = {}

    def of(self, posted: PostedMessage) -> dict[str, str]:
        """Return the headers of this request."""
        headers = request_headers(posted.version or "", posted.method, posted.params)
        if posted.method == "tools/call":
            params = members(posted.params)
            name = params.get("name")
            if isinstance(name, str):
                headers.update(mirror(self._of_tool(name), params.get("arguments")))
        return headers

    def _of_tool(self, name: str) -> ParameterHeaders:
        tool = self._catalogue.tools.get(name)
        known = self._known.get(name)
        if tool is None:
            return ParameterHeaders() if known is None else known[1]
        if known is None or known[0] is not tool:
            known = self._known[name] = (tool, parameter_headers(tool.definition.get("inputSchema")))
        return known[1]


def _answered_ids(message: bytes) -> list[Id]:
    parsed = parse(message)
    answers = _parse_batch(message) if isinstance(parsed, Noise) and parsed.kind == "batch" else [parsed]
    return [each.id for each in answers if isinstance(each, Result | ErrorReply) and each.id is not None]


def _parse_batch(data: bytes) -> list[Message]:
    return [parse(message) for message in split_batch(data)]
