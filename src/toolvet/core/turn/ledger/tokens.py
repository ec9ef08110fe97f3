"""How texts write values: which words the assistant itself says, numerals, identifiers, and the words before a value.

    spoken       the text without code, quotations and drafts, with all positions as they were
    readings     a numeral of any country, in every way that it can be read
    form_of      the form of an identifier, for others that have it too
    after_given  and its like: the words before a value that say what it is: an example, an ending, a reference

The tables are in `numbers.toml` and `frames.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import msgspec

from toolvet.core.discover.toml import read_toml

# A claim in a letter that the answer drafts is the letter's. It ends with the answer, or at a rule.
_LETTER = re.compile(
    r"^[*_#> ]{0,6}(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|temat|тема|konu|主题|主題|件名|제목)\b"
    r"[*_ ]{0,4}[:\uff1a].*?(?=^[-*_]{3,}\s*$|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_BLOCKS = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^ {0,3}>[^\n]*", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]{1,200}`")
QUOTATION = re.compile(
    r'"([^"\n]{2,400})"|“([^”\n]{2,400})”|«([^»\n]{2,400})»|„([^“”\n]{2,400})[“”]|「([^」\n]{2,400})」'
)
# The code point of the zero of each script's decimal digits (Unicode 15.1).
_ZEROS = (
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50,
    0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136,
    0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0,
    0x11F50, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0,
    0x1E950, 0x1FBF0,
)  # fmt: skip
_DIGITS = {code: ord("0") + digit for start in _ZEROS for digit, code in enumerate(range(start, start + 10))}
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
# A line break that was escaped once too often: before a space, a sign, a digit or a capital, and not in C:\\dir\\new.
_ESCAPED = re.compile(r"(?<![\\:])(?<!\\[nrt])(?:\\[nrt])+(?=[\s0-9A-Z\"'*#(\[{\u2022\u2013\u2014\u2705-]|\Z)")


def spoken(text: str) -> str:
    """`text` with code, quotations, quoted lines and drafted letters blanked."""
    if "`" in text or "~~~" in text:
        text = _INLINE.sub(_blank, without_code(text))
    if ":" in text or "\uff1a" in text:
        text = _LETTER.sub(_blank, text)
    if ">" in text:
        text = _QUOTED_LINE.sub(_blank, text)
    return QUOTATION.sub(_blank, text)


def without_code(text: str) -> str:
    """`text` with its code blocks blanked."""
    return _BLOCKS.sub(_blank, text) if "```" in text or "~~~" in text else text


def ascii_digits(text: str) -> str:
    """`text` with the decimal digits of every script as ASCII ones."""
    return text if text.isascii() or _OTHER_DIGIT.search(text) is None else text.translate(_DIGITS)


def without_escapes(text: str) -> str:
    r"""`text` with line breaks that are spelled `\n` blanked: some models escape them twice."""
    return _ESCAPED.sub(_blank, text) if "\\" in text else text


def _blank(match: re.Match[str]) -> str:
    return (
        "".join("\n" if character == "\n" else " " for character in match[0])
        if "\n" in match[0]
        else " " * len(match[0])
    )


_LONGEST = 40
_NUMERAL = re.compile(r"(?<![\d])\d+(?:[.,]\d+|['\u2019 \u00a0\u202f]\d{3}(?!\d))*", re.ASCII)
_SEPARATORS = re.compile(r"[^0-9]")


class NumeralReading(msgspec.Struct, frozen=True):
    """One way to read a numeral: its value, and what one unit in its last written place is worth."""

    value: float
    place: float
    whole: bool


def readings(numeral: str) -> tuple[NumeralReading, ...]:
    """Every way to read a numeral of digits with points, commas, apostrophes or spaces; empty for other tokens.

    `1,234` is twelve hundred or one and a bit; `1.234,5` and `1,234.5` are the same; `1.2.3` is not a number.
    """
    return () if len(numeral) > _LONGEST else _readings(numeral)


# Answers and results repeat their years and amounts.
@lru_cache(maxsize=4096)
def _readings(numeral: str) -> tuple[NumeralReading, ...]:
    marks = set(_SEPARATORS.findall(numeral))
    if not marks:
        return (NumeralReading(float(numeral), 1.0, whole=True),) if numeral else ()
    if marks - {".", ",", "'", "\u2019", " ", "\u00a0", "\u202f"}:
        return ()
    for space in marks - {".", ","}:
        numeral = numeral.replace(space, "")
    points, commas = numeral.count("."), numeral.count(",")
    if points and commas:
        decimal = "." if numeral.rindex(".") > numeral.rindex(",") else ","
        other = "," if decimal == "." else "."
        if numeral.count(decimal) > 1 or not _grouped(numeral.split(decimal)[0], other):
            return ()
        return (_decimal(numeral.replace(other, ""), decimal),)
    mark = "." if points else ","
    if not points and not commas:
        return (NumeralReading(float(numeral), 1.0, whole=True),)
    if points + commas > 1:
        return (_whole(numeral, mark),) if _grouped(numeral, mark) else ()
    head, tail = numeral.split(mark)
    if len(tail) == 3 and 1 <= len(head) <= 3 and head[0] != "0":
        return _whole(numeral, mark), _decimal(numeral, mark)
    return (_decimal(numeral, mark),)


def _grouped(numeral: str, mark: str) -> bool:
    """Whether the marks part thousands; India parts by two, but for the last group."""
    groups = numeral.split(mark)
    return len(groups) == 1 or (
        len(groups[-1]) == 3 and all(2 <= len(group) <= 3 for group in groups[1:-1]) and 1 <= len(groups[0]) <= 3
    )


def _whole(numeral: str, mark: str) -> NumeralReading:
    return NumeralReading(float(numeral.replace(mark, "")), 1.0, whole=True)


def _decimal(numeral: str, mark: str) -> NumeralReading:
    head, _, tail = numeral.partition(mark)
    if not tail:
        return NumeralReading(float(head or "0"), 1.0, whole=True)
    return NumeralReading(float(f"{head or '0'}.{tail}"), 10.0 ** -len(tail), whole=False)


class WordList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of words."""

    words: frozenset[str]


