"""What the calls of a turn and its question contain: searched for words, and where those miss, for values."""

import re
from collections.abc import Sequence
from functools import cached_property

import msgspec

from toolvet.core.json_value import elements, is_object
from toolvet.core.messages import Unknown, words_of_others
from toolvet.core.turn.grounding.arithmetic import Steps
from toolvet.core.turn.grounding.dates import Date
from toolvet.core.turn.grounding.figures import Figures
from toolvet.core.turn.grounding.index import MOST_READ, EvidenceIndex, SentAndBrought, index_of
from toolvet.core.turn.grounding.outcome import CallOutcome, texts_in
from toolvet.core.turn.grounding.spans import Span

_MOST_LOOKS = 50
_MARKS = frozenset(".,:")


class Evidence:
    """The other side of an answer: every result, every argument, and the question.

    Its texts are read at most once for all answers that are compared with them (`EvidenceIndex`); `steps` is what is
    left of the search for calculations, for this answer.
    """

    def __init__(self, outcomes: Sequence[CallOutcome], question: str | Sequence[object] | None) -> None:
        self.outcomes = outcomes
        self.steps = Steps()
        self._told = [outcome for outcome in outcomes if not outcome.is_own_report]
        self._question = words_of_others(question)
        self.asked = bool(self._question)

    @cached_property
    def _results(self) -> list[tuple[str, ...]]:
        """The texts of each result."""
        return [() if outcome.is_own_report else tuple(_texts(outcome.response)) for outcome in self.outcomes]

    @cached_property
    def _index(self) -> EvidenceIndex:
        return index_of(
            [
                SentAndBrought(texts, outcome.call.arguments, _written(outcome.call.arguments))
                for texts, outcome in zip(self._results, self.outcomes, strict=True)
            ],
            self._question,
        )

    @property
    def raw(self) -> str:
        """All of it in one text, digits as ASCII."""
        return self._index.raw

    @property
    def lower(self) -> str:
        """The same in lower case."""
        return self._index.lower

    @property
    def dates(self) -> set[Date]:
        """Every day in it; of a Unix time and of a time of day with a zone the days beside it too."""
        return self._index.dates

    @property
    def days(self) -> set[tuple[int, int]]:
        """The same without the year."""
        return self._index.days

    @property
    def spans(self) -> set[Span]:
        """The spans of time that the results and the question mention; working days are said from habit."""
        return self._index.spans

    @property
    def times(self) -> set[int]:
        """Every time of day in it, in minutes since midnight."""
        return self._index.times

    @property
    def figures(self) -> Figures:
        """Every number in it, and what can be counted."""
        return self._index.figures

    @property
    def letters(self) -> str:
        """Its letters and digits alone, in lower case: for what is written with other spaces and signs."""
        return self._index.letters

    @property
    def solid(self) -> str:
        r"""All of it in lower case without spaces and line breaks, also those that are spelled `\n`."""
        return self._index.solid

    @cached_property
    def opaque(self) -> bool:
        """Whether it holds what cannot be read here (images, sound), or nothing, or too much.

        Where toolvet refused every call, that there is nothing is known.
        """
        if self.outcomes and not self._told:
            return False
        if not any(self._results) or sum(len(text) for texts in self._results for text in texts) > MOST_READ:
            return True
        # A result that the API keeps to itself, as that of its own web search, may have said anything.
        kept = any(isinstance(outcome.call.result, Unknown) for outcome in self.outcomes)
        return kept or any(_is_opaque(outcome.response) for outcome in self.outcomes)

    def ends(self, token: str) -> bool:
        """Whether a longer word ends in `token`, as the number of a card does."""
        text, token = self.lower, token.lower()
        at = text.find(token)
        for _ in range(_MOST_LOOKS):
            if at < 0:
                return False
            if not text[at + len(token) : at + len(token) + 1].isalnum():
                return True
            at = text.find(token, at + 1)
        return False

    def has_like(self, form: re.Pattern[str]) -> bool:
        """Whether it has a value of this form: what an answer says of a kind that no result has is not a slip."""
        return form.search(self.raw) is not None

    def holds(self, token: str) -> bool:
        """Whether `token` is in it as a whole number: without a digit or a part of a number on either side."""
        text = self.raw
        at = text.find(token)
        # Bounded: a short token may be inside thousands of longer ones.
        for _ in range(_MOST_LOOKS):
            if at < 0:
                return False
            end = at + len(token)
            before, after = text[at - 1 : at], text[end : end + 1]
            goes_on = (
                before.isdigit()
                or after.isdigit()
                or (before in _MARKS and text[at - 2 : at - 1].isdigit())
                or (after in _MARKS and text[end + 1 : end + 2].isdigit())
            )
            if not goes_on:
                return True
            at = text.find(token, end)
        return False


def _texts(response: object) -> list[str]:
    found = texts_in(response)
    if is_object(response) and response.get("content") and response.get("structuredContent") is not None:
        found.append(_written(response["structuredContent"]))
    return [text for text in found if text]


def _is_opaque(response: object) -> bool:
    content = response.get("content") if is_object(response) else getattr(response, "content", None)
    for block in elements(content):
        kind = block.get("type") if is_object(block) else getattr(block, "type", None)
        if kind in ("image", "audio", "document", "file", "image_url", "blob"):
            return True
        if kind == "resource" and "blob" in str(block)[:2_000]:
            return True
    return False


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - cyclic, too deep, or no JSON at all.
        return ""
