"""The subjects of rules beside tools: a resource, template, prompt or skill as it is listed, and a request about one.

A *listed item* is an entry of `resources/list`, `resources/templates/list`, `prompts/list` or `skills/list`. A request
reads or gets one, asks for completions, or asks on purpose for something that does not exist; `purpose` says which.

URI templates (RFC 6570) have variables, make URIs, and find the values that made a URI. Expansion knows all operators
for single values; the modifiers of lists and prefixes (`*`, `:3`) change nothing.

>>> variables("shop://books/{isbn}{?lang}")
('isbn', 'lang')
>>> expand("shop://books/{isbn}{?lang}", {"isbn": "978 0"})
'shop://books/978%200'
>>> extract("shop://books/{isbn}", "shop://books/978-0")
{'isbn': '978-0'}
>>> problems("shop://books/{isbn}/{")
('a brace is not closed',)
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from toolvet.core.json_value import elements, is_object, members
from toolvet.core.tool_rules import ObservedCall, Outcome, ProtocolError, ToolDefinition
from toolvet.findings import ItemKind

# The member of an entry that says which one it is, and that a request repeats.
IDENTITY: Final[Mapping[ItemKind, str]] = {
    "resource": "uri",
    "resource_template": "uriTemplate",
    "prompt": "name",
    "skill": "uri",
}
WORDS: Final[Mapping[ItemKind, str]] = {
    "resource": "resource",
    "resource_template": "resource template",
    "prompt": "prompt",
    "skill": "skill",
}
METHOD_NOT_FOUND: Final = -32601
_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_OPERATORS: Final = "+#./;?&"
# RFC 6570, 2.3: letters, digits, "_", dots between them and percent-encoded octets.
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*")
_MODIFIER: Final = re.compile(r"\*|:[1-9]\d{0,3}")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_LONGEST: Final = 2_000  # Characters of a template that are read.


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
    """The purpose of a request."""

    LISTED = "listed"  # Something that the server lists, asked for with nothing that we made up.
    OFFERED = "offered"  # A template or prompt with values that the server, or its user, has offered for it.
    GUESSED = "guessed"  # The same with values that we made up: a refusal says nothing.
    MISSING_ARGUMENT = "missing_argument"  # A prompt without an argument that it requires.
    ABSENT = "absent"  # A resource or prompt that no list has.
    UNKNOWN_SCHEME = "unknown_scheme"  # A URI of a scheme that does not exist.
    NO_URI = "no_uri"  # A resource by a text that is not a URI.
    COMPLETION = "completion"  # Values for an argument or a variable.
    ABSENT_REFERENCE = "absent_reference"  # Values for a prompt or template that does not exist.
    BAD_CURSOR = "bad_cursor"  # A list from a cursor that the server never gave, where it gives some.


class ObservedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request about resources, prompts or completion, and what came of it.

    `item` is the listed item that it is about, None for one that does not exist. `detail` holds what is known of an
    outcome without an answer. `missing` names the argument that was left out on purpose, or "". `is_generated` says for
    a URI that some template of the server has such URIs. `known_paths` are paths that the caller gave in other ways,
    `outage_nearby` is as for a call.
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
    outage_nearby: bool = False

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


class ObservedListing(msgspec.Struct, frozen=True, kw_only=True):
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


class ObservedItems(msgspec.Struct, frozen=True, kw_only=True):
    """All that a server lists beside tools, in the order of its lists, and all requests that were made about it."""

    items: tuple[ListedItem, ...] = ()
    requests: tuple[ObservedRequest, ...] = ()
    listings: tuple[ObservedListing, ...] = ()

    def of(self, *kinds: ItemKind) -> tuple[ListedItem, ...]:
        """The items of these kinds."""
        return tuple(item for item in self.items if item.kind in kinds)

    def asked(self, *purposes: Purpose) -> tuple[ObservedRequest, ...]:
        """The requests with one of these purposes."""
        return tuple(request for request in self.requests if request.purpose in purposes)


def contents_of(request: ObservedRequest) -> tuple[Mapping[str, object], ...]:
    """The contents of a resource that was read; empty if the answer has none that can be read."""
    found = elements(members(request.result).get("contents")) if request.succeeded else ()
    return tuple(members(entry) for entry in found if is_object(entry))


def as_call(request: ObservedRequest) -> ObservedCall:
    """A request that ended in an error, as the call of a tool named like its method: the same words, the same verdict.

    What was sent counts as the arguments, with the path of a `file:` URI: it is not a leak to repeat that.
    """
    params = members(request.params)
    uri = params.get("uri")
    texts = [path_of_uri(uri)] if isinstance(uri, str) else []
    texts += [value for value in members(params.get("arguments")).values() if isinstance(value, str)]
    sent = {str(number): text for number, text in enumerate(texts)}
    return ObservedCall(
        tool=ToolDefinition(raw={"name": request.method}, name=request.method),
        arguments={**sent, **params},
        outcome=Outcome.PROTOCOL_ERROR if request.error is not None else request.outcome,
        error=request.error,
        detail=request.detail,
        known_paths=request.known_paths,
        outage_nearby=request.outage_nearby,
    )


def path_of_uri(uri: str) -> str:
    """The path in a URI: of `file:///srv/a%20b` it is `/srv/a b`."""
    rest = uri.partition(":")[2].partition("?")[0].partition("#")[0]
    if rest.startswith("//"):
        _, slash, path = rest[2:].partition("/")
        rest = slash + path
    return decode(rest)


def variables(template: str) -> tuple[str, ...]:
    """The names of the variables, each once, in order."""
    found = (name for expression in _EXPRESSION.findall(template[:_LONGEST]) for name in _names(expression))
    return tuple(dict.fromkeys(found))


def problems(template: str) -> tuple[str, ...]:
    """What RFC 6570 does not allow, as the ends of sentences; empty for a legal template."""
    rest = _EXPRESSION.sub("", template[:_LONGEST])
    found: list[str] = []
    if "{" in rest:
        found.append("a brace is not closed")
    elif "}" in rest:
        found.append("a brace is closed that was not opened")
    for expression in _EXPRESSION.findall(template[:_LONGEST]):
        body = expression[1:] if expression[:1] in _OPERATORS and expression else expression
        for part in body.split(","):
            name = _NAME.match(part)
            if not part:
                found.append(f"{{{expression}}} names no variable")
            elif name is None or (name.end() < len(part) and not _MODIFIER.fullmatch(part, name.end())):
                found.append(f"'{part}' is not a legal name of a variable")
    return tuple(dict.fromkeys(found))


def expand(template: str, values: Mapping[str, str]) -> str:
    """The URI of a template; variables without a value are left out, as the RFC has it."""
    return _EXPRESSION.sub(lambda found: _expand_one(found[1], values), template)


def extract(template: str, uri: str) -> dict[str, str] | None:
    """The values with which a template makes a URI; None if it makes no such URI.

    A variable ends where the text behind it begins for the first time, so this is linear; a URI that needs a later
    place is missed.
    """
    values: dict[str, str] = {}
    template, uri = template[:_LONGEST], uri[:_LONGEST]
    pieces = _EXPRESSION.split(template)  # text, expression, text, …, text
    if not uri.startswith(pieces[0]):
        return None
    rest = uri[len(pieces[0]) :]
    for expression, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if expression[:1] in {"?", "&"}:
            rest = rest[rest.find("#") :] if "#" in rest else ""
            continue
        end = rest.find(text) if text else len(rest)
        if text and text == pieces[-1] and rest.endswith(text) and expression is pieces[-2]:
            end = len(rest) - len(text)
        if end < 0:
            return None
        value = rest[:end]
        # A variable of the path holds no slash, unless the operator keeps reserved characters.
        if "/" in value and expression[:1] not in {"+", "#", "/"} and not expression.endswith("*"):
            return None
        names = _names(expression)
        if names and value:
            values[names[0]] = decode(value)
        rest = rest[end + len(text) :]
    return None if rest else values


def encode(text: str, safe: str = "") -> str:
    """The text with an escape for every character that is neither unreserved nor `safe` (RFC 3986).

    >>> encode("a b/é")
    'a%20b%2F%C3%A9'
    """
    return "".join(
        char
        if char in _UNRESERVED or char in safe
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )


def decode(text: str) -> str:
    """The text with its escapes read as UTF-8; an invalid sequence becomes a replacement character.

    >>> decode("a%20b%C3%A9")
    'a bé'
    """
    return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


def _names(expression: str) -> list[str]:
    body = expression[1:] if expression[:1] and expression[0] in _OPERATORS else expression
    parts = (re.sub(r"(?:\*|:\d{1,4})$", "", part.strip()) for part in body.split(","))
    return [part for part in parts if part]


def _expand_one(expression: str, values: Mapping[str, str]) -> str:
    operator = expression[0] if expression[:1] and expression[0] in _OPERATORS else ""
    safe = _RESERVED if operator in {"+", "#"} else ""
    given = [(name, encode(values[name], safe)) for name in _names(expression) if name in values]
    if not given:
        return ""
    if operator in {"?", "&", ";"}:
        separator = ";" if operator == ";" else "&"
        return operator + separator.join(f"{name}={value}" for name, value in given)
    separator = {"": ",", "+": ",", "#": ",", ".": ".", "/": "/"}[operator]
    prefix = operator if operator in {"#", ".", "/"} else ""
    return prefix + separator.join(value for _, value in given)
