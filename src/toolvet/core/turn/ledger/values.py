"""Values of an answer that are in no result, in no argument and not in the question, and follow from none of them.

A value weighs if its correct form is known: an identifier of the form that the results use, an address on a site that
they name, an amount that differs from theirs by one digit. The others only inform: together they cost at most
`_INFORMS`, which is not a reason to escalate.
"""

import re
from collections.abc import Callable, Collection, Iterable

import msgspec

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.turn.ledger.dates import (
    Date,
    deadline_words,
    ends_a_period,
    follows_from,
    has_its_weekday,
    lies_between,
    nearest_days,
    span_words,
    spans_in,
)
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.figures import AnswerNumbers, Figures, times_in
from toolvet.core.turn.ledger.mentions import Kind, Mention, MentionReader, mentions_in, only_shows
from toolvet.core.turn.ledger.outcome import names
from toolvet.core.turn.ledger.tokens import (
    NumeralReading,
    after_ending,
    after_given,
    after_reference,
    ascii_digits,
    digits_of,
    form_of,
    surroundings,
)

_AROUND = 40
_SENTENCE = 100
_MOST_LOOKED_UP = 400
_MOST_SIGNALS = 10
_LABELS = {kind: f"unsupported_{kind.value}" for kind in Kind} | {Kind.TIME: "unsupported_date"}
_WEIGHTS = {Kind.URL: 0.45, Kind.EMAIL: 0.5, Kind.ID: 0.5, Kind.NUMBER: 0.35}
# A code that is presented as the name of an order or a booking, and has no form that the results use.
_REFERENCE = 0.3
# What informs costs so much, and all of it together no more than that: below every threshold.
_INFORM = 0.08
_INFORMS = 0.2
_SPLIT = re.compile(r"[-_/.,:+#]")
_EXAMPLE = ("example.com", "example.org", "localhost", "127.0.0.1", "example.net")
_ADDRESS = re.compile(r"[\w.+-]@[\w-]{1,63}\.\w")
_ROLES = frozenset(
    [
        "support",
        "help",
        "info",
        "contact",
        "hello",
        "sales",
        "admin",
        "noreply",
        "no-reply",
        "service",
        "services",
        "customerservice",
        "team",
        "office",
        "security",
        "privacy",
        "billing",
        "press",
        "jobs",
        "careers",
    ]
)
_BROKEN_AFTER = re.compile(r"-?[ \t]*\n[ \t>*|]*([\w#/.-]{1,60})")


def unsupported(text: str, evidence: Evidence) -> list[FailureSignal]:
    """Return the values in `text` that `evidence` does not support; none if it contains unreadable content."""
    if evidence.opaque:
        return []
    values = _look_up(text, evidence)
    found = [mention for mention in values.found if not _is_idle(text, mention, evidence)]
    found += _unsupported_dates(text, values.dates, evidence)
    for each in _unsupported_numbers(text, values.numbers, evidence):
        # A number of days or weeks may be what lies between two days.
        if each.unit not in span_words().days or not lies_between(
            each.numbers[0].value, each.unit, values.days, evidence.dates
        ):
            found.append(each)
    return _signals(text, found[:_MOST_SIGNALS], values.numbers, evidence)


