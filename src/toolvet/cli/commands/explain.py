"""`toolvet explain`: print what a check looks for, why, and what to do."""

import sys
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.terminal import SEVERITY_STYLE, new_table
from toolvet.core.visible import json_text


def command(
    check_id: Annotated[str | None, Parameter(help="The id of a finding; without one, all checks are listed.")] = None,
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
) -> int:
    """Explain what a check looks for, why it matters, and how to fix it."""
    from toolvet.assess.rules import TERMS, Term, card_named, cards  # noqa: PLC0415 - loads the schema and pattern engines

    shown = list(cards().values()) if check_id is None else TERMS.get(check_id) or card_named(check_id)
    if json:
        sys.stdout.write(json_text(shown))
        return 0
    from rich.console import Console  # noqa: PLC0415 - for this command only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console()
    if isinstance(shown, list):
        table = new_table("check", "severity", "what")
        for card in sorted(shown, key=lambda card: (-card.severity.rank, card.id)):
            table.add_row(card.id, Text(card.severity.value, style=SEVERITY_STYLE[card.severity]), card.title)
        console.print(table)
        console.print(
            "\ntoolvet explain CHECK says more about one of them; so it does about status, score, confidence.",
            style="dim",
        )
        return 0
    if isinstance(shown, Term):
        console.print(Text.assemble((shown.id, "bold"), "  ", shown.title))
        for paragraph in shown.text:
            console.print()
            console.print(paragraph, markup=False, highlight=False)
        return 0
    severity = (shown.severity.value, SEVERITY_STYLE[shown.severity])
    console.print(Text.assemble((shown.id, "bold"), "  ", severity, "  ", shown.title))
    for heading, words in (("Looks for", shown.looks_for), ("Why it matters", shown.why), ("What to do", shown.remedy)):
        console.print()
        console.print(heading, style="bold")
        console.print(words, markup=False, highlight=False)
    return 0
