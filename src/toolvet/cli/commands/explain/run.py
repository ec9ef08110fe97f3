"""The work of `toolvet explain`: a check's id → its card on stdout."""

import sys

import msgspec
import orjson
from rich.console import Console
from rich.text import Text

from toolvet.assess.rules import TERMS, Term, card_named, cards
from toolvet.cli.table import SEVERITY_STYLE, new_table
from toolvet.findings import Card


def explain(check_id: str | None, *, as_json: bool) -> int:
    """Print the card of one check, the definition of a word (status, score, confidence), or a table of all checks.

    Returns the exit code.
    """
    if check_id is not None and check_id in TERMS:
        _define(TERMS[check_id], as_json=as_json)
        return 0
    known = cards()
    chosen = list(known.values()) if check_id is None else [card_named(check_id)]
    if as_json:
        builtins: object = msgspec.to_builtins(chosen if check_id is None else chosen[0])
        sys.stdout.write(orjson.dumps(builtins, option=orjson.OPT_INDENT_2).decode() + "\n")
    elif check_id is None:
        _print_table(chosen)
    else:
        _print_card(chosen[0])
    return 0


def _define(term: Term, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(orjson.dumps(msgspec.to_builtins(term), option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    console = Console()
    console.print(Text.assemble((term.id, "bold"), "  ", term.title))
    for paragraph in term.text:
        console.print()
        console.print(paragraph, markup=False, highlight=False)


def _print_table(chosen: list[Card]) -> None:
    table = new_table("check", "severity", "what")
    for card in sorted(chosen, key=lambda card: (-card.severity.rank, card.id)):
        table.add_row(card.id, Text(card.severity.value, style=SEVERITY_STYLE[card.severity]), card.title)
    console = Console()
    console.print(table)
    console.print(
        "\ntoolvet explain CHECK says more about one of them; so it does about status, score, confidence.", style="dim"
    )


def _print_card(card: Card) -> None:
    console = Console()
    console.print(
        Text.assemble((card.id, "bold"), "  ", (card.severity.value, SEVERITY_STYLE[card.severity]), "  ", card.title)
    )
    for heading, words in (("Looks for", card.looks_for), ("Why it matters", card.why), ("What to do", card.remedy)):
        console.print()
        console.print(heading, style="bold")
        console.print(words, markup=False, highlight=False)
