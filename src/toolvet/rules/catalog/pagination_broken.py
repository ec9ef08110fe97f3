"""Rule: the pages of a list do not lead to an end."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.item import ItemsSeen, ListingSeen, Purpose
from toolvet.rules.quote import list_names, quote

CARD = Card(
    id="pagination-broken",
    title="The pages of a list lead nowhere",
    severity=Severity.ERROR,
    looks_for=(
        "A list of resources, templates or prompts whose cursor comes twice, has no end or is no string, or that has "
        "more than 20,000 entries or 64 MiB; pages that "
        "repeat entries are a warning. Information: a list with pages that takes a cursor which it never gave, and "
        "`nextCursor: null` on the last page."
    ),
    why="Clients ask for pages forever, show entries twice, or miss those behind the broken page.",
    remedy=(
        "Send `nextCursor` only when there are more entries, each time another one, and start the next page right "
        "behind the last entry. Answer a cursor that you did not make with -32602."
    ),
)

_ENDLESS: Final = frozenset({"cursor_cycle", "too_many_pages", "too_many_entries"})


def check_items(seen: ItemsSeen) -> Iterator[Finding]:
    """At most one finding for each list: the gravest."""
    for listing in seen.listings:
        yield from _judge(seen, listing)


def _judge(seen: ItemsSeen, listing: ListingSeen) -> Iterator[Finding]:
    endless = [words for kind, words in listing.problems if kind in _ENDLESS]
    cursors = [words for kind, words in listing.problems if kind == "bad_cursor"]
    wrong = [words for words in cursors if "null instead of missing" not in words]
    place = f"/{listing.method}"
    if endless or wrong:
        words = quote((endless or wrong)[0])
        yield CARD.finding(message=f"{listing.method}: {words.rstrip('.')}.", evidence=words, pointer=place)
        return
    repeated = _repeated(seen, listing)
    if listing.pages > 1 and repeated:
        yield CARD.finding(
            message=f"{listing.method}: {len(repeated)} entries come on several pages: {list_names(repeated, 3)}.",
            severity=Severity.WARNING,
            pointer=place,
        )
    elif cursors:
        yield CARD.finding(
            message=f"{listing.method}: {quote(cursors[0])}.", severity=Severity.INFO, pointer=place, evidence=""
        )
    elif any(request.method == listing.method and request.succeeded for request in seen.asked(Purpose.BAD_CURSOR)):
        yield CARD.finding(
            message=f"{listing.method} has {listing.pages} pages, and takes a cursor that it never gave.",
            severity=Severity.INFO,
            pointer=place,
        )


def _repeated(seen: ItemsSeen, listing: ListingSeen) -> list[str]:
    counts = Counter(item.identity for item in seen.of(listing.kind) if item.identity)
    return [identity for identity, count in counts.items() if count > 1]
