"""The evidence of a turn: its calls and its question, searched for words, and if those are missing, for values."""

import math
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Final, NamedTuple, cast

import msgspec

from toolvet.core.json_value import elements, is_array, is_object
from toolvet.core.messages import Unknown, words_of_others
from toolvet.core.turn.ledger.dates import Date, Span, dates_in, spans_in, times_in, zoned_neighbours
from toolvet.core.turn.ledger.figures import Figures, Steps
from toolvet.core.turn.ledger.outcome import CallOutcome, as_text, decoded
from toolvet.core.turn.ledger.tokens import ascii_digits, numerals_in

_MOST_LOOKS = 50
_MARKS = frozenset(".,:")


class CallTexts(NamedTuple):
    """One call: the texts of its result, its arguments, and these as they are written."""

    texts: tuple[str, ...]
    arguments: object
    written: str


class EvidenceIndex:
    """The content of a turn's calls and question, in the forms that an answer is compared with."""

    def __init__(self, calls: Sequence[CallTexts], question: str) -> None:
        self._calls = calls
        self._question = question

    @cached_property
    def raw(self) -> str:
        """All of it in one text, digits as ASCII."""
        texts = [text for call in self._calls for text in call.texts]
        sent = [call.written for call in self._calls]
        return ascii_digits("\n".join([*texts, *sent, self._question])[:MOST_READ])

    @cached_property
    def lower(self) -> str:
        """The same in lower case."""
        return self.raw.lower()

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
        """The spans of time in the results and the question, without working days, a mere manner of speaking."""
        texts = (text for call in self._calls for text in call.texts)
        return {span for span in spans_in(self._question, *texts) if not span.working}

    @cached_property
    def times(self) -> set[int]:
        """Every time of day in it, in minutes since midnight."""
        return times_in(self.raw)

    @cached_property
    def figures(self) -> Figures:
        """Every number in it, and what can be counted."""
        walk = _EvidenceWalk()
        for call in self._calls:
            for text in call.texts:
                walk.text(text)
            if isinstance(call.arguments, str):
                walk.text(call.arguments)
            else:
                walk.value(call.arguments)
        walk.text(self._question)
        strings = "\n".join(walk.strings)
        return Figures(walk.numbers, walk.all_columns(), counts=walk.counts, lists=walk.lists, strings=strings)

    @cached_property
    def letters(self) -> str:
        """Its letters and digits alone, in lower case: for what is written with other spaces and signs."""
        return "".join(filter(str.isalnum, f"{self.lower}\n{self.figures.strings.lower()}"))

    @cached_property
    def solid(self) -> str:
        r"""All of it in lower case without spaces and line breaks, also those that are spelled `\n`."""
        return _GAPS.sub("", self.lower)


