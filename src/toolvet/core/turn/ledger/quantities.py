"""Amounts and counts: those that an answer claims and a person asks for, against those that a call was sent.

    request   Refund $50, and book two tickets.
    calls     refund(amount=500), book(event="Aida", quantity=3)
    answer    I refunded $50 and booked two tickets.

An amount is the same in cents, as a share, in thousands, as the sum or the product of what was sent, or as what
follows from the numbers around it. A count is the same as the length of a list, as the number of calls, as what was
added to the state before, or as one of several counts beside it. Only what nothing explains is another value.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import is_array, is_object, members
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.dates import months
from toolvet.core.turn.ledger.entries import ClaimEntry, LedgerCall
from toolvet.core.turn.ledger.figures import Sorted, Steps, calculation
from toolvet.core.turn.ledger.mentions import Kind, Mention, mentions_in
from toolvet.core.turn.ledger.tokens import NumeralReading, after_ending, readings, surroundings

_CENT = 0.005
_MOST_NUMBERS = 400
_MOST_PAIRED = 8
_MOST_HEARD = 4_000
_MOST_PRICED = 40
_MOST_READ = 100_000
_MOST_ANSWER = 20_000
_FACTORS = (1.0, 0.01, 100.0, 0.001, 1000.0)
_SIGNS = {
    "$": ("usd", "cad", "aud", "nzd", "sgd", "mxn"),
    "€": ("eur",),
    "£": ("gbp",),
    "¥": ("jpy", "cny"),
    "₹": ("inr",),
}
_CODES = {code for codes in _SIGNS.values() for code in codes}
_PLAIN_NUMERAL = re.compile(r"[$€£¥₹]?\s?(-?\d[\d.,]{0,18})\s?(?:[A-Za-z]{3}|[€%])?\Z")
_PRICED = re.compile(r'(?:amount|total|price|cost|fee|charge|refund|balance)\w{0,12}"\W{1,3}(\d{1,9}(?:\.\d{1,4})?)')
_NUMERAL = re.compile(r"(?<![\w.#/-])\d+(?:[.,]\d+)*(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_NOUN = re.compile(r"[^\W\d_][\w']*")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\.? \Z")
_SHORTEST_NOUN = 3
_MOST_COUNTED = 99
_DEEPEST = 4
_WITH_HOST = frozenset({"attendee", "participant", "invitee", "member"})
_STEM = 5


class NamedAmount(msgspec.Struct, frozen=True):
    """A number that a call was sent, with its key."""

    key: str
    value: float


def amounts_of(call: LedgerCall) -> list[NamedAmount]:
    """The numbers of a call's arguments, also those in a text such as `"$1,200.00"`; none that names a thing."""
    return [
        NamedAmount(key, number)
        for key, values in call.sent.items()
        if count_words().naming.isdisjoint(words_of(key))
        for value in values
        if (number := _number(value)) is not None
    ]


def _is_of_money(key: str) -> bool:
    """Whether a key is one of an amount: `refund_amount`, `amount_usd`, and no `total_baggages`."""
    words = words_of(key)
    return bool(words) and not count_words().money.isdisjoint(words[-1:] if words[-1] not in _CODES else words[-2:])


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e12 else None
    match = _PLAIN_NUMERAL.match(value.strip()) if isinstance(value, str) and len(value) <= 24 else None
    every = readings(match[1].lstrip("-").rstrip(".,")) if match is not None else ()
    return every[0].value if every else None


