"""Finds checkable mentions in an answer: addresses, identifiers, days, times, numbers, names, quotations."""

import itertools
import re
from collections.abc import Callable, Iterator
from enum import Enum

import msgspec

from toolvet.core.turn.ledger.dates import Date, cjk_dates, numeric_date, worded_date
from toolvet.core.turn.ledger.tokens import (
    QUOTATION,
    NumeralReading,
    about_words,
    after_example,
    ascii_digits,
    is_code,
    is_composed,
    is_identifier,
    is_long_number,
    is_placeholder,
    names_before,
    parts_of,
    quotes_before,
    readings,
    surroundings,
    without_code,
    without_escapes,
)


class Kind(Enum):
    """The kind of a mention."""

    URL = "url"
    EMAIL = "email"
    PATH = "path"
    ID = "id"
    DATE = "date"
    TIME = "time"
    NUMBER = "number"
    NAME = "name"
    QUOTE = "quote"

    # That of Enum is a function of Python, and every mention is looked up by its kind several times.
    __hash__ = object.__hash__


class Mention(msgspec.Struct, frozen=True):
    """Something an answer mentions, at the characters from `start` up to `end`.

    `dates` and `numbers` are its readings, `minutes` the time of day it may be. `unit` is the word or sign next to a
    number, and `about` marks an approximate number. `faint` marks a word that is an identifier only if others look
    like it.
    """

    kind: Kind
    start: int
    end: int
    token: str
    dates: tuple[Date, ...] = ()
    numbers: tuple[NumeralReading, ...] = ()
    minutes: tuple[int, ...] = ()
    unit: str = ""
    money: bool = False
    about: bool = False
    faint: bool = False


_URL = re.compile(r"https?://[^\s<>\[\]\"'`*|{}\\^\uff0c。\uff09】」、]+", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PATH = re.compile(
    r"(?<![\w/:.@])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+-]{1,80}[/\\]){1,20}[\w.@+-]{1,80}|(?<![\w/:.@-])(?:[\w.@+-]{1,80}/){1,20}[\w@+-]{1,80}\.[A-Za-z]{1,5}(?![\w/])"
)
_TOKEN = re.compile(
    # Letters before the first digit are bounded: a long word costs one look. No part that repeats
    # shares a character with the part after it, so no repeat has to give characters back.
    r"(?<![A-Za-z0-9_#])[A-Za-z_#\-]{0,40}\d[A-Za-z0-9_]*"
    r"(?:[-.,:/+][A-Za-z0-9_]+|['\u2019\u00a0\u202f]\d{3}(?!\d)"
    # Thousands parted by plain spaces are one number only if they cannot be several.
    r"|(?<=\d{3}) (?=\d{3} \d{3}(?!\d))\d{3}| \d{3}(?=[.,]\d\d(?!\d)))*%?",
    re.ASCII,
)
_CLOCK_RANGE = re.compile(r"(\d{1,2}[:.]\d{2})([-\u2013])(\d{1,2}:\d{2})\Z", re.ASCII)
_CLOCK = re.compile(
    r"(\d{1,2})[:.](\d{2})(?::\d{2}(?:\.\d+)?)?(?:([AaPp])\.?[Mm]\b|Z|[+-]\d{1,2}(?::?\d\d)?)?\Z", re.ASCII
)
_HOUR = re.compile(r"(\d{1,2})([AaPp])[Mm]\Z", re.ASCII)
_HALF = re.compile(r"[ \u00a0]?([AaPp])\.?[Mm]\b")
_NUMBER = re.compile(r"[-+]?(\d[\d.,'\u2019\u00a0\u202f ]*)([A-Za-z]{0,4}|%)\Z", re.ASCII)
# The other numbers of a range or of measures, before the unit that they share: 61.2 by 47 cm, 3 to 5 million.
_MORE = re.compile(r"(?: ?(?:[-\u2013\u2014x\u00d7]|by|to|and|or) ?[$€£]?[0-9][0-9.,]{0,12}){1,3}")
_AFTER = re.compile(r"[ \u00a0\u202f*_~`-]{0,3}(km/h|m/s|°\s?[CF]|%|″|[^\W\d_]{1,12}|[€$£¥₹₩₽₺₴])")
# Written from the right to the left, and matched with the reversed text: a search would try each character before.
_BEFORE = re.compile(r"[\s.:*_`(]{0,4}([^\W\d_]{1,14}|[€$£¥₹₩₽₺₴~≈#])")
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th|er|e|ª|º|s)\Z", re.IGNORECASE)
# The key of a JSON object that the answer writes itself.
_KEY_BEFORE = re.compile(r'["\']([\w .#-]{0,60})\Z')
_KEY_AFTER = re.compile(r'[\w .-]{0,60}["\'] ?:')
_LIST_MARK = re.compile(r"[ \t>*_#-]{0,12}\Z")
_NAME = re.compile(
    r"[A-Z\u00c0-\u00de][a-z\u00df-\u00ff'\u2019-]+(?: (?:van|von|de|der|da|del|la|di|bin|al))?(?: [A-Z]\.)?"
    r"(?: [A-Z\u00c0-\u00de][a-z\u00df-\u00ff'\u2019-]+){1,3}"
)
_WORDS_OF_QUOTE = 4
# An answer with more numbers is read so far: that is a quarter of a megabyte of them.
_MOST_TOKENS = 30_000
_LONGEST_PARTED = 60
_SHORTEST_DATE = 6
# A word that cannot be parted into several mentions, nor be a part of a day in words: it begins with a letter, or is a
# number of three signs or more.
_ONE = re.compile(r"[A-Za-z_]|[0-9][0-9.,]{2,}\Z")
_HAS_DIGIT = re.compile(r"[0-9]")
_HABIT_BEFORE = re.compile(r"(?:[\w'\u2019]+[ -]){0,2}[\w'\u2019]+ ?\Z")