class _LookedUp:
    """The values of an answer, each once: its numbers, its days, and what else is not in the evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._known: set[tuple[Kind, str]] = set()
        self.numbers: list[Mention] = []
        self.dates: list[Mention] = []
        self.days: set[Date] = set()
        self.found: list[Mention] = []

    def __len__(self) -> int:
        return len(self._known)

    def add(self, mention: Mention) -> bool:
        kind = mention.kind
        key = (kind, mention.token)
        if key in self._known:
            return True
        if len(self._known) >= _MOST_LOOKED_UP:
            return False
        self._known.add(key)
        self.days.update(mention.dates)
        if kind is Kind.NUMBER:
            self.numbers.append(mention)
        elif not _SUPPORTS[kind](mention, self._evidence):
            (self.dates if kind is Kind.DATE else self.found).append(mention)
        return True

    def add_known(self, mentions: Iterable[Mention]) -> None:
        for mention in mentions:
            self.days.update(mention.dates)
            if mention.kind is Kind.NUMBER:
                self.numbers.append(mention)
        first: dict[str, Mention] = {}
        for mention in sorted(self.numbers, key=lambda each: each.start):
            first.setdefault(mention.token, mention)
        self.numbers = list(first.values())


def _look_up(text: str, evidence: Evidence) -> _LookedUp:
    """The values, up to a limit; those in the evidence as written are read only for a number that is not."""
    words: dict[str, bool] = {}

    def stands(kind: Kind, token: str) -> bool:
        known = words.get(token)
        if known is None:
            known = words[token] = _has_word_of(token, evidence) if kind is Kind.NAME else evidence.holds(token)
        return known

    reader = MentionReader(text, stands)
    values = _LookedUp(evidence)
    for mention in reader.read():
        values.add(mention)
        # The same word may be a number in one place and an identifier in another.
        if 2 * len(words) + len(values) > _MOST_LOOKED_UP:
            # Only the first values of an answer that has very many.
            values = _LookedUp(evidence)
            for each in mentions_in(text):
                if not values.add(each):
                    break
            return values
    if not all(_is_written(mention, evidence) for mention in values.numbers):
        values.add_known(reader.aside())
    return values


def _is_written(number: Mention, evidence: Evidence) -> bool:
    return evidence.holds(ascii_digits(number.token).strip("+-"))


def _signals(text: str, found: list[Mention], numbers: list[Mention], evidence: Evidence) -> list[FailureSignal]:
    signals: list[FailureSignal] = []
    shown = {reading.value for each in numbers for reading in each.numbers}
    for mention in found:
        slip = slip_of(mention, evidence.figures, shown) if mention.kind is Kind.NUMBER else None
        weight = _WEIGHTS[mention.kind] if slip is not None or _is_of_a_kind(mention, evidence) else 0.0
        if not weight and mention.kind is Kind.ID and evidence.asked and after_reference(text, mention.start):
            weight = _REFERENCE
        signals.append(
            FailureSignal(
                type=SignalType.HALLUCINATION_RISK,
                evidence=text[mention.start : mention.end],
                weight=weight,
                position=mention.start,
                context=text[max(0, mention.start - _AROUND) : mention.end + _AROUND],
                label=_LABELS[mention.kind],
                source="calls",
                against=_against(mention, evidence, slip),
            )
        )
    informing = sum(not signal.weight for signal in signals)
    weight = round(min(_INFORM, _INFORMS / max(1, informing)), 3)
    return [signal if signal.weight else msgspec.structs.replace(signal, weight=weight) for signal in signals]


def _is_of_a_kind(mention: Mention, evidence: Evidence) -> bool:
    """Whether the results have values of this kind, so that another one is a slip and no knowledge of the model's."""
    if mention.kind is Kind.ID:
        form = form_of(mention.token)
        return form is not None and evidence.has_like(form)
    if mention.kind is Kind.EMAIL:
        local, _, domain = mention.token.lower().partition("@")
        return domain in evidence.lower or (local not in _ROLES and evidence.has_like(_ADDRESS))
    if mention.kind is Kind.URL:
        host, parts = _url_parts(mention.token)
        # Pages have common names; a name with a number is one thing.
        return host in evidence.lower and any(digits_of(part) and part not in evidence.lower for part in parts)
    return False


def _is_idle(text: str, mention: Mention, evidence: Evidence) -> bool:
    if mention.faint and not _is_of_a_kind(mention, evidence):
        return True
    if only_shows(text, mention) or (not evidence.asked and after_given(text, mention.start)):
        return True
    if mention.kind is Kind.ID and after_ending(text, mention.start) and evidence.ends(mention.token):
        return True
    if mention.kind not in (Kind.ID, Kind.URL, Kind.EMAIL, Kind.PATH):
        return False
    # The value may be broken over two lines, in the results or in the answer.
    if mention.token.lower() in evidence.solid:
        return True
    after = _BROKEN_AFTER.match(text, mention.end)
    bare = mention.token.rstrip("-").lower()
    return after is not None and any(f"{bare}{mark}{after[1].lower()}" in evidence.lower for mark in ("", "-"))


def _against(mention: Mention, evidence: Evidence, slip: float | None) -> str:
    where = f"not in the results of {names(evidence.outcomes)}"
    if slip is not None:
        return f"{where}; the number there is {slip:.15g}"
    if mention.kind is Kind.NUMBER:
        nearest = evidence.figures.nearest(mention.numbers[0].value)
        total = evidence.figures.near_total(mention.numbers[0].value)
        there = "" if nearest is None else f"; the nearest number there is {nearest:.15g}"
        return where + there + (f", {total}" if total else "")
    if mention.kind is Kind.DATE:
        days = nearest_days(mention.dates[0], evidence.dates)
        return f"{where}; days there are {', '.join(days)}" if days else where
    return where


