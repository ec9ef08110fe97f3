"""The subjects of rules beside tools: a resource, template or prompt as it is listed, and a request about one.

A *listed item* is an entry of `resources/list`, `resources/templates/list` or `prompts/list`. A request reads or gets
one, asks for completions, or asks on purpose for something that does not exist; `purpose` says which.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from toolvet.assess.rules.uri_template import decode
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.tool_rules import ObservedCall, Outcome, ProtocolError, ToolDefinition
from toolvet.findings import ItemKind

# The member of an entry that says which one it is, and that a request repeats.
IDENTITY: Final[Mapping[ItemKind, str]] = {"resource": "uri", "resource_template": "uriTemplate", "prompt": "name"}
WORDS: Final[Mapping[ItemKind, str]] = {
    "resource": "resource",
    "resource_template": "resource template",
    "prompt": "prompt",
}
METHOD_NOT_FOUND: Final = -32601


class ListedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a list of resources, resource templates or prompts, as the server sent it.

    `raw` is the entry itself, `position` its place in the list over all pages. `identity` is its URI, URI template or
    name, "" where that is missing or no string.
    """

    kind: ItemKind
    raw: Any
    position: int = 0
    identity: str = ""

    def text(self, member: str) -> str:
        """The string member of this name, or ""."""
        value = members(self.raw).get(member)
        return value if isinstance(value, str) else ""

    @property
    def arguments(self) -> tuple[Mapping[str, object], ...]:
        """The arguments that a prompt declares; those without a name are left out."""
        declared = (members(argument) for argument in elements(members(self.raw).get("arguments")))
        return tuple(argument for argument in declared if isinstance(argument.get("name"), str) and argument["name"])

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the arguments that a prompt requires."""
        return tuple(str(argument["name"]) for argument in self.arguments if argument.get("required") is True)


def listed_item(kind: ItemKind, raw: object, position: int = 0) -> ListedItem:
    """The item in an entry of a list. Total: any entry is some item, perhaps one without an identity."""
    identity = members(raw).get(IDENTITY[kind])
    return ListedItem(kind=kind, raw=raw, position=position, identity=identity if isinstance(identity, str) else "")


class Purpose(StrEnum):
    """What a request is meant to show."""

    LISTED = "listed"  # Something that the server lists, asked for with nothing that we made up.
    OFFERED = "offered"  # A template or prompt with values that the server, or its user, has offered for it.
    GUESSED = "guessed"  # The same with values that we made up: a refusal says nothing.
    MISSING_ARGUMENT = "missing_argument"  # A prompt without an argument that it requires.
    ABSENT = "absent"  # A resource or prompt that no list has.
    UNKNOWN_SCHEME = "unknown_scheme"  # A URI of a scheme that does not exist.
    NO_URI = "no_uri"  # A resource by a text that is no URI.
    COMPLETION = "completion"  # Values for an argument or a variable.
    ABSENT_REFERENCE = "absent_reference"  # Values for a prompt or template that does not exist.
    BAD_CURSOR = "bad_cursor"  # A list from a cursor that the server never gave, where it gives some.


class ObservedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request about resources, prompts or completion, and what came of it.

    `item` is the listed item that it is about, None for one that does not exist. `detail` holds what is known of an
    outcome without an answer. `missing` names the argument that was left out on purpose, or "". `is_generated` says for
    a URI that some template of the server has such URIs. `known_paths` are paths that the caller gave in other ways.
    """

    method: str
    params: Any
    purpose: Purpose
    outcome: Outcome
    item: ListedItem | None = None
    result: Any = None
    error: ProtocolError | None = None
    detail: str = ""
    duration_ms: float = 0.0
    protocol_version: str = ""
    missing: str = ""
    is_generated: bool = False
    known_paths: tuple[str, ...] = ()

    @property
    def uri(self) -> str:
        """The URI that was asked for, or ""."""
        uri = members(self.params).get("uri")
        return uri if isinstance(uri, str) else ""

    @property
    def succeeded(self) -> bool:
        """Whether a result came back that wants nothing more from the client."""
        return self.outcome is Outcome.RESULT and members(self.result).get("resultType") != "input_required"

    @property
    def is_valid(self) -> bool:
        """Whether the request asks for what the server offers."""
        return self.purpose in {Purpose.LISTED, Purpose.OFFERED, Purpose.GUESSED}


class ListingSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One list as it was read: its method, how many pages and entries came, and what was wrong.

    `problems` are pairs of the kind of an anomaly and its words. `error_code` is that of the JSON-RPC error that ended
    the list, None without one.
    """

    method: str
    kind: ItemKind
    pages: int = 0
    entries: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    error_code: int | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the server does not know the method."""
        return self.error_code == METHOD_NOT_FOUND


class ItemsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """All that a server lists beside tools, in the order of its lists, and all requests that were made about it."""

    items: tuple[ListedItem, ...] = ()
    requests: tuple[ObservedRequest, ...] = ()
    listings: tuple[ListingSeen, ...] = ()

    def of(self, *kinds: ItemKind) -> tuple[ListedItem, ...]:
        """The items of these kinds."""
        return tuple(item for item in self.items if item.kind in kinds)

    def asked(self, *purposes: Purpose) -> tuple[ObservedRequest, ...]:
        """The requests with one of these purposes."""
        return tuple(request for request in self.requests if request.purpose in purposes)


def contents_of(request: ObservedRequest) -> tuple[Mapping[str, object], ...]:
    """The contents of a resource that was read; empty where the answer has none that can be read."""
    found = elements(members(request.result).get("contents")) if request.succeeded else ()
    return tuple(members(entry) for entry in found if is_object(entry))


def as_call(request: ObservedRequest) -> ObservedCall:
    """A request that ended in an error, as the call of a tool named like its method: the same words, the same verdict.

    What was sent counts as the arguments, with the path of a `file:` URI: repeating that is no leak.
    """
    params = members(request.params)
    sent = {str(number): text for number, text in enumerate(_sent_words(params))}
    return ObservedCall(
        tool=ToolDefinition(raw={"name": request.method}, name=request.method),
        arguments={**sent, **params},
        outcome=Outcome.PROTOCOL_ERROR if request.error is not None else request.outcome,
        error=request.error,
        detail=request.detail,
        known_paths=request.known_paths,
    )


def path_of_uri(uri: str) -> str:
    """The path in a URI: of `file:///srv/a%20b` it is `/srv/a b`."""
    rest = uri.partition(":")[2].partition("?")[0].partition("#")[0]
    if rest.startswith("//"):
        _, slash, path = rest[2:].partition("/")
        rest = slash + path
    return decode(rest)


def _sent_words(params: Mapping[str, object]) -> Iterator[str]:
    uri = params.get("uri")
    if isinstance(uri, str):
        yield path_of_uri(uri)
    for value in members(params.get("arguments")).values():
        if isinstance(value, str):
            yield value
