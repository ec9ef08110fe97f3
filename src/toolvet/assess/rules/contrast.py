"""Calls that differ in one argument: the scenarios send them, and the rules compare the answers.

    parameter           sent                        the same answer as without it means
    search, optional    two nonsense words          the argument has no effect, if the answer lists something
    limit, optional     1 and 2                     the same, if the answer has three entries or more
    cursor, optional    one that does not exist     the first page comes again
    timezone            two junk values             the tool fell back to a default

The name and the description of a parameter decide how it must affect the answer.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.assess.rules.ending import is_empty_list, words_of
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, ToolDefinition

Role: TypeAlias = Literal["narrows", "counts", "cursor", ""]
EXCLUSIVE: Final = "exactly one"  # The keyword of a fault that only a description forbids.
NO_SUCH_CURSOR: Final = "toolvet-no-such-cursor"
JUNK: Final = ("'qxzj' \"vkwq\"", "'zvkw' \"xjqz\"")
_SENT: Final[Mapping[Role, tuple[object, ...]]] = {
    "narrows": ("qxzjvkwq", "zvkwxjqz"),
    "counts": (1, 2),
    "cursor": (NO_SUCH_CURSOR,),
    "": (),
}
_NARROWING: Final = frozenset(
    {
        "category", "contains", "filter", "keyword", "keywords", "match", "pattern", "prefix", "property", "q", "query",
        "search", "substring", "tag", "term",
    }
)  # fmt: skip
_COUNTING: Final = frozenset(
    {"limit", "maxitems", "maxresults", "nresults", "numresults", "pagesize", "perpage", "topk", "topn"}
)
_CURSORS: Final = frozenset({"cursor", "pagetoken", "nexttoken", "nextpagetoken", "continuationtoken"})
# These find what is nearest, however far away that is.
_NEAREST: Final = re.compile(
    r"(?i)\b(?:closest|embedding|fuzzy|nearest|rank|recommend|relevan|semantic|similar|sort|suggest|vector)"
)
_KIND_OF_NAME: Final[Mapping[str, str]] = {
    **dict.fromkeys(("date", "datetime", "timestamp", "day", "birthday", "deadline"), "date"),
    **dict.fromkeys(("email", "mail"), "address of mail"),
    **dict.fromkeys(("url", "uri"), "URL"),
    **dict.fromkeys(("timezone", "tz"), "time zone"),
    **dict.fromkeys(("ip", "cidr"), "network address"),
    **dict.fromkeys(("uuid", "guid"), "UUID"),
    **dict.fromkeys(("zip", "zipcode", "postcode"), "postal code"),
    **dict.fromkeys(("color", "colour"), "colour"),
    **dict.fromkeys(("lat", "latitude", "lon", "lng", "longitude"), "coordinate"),
    **{name: name for name in ("cron", "currency", "country", "city", "isbn", "iban", "ticker", "unit")},
}
# What says more of a value than a name does.
_TEXT_KEYWORDS: Final = ("examples", "enum", "const", "pattern", "format")
_EXACTLY_ONE: Final = re.compile(r"(?i)\bexactly one of\b\s*:?")
_NOT_BOTH: Final = (
    re.compile(
        r"(?i)\b(?:either|one of)\s+[\"'`]?(\w+)[\"'`]?\s+or\s+[\"'`]?(\w+)[\"'`]?,?\s+(?:and |but )?not both\b"
    ),
    re.compile(r"(?i)[\"'`]?\b(\w+)[\"'`]?\s+and\s+[\"'`]?(\w+)[\"'`]?\s+are\s+mutually exclusive\b"),
)
_COUNTS: Final = frozenset({"count", "found", "matches", "total"})
_EMPTY: Final = re.compile(
    r"(?i)\W{0,9}(?:no (?:\w+ ){1,3}(?:were |was )?found|found (?:0|no) \w+"
    r"|(?:0|no) (?:entries|files|items|matches|results))\b(?:[^\n]{0,80}\s*\Z|[^\n]{0,300}\bavailable\b)"
)
_SAYS_ABSENT: Final = re.compile(r"(?i)\bexist|\bno such\b|\bunknown\b|\binvalid\b|\bnot a\b|\bmissing\b|\bENOENT\b")
_LONGEST_TEXT: Final = 4_000
_LONGEST_JSON: Final = 1_000_000


def role_of(tool: ToolDefinition, name: str) -> Role:
    """Return the role of an optional parameter in an answer, by its name; "" if that is not known."""
    declared, words = members(tool.properties.get(name)), word_segments(name)
    branches = (declared, *map(members, elements(declared.get("anyOf"))))
    types = [kind for branch in branches for kind in (branch.get("type"), *elements(branch.get("type")))]
    if not words or name in tool.required or any(word in declared for word in ("enum", "const", "pattern", "format")):
        return ""
    if "string" in types and "".join(words) in _CURSORS:
        return "cursor"
    if "integer" in types and "".join(words) in _COUNTING:
        return "counts"
    is_near = _NEAREST.search(f"{' '.join(word_segments(tool.name))} {tool.description} {declared.get('description')}")
    return "narrows" if "string" in types and words[-1] in _NARROWING and not is_near else ""


def kind_of(tool: ToolDefinition, name: str) -> str | None:
    """The kind of text that a parameter takes by its name, such as a date; None if any text may be right."""
    declared, words = members(tool.properties.get(name)), word_segments(name)
    if not words or declared.get("type") != "string" or any(word in declared for word in _TEXT_KEYWORDS):
        return None
    zone = "tz" if words[-2:] == ("time", "zone") else "zip" if words[-2:] == ("postal", "code") else words[-1]
    return _KIND_OF_NAME.get(zone)


def values_to_send(tool: ToolDefinition, name: str) -> tuple[object, ...]:
    """The values to send for a parameter; none if nothing follows from its name."""
    return JUNK if kind_of(tool, name) else _SENT[role_of(tool, name)]


def exclusive_parameters(tool: ToolDefinition) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The parameters of which only one may be given, as the descriptions say, and whether one is needed.

    >>> tool = ToolDefinition(
    ...     raw={}, description="Exactly one of `id` or `name`.", input_schema={"properties": {"id": {}, "name": {}}}
    ... )
    >>> list(exclusive_parameters(tool))
    [(('id', 'name'), True)]
    """
    texts = (tool.description, *(members(declared).get("description") for declared in tool.properties.values()))
    for text in (text[:_LONGEST_TEXT] for text in texts if isinstance(text, str)):
        for found in _EXACTLY_ONE.finditer(text):
            names: list[str] = []
            for word in re.findall(r"\w+|[.;)\n]", text[found.end() : found.end() + 200]):
                if word in tool.properties:
                    names.append(word)
                elif word.lower() not in {"or", "and", "the", "these", "parameters", "arguments"}:
                    break
            if len(names) > 1:
                yield tuple(names), True
        for pattern in _NOT_BOTH:
            yield from (
                (pair, False) for pair in pattern.findall(text) if all(name in tool.properties for name in pair)
            )


