"""A message of the client on its way to a server at a URL: what has to be known of it, and what its headers repeat."""

import asyncio
from typing import TYPE_CHECKING

import msgspec

from toolvet.schema.json_value import members
from toolvet.session import Catalogue
from toolvet.session.call import PROTOCOL_VERSION
from toolvet.wire import ErrorReply, Id, Noise, Notification, Request, Result, parse
from toolvet.wire.header import ParameterHeaders, mirror, parameter_headers, request_headers

if TYPE_CHECKING:
    from toolvet.session.catalogue import KnownTool


class Asking:
    """One POST. `unanswered` are the ids that it must answer, none for what wants no answer.

    `version` is what a modern request says of itself, None in the legacy era. `cancels` is the id that a cancellation
    names. `begun` is set when the server took it.
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
        """Whether its stream is meant to stay open."""
        return self.method == "subscriptions/listen"

    def hear(self, message: bytes) -> None:
        """Something came: perhaps an answer."""
        if self.unanswered:
            self.unanswered.difference_update(_answered(message))


def asking_of(data: bytes) -> Asking:
    """Total, as `parse` is: what is no message is sent as one that nobody waits for."""
    asking = Asking(data)
    message = parse(data)
    if isinstance(message, Request):
        asking.method, asking.params = message.method, message.params
        asking.unanswered.add(message.id)
    elif isinstance(message, Notification):
        asking.method, asking.params = message.method, message.params
        if message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            asking.cancels = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    elif isinstance(message, Noise) and message.kind == "batch":
        asking.unanswered.update(each.id for each in _batch(data) if isinstance(each, Request))
    version = members(members(asking.params).get("_meta")).get(PROTOCOL_VERSION)
    if isinstance(version, str) and version.isascii() and version.isprintable():
        asking.version = version
    return asking


class MirroredHeaders:
    """What a modern request repeats in headers: its version, method, name, and parameters that its tool marks."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        # What was last known of a tool serves on when the list is forgotten.
        self._known: dict[str, tuple[KnownTool, ParameterHeaders]] = {}

    def of(self, asking: Asking) -> dict[str, str]:
        """The headers of this request."""
        headers = request_headers(asking.version or "", asking.method, asking.params)
        if asking.method == "tools/call":
            params = members(asking.params)
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


def _answered(message: bytes) -> list[Id]:
    parsed = parse(message)
    answers = _batch(message) if isinstance(parsed, Noise) and parsed.kind == "batch" else [parsed]
    return [each.id for each in answers if isinstance(each, Result | ErrorReply) and each.id is not None]


def _batch(data: bytes) -> list[Request | Notification | Result | ErrorReply | Noise]:
    try:
        return [parse(bytes(item)) for item in _ITEMS.decode(data)]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []


_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