class AmountSlots:
    """The numbers of one turn, for claims about amounts and counts: read when one asks.

    `doers` are the calls that may have done what is claimed, `changes` all that changed something, `others` the rest,
    and `context` what the agent may know from the request and its rules.
    """

    def __init__(
        self,
        text: str,
        doers: Sequence[LedgerCall],
        changes: Sequence[LedgerCall],
        others: Sequence[LedgerCall],
        context: str,
    ) -> None:
        self._text = text[:_MOST_ANSWER]
        self._doers = list(doers)
        self._changes = changes
        self._others = others
        self._context = context

    def are_of(self, text: str, doers: Sequence[LedgerCall]) -> bool:
        """Whether these are the numbers for claims of this answer about these calls."""
        return list(doers) == self._doers and text[:_MOST_ANSWER] == self._text

    @cached_property
    def _counts(self) -> list[tuple[LedgerCall, list[tuple[str, int]]]]:
        counted = ((call, list(_counted(call.outcome.call.arguments))) for call in self._doers)
        return [each for each in counted if each[1]]

    @cached_property
    def _before(self) -> str:
        return "\n".join(call.brought_text for call in self._others)[:_MOST_READ]

    def other_amount(self, entry: ClaimEntry, request: str) -> tuple[int, int, LedgerCall, str] | None:
        """An amount of the claim, if the call that did it was sent others that nothing explains."""
        said = [
            each
            for each in entry.mentions
            if each.kind is Kind.NUMBER and not each.about and not after_ending(self._text, each.start)
        ]
        sent = [(call, each) for call in self._doers for each in amounts_of(call)]
        if not said or not sent or self._is_in_another_currency():
            return None
        done = self._done([each.value for _, each in sent][:_MOST_PAIRED])
        if any(
            abs(reading.value - each) < max(_CENT, 0.0 if each == int(each) else reading.place * 0.51)
            for mention in said
            for reading in _readings(mention)
            for each in done
        ):
            return None
        wanted = set(_numbers(request))
        asked = [each for each in said if not wanted.isdisjoint(reading.value for reading in _readings(each))]
        paid = [(call, each) for call, each in sent if _is_of_money(each.key)]
        if asked and len(asked) == len(said):
            # An amount of money says nothing about a quantity.
            alike = paid if asked[0].money else sent
            figures = [reading.value for each in asked for reading in _readings(each)]
            if not alike or any(self._follows(each.value, figures, request) for _, each in alike):
                return None
            call, amount = alike[-1]
            return asked[0].start, asked[0].end, call, f"{amount.key}={amount.value:g}"
        money = next((each for each in said if each.money), None)
        if money is None or not paid or any(self._is_explained(each.value, request) for _, each in paid):
            return None
        call, amount = paid[-1]
        return money.start, money.end, call, f"{amount.key}={amount.value:g}"

    def unasked_amount(self, request: str) -> tuple[LedgerCall, str, str] | None:
        """The only amount that a call was sent, if the request has another one and nothing explains it."""
        paid = [(call, each) for call in self._doers for each in amounts_of(call) if _is_of_money(each.key)]
        if len(paid) != 1:
            return None
        wanted = [each for each in mentions_in(request) if each.kind is Kind.NUMBER and each.money]
        if len(wanted) != 1 or wanted[0].about or self._is_in_another_currency():
            return None
        call, amount = paid[0]
        done = self._done([each.value for each in amounts_of(call)][:_MOST_PAIRED])
        if any(abs(reading.value - each) < _CENT for reading in _readings(wanted[0]) for each in done):
            return None
        shown = f"{amount.key}={amount.value:g}"
        figures = [reading.value for reading in _readings(wanted[0])]
        if self._follows(amount.value, figures, request) or self._is_explained(amount.value, request, of_answer=False):
            return None
        return call, shown, wanted[0].token

    def other_count(self, entry: ClaimEntry, request: str) -> tuple[int, int, LedgerCall, str] | None:
        """A count of the claim ("two tickets"), if the call that did it was sent another one of the same things."""
        if not self._counts:
            return None
        every, asked = counts_in(self._text), counts_in(request)
        for count in every:
            if not entry.start <= count.start < entry.end:
                continue
            is_asked = any(each.value == count.value and each.is_of(count) for each in asked)
            found = self._apart(count, every, self._text, is_asked=is_asked)
            if found is not None:
                return (count.start, count.end, *found)
        return None

    def unasked_count(self, request: str) -> tuple[LedgerCall, str, str] | None:
        """A count that a call was sent, if the request has another one of the same things."""
        if not self._counts:
            return None
        told = {count_words().words.get(word, word) for word in _WORD.findall(self._text.lower())}
        asked = counts_in(request)
        for count in asked:
            if not told.isdisjoint((count.value, f"{count.value}")):
                # The answer claims it, which is for `other_count`, or says that it is another: "two instead of three".
                continue
            found = self._apart(count, asked, request, is_asked=True)
            if found is not None:
                return (*found, request[count.start : count.end])
        return None

    def _apart(
        self, count: "CountMention", every: "Sequence[CountMention]", text: str, *, is_asked: bool
    ) -> tuple[LedgerCall, str] | None:
        """The call that was sent another count than `count`, which `every` count of the `text` does not explain."""
        alike = [each.value for each in every if each.is_of(count)]
        slots = [
            (call, key, value)
            for call, counted in self._counts
            for key, value in _counts_of(call, counted, count, is_asked=is_asked)
        ]
        if not slots or len({key for _, key, _ in slots}) > 2:
            return None
        values = {value for *_, value in slots}
        known = {value for *_, value in slots} | {
            sum(value for *_, value in slots),
            len(self._changes),
            len(self._doers),
        }
        known |= {one * other for one in values for other in (*values, *alike)}
        key = slots[-1][1]
        # The one who invites is in the list too.
        known |= {
            value - 1
            for call, each, value in slots
            if not _WITH_HOST.isdisjoint(words_of(each)) and is_array(members(call.outcome.call.arguments).get(each))
        }
        named = {each for call, *_ in slots for id_, sent in call.sent.items() if id_.endswith("id") for each in sent}
        earlier = {
            each
            for read in self._others
            if any(f"{each}".lower() in read.brought_text for each in named)
            for each in read.brought.get(key.lower(), ())
            if isinstance(each, int)
        }
        known |= {abs(value - each) for value in values for each in earlier}
        if not known.isdisjoint(alike) or not {sum(alike), *(abs(a - b) for a, b in pairwise(alike))}.isdisjoint(
            values
        ):
            return None
        if not values.isdisjoint(_together(count, every, text)) or any(
            count.is_of_groups and value % count.value == 0 for value in values
        ):
            return None
        call, key, value = slots[-1]
        return call, f"{key}={value}"

    def _is_in_another_currency(self) -> bool:
        """Whether a call was sent a currency that neither the answer nor the request writes."""
        written = f"{self._text}\n{self._context}".lower()
        for call in self._doers:
            for key, values in call.sent.items():
                for value in values if key.endswith("currency") else ():
                    code = f"{value}".lower()
                    if code not in written and not any(code in _SIGNS[sign] for sign in _SIGNS if sign in written):
                        return True
        return False

    def _done(self, sent: Sequence[float]) -> set[float]:
        """The numbers that were sent and returned, as cents and shares too, with the sum and products of those sent."""
        done = "\n".join(f"{call.sent_text}\n{call.brought_text}" for call in self._changes)[:_MOST_READ]
        every = set(list(_numbers(done))[:_MOST_NUMBERS]) | {abs(value) for value in sent}
        every = {value * factor for value in every for factor in _FACTORS}
        return every | {abs(sum(sent)), *(one * other for one in sent for other in sent)}

    def _follows(self, value: float, said: Sequence[float], request: str) -> bool:
        """Whether an amount follows from two numbers: `$80 minus a fee of $5`, $500 more than a result had, half."""
        if any(one and _is_share(abs(value), abs(one)) for one in said) and _part().search(f"{self._text}\n{request}"):
            return True
        heard = list(dict.fromkeys(_numbers(self._before)))[:_MOST_PRICED]
        if any(
            abs(abs(one + sign * other) - abs(value)) < _CENT for one in said for other in heard for sign in (1, -1)
        ):
            return True
        beside = dict.fromkeys((*_numbers(self._text), *_numbers(request)))
        numbers = Sorted([each for each in beside if abs(each - abs(value)) > _CENT][:_MOST_PRICED])
        return len(numbers.values) > 1 and any(
            calculation(abs(each), _CENT, numbers.values, known=numbers, multiples=(), steps=Steps()) is not None
            for each in (value, value / 100)
        )

    def _is_explained(self, value: float, request: str, *, of_answer: bool = True) -> bool:
        """Whether the answer, the request or a result has a number, or numbers that it follows from."""
        value = abs(value)
        said = [each for each in _numbers(self._text) if of_answer or abs(each - value) > _CENT][:_MOST_NUMBERS]
        said += list(_numbers(request))[:_MOST_PRICED]
        heard = list(_numbers(f"{self._context[-_MOST_READ:]}\n{self._before}"))[:_MOST_HEARD]
        known = Sorted(each * factor for each in (*said, *heard) for factor in (1.0, 0.01, 100.0))
        if known.between(value - _CENT, value + _CENT) or not value:
            return True
        multiples = sorted({int(each) for each in said if 2 <= each <= 59 and each == int(each)})
        # Of the many numbers of the results only multiples of a price: of all, some two would fit.
        priced = Sorted(float(each) for each in _PRICED.findall(self._before)[:_MOST_PRICED])
        if any(priced.between(value / times - _CENT, value / times + _CENT) for times in {2, 3, 4, 5, *multiples}):
            return True
        beside = said[:_MOST_PRICED]
        return calculation(value, _CENT, beside, known=Sorted(said), multiples=multiples, steps=Steps()) is not None


