"""How resources and resource templates are listed."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from toolvet.assess.rules.item import IDENTITY, WORDS, ListedItem, ObservedItems, problems, variables
from toolvet.assess.rules.quote import judge_types, list_names, quote, repeated_entries, show
from toolvet.assess.rules.rule import of_item, of_items
from toolvet.core.json_value import is_array, is_object, members
from toolvet.findings import Card, Finding, ItemKind, Severity

RESOURCE_ILLEGAL = Card(
    id="resource-illegal",
    title="Invalid entry in a list of resources",
    severity=Severity.ERROR,
    looks_for=(
        "An entry of resources/list or resources/templates/list that is not an object, has no URI (URI template) or no "
        "name, or holds a field of a type that the protocol does not allow."
    ),
    why="The official clients read a list as a whole: one entry that they cannot read makes them refuse all of it.",
    remedy="Build the entries with the SDK or with its types, which refuse such an entry before it is sent.",
)
_TYPES_OF_FIELDS: Final[Mapping[str, type]] = {
    "title": str,
    "description": str,
    "mimeType": str,
    "annotations": dict,
    "icons": list,
    "_meta": dict,
}
_ROLES: Final = frozenset({"user", "assistant"})
_KINDS: Final[tuple[ItemKind, ...]] = ("resource", "resource_template")


@of_item(RESOURCE_ILLEGAL)
def check_resource_illegal(item: ListedItem) -> Iterator[Finding]:
    """Report what makes official clients refuse an entry, and the list with it."""
    if item.kind not in _KINDS:
        return
    place = f"Entry {item.position + 1} of the list of {WORDS[item.kind]}s"
    if not is_object(item.raw):
        yield RESOURCE_ILLEGAL.finding(message=f"{place} is not an object.", evidence=show(item.raw))
        return
    raw = item.raw
    for field in (IDENTITY[item.kind], "name"):
        if not isinstance(raw.get(field), str) or (not raw[field] and field != "name"):
            problem = f"has the {field} {show(raw[field])}" if field in raw else f"has no {field}"
            yield RESOURCE_ILLEGAL.finding(message=f"{place} {problem}.", pointer=f"/{field}", evidence=show(raw, 160))
    yield from judge_types(RESOURCE_ILLEGAL, raw, _TYPES_OF_FIELDS)
    size = raw.get("size")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int | float) or size != size // 1):
        yield RESOURCE_ILLEGAL.finding(
            message="'size' must be a whole number of bytes.", pointer="/size", evidence=show(size)
        )
    annotations = members(raw.get("annotations"))
    priority, audience = annotations.get("priority"), annotations.get("audience")
    if priority is not None and (
        isinstance(priority, bool) or not isinstance(priority, int | float) or not 0 <= priority <= 1
    ):
        yield RESOURCE_ILLEGAL.finding(
            message="'annotations.priority' must be a number from 0 to 1.",
            pointer="/annotations/priority",
            evidence=show(priority),
        )
    if audience is not None and (
        not is_array(audience) or not all(isinstance(role, str) and role in _ROLES for role in audience)
    ):
        yield RESOURCE_ILLEGAL.finding(
            message="'annotations.audience' must be an array of 'user' and 'assistant'.",
            pointer="/annotations/audience",
            evidence=show(audience),
        )


RESOURCE_DUPLICATE = Card(
    id="resource-duplicate",
    title="Two resources have the same URI",
    severity=Severity.WARNING,
    looks_for="A URI, or a URI template, that appears more than once in its list, over all pages.",
    why="A URI says which resource is meant. Of two with one URI only one can be read, and hosts show it twice.",
    remedy="Give each resource a URI of its own, and each page of the list other entries.",
)


@of_items(RESOURCE_DUPLICATE)
def check_resource_duplicate(seen: ObservedItems) -> Iterator[Finding]:
    """One finding for each URI; where pages repeat themselves, `pagination-broken` reports that."""
    paged = {listing.kind for listing in seen.listings if listing.pages > 1}
    for kind in _KINDS:
        items = () if kind in paged else seen.of(kind)
        for identity, entries in repeated_entries((item.identity, item.position) for item in items):
            yield RESOURCE_DUPLICATE.finding(
                message=f"{len(entries)} {WORDS[kind]}s have the URI '{quote(identity, 80)}'.",
                evidence=f"entries {', '.join(entries)} of the list",
                pointer=f"/{IDENTITY[kind]}",
                item=(kind, identity),
            )


RESOURCE_URI_ILLEGAL = Card(
    id="resource-uri-illegal",
    title="Invalid resource URI",
    severity=Severity.WARNING,
    looks_for=(
        "A listed URI that does not begin with a scheme, with white space, control characters or braces, or with a `%` "
        "that begins no escape (RFC 3986). Letters beyond ASCII are fine: every client escapes them."
    ),
    why=(
        "Clients parse URIs. Some refuse the whole list, some escape what is illegal and then ask for a URI that the "
        "server does not know."
    ),
    remedy="Give each resource an absolute URI, `scheme://path`, and percent-encode the parts that come from names.",
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ILLEGAL: Final = re.compile(r"[\s\x00-\x20\x7f<>\"{}|\\^`]")
_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


@of_item(RESOURCE_URI_ILLEGAL)
def check_resource_uri_illegal(item: ListedItem) -> Iterator[Finding]:
    """Report the first thing that is illegal."""
    uri = item.identity
    if item.kind != "resource" or not uri:
        return
    illegal = _ILLEGAL.search(uri)
    if not _SCHEME.match(uri):
        problem = "does not begin with a scheme: a letter, then letters, digits, +, - or dots, and a colon"
    elif illegal is not None:
        problem = "has white space in it" if illegal[0].isspace() else f"has an illegal '{quote(illegal[0], 5)}' in it"
    elif _PERCENT.search(uri):
        problem = "has a '%' that begins no escape"
    else:
        return
    yield RESOURCE_URI_ILLEGAL.finding(
        message=f"The URI '{quote(uri, 120)}' {problem}.", pointer="/uri", evidence=quote(uri)
    )


RESOURCE_TEMPLATE_ILLEGAL = Card(
    id="resource-template-illegal",
    title="Invalid URI template",
    severity=Severity.WARNING,
    looks_for=(
        "A URI template that RFC 6570 does not allow: a name with other characters than letters, digits, `_` and dots. "
        "A brace without its partner, or without a name in between, is an error; a template without any variable is "
        "reported as info."
    ),
    why="Clients expand templates with a library. A template that the library cannot parse cannot be used.",
    remedy="Write `scheme://path/{name}` with names like those of a programming language (`{book_id}`).",
)


@of_item(RESOURCE_TEMPLATE_ILLEGAL)
def check_resource_template_illegal(item: ListedItem) -> Iterator[Finding]:
    """Report what the template breaks, in one finding."""
    if item.kind != "resource_template" or not item.identity:
        return
    found = problems(item.identity)
    if found:
        grave = any("brace" in problem or "no variable" in problem for problem in found)
        yield RESOURCE_TEMPLATE_ILLEGAL.finding(
            message=f"The URI template '{quote(item.identity, 120)}' is illegal: {quote('; '.join(found))}.",
            severity=Severity.ERROR if grave else None,
            pointer="/uriTemplate",
        )
    elif not variables(item.identity):
        yield RESOURCE_TEMPLATE_ILLEGAL.finding(
            message=f"The URI template '{quote(item.identity, 120)}' has no variable: list it as a resource.",
            severity=Severity.INFO,
            pointer="/uriTemplate",
        )


RESOURCE_UNDESCRIBED = Card(
    id="resource-undescribed",
    title="Resources have no description",
    severity=Severity.INFO,
    looks_for="Resources and resource templates without a description; one finding for all of the server.",
    why="A host or a model that chooses among resources has only the URI and the name to decide on.",
    remedy="Say in a sentence what each holds and when it is of use; for a template, what its variables may be.",
)


@of_items(RESOURCE_UNDESCRIBED)
def check_resource_undescribed(seen: ObservedItems) -> Iterator[Finding]:
    """One finding with the number and the first names."""
    items = seen.of("resource", "resource_template")
    lacking = [item.identity for item in items if item.identity and not item.text("description").strip()]
    if lacking:
        count = f"{len(lacking)} of {len(items)} resources and templates have no description"
        sentence = "The only resource has no description" if len(items) == 1 else count
        yield RESOURCE_UNDESCRIBED.finding(message=f"{sentence}: {list_names(lacking, 4)}.", pointer="/description")