def payload_of(call: ObservedCall) -> object:
    """The structured content or else the JSON in the text, also inside FastMCP's `{"result": "…"}`; else None."""
    value: object = members(call.result).get("structuredContent")
    only = next(iter(value.values())) if is_object(value) and len(value) == 1 else None
    text = only if isinstance(only, str) else words_of(call) if value is None else ""
    if text[:_LONGEST_JSON].lstrip()[:1] in {"{", "["}:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def list_sizes(call: ObservedCall) -> tuple[int, ...]:
    """The number of entries of an answer that is a list, or of each list that is a member of it."""
    payload = payload_of(call)
    lists = [payload] if is_array(payload) else [value for value in members(payload).values() if is_array(value)]
    return tuple(len(elements(one)) for one in lists)


def is_empty_answer(call: ObservedCall) -> bool:
    """Whether an answer is an empty list: `[]`, an object whose lists are all empty, or a sentence that says so."""
    words, payload, sizes = words_of(call), payload_of(call), list_sizes(call)
    if _SAYS_ABSENT.search(words):
        return False
    counts = (value for key, value in members(payload).items() if not _COUNTS.isdisjoint(word_segments(key)))
    if sizes:
        return not any(sizes) and not any(counts)
    return payload is None and (is_empty_list(call) or _EMPTY.match(words) is not None)