class Evidence:
    """The other side of an answer: every result, every argument, and the question.

    Its texts are read at most once for all answers that are compared with them (`EvidenceIndex`); `steps` is what is
    left of the search for calculations, for this answer.
    """

    def __init__(self, outcomes: Sequence[CallOutcome], question: str | Sequence[object] | None) -> None:
        self.outcomes = outcomes
        self.steps = Steps()
        self._from_tools = [outcome for outcome in outcomes if not outcome.is_own_report]
        self._question = words_of_others(question)
        self.asked = bool(self._question)

    @cached_property
    def _results(self) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for outcome in self.outcomes:
            if outcome.is_own_report:
                found.append(())
                continue
            response = outcome.response
            texts = [*outcome.texts]
            if is_object(response) and response.get("content") and response.get("structuredContent") is not None:
                texts.append(as_text(response["structuredContent"]))
            found.append(tuple(text for text in texts if text))
        return found

    @cached_property
    def _index(self) -> EvidenceIndex:
        return index_of(
            [
                CallTexts(texts, outcome.call.arguments, as_text(outcome.call.arguments))
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
        """The spans of time in the results and the question, without working days, a mere manner of speaking."""
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
        if self.outcomes and not self._from_tools:
            return False
        if not any(self._results) or sum(len(text) for texts in self._results for text in texts) > MOST_READ:
            return True
        # A result that the API keeps to itself, as that of its own web search, may have said anything.
        if any(isinstance(outcome.call.result, Unknown) for outcome in self.outcomes):
            return True
        for outcome in self.outcomes:
            response = outcome.response
            content = response.get("content") if is_object(response) else getattr(response, "content", None)
            for block in elements(content):
                kind = block.get("type") if is_object(block) else getattr(block, "type", None)
                if kind in ("image", "audio", "document", "file", "image_url", "blob"):
                    return True
                if kind == "resource" and "blob" in _start_of(block):
                    return True
        return False

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
        """Whether it has a value of this form. If not, a value of the form in an answer is not a slip."""
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


def _start_of(block: object) -> str:
    """The beginning of a block as text; what cannot be written as text counts as a blob."""
    try:
        return str(block)[:2_000]
    except Exception:  # noqa: BLE001 - it is too deep, or an object of a caller.
        return "blob"


MOST_READ: Final = 8_000_000
_MOST_LEAVES = 300_000
_MOST_NUMBERS = 300_000
_DEEPEST = 200
_LONGEST_KEY = 200
_LARGEST = 10**300
_LONGEST_NUMBER = 40
_LONGEST_REPEATED = 40
_MOST_REPEATED = 5_000
_SHORT = 20
_GAPS = re.compile(r"\\{1,4}[nrt]|\s+")
_DIGITS = re.compile(r"[0-9]")
# Of all turns that are kept, in characters: an index takes some ten times that in bytes.
_MOST_KEPT = 1_000_000
_MOST_PLAIN = 1_000
# Whole numbers that every reader of JSON gives back as they were.
_EXACT = 2**53


def index_of(calls: Sequence[CallTexts], question: str) -> EvidenceIndex:
    """Return the index of these calls and this question; that of an earlier check if all their texts are the same."""
    fixed: list[CallTexts] = []
    for call in calls:
        arguments = _fixed(call.arguments, call.written)
        if arguments is _CHANGES or not all(type(text) is str for text in call.texts):
            return EvidenceIndex(calls, question)
        fixed.append(call._replace(arguments=arguments))
    # A text, a value that is written as that text, and nothing at all are read differently.
    key = (question, *((call.texts, call.written, type(call.arguments)) for call in fixed))
    size = len(question) + sum(len(call.written) + sum(map(len, call.texts)) for call in fixed)
    return _KEPT.get(key, size, lambda: EvidenceIndex(fixed, question))


_CHANGES: Final = object()


def _fixed(arguments: object, written: str) -> object:
    if arguments is None or type(arguments) is str:
        return arguments
    pending: list[object] = [arguments]
    for _ in range(_MOST_PLAIN):
        if not pending:
            try:
                return cast("object", msgspec.json.decode(written)) if written else _CHANGES
            except (msgspec.DecodeError, RecursionError):
                return _CHANGES
        here = pending.pop()
        kind = type(here)
        if kind is dict:
            inner = cast("dict[object, object]", here)
            if not all(type(name) is str for name in inner):
                break
            pending.extend(inner.values())
        elif kind is list:
            pending.extend(cast("list[object]", here))
        elif kind is int:
            if not -_EXACT < cast("int", here) < _EXACT:
                break
        elif not (
            here is None or kind is str or kind is bool or (kind is float and math.isfinite(cast("float", here)))
        ):
            break
    return _CHANGES


class _IndexCache:
    """The indexes of the last turns. Their texts together are at most `most` long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._known: OrderedDict[object, tuple[int, EvidenceIndex]] = OrderedDict()
        self._size = 0

    def get(self, key: object, size: int, made: Callable[[], EvidenceIndex]) -> EvidenceIndex:
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found[1]
            index = made()
            if size <= self._most:
                self._known[key] = (size, index)
                self._size += size
                while self._size > self._most:
                    self._size -= self._known.popitem(last=False)[1][0]
        return index


_KEPT: Final = _IndexCache(_MOST_KEPT)


class _MemberName(NamedTuple):
    """The key of a member as it is kept, that of its column, and the number that it is, if it is one."""

    written: str
    path: str
    number: float | None


class _EvidenceWalk:
    """Goes through JSON values and texts, and keeps their numbers, lengths and texts.

    Numbers belong together that share their key and the key above it (`items.price`): a column. Those of one list of
    objects are a column of their own (`items.price` of the third order).
    """

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.columns: defaultdict[str, list[float]] = defaultdict(list)
        self._rows: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self.counts: set[int] = set()
        self.lists: set[int] = set()
        self.strings: list[str] = []
        self._left = _MOST_LEAVES
        self._serial = 0
        self._known: dict[str, tuple[float, ...]] = {}
        # Rows repeat their keys: of each object's key those of its members, as they are kept.
        self._names: dict[str, dict[object, _MemberName]] = {}

    def text(self, text: str) -> None:
        value = decoded(text)
        if value is not None:
            self.value(value)
            return
        self.string(text, "", "")

    def value(self, value: object) -> None:
        pending: list[tuple[object, str, str, int]] = [(value, "", "", 0)]
        while pending and self._left > 0:
            self._left -= 1
            current, key, within, depth = pending.pop()
            if isinstance(current, str):
                self.string(current, key, within)
            elif isinstance(current, float | int):
                # Without infinities and NaN; `True` is not a number here.
                if current is not True and current is not False and abs(current) < _LARGEST:
                    self._add(float(current), key, within)
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

    def _members(
        self, of: Mapping[str, object], key: str, within: str, depth: int, pending: list[tuple[object, str, str, int]]
    ) -> None:
        known = self._names.get(key)
        if known is None:
            known = {}
            if len(self._names) < _MOST_REPEATED:
                self._names[key] = known
        for name, item in of.items():
            named = known.get(name)
            if named is None or type(name) is not str:
                # The key of an object may be an identifier: then its members belong together over all of its siblings.
                above = "" if _DIGITS.search(key) else key.rpartition(".")[2]
                written = str(name)[:_LONGEST_KEY]
                is_number = written.isdecimal() and written.isascii() and len(written) <= _LONGEST_NUMBER
                named = _MemberName(
                    written, f"{above}.{written}" if above else written, float(written) if is_number else None
                )
                if len(known) < _MOST_REPEATED:
                    known[name] = named
            written, path, number = named
            self.strings.append(written)
            if number is not None:
                self._add(number, "", "")
            pending.append((item, path, within, depth + 1))

    def string(self, text: str, key: str, within: str) -> None:
        self.strings.append(text)
        if len(text) > 40:
            # The counts that a reader would make of it.
            self.counts.update((text.count("\n"), text.count("\n") + 1, len(text), len(text.split())))
        within = within if len(text) <= _SHORT else ""
        for value in self._numerals(text):
            self._add(value, key, within)

    def _numerals(self, text: str) -> Iterable[float]:
        """Every reading of every numeral of a text. Records repeat their words and days, so short texts are kept."""
        if len(text) > _LONGEST_REPEATED:
            return () if text.isascii() and not _DIGITS.search(text) else numerals_in(ascii_digits(text))
        known = self._known.get(text)
        if known is None:
            known = () if text.isascii() and not _DIGITS.search(text) else tuple(numerals_in(ascii_digits(text)))
            if len(self._known) < _MOST_REPEATED:
                self._known[text] = known
        return known

    def _add(self, value: float, key: str, within: str) -> None:
        if len(self.numbers) < _MOST_NUMBERS and math.isfinite(value):
            self.numbers.append(value)
            self.columns[key].append(value)
            if within:
                self._rows[within, key].append(value)

    def all_columns(self) -> dict[str, list[float]]:
        rows = {f"{within}/{key}": values for (within, key), values in self._rows.items() if len(values) > 1}
        return {**self.columns, **rows}
