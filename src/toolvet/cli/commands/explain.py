"""`toolvet explain`: print what a check looks for, why, and what to do."""

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolvet.cli.terminal import SEVERITY_STYLE, new_table

if TYPE_CHECKING:
    from toolvet.assess.rules import Term
    from toolvet.findings import Card


def command(
    check_id: Annotated[str | None, Parameter(help="The id of a finding; without one, all checks are listed.")] = None,
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
) -> int:
    """Say what a check looks for, why it matters, and how to fix what it finds."""
    from toolvet.assess.rules import TERMS, Term, card_named, cards  # noqa: PLC0415 - loads the schema and pattern engines

    shown = list(cards().values()) if check_id is None else TERMS.get(check_id) or card_named(check_id)
    if json:
        _print_json(shown)
    elif isinstance(shown, list):
        _print_table(shown)
    elif isinstance(shown, Term):
        _print_term(shown)
    else:
        _print_card(shown)
    return 0


def _print_json(document: object) -> None:
    import msgspec  # noqa: PLC0415 - for this command only
    import orjson  # noqa: PLC0415 - as above

    sys.stdout.write(orjson.dumps(msgspec.to_builtins(document), option=orjson.OPT_INDENT_2).decode() + "\n")


def _print_term(term: "Term") -> None:
    from rich.console import Console  # noqa: PLC0415 - for this command only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console()
    console.print(Text.assemble((term.id, "bold"), "  ", term.title))
    for paragraph in term.text:
        console.print()
        console.print(paragraph, markup=False, highlight=False)


def _print_table(chosen: "list[Card]") -> None:
    from rich.console import Console  # noqa: PLC0415 - for this command only
    from rich.text import Text  # noqa: PLC0415 - as above

    table = new_table("check", "severity", "what")
    for card in sorted(chosen, key=lambda card: (-card.severity.rank, card.id)):
        table.add_row(card.id, Text(card.severity.value, style=SEVERITY_STYLE[card.severity]), card.title)
    console = Console()
    console.print(table)
    console.print(
        "\ntoolvet explain CHECK says more about one of them; so it does about status, score, confidence.", style="dim"
    )


def _print_card(card: "Card") -> None:
    from rich.console import Console  # noqa: PLC0415 - for this command only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console()
    console.print(
        Text.assemble((card.id, "bold"), "  ", (card.severity.value, SEVERITY_STYLE[card.severity]), "  ", card.title)
    )
    for heading, words in (("Looks for", card.looks_for), ("Why it matters", card.why), ("What to do", card.remedy)):
        console.print()
        console.print(heading, style="bold")
        console.print(words, markup=False, highlight=False)