class MentionReader:
    """Reads every mention in a text, outside its code blocks, kind by kind.

    A name, or a word that is one mention whatever it is, is put aside where it `stands`: what surrounds it, which costs
    ten times as much to read, then decides nothing for it. `aside` reads those words after all.
    """

    def __init__(self, text: str, stands: Callable[[Kind, str], bool] | None = None) -> None:
        self._text = without_escapes(ascii_digits(without_code(text)))
        self._rest = self._text
        self._stands = stands
        self._aside: list[tuple[str, int]] = []

    def read(self) -> Iterator[Mention]:
        """Yield the mentions that are not put aside.

        When `stands` is asked, any word with digits counts as a `Kind.ID`.
        """
        for kind, pattern, mark in ((Kind.URL, _URL, "://"), (Kind.EMAIL, _EMAIL, "@"), (Kind.PATH, _PATH, "/")):
            if mark in self._rest or (kind is Kind.PATH and "\\" in self._rest):
                matches = list(pattern.finditer(self._rest))
                for each in matches:
                    token = each[0].rstrip(".,;:!?)'\u2019*_")
                    yield Mention(kind, each.start(), each.start() + len(token), token)
                if matches:
                    self._rest = _blanked(self._rest, [(each.start(), each.end()) for each in matches])
        if any(mark in self._text for mark in '"“«„「'):
            for found in QUOTATION.finditer(self._text):
                inner = next(group for group in found.groups() if group is not None)
                long = len(inner.split()) >= _WORDS_OF_QUOTE or (not inner.isascii() and len(inner) >= 10)
                if long and quotes_before(self._text[max(0, found.start() - 40) : found.start()]):
                    yield Mention(Kind.QUOTE, found.start() + 1, found.end() - 1, inner)
        for found in _NAME.finditer(self._text):
            if self._stands is not None and self._stands(Kind.NAME, found[0]):
                continue
            if names_before(self._text[max(0, found.start() - 30) : found.start()]):
                yield Mention(Kind.NAME, found.start(), found.end(), found[0])
        if not self._text.isascii():
            found_dates = list(cjk_dates(self._rest))
            for date, start, end in found_dates:
                yield Mention(Kind.DATE, start, end, self._rest[start:end], dates=(date,))
            self._rest = _blanked(self._rest, [(start, end) for _, start, end in found_dates])
        if _HAS_DIGIT.search(self._rest) is None:
            return
        rest, stands, reached = self._rest, self._stands, 0
        for match in itertools.islice(_TOKEN.finditer(rest), _MOST_TOKENS):
            token, start = match[0], match.start()
            if start < reached:
                continue
            if stands is not None and _ONE.match(token) is not None and stands(Kind.ID, token):
                self._aside.append((token, start))
                continue
            for mention in _token(rest, token, start):
                reached = max(reached, mention.end)
                yield mention

    def aside(self) -> Iterator[Mention]:
        """The words with digits that were put aside."""
        for token, start in self._aside:
            yield from _token(self._rest, token, start)


