"""What the calls of a turn and its question contain: searched for words, and where those miss, for values."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import cast

import msgspec

from toolvet.schema.json_value import elements, is_array, is_object, number
from toolvet.turn.grounding.dates import Date, dates_in, neighbours, times_in
from toolvet.turn.grounding.figures import Figures
from toolvet.turn.grounding.numbers import numerals_in
from toolvet.turn.grounding.outcome import CallOutcome, as_response, texts_of
from toolvet.turn.grounding.prose import ascii_digits

_MOST_READ = 8_000_000
_MOST_LEAVES = 300_000
_MOST_NUMBERS = 300_000
_DEEPEST = 200
_LONGEST_KEY = 200
_LARGEST = 10**300
_LONGEST_NUMBER = 40


class Evidence:
    """The other side of an answer: every result, every argument, and the question."""

    def __init__(self, outcomes: Sequence[CallOutcome], question: str) -> None:
        self.outcomes = outcomes
        self._question = question

    @cached_property
    def texts(self) -> list[str]:
        """Every text of it: results, then arguments, then the question."""
        found: list[str] = []
        for outcome in self.outcomes:
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
        """Whether it holds what cannot be read here (images, sound), or nothing, or too much."""
        if not any(self.texts) or sum(map(len, self.texts)) > _MOST_READ:
            return True
        return any(_is_opaque(outcome.call.result) for outcome in self.outcomes)

    @cached_property
    def dates(self) -> set[Date]:
        """Every day in it; of a Unix time and of a time of day with a zone the days around it too."""
        found = dates_in(self.raw)
        if "T" in self.raw and ("Z" in self.raw or "+0" in self.raw or "-0" in self.raw):
            found |= {near for date in list(found)[:_MOST_NUMBERS] for near in neighbours(date)}
        elif "+1" in self.raw:
            found |= {neighbours(date)[1] for date in list(found) if date[0]}
        return found

    @cached_property
    def days(self) -> set[tuple[int, int]]:
        """The same without the year."""
        return {(month, day) for _, month, day in self.dates}

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

    def says(self, words: frozenset[str]) -> bool:
        """Whether a result holds one of these words."""
        text = "\n".join(self.texts).lower()
        return any(word in text for word in words)

    def ends(self, token: str) -> bool:
        """Whether a longer number ends in `token`, as the number of a card does."""
        at = self.raw.find(token)
        while at >= 0:
            if not self.raw[at + len(token) : at + len(token) + 1].isdigit():
                return True
            at = self.raw.find(token, at + 1)
        return False

    def holds(self, token: str) -> bool:
        """Whether `token` is in it as a whole number: without a digit or a part of a number on either side."""
        text = self.raw
        at = text.find(token)
        # Bounded: a short token may be inside thousands of longer ones.
        for _ in range(50):
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
    if is_object(response) and "content" in response and response.get("structuredContent") is not None:
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
        for text in _texts(outcome.call.result):
            walk.text(text, "")
        arguments = outcome.call.arguments
        if isinstance(arguments, str):
            walk.text(arguments, "")
        else:
            walk.value(arguments, "")
    walk.text(question, "")
    return Figures(walk.numbers, walk.columns, walk.counts, "\n".join(walk.strings))


class _EvidenceWalk:
    """Goes through JSON values and texts, and keeps what is found."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.columns: dict[str, list[float]] = {}
        self.counts: set[int] = set()
        self.strings: list[str] = []
        self._left = _MOST_LEAVES

    def text(self, text: str, key: str) -> None:
        """A text, which may be JSON."""
        opening = text.lstrip()[:1]
        if opening in ("{", "[") and opening:
            try:
                decoded = cast("object", msgspec.json.decode(text))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                pass
            else:
                self.value(decoded, key)
                return
        self.string(text, key)

    def value(self, value: object, key: str) -> None:
        pending: list[tuple[object, str, int]] = [(value, key, 0)]
        while pending and self._left > 0:
            self._left -= 1
            current, key, depth = pending.pop()
            if isinstance(current, str):
                self.string(current, key)
            elif is_array(current):
                self.counts.add(len(current))
                if depth < _DEEPEST:
                    pending.extend((item, key, depth + 1) for item in reversed(current))
            elif is_object(current):
                self.counts.add(len(current))
                if depth < _DEEPEST:
                    pending.extend((item, str(name)[:_LONGEST_KEY], depth + 1) for name, item in current.items())
                    self.strings.extend(str(name)[:_LONGEST_KEY] for name in current)
                    for name in current:
                        written = str(name)[:_LONGEST_KEY]
                        if written.isdecimal() and len(written) <= _LONGEST_NUMBER:
                            self._add(float(written), "")
            elif (found := number(current)) is not None and abs(found) < _LARGEST:
                self._add(float(found), key)

    def string(self, text: str, key: str) -> None:
        self.strings.append(text)
        if len(text) > 40:
            # What a reader would count in it.
            self.counts.update((text.count("\n"), text.count("\n") + 1, len(text), len(text.split())))
        for value in numerals_in(ascii_digits(text)):
            self._add(value, key)

    def _add(self, value: float, key: str) -> None:
        if len(self.numbers) < _MOST_NUMBERS and math.isfinite(value):
            self.numbers.append(value)
            self.columns.setdefault(key, []).append(value)
