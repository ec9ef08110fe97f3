"""The person's request: the actions, and the names and values to do them with.

    question   Schedule 'Budget Review' with Ann for 2026-08-20 at 13:00, and send the invite to ann@corp.example.
    wishes     schedule (family `book`), send (family `send`)
    names      'budget review', 'ann', '2026-08-20', '13:00', 'invite', 'ann@corp.example'

A request shows what is to be done and never proves that it was done. Its names only show what an answer is about: after
this question, "The Budget Review is booked" claims an action, though no list of things has a "Budget Review".
"""

import re
from collections.abc import Sequence
from functools import cached_property

from toolvet.core.messages import words_of_others, words_of_person
from toolvet.core.turn.ledger.clause import WORD
from toolvet.core.turn.ledger.phrases import ANYTHING, ClaimGrammar

# A text may open with the rules of the agent.
_MOST = 1_500
_SHORTEST = 4
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_VALUE = re.compile(r"[^\s,;!?()\"'\u2018\u2019\u201c\u201d]*[\d@/][^\s,;!?()\"'\u2018\u2019\u201c\u201d]*")
TITLE = re.compile(
    r"(?<!\w)['\"\u2018\u201c\u201e«「]([^'\"\u2019\u201d\u201c»」\n]{2,80})['\"\u2019\u201d\u201c»」](?!\w)"
)
# Kinds of actions of which one does the work of the other: a meeting is booked, created, or put into the calendar.
_KIN = frozenset({"create", "book", "update", "save", ANYTHING})


class PersonRequest:
    """The words of the person, read when an answer claims something."""

    def __init__(self, question: str | Sequence[object] | None) -> None:
        self._question = question

    @cached_property
    def text(self) -> str:
        """The person's own words, without those of the system or a tool."""
        return words_of_person(self._question)[-_MOST:].replace("\u2019", "'")

    @cached_property
    def context(self) -> str:
        """The words that an agent may know before its calls, in lower case: rules, requests, earlier results."""
        return words_of_others(self._question).lower()

    @cached_property
    def lower(self) -> str:
        """The same in lower case."""
        return self.text.lower()

    @cached_property
    def _wishes(self) -> dict[int, frozenset[str]]:
        return {}

    def wishes(self, grammar: ClaimGrammar) -> frozenset[str]:
        """The families of the actions that are asked for, in the language of `grammar`."""
        known = self._wishes.get(id(grammar))
        if known is None:
            found = list(grammar.wishes.finditer(self.text)) if self.text else []
            for sentence in _SENTENCE.split(self.text):
                need = grammar.needs.search(sentence)
                if need is not None:
                    found += (
                        match
                        for verbs in (grammar.verbs, grammar.text_verbs)
                        for match in verbs.finditer(sentence, need.end())
                    )
            known = self._wishes[id(grammar)] = frozenset(match.lastgroup or ANYTHING for match in found)
        return known

    def wants(self, family: str, grammar: ClaimGrammar) -> bool:
        """Whether an action of this family is asked for, or one that may be done in its place."""
        wishes = self.wishes(grammar)
        return family in wishes or (family in _KIN and not _KIN.isdisjoint(wishes))

    @cached_property
    def _values(self) -> frozenset[str]:
        found = {match[0].strip(".:").lower() for match in _VALUE.finditer(self.text)}
        return frozenset(found | {match[1].lower() for match in TITLE.finditer(self.text)})

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in WORD.findall(self.text) if _is_name(word))

    def names(self, words: str, grammar: ClaimGrammar) -> bool:
        """Whether `words` name something that the request names: a value, a title, or a noun."""
        lower = words.lower()
        if any(value in lower for value in self._values):
            return True
        if not words.isascii() and any(stem in self.lower for each in WORD.findall(lower) if (stem := _stem(each))):
            return True
        return any(
            (each := word.lower()) in self._words
            and not any(
                kind.fullmatch(each) for kind in (grammar.cuts, grammar.no_nouns, grammar.openers, grammar.verbs)
            )
            for word in WORD.findall(words)
            if _is_name(word)
        )


def _stem(word: str) -> str:
    """The letters by which a word without capitals is known before any ending: two syllables, or four letters."""
    length = 2 if word[0] >= "\u1100" else _SHORTEST
    return word[:length] if word[0] >= "\u0590" and len(word) >= length else ""


def _is_name(word: str) -> bool:
    return len(word) >= _SHORTEST or (word[:1].isupper() and len(word) > 1)


NO_REQUEST = PersonRequest(None)
"""That of an answer whose question is not known."""
