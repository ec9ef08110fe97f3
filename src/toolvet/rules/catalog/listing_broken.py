"""Rule: a list of resources, templates or prompts cannot be read as it should."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.item import ItemsSeen
from toolvet.rules.quote import quote

CARD = Card(
    id="listing-broken",
    title="A list of resources or prompts cannot be read as it should",
    severity=Severity.ERROR,
    looks_for=(
        "A page of resources/list, resources/templates/list or prompts/list that is refused or missing, or a result "
        "without the array that its name promises, or with half of a surrogate pair. `tool-list-broken` is the same "
        "for tools."
    ),
    why="Clients show what the pages that they could read hold, or nothing at all.",
    remedy="Answer with the array (`resources`, `resourceTemplates`, `prompts`), empty where there is nothing.",
)

_BROKEN: Final = frozenset({"page_failed", "bad_page", "half_character"})


def check_items(seen: ItemsSeen) -> Iterator[Finding]:
    """One finding for each list; `capability-unanswered` reports methods that do not exist."""
    for listing in seen.listings:
        problems = [words for kind, words in listing.problems if kind in _BROKEN]
        if problems and not listing.is_unknown:
            more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
            yield CARD.finding(
                message=f"{listing.method}: {quote(problems[0]).rstrip('.')}.{more}",
                evidence=quote("; ".join(problems), 400),
                pointer=f"/{listing.method}",
            )
