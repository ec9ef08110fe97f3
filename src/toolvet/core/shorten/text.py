"""A text of any form, shortened by the rules of its form."""

import math
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from toolvet.core.json_value import is_array, is_object
from toolvet.core.shorten.json_value import shorten_value
from toolvet.core.shorten.lines import shorten_lines
from toolvet.core.shorten.middle import without_middle

TextForm: TypeAlias = Literal["json", "table", "lines", "text"]
_TRIALS: Final = 6
_FEW_LINES: Final = 4


class ShortText(NamedTuple):
    """A shortened text, and what it was taken for."""

    text: str
    form: TextForm


def shorten_text(text: str, most: int) -> ShortText:
    """Shorten a text to at most `most` characters.

    JSON stays JSON, and is written without white space. Total: any text, and any `most` from 0 up.

    Example:
        >>> shorten_text('{"ships": ["Aurora", "Bounty", "Calypso", "Dorothea", "Endeavour", "Fram"]}', 65).text
        '{"ships":["Aurora","… 5 of 6 items left out (1 to 5) …"]}'
    """
    if len(text) <= most:
        return ShortText(text, "text")
    if text.lstrip()[:1] in ("{", "["):
        short = _as_json(text, most)
        if short is not None:
            return ShortText(short, "json")
    if text.count("\n", 0, 100_000) >= _FEW_LINES:
        return ShortText(*shorten_lines(text, most))
    return ShortText(without_middle(text, most), "text")


def _as_json(text: str, most: int) -> str | None:
    try:
        value: object = msgspec.json.decode(text)
        if not is_object(value) and not is_array(value):
            return None
        compact = msgspec.json.encode(value).decode()
        if len(compact) <= most:
            return compact
        # Escapes make a text longer than its letters: what is too long is asked for once more, with less room.
        room = most
        for _ in range(_TRIALS):
            short = msgspec.json.encode(shorten_value(value, room)).decode()
            if len(short) <= most:
                return short
            room = math.floor(room * most / len(short) * 0.95)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        pass
    return None