class Habit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Spans of time that are only a manner of speaking."""

    units: frozenset[str]
    numbers: frozenset[int]
    before: frozenset[str]


class KnownCodes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of letters and digits that identify nothing."""

    match: str
    hits: list[str]
    misses: list[str]


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `numbers.toml`."""

    scale: dict[str, float]
    unit: dict[str, list[float]]
    about: WordList
    currency: WordList
    habit: Habit
    label: WordList
    known: KnownCodes


@cache
def surroundings() -> Surroundings:
    """The words around numbers that say what the numbers are."""
    return read_toml("toolvet.core.turn.ledger", "numbers.toml", Surroundings)


@cache
def about_words() -> tuple[str, ...]:
    """Words that say that a number is only roughly so, as `str.endswith` takes them."""
    return tuple(word for word in surroundings().about.words if len(word) > 1)


@cache
def known_words() -> re.Pattern[str]:
    """Words of letters and digits that identify nothing."""
    return re.compile(surroundings().known.match)


def numerals_in(text: str) -> Iterator[float]:
    """The value of every numeral in `text`, in each reading; a row of numbers is read as its parts too."""
    for found in _NUMERAL.finditer(text):
        token = found[0]
        if len(token) <= _LONGEST and token.isdecimal():
            yield float(token)
            continue
        every = readings(token)
        for reading in every:
            yield reading.value
        if not every or " " in token or "," in token:
            for part in re.findall(r"[0-9]+(?:\.[0-9]+)?", token):
                if len(part) <= 40:
                    yield float(part)


_NO_DIGITS = {ord(digit): None for digit in "0123456789"}
_MEASURE = re.compile(r"[0-9]{1,4}(?:[-_][a-z]+)+\Z")  # 500-piece, 24-hour
_DURATION = re.compile(r"[0-9]{1,3}(?:d|h|hr)[0-9]{1,2}(?:h|hr|m|min|s)?(?:[0-9]{1,2}(?:m|min|s)?)?\Z", re.IGNORECASE)
_PIECE = re.compile(r"(?:[0-9][0-9.,]*([A-Za-z\u00b5]{0,4}|%)|([A-Za-z]{1,4}))\Z")
_BETWEEN = re.compile(r"[-/+\u2013\u00d7:]|(?<=[0-9])x(?=[0-9])")
_CODE = re.compile(r"(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-Z0-9]{5,10}\Z")
_HEX = re.compile(r"(?=[a-f-]*[0-9])(?=[0-9-]*[a-f])[0-9a-f]{6,}(?:-[0-9a-f]{4,}){0,4}\Z")
# 3.11.4, v2.0.1, report_20261122.csv: a version or a file has the name that its maker gives it.
_MADE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]|\.[A-Za-z]{2,4}\Z")
_COLOUR = re.compile(r"#(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?\Z")
_RUN = re.compile(r"[0-9]+|[A-Za-z]+|[^A-Za-z0-9]")
_WORDS = re.compile(r"[^\W\d_]{3,}")
_ROW = "01234567890123456789"
_FILLED = re.compile(r"([0-9])\1{4,}|(?i:xxx|yyy|zzz|abc123|placeholder|example|your[-_])")
_LONGEST_FORM = 60
_LONG_NUMBER = 8


def is_identifier(token: str) -> bool:
    """Whether a word of letters and digits names one thing: long enough, digits enough, and no household name."""
    bare = token.strip("#-_").lower()
    digits = digits_of(bare)
    if token[0] == "#" and bare.isdecimal():
        return digits > 2
    if token[0] == "#" and _COLOUR.match(token):
        return False
    if len(bare) < 5 or digits < 3 or known_words().match(bare) or _MEASURE.match(bare) or _DURATION.match(bare):
        return False
    return any(character.isalpha() for character in bare)


def is_code(token: str) -> bool:
    """Whether a word is capitals and digits, as booking codes are: `KX7RTB`. So are many other words."""
    return _CODE.match(token) is not None


def is_long_number(numeral: str) -> bool:
    """Whether the digits are long enough to identify a thing rather than count something: item 7310255849."""
    return len(numeral) >= _LONG_NUMBER and numeral.isdecimal()


def is_placeholder(token: str) -> bool:
    """Whether a value only shows a form: `#W0000000`, `1234567`, `XXX-123`."""
    digits = "".join(filter(str.isdecimal, token))
    return _FILLED.search(token) is not None or (len(digits) > 4 and (digits in _ROW or digits in _ROW[::-1]))


def is_composed(token: str) -> bool:
    """Whether words and a number were put together: `below_the_200_limit`, `ROW235_window_seats`, `500/art/easy`."""
    if any(part.islower() and part.isalpha() and len(part) > 2 for part in token.split("/")[1:]):
        return True
    return "_" in token and len(_WORDS.findall(token.replace("_", " "))) > 1 and not token[-4:].isdecimal()


def digits_of(token: str) -> int:
    """How many digits a word has."""
    return len(token) - len(token.translate(_NO_DIGITS))


def parts_of(token: str) -> list[tuple[str, int]]:
    """The numbers with units that a word strings together, each with its place; empty for any other word.

    `250-280km`, `100x100mm`, `1440p/4K`, `2,050/oz`.
    """
    tables = surroundings()
    found: list[tuple[str, int]] = []
    at = 0
    for piece in _BETWEEN.split(token):
        match = _PIECE.match(piece)
        if match is None:
            return []
        unit = (match[1] or match[2] or "").lower()
        if unit and unit not in tables.unit and unit not in tables.scale and unit not in ("p", "x", "th"):
            return []
        if match[2] is None:
            found.append((piece, at))
        at += len(piece) + 1
    return found if found and at > len(found[0][0]) + 1 else []


@lru_cache(maxsize=1024)
def form_of(token: str) -> re.Pattern[str] | None:
    """A pattern for values of the same form as an identifier: its words as they are, other digits.

    None for very long ones, and for versions and files: what is made next has their form, too.
    `#W1234567` has the form of `W` and seven digits, `KX7RTB` that of six capitals and digits, a UUID that of UUIDs.
    """
    bare = token.strip("#-_")
    if not bare or len(bare) > _LONGEST_FORM or _MADE.search(bare):
        return None
    if is_code(bare):
        return re.compile(rf"(?<![A-Za-z0-9])(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-Z0-9]{{{len(bare)}}}(?![A-Za-z0-9])")
    if _HEX.match(bare):
        groups = "-".join(f"[0-9a-f]{{{len(each)}}}" for each in bare.split("-"))
        return re.compile(rf"(?<![0-9a-f]){groups}(?![0-9a-f])")
    pieces = [rf"[0-9]{{{len(run)}}}" if run.isdecimal() else re.escape(run) for run in _RUN.findall(bare)]
    return re.compile(rf"(?<![A-Za-z0-9]){''.join(pieces)}(?![A-Za-z0-9])", re.IGNORECASE)


_REACH = 44
_FAR = 90


class MentionFrame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of words before a value; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]


class MentionFrames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The frames of `frames.toml`."""

    quotes: MentionFrame
    names: MentionFrame
    examples: MentionFrame
    endings: MentionFrame
    references: MentionFrame
    given: MentionFrame


