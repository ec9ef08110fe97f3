"""Measure `check_answer` on texts that are made of one thing, again and again: what is dear in them has no rest.

python -m benchmarks.hostile [--all]

The things are words and marks that set something off (quotation marks, fences, letters in parts, halves of phrases),
and every proof of every phrase, in all languages. Each is repeated up to 4,000 characters; those that cost most per
character are repeated further. `--all` prints all of them. All are CPU time of the thread, the least of two runs.
"""

# ruff: noqa: RUF001 - Texts in many scripts.

import sys
import time
from typing import NamedTuple

from benchmarks.harness import Report

from toolvet import check_answer
from toolvet.core.checks.answer.phrases import read_phrases

MARKS = (
    '"',
    "'",
    "“",
    "”",
    "«“„",
    "«»",
    "「",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "* ",
    "*a* ",
    "**",
    "_",
    "> ",
    "> I cannot\n",
    "- ",
    "1. ",
    "# ",
    "| a | b |\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    '{"error": ',
    "<",
    "</p>",
    "\\",
    "$",
    "\n",
    "\n\n",
    "\t",
    " ",
    ". ",
    "...",
    "! ",
    "?",
    "。",
    "！",
    "a",
    "A ",
    "1",
    "a1 ",
    "\x00",
    "\ud800x",
    "\u200b",
    "a\u200b",
    "\u00ad",
    "e\u0301",
    "\u0301",
    "\ufb01",
    "\uff21",
    "\u1112\u1161",
    "\U0001d400",
    "\U0001f642",
    "\u2019",
    "\u00a0",
    "https://a.b/c ",
)
WORDS = (
    "抱歉，我无法",
    "申し訳",
    "죄송하지만 ",
    "не могу ",
    "no puedo ayudarte ",
    "ich kann kanne nichts ",
    "je ne peux pas ",
    "I ",
    "not ",
    "I think ",
    "I'm sorry ",
    "However, ",
    "Error: ",
    "error failed ",
    "Maybe it is possible, I think. ",
    "I can't but ",
    "I'm sorry, but I cannot help with that request. ",
    "I\u200b can\u200bnot help ",
    '"I cannot help." ',
    "`I cannot help.` ",
    "Alice: I cannot help.\nBob: ok\n",
    "He said I cannot help. ",
    "If you say I cannot help, ",
    "Traceback (most recent call last)\n",
    "2024-05-01 12:00:01 error\n",
    "Here is a draft:\n",
    "Dear team,\n",
    "TODO: ",
    "[insert name] ",
    "as an AI language model ",
)
FIRST = 4_000
SIZES = (12_500, 50_000, 200_000)
SHOWN = 12


class Cost(NamedTuple):
    """The cost of a repeated text, in µs per character."""

    us: float
    kind: str
    unit: str


def cost(unit: str, size: int) -> float:
    text = unit * (size // len(unit) + 1)
    took: list[int] = []
    for _ in range(2):
        start = time.thread_time_ns()
        check_answer(text)
        took.append(time.thread_time_ns() - start)
    return min(took) / 1000 / len(text)


def costs() -> list[Cost]:
    """All of them, the dearest first."""
    units = dict.fromkeys((*MARKS, *WORDS), "marks and words")
    for name, known in read_phrases().items():
        for proof in known.phrase.hits:
            units.setdefault(f"{proof} ", name)
    check_answer("Warm up: I cannot help with that. " * 20)
    return sorted((Cost(cost(unit, FIRST), kind, unit) for unit, kind in units.items()), reverse=True)


def report_worst(report: Report) -> None:
    """Measure all, and hand in the dearest."""
    every = costs()
    rows = [
        [f"`{each.unit[:60]!r}`", each.kind, *(f"{cost(each.unit, size):.2f}" for size in SIZES)]
        for each in every[:SHOWN]
    ]
    over = sum(each.us > 1 for each in every)
    report.table(
        "Texts made of one thing, repeated",
        ["the thing", "from", *(f"{size:,} characters" for size in SIZES)],
        rows,
        about=f"µs of CPU time a character; the dearest of {len(every):,}, of which {over} cost more than 1 µs",
    )


def main() -> None:
    if "--all" in sys.argv:
        for each in costs():
            print(f"{each.us:.2f}  {each.kind}  {each.unit!r}")
        return
    with Report("real_answers") as report:
        report_worst(report)


if __name__ == "__main__":
    main()