def _is_share(value: float, of: float) -> bool:
    times = max(value, of) / (min(value, of) or 1.0)
    return 1.5 < times < _MOST_COUNTED and abs(times - round(times)) * min(value, of) < _CENT


@cache
def _part() -> re.Pattern[str]:
    words = sorted(count_words().parts, key=len, reverse=True)
    spaced, solid = ("|".join(word for word in words if (word < "\u0e00") is each) for each in (True, False))
    return re.compile(rf"\b(?:{spaced})\b|{solid}", re.IGNORECASE)


def _numbers(text: str) -> Iterator[float]:
    """The numbers of a text. `1,200` is not read as a fraction: as cents, it would explain 120."""
    for token in _NUMERAL.findall(text):
        every = readings(token)
        yield from (each.value for each in (every[:1] if "," in token else every))


def _readings(mention: Mention) -> list[NumeralReading]:
    """How an amount may be read. Amounts of money do not have three decimals."""
    return [each for each in mention.numbers if not mention.money or each.place > 0.001] or list(mention.numbers)


class CountMention(msgspec.Struct, frozen=True):
    """How many there are of something: the words after the number are its `nouns`, by their first letters."""

    start: int
    end: int
    value: int
    nouns: frozenset[str]
    is_of_groups: bool = False

    def is_of(self, other: "CountMention") -> bool:
        """Whether both count the same things."""
        return not self.nouns.isdisjoint(other.nouns)


class CountWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `counts.toml`."""

    words: dict[str, int]
    measures: frozenset[str]
    people: frozenset[str]
    groups: frozenset[str]
    selves: frozenset[str]
    wholes: frozenset[str]
    parts: frozenset[str]
    keys: frozenset[str]
    money: frozenset[str]
    naming: frozenset[str]
    idle: frozenset[str]


@cache
def count_words() -> CountWords:
    """The words that count, and the keys of what is counted."""
    return read_toml("toolvet.core.turn.ledger", "counts.toml", CountWords)


@cache
def _pattern() -> re.Pattern[str]:
    tables = count_words()
    spaced = "|".join(sorted((re.escape(word) for word in tables.words if word < "\u0e00"), key=len, reverse=True))
    solid = "|".join(sorted((re.escape(word) for word in tables.words if word >= "\u0e00"), key=len, reverse=True))
    measures = "|".join(sorted(map(re.escape, tables.measures), key=len, reverse=True))
    return re.compile(
        rf"(?<![\w.,:/$€£¥₹#-])(?:(?P<digits>\d{{1,2}})|(?P<word>{spaced}))"
        rf"(?=(?P<after>(?:[ -][^\W\d_][\w'-]{{0,30}}){{1,4}}))"
        rf"|(?:(?<!\d)(?P<figure>\d{{1,2}}) ?|(?P<solid>{solid}) ?)(?P<measure>{measures})",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def counts_in(text: str) -> tuple[CountMention, ...]:
    """The counts of things in a text: "two front-row tickets", "3 bags", "both invoices", "两张票"."""
    return tuple(_counts_in(text))


def _counts_in(text: str) -> Iterator[CountMention]:
    tables = count_words()
    for match in _pattern().finditer(text):
        number = match["digits"] or match["figure"]
        value = int(number) if number else tables.words[(match["word"] or match["solid"]).lower()]
        if match["measure"]:
            yield CountMention(*match.span(), value, frozenset({match["measure"]}))
            continue
        end, words = match.end(), list[str]()
        for found in _NOUN.finditer(text, end, match.end("after")):
            word = found[0].lower().strip("'")
            if word in tables.idle or word in tables.words:
                break
            words.append(word)
            end = found.end()
        nouns = frozenset(_stem(word) for word in words if len(word) >= _SHORTEST_NOUN)
        before = _WORD_BEFORE.search(text, max(0, match.start() - 20), match.start())
        is_label = before is not None and (
            before[1].lower() in months() or before[1].lower() in surroundings().label.words
        )
        # The whole that a part is taken of: "one of my three shirts".
        beside = _WORD.findall(text, max(0, match.start() - 20), match.start())[-2:]
        is_label = is_label or not tables.wholes.isdisjoint(word.lower() for word in beside)
        if value and nouns and not is_label:
            yield CountMention(match.start(), end, value, nouns, not tables.groups.isdisjoint(words))


def _together(count: CountMention, every: Sequence[CountMention], text: str) -> set[int]:
    """The sums of a count with those beside it and with the one who speaks: "two adults and three kids"."""
    place = every.index(count)
    before, after = every[max(0, place - 2) : place], every[place + 1 : place + 3]
    sums = {
        sum(each.value for each in (*before[len(before) - left :], count, *after[:right]))
        for left in range(len(before) + 1)
        for right in range(len(after) + 1)
    } - {count.value}
    beside = (
        *_WORD.findall(text[max(0, count.start - 20) : count.start])[-2:],
        *_WORD.findall(text, count.end, count.end + 20)[:2],
    )
    if "people" in count.nouns and not count_words().selves.isdisjoint(word.lower() for word in beside):
        sums |= {each + 1 for each in (count.value, *sums)}
    return sums | {count.value * each.value for each in (*before[-1:], *after[:1]) if each.is_of_groups}


def _stem(word: str) -> str:
    """A noun by which its key is known: `bags` and `baggages`; all words for persons are one."""
    tables = count_words()
    return "people" if word in tables.people else word.removesuffix("s")[:_STEM]


def _counts_of(
    call: LedgerCall, counted: Sequence[tuple[str, int]], count: CountMention, *, is_asked: bool
) -> Iterator[tuple[str, int]]:
    """The arguments that count the same things: by their key, or by a key that counts whatever the call is about."""
    named = " ".join(value.lower() for values in call.sent.values() for value in values if isinstance(value, str))
    general: list[tuple[str, int]] = []
    found = False
    # `party_size` counts persons: three kids may be a part of them.
    counts_anything = not count_words().measures.isdisjoint(count.nouns)
    for key, value in counted:
        words = words_of(key)
        stems = {_stem(word) for word in words} - {""}
        if any(
            len(noun) >= _SHORTEST_NOUN and (stem.startswith(noun) or noun.startswith(stem))
            for noun in count.nouns
            for stem in stems
            if len(stem) >= _SHORTEST_NOUN
        ):
            found = True
            yield key, value
        elif not count_words().keys.isdisjoint(words) and ("people" not in stems or counts_anything):
            general.append((key, value))
    if not found and len(general) == 1 and (is_asked or any(noun in named for noun in count.nouns)):
        yield general[0]


def _counted(arguments: object) -> Iterator[tuple[str, int]]:
    """The small whole numbers of the arguments, and the lengths of their lists."""
    pending: list[tuple[object, int]] = [(arguments, 0)]
    left = 200
    while pending and left:
        left -= 1
        value, depth = pending.pop()
        if is_object(value):
            for key, each in value.items():
                if is_array(each):
                    yield f"{key}", len(each)
                elif isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= _MOST_COUNTED:
                    yield f"{key}", each
                elif isinstance(each, str) and each.isdecimal() and len(each) <= 2:
                    yield f"{key}", int(each)
                if depth < _DEEPEST and (is_object(each) or is_array(each)):
                    pending.append((each, depth + 1))
        elif is_array(value):
            pending.extend((each, depth) for each in value[:50])