@cache
def frames() -> MentionFrames:
    """The frames of `frames.toml`."""
    return read_toml("toolvet.core.turn.ledger", "frames.toml", MentionFrames)


@cache
def _compiled(name: str) -> re.Pattern[str]:
    frame: MentionFrame = getattr(frames(), name)
    return re.compile(frame.match, 0 if name in ("names", "references") else re.IGNORECASE)


def _stands_before(name: str, text: str, start: int, reach: int) -> bool:
    return _compiled(name).search(text, max(0, start - reach), start) is not None


def quotes_before(before: str) -> bool:
    """Whether a quotation that follows reports someone's words."""
    return _compiled("quotes").search(before) is not None


def names_before(before: str) -> bool:
    """Whether a name that follows is that of a person."""
    return _compiled("names").search(before) is not None


def after_example(text: str, start: int) -> bool:
    """Whether what begins at `start` only shows what such values look like."""
    return _stands_before("examples", text, start, _REACH)


def after_ending(text: str, start: int) -> bool:
    """Whether what begins at `start` is the end of something longer, such as a card's number."""
    return _stands_before("endings", text, start, _REACH)


def after_reference(text: str, start: int) -> bool:
    """Whether what begins at `start` is presented as the name of one thing: an order, a booking."""
    return _stands_before("references", text, start, _REACH)


def after_given(text: str, start: int) -> bool:
    """Whether the text attributes the value that begins at `start` to the person."""
    return _stands_before("given", text, start, _FAR)
