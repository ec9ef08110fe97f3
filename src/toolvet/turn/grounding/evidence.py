"""What the calls of a turn and its question contain: searched for words, and where those miss, for values."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import cast

import msgspec

from toolvet.messages import Unknown, words_of_others
from toolvet.schema.json_value import elements, is_array, is_object, number
from toolvet.turn.grounding.dates import Date, dates_in, times_in, zoned_neighbours
from toolvet.turn.grounding.figures import Figures
from toolvet.turn.grounding.numbers import numerals_in
from toolvet.turn.grounding.outcome import CallOutcome, as_response, texts_of
from toolvet.turn.grounding.prose import ascii_digits
from toolvet.turn.grounding.spans import Span, spans_in

_MOST_READ = 8_000_000
_MOST_LEAVES = 300_000
_MOST_NUMBERS = 300_000
_DEEPEST = 200
_LONGEST_KEY = 200
_LARGEST = 10**300
_LONGEST_NUMBER = 40
_LONGEST_REPEATED = 40
_MOST_REPEATED = 5_000
_MOST_LOOKS = 50
_SHORT = 20
_GAPS = re.compile(r"\\{1,4}[nrt]|\s+")
_DIGITS = re.compile(r"[0-9]")


class Evidence:
    """The other side of an answer: every result, every argument, and the question."""

    def __init__(self, outcomes: Sequence[CallOutcome], question: str | Sequence[object] | None) -> None:
        self.outcomes = outcomes
        self._told = [outcome for outcome in outcomes if not outcome.is_own_report]
        self._question = words_of_others(question)
        self.asked = bool(self._question)

    @cached_property
    def texts(self) -> list[str]:
        """Every text of it: results, then arguments, then the question."""
        found: list[str] = []
        for outcome in self._told:
            found += _texts(outcome.call.result)
        return found

    @cached_property
    def raw(self) -> str:
        """All of it in one text, digits as ASCII."""
        sent = [_written(outcome.call.arguments) for outcome in self.outcomes]
        return ascii_digits("\n".join([*self.texts, *sent, self._question])[:_MOST_READ])

    @cached_property
    def lower(self) -> str:
        """The same in lower case."""
        return self.raw.lower()

    @cached_property
    def opaque(self) -> bool:
        """Whether it holds what cannot be read here (images, sound), or nothing, or too much.

        Where toolvet refused every call, that there is nothing is known.
        """
        if self.outcomes and not self._told:
            return False
        if not any(self.texts) or sum(map(len, self.texts)) > _MOST_READ:
            return True
        # A result that the API keeps to itself, as that of its own web search, may have said anything.
        kept = any(isinstance(outcome.call.result, Unknown) for outcome in self.outcomes)
        return kept or any(_is_opaque(outcome.call.result) for outcome in self.outcomes)

    @cached_property
    def dates(self) -> set[Date]:
        """Every day in it; of a Unix time and of a time of day with a zone the days beside it too."""
        return dates_in(self.raw).union(zoned_neighbours(self.raw))

    @cached_property
    def days(self) -> set[tuple[int, int]]:
        """The same without the year."""
        return {(month, day) for _, month, day in self.dates}

    @cached_property
    def spans(self) -> set[Span]:
        """The spans of time that the results and the question mention; working days are said from habit."""
        return {span for span in spans_in(self._question, *self.texts) if not span.working}

    @cached_property
    def times(self) -> set[int]:
        """Every time of day in it, in minutes since midnight."""
        return times_in(self.raw)

    @cached_property
    def figures(self) -> "Figures":
        """Every number in it, and what can be counted."""
        return _figures(self.outcomes, self._question)

    @cached_property
    def letters(self) -> str:
        """Its letters and digits alone, in lower case: for what is written with other spaces and signs."""
        return "".join(filter(str.isalnum, f"{self.lower}\n{self.figures.strings.lower()}"))

    @cached_property
    def solid(self) -> str:
        r"""All of it in lower case without spaces and line breaks, also those that are spelled `\n`."""
        return _GAPS.sub("", self.lower)

    def says(self, words: frozenset[str]) -> bool:
        """Whether a result holds one of these words."""
        text = "\n".join(self.texts).lower()
        return any(word in text for word in words)

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
            before, after = text[max(0, at - 2) : at], text[end : end + 2]
            if not _goes_on(before[::-1]) and not _goes_on(after):
                return True
            at = text.find(token, end)
        return False


def _goes_on(beside: str) -> bool:
    return beside[:1].isdigit() or (beside[:1] in ".,:" and beside[1:2].isdigit())


def _texts(result: object) -> list[str]:
    found = texts_of(result)
    response = as_response(result)
    if is_object(response) and response.get("content") and response.get("structuredContent") is not None:
        found.append(_written(response["structuredContent"]))
    return [text for text in found if text]


def _is_opaque(result: object) -> bool:
    response = as_response(result)
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


def _figures(outcomes: Sequence[CallOutcome], question: str) -> Figures:
    walk = _EvidenceWalk()
    for outcome in outcomes:
        for text in () if outcome.is_own_report else _texts(outcome.call.result):
            walk.text(text)
        arguments = outcome.call.arguments
        if isinstance(arguments, str):
            walk.text(arguments)
        else:
            walk.value(arguments)
    walk.text(question)
    strings = "\n".join(walk.strings)
    return Figures(walk.numbers, walk.all_columns(), counts=walk.counts, lists=walk.lists, strings=strings)


class _EvidenceWalk:
    """Goes through JSON values and texts, and keeps what is found.

    Numbers belong together that share their key and the key above it (`items.price`): a column. Those of one list of
    objects are a column of their own (`items.price` of the third order).
    """

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.columns: dict[str, list[float]] = {}
        self._rows: dict[tuple[str, str], list[float]] = {}
        self.counts: set[int] = set()
        self.lists: set[int] = set()
        self.strings: list[str] = []
        self._left = _MOST_LEAVES
        self._serial = 0
        self._known: dict[str, tuple[float, ...]] = {}

    def text(self, text: str) -> None:
        """A text, which may be JSON."""
        opening = text.lstrip()[:1]
        if opening in ("{", "[") and opening:
            try:
                decoded = cast("object", msgspec.json.decode(text))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                pass
            else:
                self.value(decoded)
                return
        self.string(text, "", "")

    def value(self, value: object) -> None:
        pending: list[tuple[object, str, str, int]] = [(value, "", "", 0)]
        while pending and self._left > 0:
            self._left -= 1
            current, key, within, depth = pending.pop()
            if isinstance(current, str):
                self.string(current, key, within)
            elif is_array(current):
                self.counts.add(len(current))
                self.lists.add(len(current))
                self._serial += 1
                if depth < _DEEPEST:
                    name = f"{key}#{self._serial}"
                    pending.extend((item, key, name, depth + 1) for item in reversed(current))
            elif is_object(current):
                self.counts.add(len(current))
                if depth < _DEEPEST:
                    self._members(current, key, within, depth, pending)
            elif (found := number(current)) is not None and abs(found) < _LARGEST:
                self._add(float(found), key, within)

    def _members(
        self, of: Mapping[str, object], key: str, within: str, depth: int, pending: list[tuple[object, str, str, int]]
    ) -> None:
        # The key of an object may be an identifier: then its members belong together over all of its siblings.
        above = "" if _DIGITS.search(key) else key.rpartition(".")[2]
        for name, item in of.items():
            written = str(name)[:_LONGEST_KEY]
            self.strings.append(written)
            if written.isdecimal() and written.isascii() and len(written) <= _LONGEST_NUMBER:
                self._add(float(written), "", "")
            pending.append((item, f"{above}.{written}" if above else written, within, depth + 1))

    def string(self, text: str, key: str, within: str) -> None:
        self.strings.append(text)
        if len(text) > 40:
            # What a reader would count in it.
            self.counts.update((text.count("\n"), text.count("\n") + 1, len(text), len(text.split())))
        within = within if len(text) <= _SHORT else ""
        for value in self._numerals(text):
            self._add(value, key, within)

    def _numerals(self, text: str) -> Iterable[float]:
        """Every reading of every numeral of a text. Records repeat their words and days, so short texts are kept."""
        if text.isascii() and not _DIGITS.search(text):
            return ()
        if len(text) > _LONGEST_REPEATED:
            return numerals_in(ascii_digits(text))
        known = self._known.get(text)
        if known is None:
            known = tuple(numerals_in(ascii_digits(text)))
            if len(self._known) < _MOST_REPEATED:
                self._known[text] = known
        return known

    def _add(self, value: float, key: str, within: str) -> None:
        if len(self.numbers) < _MOST_NUMBERS and math.isfinite(value):
            self.numbers.append(value)
            self.columns.setdefault(key, []).append(value)
            if within:
                self._rows.setdefault((within, key), []).append(value)

    def all_columns(self) -> dict[str, list[float]]:
        """The columns, and those of each list under its number."""
        rows = {f"{within}/{key}": values for (within, key), values in self._rows.items() if len(values) > 1}
        return {**self.columns, **rows}
