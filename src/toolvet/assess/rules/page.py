"""`docs/checks.md`, made from the cards of the catalogue: `python -m toolvet.assess.rules.page > docs/checks.md`."""

import sys
from typing import Final

from toolvet.assess.rules.judge import cards, rules
from toolvet.assess.rules.rule import SCOPES
from toolvet.assess.rules.terms import STATUSES, TERMS
from toolvet.findings import Card

_ONE_CAUSE: Final = (
    "## One cause, one finding",
    "",
    "If three or more tools have the same finding for one cause, toolvet reports it once and lists the tools. One",
    "cause means the same check, severity and place, and the same message of the server apart from names and values.",
    "Two tools are enough if the messages differ only in their names. Prompts and resources are joined the same way.",
    "",
    "Such a finding counts once in the totals, in JUnit (one case of the server), in SARIF (one result with a place",
    "for each tool) and for the exit code. In the score it counts for each of its tools. `--ignore CHECK:TOOL` removes",
    "a tool from it beforehand. A baseline knows each tool by itself: a tool that joins later is new.",
    "",
    "Reports for people show the notes of one check as one line, and put what only the SDK can change at the end.",
    "",
)


def render_checks_page() -> str:
    """`docs/checks.md`: every check with what it looks for, why it matters and what to do; an anchor for each id."""
    left, groups = dict(cards()), list[tuple[str, list[Card]]]()
    for scope in SCOPES:
        # A card belongs to the first group that has a rule of it.
        ids = {rule.card.id for rule in rules() if rule.scope is scope}
        groups.append((scope.title, [left.pop(card) for card in cards() if card in ids and card in left]))
    lines = [
        "# The checks",
        "",
        "Look up a finding here: what its check looks for, why it matters, and how to fix it.",
        "`toolvet explain ID` prints the same; `toolvet explain status`, `score` and `confidence` explain those words.",
        "This page is generated from the cards in `src/toolvet/assess/rules/catalog/`.",
        "",
        "Severity is how bad a finding usually is; a single finding can be graver or milder, and then says so.",
        "`error`: a client or a model will trip over it. `warning`: it often does harm. `info`: worth knowing.",
        "",
        *_ONE_CAUSE,
    ]
    for term in TERMS.values():
        lines += [f'## <a id="{term.id}"></a>{term.id.capitalize()}: {term.title[:1].lower()}{term.title[1:]}', ""]
        for paragraph in term.text:
            word, colon, meaning = paragraph.partition(": ")
            lines += [f"**{word}**: {meaning}" if colon and word in STATUSES else paragraph, ""]
    lines += ["## All checks", ""]
    for title, members in groups:
        lines += [f"**{title}**", ""]
        lines += [
            f"- [`{card.id}`](#{card.id}): {card.title[:1].lower()}{card.title[1:]} ({card.severity.value})"
            for card in members
        ]
        lines.append("")
    for title, members in groups:
        lines += [f"## {title}", ""]
        for card in members:
            lines += [f'### <a id="{card.id}"></a>`{card.id}`', "", f"**{card.title}** ({card.severity.value})", ""]
            lines += [f"Looks for: {card.looks_for}", "", f"Why: {card.why}", "", f"What to do: {card.remedy}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.stdout.write(render_checks_page())