def _unsupported_dates(text: str, mentions: list[Mention], evidence: Evidence) -> list[Mention]:
    found: list[Mention] = []
    for mention in mentions:
        if only_shows(text, mention):
            continue
        begin = max(text.rfind("\n", 0, mention.start) + 1, mention.start - _SENTENCE)
        near = text[begin : mention.end + _SENTENCE].partition("\n")[0]
        spans = spans_in(near)
        if deadline_words().search(near):
            spans |= evidence.spans
        if not any(
            follows_from(date, evidence.dates, evidence.days, spans)
            or ends_a_period(date, text, mention.start, mention.end)
            or has_its_weekday(date, text, mention.start, mention.end, evidence.dates)
            for date in mention.dates
        ):
            found.append(mention)
    return found


def _unsupported_numbers(text: str, mentions: list[Mention], evidence: Evidence) -> list[Mention]:
    left = [mention for mention in mentions if not _is_written(mention, evidence)]
    if not left:
        return []
    found: list[Mention] = []
    times = times_in(text)
    for mention in left:
        own = mention.numbers[0].value
        # Amounts belong together before all numbers do: the lines of a bill and their total.
        beside = [each for each in mentions if each.numbers[0].value != own]
        beside.sort(key=lambda each: each.money != mention.money)
        shown = AnswerNumbers([each.numbers[0].value for each in beside], times)
        if not any(_number_stands(reading, mention, evidence, shown) for reading in mention.numbers) and not (
            (after_ending(text, mention.start) and evidence.ends(mention.token))
            or only_shows(text, mention)
            or (not evidence.asked and after_given(text, mention.start))
        ):
            found.append(mention)
    return found


def _number_stands(reading: NumeralReading, mention: Mention, evidence: Evidence, shown: AnswerNumbers) -> bool:
    figures = evidence.figures
    value = reading.value
    if figures.equals(value) if reading.whole else figures.has(value, reading.place):
        return True
    if reading.whole and figures.has(value, 1.0):
        nearest = figures.nearest(value)
        # A whole number may be a fraction nearby, rounded.
        if nearest is not None and nearest != int(nearest) and abs(nearest - value) < 1:
            return True
    if reading.whole and len(mention.token) == 4 and evidence.ends(mention.token):
        return True
    if mention.about:
        digits = len(f"{abs(value):.10g}".replace(".", "").strip("0"))
        # How far off `about` may be: `about 270` three per cent, `about 267.2` nothing.
        if figures.roughly(value, (0.05, 0.05, 0.03, 0.005, 0.0)[min(digits, 4)]):
            return True
    for factor in surroundings().unit.get(mention.unit, ()):
        if figures.has(value / factor, reading.place / factor):
            return True
        # The same length in another unit beside it: 1254 metres (0.78 miles).
        if any(abs(each * factor - value) <= reading.place for each in shown.numbers):
            return True
    # How large a unit the results may count in: those of `$2.98B` may say `2981160` and mean thousands.
    if reading.place >= 1:
        scale = reading.place * 1e6
    else:
        scale = 1e9 if reading.whole and value and value % 1e4 == 0 else 0.0
    if any(figures.has(value / factor, reading.place / factor) for factor in (1e3, 1e6, 1e9) if factor <= scale):
        return True
    if mention.unit.startswith("°") or mention.unit in ("degrees", "degree", "grad"):
        celsius, fahrenheit = (value - 32) / 1.8, value * 1.8 + 32
        if figures.has(celsius, 0.6) or figures.has(fahrenheit, 1.0):
            return True
    if mention.unit in ("%", "percent"):
        return figures.share(value, reading.place, shown.numbers, evidence.steps) is not None
    if reading.whole and not mention.money and figures.counted(value):
        return True
    return figures.derivation(value, reading.place if not reading.whole else 0.0, shown, evidence.steps) is not None


def _stands(mention: Mention, evidence: Evidence) -> bool:
    return mention.token.lower() in evidence.lower


def _id_stands(mention: Mention, evidence: Evidence) -> bool:
    token = mention.token.lower().strip("#-_")
    if token in evidence.lower:
        return True
    if mention.numbers:
        return evidence.figures.equals(mention.numbers[0].value) or bool(
            evidence.figures.aggregate(mention.numbers[0].value, 0.5)
        )
    bare = "".join(filter(str.isalnum, token))
    if bare in evidence.letters:
        return True
    parts = [part for part in _SPLIT.split(token) if any(map(str.isdigit, part))]
    return (len(parts) > 1 or "_" in token) and all(len(part) < 3 or part in evidence.lower for part in parts)


def _url_parts(url: str) -> tuple[str, list[str]]:
    bare = url.lower().partition("://")[2].removeprefix("www.").partition("?")[0].rstrip("/")
    host, _, path = bare.partition("/")
    return host, [part for part in re.split(r"[/&=#]", path) if part]


