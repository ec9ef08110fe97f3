"""The clause in which a phrase was found: the text before it, and the text after it."""

import re
from functools import cached_property

from toolvet.core.matching import Hit
from toolvet.core.turn.ledger.phrases import ClaimGrammar

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
LEADING = ".!?\n*-\u2013\u2014: \u200b\u2022\u2713\u2714\u2705\u2611"
"""The characters cut off before the words of a match."""
QUESTION_MARKS = "?\uff1f\u061f"
_INNER_ENDS = ",;\u3001\uff0c\uff1b"
_ENDS = re.compile(r"[.!?…](?=\s|$)|[\n,;。\uff01\uff1f؟।、\uff0c\uff1b]|:\u200b{0,4} | [-\u2013\u2014] |\u2014")
_SENTENCE_ENDS = re.compile(r"[.!?…](?=\s|$)|[\n。\uff01\uff1f؟।]")
_REST_ENDS = re.compile(r"[.!?…](?=\s|$)|[\n,;:。\uff01\uff1f؟।\uff0c\uff1b(\u2014]| [-\u2013] ")
_BULLET = re.compile(
    r"[\s\u200b*_#>]*(?:(?:[-*\u2022+\u2192\u2713\u2714\u2705\u2611\ufe0f]|\[[xX ]\]|\(?\d{1,2}[.)])[\s\u200b]*){0,3}"
)
# The words of an address say nothing about the clause.
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,120}|https?://[^\s]{1,300}")
_LONGEST_SENTENCE = 400
_LONGEST_REST = 120
_LONGEST_LABEL = 60
_SUFFIX = 6


class Clause:
    """The clause around one hit in `prose`, an answer without code and quotations."""

    def __init__(self, prose: str, hit: Hit, grammar: ClaimGrammar) -> None:
        self._prose = prose
        self._hit = hit
        self._grammar = grammar
        matched = prose[hit.start : hit.end]
        # The match may begin with the end of the sentence before.
        self.start = hit.start + len(matched) - len(matched.lstrip(LEADING))
        self.matched = _plain(prose[self.start : hit.end])

    @cached_property
    def begin(self) -> int:
        """Where its words begin, after the mark of a list item."""
        place = self._ends_before[-1].end() if self._ends_before else self._floor
        bullet = _BULLET.match(self._prose, place, self.start)
        return place if bullet is None else bullet.end()

    @cached_property
    def before(self) -> str:
        """The text before the match."""
        return _plain(self._prose[self.begin : self.start])

    @cached_property
    def opens(self) -> bool:
        """Whether it begins a sentence, a line, or what follows a colon."""
        ends = self._all_ends
        return not ends or ends[-1][0] not in _INNER_ENDS

    @property
    def _floor(self) -> int:
        return max(0, self.start - _LONGEST_SENTENCE)

    @cached_property
    def _all_ends(self) -> list[re.Match[str]]:
        return list(_ENDS.finditer(self._prose, self._floor, self.start))

    @cached_property
    def _ends_before(self) -> list[re.Match[str]]:
        """The ends of the clauses before it. A number may contain commas, and so may words between subject and verb."""
        ends = list(self._all_ends)
        while ends and ends[-1][0] == ",":
            word = WORD.search(self._prose, ends[-1].end(), self.start)
            # "Your booking for May 17, 2024, in Economy" goes on after both commas.
            if word is not None and not word[0][0].isdecimal() and not self._grammar.is_cut(word[0]):
                break
            ends.pop()
        return ends

    def is_hedged(self) -> bool:
        """Whether it claims something without being quite sure: "It looks like the table is booked"."""
        return self._grammar.hedges.search(f"{self.before}{self.matched}") is not None

    def is_taken_back(self, *, hedged: bool = False) -> bool:
        """Whether a word of the clause takes the match back, or its sentence is a question.

        If it is `hedged`, the words of the hedge take nothing back.
        """
        unless = self._grammar.unless
        after = self._prose[self._hit.end : self._hit.end + _SUFFIX]
        # Where verbs end the clause, the condition is glued to them.
        before = self.before
        if before:
            before = self._grammar.coordinates.sub("", self._grammar.relatives.sub("", before))
        words = f"{before}{self.matched}"
        if "@" in words or "://" in words:
            words = _ADDRESS.sub("@", words)
        if unless.search(self._grammar.hedges.sub("", words) if hedged else words) or unless.match(after):
            return True
        if any(mark in self.matched for mark in QUESTION_MARKS):
            return True
        if self.matched[-1:] in "!.\n。\uff01।":
            return False
        end = _SENTENCE_ENDS.search(self._prose, self._hit.end, self._hit.end + _LONGEST_SENTENCE)
        return end is not None and end[0] in QUESTION_MARKS

    def rest(self) -> str:
        """What follows the match in its clause."""
        return self._rest

    @cached_property
    def _rest(self) -> str:
        return _plain(self._prose[self._hit.end : self._end_of_rest()])

    def _end_of_rest(self) -> int:
        if self.matched[-1:] in ".!:\n":
            return self._hit.end
        limit = self._hit.end + _LONGEST_REST
        end = _REST_ENDS.search(self._prose, self._hit.end, limit)
        return min(limit, len(self._prose)) if end is None else end.start()

    def is_label(self) -> bool:
        """Whether it is the label of a value on its line ("Order placed: May 3")."""
        end = self._end_of_rest()
        after = _plain(self._prose[end : end + _LONGEST_LABEL])
        if self.matched.endswith(":"):
            after = f":{after}"
        return after[:1] in (":", "\uff1a") and bool(after[1:].partition("\n")[0].strip())


def _plain(text: str) -> str:
    return text.replace("\u200b", "").replace("\u2019", "'")
