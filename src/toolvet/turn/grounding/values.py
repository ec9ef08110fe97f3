"""Values of an answer that are in no result, in no argument and not in the question, and follow from none of them."""

import re
from collections.abc import Callable

from toolvet.checks.answer import FailureSignal, SignalType
from toolvet.turn.grounding.evidence import Evidence
from toolvet.turn.grounding.mentions import Kind, Mention, mentions_in
from toolvet.turn.grounding.numbers import NumeralReading, surroundings
from toolvet.turn.grounding.outcome import names

_AROUND = 40
_MOST_LOOKED_UP = 400
_MOST_SIGNALS = 10
_LABELS = {kind: f"unsupported_{kind.value}" for kind in Kind} | {Kind.TIME: "unsupported_date"}
_WEIGHTS = {
    Kind.URL: 0.45,
    Kind.EMAIL: 0.5,
    Kind.PATH: 0.35,
    Kind.ID: 0.5,
    Kind.DATE: 0.4,
    Kind.TIME: 0.35,
    Kind.NUMBER: 0.35,
    Kind.NAME: 0.35,
    Kind.QUOTE: 0.4,
}
# Two bare digits may be anything; alone they must not send an answer to a person.
_WEIGHT_BARE = 0.25
_BARE = 1000
_SPLIT = re.compile(r"[-_/.,:+#]")
_EXAMPLE = ("example.com", "example.org", "localhost", "127.0.0.1", "example.net")


def unsupported(text: str, evidence: Evidence) -> list[FailureSignal]:
    """The values in `text` that `evidence` does not support; none where it contains what cannot be read."""
    if evidence.opaque:
        return []
    signals: list[FailureSignal] = []
    looked_up: dict[tuple[Kind, str], None] = {}
    numbers: list[Mention] = []
    for mention in mentions_in(text):
        key = (mention.kind, mention.token)
        if key in looked_up:
            continue
        looked_up[key] = None
        if len(looked_up) > _MOST_LOOKED_UP:
            break
        if mention.kind is Kind.NUMBER:
            numbers.append(mention)
        elif not _SUPPORTS[mention.kind](mention, evidence):
            signals.append(_signal(text, mention, evidence))
    signals += [_signal(text, mention, evidence) for mention in _unsupported_numbers(numbers, evidence)]
    return signals[:_MOST_SIGNALS]


def _signal(text: str, mention: Mention, evidence: Evidence) -> FailureSignal:
    bare = (
        mention.kind is Kind.NUMBER and not mention.money and mention.unit != "%" and mention.numbers[0].whole
        and mention.numbers[0].value < _BARE
    )  # fmt: skip
    return FailureSignal(
        type=SignalType.HALLUCINATION_RISK,
        evidence=text[mention.start : mention.end],
        weight=_WEIGHT_BARE if bare else _WEIGHTS[mention.kind],
        position=mention.start,
        context=text[max(0, mention.start - _AROUND) : mention.end + _AROUND],
        label=_LABELS[mention.kind],
        source="calls",
        against=_against(mention, evidence),
    )


def _against(mention: Mention, evidence: Evidence) -> str:
    """What the results have instead, where that can be said."""
    where = f"not in the results of {names(evidence.outcomes)}"
    if mention.kind is Kind.NUMBER:
        nearest = evidence.figures.nearest(mention.numbers[0].value)
        return where if nearest is None else f"{where}; the nearest number there is {nearest:.15g}"
    if mention.kind is Kind.DATE:
        days = sorted({f"{year:04}-{month:02}-{day:02}" for year, month, day in evidence.dates if year})
        return f"{where}; days there are {', '.join(days[:5])}" if days else where
    return where