def mentions_in(text: str) -> Iterator[Mention]:
    """Every mention in `text`, outside its code blocks, kind by kind."""
    return MentionReader(text).read()


def only_shows(text: str, mention: Mention) -> bool:
    """Whether a value only shows what such values look like or is a key of JSON."""
    if is_placeholder(mention.token):
        return mention.kind is not Kind.NUMBER
    if _KEY_AFTER.match(text, mention.end) and _KEY_BEFORE.search(text, max(0, mention.start - 61), mention.start):
        return True
    return after_example(text, mention.start)


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    reached = 0
    for start, end in spans:
        pieces += (text[reached:start], " " * (end - start))
        reached = end
    return "".join((*pieces, text[reached:]))


def _token(text: str, token: str, start: int) -> Iterator[Mention]:
    end = start + len(token)
    if len(token) <= 2 and token.isdigit():
        worded = worded_date(text, start, end)
        if worded is not None:
            yield Mention(Kind.DATE, worded[1], worded[2], text[worded[1] : worded[2]], dates=(worded[0],))
            return
    if not token[-1].isdigit() and _ORDINAL.match(token):
        digits = len(token) - len(token.lstrip("0123456789"))
        worded = worded_date(text, start, start + digits) if digits <= 2 else None
        if worded is not None:
            yield Mention(Kind.DATE, worded[1], worded[2], text[worded[1] : worded[2]], dates=(worded[0],))
        return
    dates = numeric_date(token) if len(token) >= _SHORTEST_DATE and token[0].isdigit() else ()
    if dates:
        yield Mention(Kind.DATE, start, end, token, dates=dates)
        return
    between = _CLOCK_RANGE.match(token) if ":" in token else None
    if between:
        yield from _token(text, between[1], start)
        yield from _token(text, between[3], start + between.start(3))
        return
    clock = _clock(text, token, end)
    if clock:
        yield Mention(Kind.TIME, start, end, token, minutes=clock)
        return
    number = _NUMBER.match(token)
    if number and "#" not in token:
        if len(token) > 7 and is_long_number(token):
            tables = surroundings()
            after = _AFTER.match(text, end)
            word, lead = after[1].lower() if after else "", _word_before(text, start)
            money = tables.currency.words
            # Without a sign or a word that makes it an amount or a measure.
            if not (word in tables.unit or word in tables.scale or word in money or lead in money):
                yield Mention(Kind.ID, start, end, token, numbers=readings(token))
                return
        yield from _number(text, number, start, end)
        return
    yield from _pieces(text, token, start)


def _word_before(text: str, start: int) -> str:
    found = _BEFORE.match(text[max(0, start - 18) : start][::-1])
    return found[1][::-1].lower() if found else ""


def _pieces(text: str, token: str, start: int) -> Iterator[Mention]:
    if not any(character.isalpha() or character == "_" for character in token):
        parts = re.split(r"([-/+:])", token)
        if len(parts) > 1:
            digits = [part for part in parts[::2] if part]
            # A telephone number.
            if "-" in token and len(digits) > 2 and sum(map(len, digits)) >= 7:
                yield Mention(Kind.ID, start, start + len(token), token)
            elif len(parts) == 3 and parts[1] == "-":
                at = start
                for part in parts:
                    if part and part != "-":
                        yield from _token(text, part, at)
                    at += len(part)
            return
    parted = parts_of(token) if token[0].isdigit() and len(token) <= _LONGEST_PARTED else []
    for part, at in parted:
        yield from _token(text, part, start + at)
    if not parted and not is_composed(token):
        if is_identifier(token):
            yield Mention(Kind.ID, start, start + len(token), token)
        elif is_code(token):
            yield Mention(Kind.ID, start, start + len(token), token, faint=True)


