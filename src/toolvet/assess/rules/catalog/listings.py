"""The lists of a server, page by page."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.item import ObservedItems, Purpose
from toolvet.assess.rules.quote import list_names, quote, repeated_entries
from toolvet.assess.rules.rule import of_items, of_server
from toolvet.core.tool_rules import ObservedServer
from toolvet.findings import Card, Finding, Severity

NO_TOOLS = Card(
    id="no-tools",
    title="The server has no tools",
    severity=Severity.WARNING,
    looks_for=(
        "A server whose tool list was read without trouble and is empty; not one that announces resources or "
        "prompts only."
    ),
    why=(
        "There is nothing to call, so nothing was assessed. Most often tools are registered only with a certain "
        "configuration, client capability or credential."
    ),
    remedy=(
        "Give the server what it needs (--env, --header, arguments behind the command), or register tools before "
        "the server starts to serve. A server that offers only prompts or resources should not announce the "
        "capability `tools`."
    ),
)


@of_server(NO_TOOLS)
def check_no_tools(server: ObservedServer) -> Iterator[Finding]:
    """Report an empty list; `tool-list-broken` reports a broken one."""
    if not server.tools and not server.listing_problems and not server.is_without_tools:
        yield NO_TOOLS.finding(message="The server lists no tools.")


TOOL_LIST_BROKEN = Card(
    id="tool-list-broken",
    title="tools/list fails or is invalid",
    severity=Severity.ERROR,
    looks_for=(
        "A page of tools/list that is missing, refused or not an object with a `tools` array, or that contains half of "
        "a surrogate pair; a repeated cursor; a list without end, with more than 20,000 tools or of more than "
        "64 MiB."
    ),
    why="Clients show the tools of the pages that they could read, or none, or ask for pages forever.",
    remedy=(
        "Answer each page with `tools` and, only when there are more, a `nextCursor` string that leads on. Servers "
        "with a few hundred tools need no pages at all."
    ),
)


@of_server(TOOL_LIST_BROKEN)
def check_tool_list_broken(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all problems, the first in its message."""
    problems = [problem.strip() for problem in server.listing_problems if problem.strip()]
    if problems:
        more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
        sentence = quote(problems[0])
        yield TOOL_LIST_BROKEN.finding(
            message=f"tools/list: {sentence}{'' if sentence.endswith(('.', '…')) else '.'}{more}",
            evidence=quote("; ".join(problems), 400),
        )


LISTING_BROKEN = Card(
    id="listing-broken",
    title="A list of resources or prompts fails or is invalid",
    severity=Severity.ERROR,
    looks_for=(
        "A page of resources/list, resources/templates/list or prompts/list that is refused or missing, or a result "
        "without the array that its name promises, or with half of a surrogate pair. `tool-list-broken` is the same "
        "for tools."
    ),
    why="Clients show the pages that they could read, or nothing at all.",
    remedy="Answer with the array (`resources`, `resourceTemplates`, `prompts`), empty if you have none.",
)
_BROKEN_PAGES: Final = frozenset({"page_failed", "bad_page", "half_character"})


@of_items(LISTING_BROKEN)
def check_listing_broken(seen: ObservedItems) -> Iterator[Finding]:
    """One finding for each list; `capability-unanswered` reports methods that do not exist."""
    for listing in seen.listings:
        problems = [words for kind, words in listing.problems if kind in _BROKEN_PAGES]
        if problems and not listing.is_unknown:
            more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
            yield LISTING_BROKEN.finding(
                message=f"{listing.method}: {quote(problems[0]).rstrip('.')}.{more}",
                evidence=quote("; ".join(problems), 400),
                pointer=f"/{listing.method}",
            )


PAGINATION_BROKEN = Card(
    id="pagination-broken",
    title="Pagination of a list is broken",
    severity=Severity.ERROR,
    looks_for=(
        "A list of resources, templates or prompts whose cursor repeats, never ends or is not a string, or that has "
        "more than 20,000 entries or 64 MiB; pages that "
        "repeat entries are a warning. Information: a list with pages, also of tools, that takes a cursor which it "
        "never gave, and `nextCursor: null` on the last page."
    ),
    why="Clients ask for pages forever, show entries twice, or miss those behind the broken page.",
    remedy=(
        "Send `nextCursor` only when there are more entries, each time another one, and start the next page right "
        "behind the last entry. Answer a cursor that you did not make with -32602."
    ),
)
_ENDLESS: Final = frozenset({"cursor_cycle", "too_many_pages", "too_many_entries"})


@of_items(PAGINATION_BROKEN)
def check_pagination_broken(seen: ObservedItems) -> Iterator[Finding]:
    """At most one finding for each list: the gravest."""
    found = set[str]()
    for listing in seen.listings:
        endless = [words for kind, words in listing.problems if kind in _ENDLESS]
        cursors = [words for kind, words in listing.problems if kind == "bad_cursor"]
        wrong = [words for words in cursors if "null instead of missing" not in words]
        items = seen.of(listing.kind)
        repeated = [name for name, _ in repeated_entries((item.identity, item.position) for item in items)]
        place = f"/{listing.method}"
        if endless or wrong:
            words = quote((endless or wrong)[0])
            yield PAGINATION_BROKEN.finding(
                message=f"{listing.method}: {words.rstrip('.')}.", evidence=words, pointer=place
            )
        elif listing.pages > 1 and repeated:
            yield PAGINATION_BROKEN.finding(
                message=f"{listing.method}: {len(repeated)} entries come on several pages: {list_names(repeated, 3)}.",
                severity=Severity.WARNING,
                pointer=place,
            )
        elif cursors:
            yield PAGINATION_BROKEN.finding(
                message=f"{listing.method}: {quote(cursors[0])}.", severity=Severity.INFO, pointer=place
            )
        else:
            continue
        found.add(listing.method)
    for request in seen.asked(Purpose.BAD_CURSOR):
        if request.succeeded and request.method not in found:
            yield PAGINATION_BROKEN.finding(
                message=f"{request.method} has several pages, and takes a cursor that it never gave.",
                severity=Severity.INFO,
                pointer=f"/{request.method}",
            )