def _unsupported_numbers(mentions: list[Mention], evidence: Evidence) -> list[Mention]:
    """The numbers that are not in the results and do not follow from them or from each other."""
    left = [mention for mention in mentions if not evidence.holds(mention.token.strip("+-"))]
    if not left:
        return []
    beside = [mention.numbers[0].value for mention in mentions]
    found: list[Mention] = []
    for mention in left:
        others = [value for value in beside if value != mention.numbers[0].value]
        if not any(_number_stands(reading, mention, evidence, others) for reading in mention.numbers):
            found.append(mention)
    return found


def _number_stands(reading: NumeralReading, mention: Mention, evidence: Evidence, beside: list[float]) -> bool:
    figures = evidence.figures
    value = reading.value
    if (figures.equals(value) if reading.whole else figures.has(value, reading.place)) or (
        reading.whole
        and figures.has(value, 1.0)
        and not figures.equals(value)
        and _rounded(value, figures.nearest(value))
    ):
        return True
    if reading.whole and len(mention.token) == 4 and evidence.ends(mention.token):
        return True
    if mention.about and figures.roughly(value):
        return True
    if any(figures.has(value / factor, reading.place / factor) for factor in surroundings().unit.get(mention.unit, ())):
        return True
    if mention.unit.startswith("°") or mention.unit in ("degrees", "degree", "grad"):
        celsius, fahrenheit = (value - 32) / 1.8, value * 1.8 + 32
        if figures.has(celsius, 0.6) or figures.has(fahrenheit, 1.0):
            return True
    if mention.unit in ("%", "percent"):
        return figures.share(value, reading.place, beside)
    if reading.whole and not mention.money and figures.counted(value):
        return True
    return figures.follows(value, reading.place if not reading.whole else 0.0, beside)


def _rounded(value: float, nearest: float | None) -> bool:
    """Whether a whole number is what a fraction nearby becomes."""
    return nearest is not None and nearest != int(nearest) and abs(nearest - value) < 1


def _stands(mention: Mention, evidence: Evidence) -> bool:
    return mention.token.lower() in evidence.lower


def _id_stands(mention: Mention, evidence: Evidence) -> bool:
    token = mention.token.lower().strip("#-_")
    if token in evidence.lower:
        return True
    bare = "".join(filter(str.isalnum, token))
    if bare in evidence.letters:
        return True
    parts = [part for part in _SPLIT.split(token) if any(map(str.isdigit, part))]
    return len(parts) > 1 and all(len(part) < 3 or part in evidence.lower for part in parts)


def _url_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether an address is in the evidence, is put together of parts that are, or is a site's front page."""
    bare = mention.token.lower().partition("://")[2].removeprefix("www.").rstrip("/")
    host, _, path = bare.partition("/")
    if not path or host.split(":")[0].endswith(_EXAMPLE) or bare in evidence.lower:
        return True
    parts = [part for part in re.split(r"[/?&=#]", path) if part]
    lower = evidence.lower
    return all(part in lower for part in parts)


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
    if mention.token.lower() in lower:
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
    if any(minutes % 60 == 0 and _hour_stands(minutes // 60, evidence) for minutes in mention.minutes):
        return True
    # A time of another zone keeps its minutes; without times it cannot be known.
    zoned = 'z"' in evidence.lower or "utc" in evidence.lower or "+0" in evidence.lower or "-0" in evidence.lower
    return zoned and any(minutes % 30 == each % 30 for minutes in mention.minutes for each in times)


def _hour_stands(hour: int, evidence: Evidence) -> bool:
    spoken = hour % 12 or 12
    return re.search(rf"(?<!\d){spoken} ?[ap]\.?m\b|(?<!\d){hour} ?(?:uhr|h\b|时|時|点)", evidence.lower) is not None


def _name_stands(mention: Mention, evidence: Evidence) -> bool:
    """Whether any word of a name is in the evidence: people are called by one name or the other."""
    lower = evidence.lower
    return any(word in lower for word in mention.token.lower().replace("\u2019", "'").split() if len(word) > 2) or (
        "".join(filter(str.isalpha, mention.token.lower())) in evidence.letters
    )


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
