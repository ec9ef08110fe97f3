"""How short an answer may be, by what is known of its turn."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

import msgspec

from toolvet.core.discover.toml import read_toml

USUAL: Final = 20
"""The `min_length` of an answer whose question and calls are not known."""

_ANY: Final = 1
_LONGEST: Final = 400  # Characters of a sentence that are read.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class Requests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one language asks for a text or a fact, its `nods`, and pairs of a request and a short answer as proofs."""

    text: str
    brief: str
    fact: str
    nods: list[str]
    hits: list[tuple[str, str]]
    misses: list[tuple[str, str]]


def least_length(text: str, calls: Sequence[object] | None, question: str | Sequence[object] | None) -> int:
    """Return the `min_length` of an answer.

    After calls "Done." is an answer, and "42" to a question. To a request for an essay neither is, and an "ok" does not
    say how many are left.

    Example:
        >>> least_length("42", None, None), least_length("42", None, "What is 6 x 7?")
        (20, 1)
        >>> least_length("Yes.", None, "Write an essay about whales.")
        20
    """
    if question is None or question == "":
        return _ANY if calls else USUAL
    # "What about?" asks back.
    if len(text) >= 2 * USUAL or text.rstrip().endswith(("?", "？")):  # noqa: RUF001 - a full-width mark
        return _ANY
    # Loaded only for a question: it takes milliseconds.
    from toolvet.core.messages import words_of_person  # noqa: PLC0415

    # The words of the last message of the person.
    items = [question] if isinstance(question, str) else reversed(question)
    asked = next((words for item in items if (words := words_of_person([item]).strip())), "")
    sentences = _SENTENCE_END.split(asked[:_LONGEST]), _SENTENCE_END.split(asked[-_LONGEST:])
    first, last = sentences[0][0], sentences[1][-1]
    answer = text.strip(" \t\n.!…").lower()
    # After calls, the text may be in the file that they wrote.
    wishes = set[str]() if calls else {last, last if last.endswith("?") else first}
    known = _patterns()
    if any(brief.search(wish) for wish in wishes for _, brief, _, _ in known):
        wishes = set[str]()
    for text_wanted, _, fact_wanted, nods in known:
        if any(map(text_wanted.match, wishes)) or (answer in nods and fact_wanted.match(last)):
            return USUAL
    return _ANY


@cache
def requests() -> dict[str, Requests]:
    """How each language asks, from `asking.toml`."""
    return read_toml("toolvet.core.turn", "asking.toml", dict[str, Requests])


@cache
def _patterns() -> list[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], frozenset[str]]]:
    def made(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return [(made(each.text), made(each.brief), made(each.fact), frozenset(each.nods)) for each in requests().values()]
