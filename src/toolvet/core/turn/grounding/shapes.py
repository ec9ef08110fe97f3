"""What identifiers look like: which words name one thing, which only show a form, and which have the same form."""

import re
from functools import lru_cache

from toolvet.core.turn.grounding.numbers import known_words, surroundings

_NO_DIGITS = {ord(digit): None for digit in "0123456789"}
_MEASURE = re.compile(r"[0-9]{1,4}(?:[-_][a-z]+)+\Z")  # 500-piece, 24-hour
_DURATION = re.compile(r"[0-9]{1,3}(?:d|h|hr)[0-9]{1,2}(?:h|hr|m|min|s)?(?:[0-9]{1,2}(?:m|min|s)?)?\Z", re.IGNORECASE)
_PIECE = re.compile(r"(?:[0-9][0-9.,]*([A-Za-z\u00b5]{0,4}|%)|([A-Za-z]{1,4}))\Z")
_BETWEEN = re.compile(r"[-/+\u2013\u00d7:]|(?<=[0-9])x(?=[0-9])")
_CODE = re.compile(r"(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-Z0-9]{5,10}\Z")
_HEX = re.compile(r"(?=[a-f-]*[0-9])(?=[0-9-]*[a-f])[0-9a-f]{6,}(?:-[0-9a-f]{4,}){0,4}\Z")
# 3.11.4, v2.0.1, report_20261122.csv: versions and files are named by whoever makes them.
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
    """Whether digits alone are so many that they name a thing and count nothing: item 7310255849."""
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
    """The numbers with units that a word strings together, each with its place; empty for what is something else.

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