def _url_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether an address is in the evidence, is put together of parts that are, or is a site's front page or search."""
    host, parts = _url_parts(mention.token)
    if "".join(parts) in ("", "s") or host.split(":")[0].endswith(_EXAMPLE):
        return True
    lower = evidence.lower
    return any("search" in part for part in parts) or all(part in lower for part in parts)


def _path_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether a path is in the evidence, or its last part is: the folder may have been named elsewhere."""
    token = mention.token.lower().replace("\\", "/")
    last = token.rstrip("/").rpartition("/")[2]
    return last in evidence.lower or token in evidence.lower.replace("\\", "/")


def _date_stands(mention: Mention, evidence: Evidence) -> bool:
    lower = evidence.lower
    for year, month, day in mention.dates:
        if (f"{year:04}-{month:02}-{day:02}" if year else f"-{month:02}-{day:02}") in lower:
            return True
    if mention.token.lower() in lower and len(mention.token) > 2:
        return True
    for year, month, day in mention.dates:
        if (year, month, day) in evidence.dates or (0, month, day) in evidence.dates:
            return True
        if not year and (month, day) in evidence.days:
            return True
    return False


def _time_stands(mention: Mention, evidence: Evidence) -> bool:
    if mention.token.lower() in evidence.lower:
        return True
    times = evidence.times
    if any(minutes in times or (minutes + 720) % 1440 in times for minutes in mention.minutes):
        return True
    for hour, minute in (divmod(minutes, 60) for minutes in mention.minutes):
        spoken = rf"(?<!\d){hour % 12 or 12} ?[ap]\.?m\b|(?<!\d){hour} ?(?:uhr|h\b|时|時|点)"
        if minute == 0 and re.search(spoken, evidence.lower) is not None:
            return True
    # A time of another zone keeps its minutes; without times it cannot be known.
    zoned = 'z"' in evidence.lower or "utc" in evidence.lower or "+0" in evidence.lower or "-0" in evidence.lower
    return zoned and any(minutes % 30 == each % 30 for minutes in mention.minutes for each in times)


def _name_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether any word of a name is in the evidence: people are called by one name or the other."""
    return (
        _has_word_of(mention.token, evidence) or "".join(filter(str.isalpha, mention.token.lower())) in evidence.letters
    )


def _has_word_of(name: str, evidence: Evidence) -> bool:
    lower = evidence.lower
    return any(word in lower for word in name.lower().replace("\u2019", "'").split() if len(word) > 2)


def _quote_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether the words are in the evidence, in any case, spacing and punctuation; `…` leaves something out."""
    pieces = ["".join(filter(str.isalnum, piece.lower())) for piece in re.split(r"\.{3}|…|\[[^\]]*\]", mention.token)]
    return all(piece in evidence.letters for piece in pieces)


_SUPPORTS: dict[Kind, Callable[[Mention, Evidence], bool]] = {
    Kind.URL: _url_stands,
    Kind.EMAIL: _stands,
    Kind.PATH: _path_stands,
    Kind.ID: _id_stands,
    Kind.DATE: _date_stands,
    Kind.TIME: _time_stands,
    Kind.NAME: _name_stands,
    Kind.QUOTE: _quote_stands,
}

_FEWEST_DIGITS = 4
_MOST_CHANCE = 0.05


def slip_of(mention: Mention, figures: Figures, shown: Collection[float]) -> float | None:
    """The number of the results of which an amount is a slip of one digit; None if chance would give one too.

    `shown` are the numbers of the answer: an amount beside the right one is something else.
    """
    reading = mention.numbers[0]
    if not mention.money or mention.about or reading.place > 1:
        return None
    written = _written(reading.value)
    digits = len(written) - 1
    if digits < _FEWEST_DIGITS:
        return None
    known = figures.like(len(written.partition(".")[0]))
    # Each number of the results has nine neighbours in every place; by chance one of them is this amount.
    if len(known) * 9 * digits > _MOST_CHANCE * 10**digits:
        return None
    near = [each for each in known if each not in shown and _differ_in_one(_written(each), written)]
    return near[0] if len(near) == 1 else None


def _written(value: float) -> str:
    return f"{value:.2f}" if value != int(value) else f"{value:.0f}."


def _differ_in_one(one: str, other: str) -> bool:
    if len(one) != len(other):
        return False
    apart = [at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right]
    if len(apart) == 2:
        first, second = apart
        return second == first + 1 and one[first] == other[second] and one[second] == other[first]
    return len(apart) == 1