def _clock(text: str, token: str, end: int) -> tuple[int, ...]:
    found = _CLOCK.match(token) if ":" in token else None
    is_hour = len(token) <= 2 and token.isdigit()
    half = _HALF.match(text, end) if is_hour or found is not None else None
    if found is not None:
        hour, minute = int(found[1]), int(found[2])
        letter = found[3] or (half[1] if half else "")
    elif token[-1] in "Mm" and (hour_only := _HOUR.match(token)) is not None:
        hour, minute, letter = int(hour_only[1]), 0, hour_only[2]
    elif half is not None and is_hour:
        hour, minute, letter = int(token), 0, half[1]
    else:
        return ()
    if hour > 24 or minute > 59:
        return ()
    if letter and hour <= 12:
        return ((hour % 12 + (12 if letter in "pP" else 0)) * 60 + minute,)
    # Twelve hours apart: a clock without am or pm says both.
    return (hour * 60 + minute, (hour + 12) % 24 * 60 + minute) if hour <= 12 else (hour * 60 + minute,)


def _number(text: str, found: re.Match[str], start: int, end: int) -> Iterator[Mention]:
    tables = surroundings()
    numeral, unit = found[1].rstrip(".,'\u2019 \u00a0\u202f"), found[2].lower()
    every = readings(numeral)
    if not every:
        # A row of small numbers.
        return
    word = unit
    if not word:
        after = _AFTER.match(text, end)
        word = after[1].lower() if after else ""
        if not (word in tables.unit or word in tables.scale or word in tables.currency.words):
            # The unit may be after the numbers that share it: 61.2 by 47 cm.
            more = _MORE.match(text, end)
            shared = _AFTER.match(text, more.end()) if more else None
            other = shared[1].lower() if shared else ""
            word = other if other in tables.unit or other in tables.scale else word
    lead = _word_before(text, start)
    scale = tables.scale.get(word, 0.0)
    if scale and (unit or len(word) > 1 or not word.isascii()):
        scaled = tuple(NumeralReading(each.value * scale, each.place * scale, whole=False) for each in every)
        # 25m are metres, minutes or millions; results may say "in millions" elsewhere.
        every = scaled + every
    money = lead in tables.currency.words or word in tables.currency.words
    before = text[max(0, start - 16) : start].lower().rstrip(" *$€£¥~")
    about = lead in tables.about.words or before.endswith(about_words()) or "~" in text[max(0, start - 3) : start]
    mention = Mention(Kind.NUMBER, start, end, text[start:end], numbers=every, unit=word, money=money, about=about)
    if not _is_idle(text, mention, numeral, lead):
        yield mention


def _is_idle(text: str, mention: Mention, numeral: str, lead: str) -> bool:
    """Whether a number claims nothing: a small count, a year, a list mark, a habitual span of time, a label."""
    tables = surroundings()
    value = mention.numbers[0].value
    whole = mention.numbers[0].whole
    percent = mention.unit in ("%", "percent", "prozent", "pour", "por", "per")
    if percent:
        return value in (0, 50, 100)
    if mention.money:
        return value == 0
    if not whole and mention.numbers[0].place >= 1:
        return False
    line = text.rfind("\n", 0, mention.start) + 1
    marks = text[mention.end : mention.end + 1] in (".", ")", ":") and _LIST_MARK.match(text[line : mention.start])
    if whole and (value <= 12 or (marks and value < 100)):
        return mention.unit not in tables.unit or mention.unit in tables.habit.units or value <= 3
    if whole and numeral.isdigit() and len(numeral) == 4 and 1900 <= value <= 2100:
        return True
    if lead in tables.label.words and value < 1000:
        return True
    if mention.unit in tables.habit.units:
        if value in tables.habit.numbers or mention.about:
            return True
        words = _HABIT_BEFORE.search(text, max(0, mention.start - 24), mention.start)
        return words is not None and any(word in tables.habit.before for word in words[0].lower().split())
    # Python 3.12, iOS 17.4: a version after a name.
    return not whole and before_is_name(text, mention.start)


def before_is_name(text: str, start: int) -> bool:
    """Whether a capitalised word is directly before."""
    found = re.search(r"([A-Z][\w+#]*|v) ?\Z", text[max(0, start - 20) : start])
    return found is not None
