"""`recover`: the value of a text that was meant as JSON, with every departure from JSON described."""

import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

import msgspec

from toolvet.core.json_value import is_array, is_object
from toolvet.core.schema.repairs.confidence import Confidence, least
from toolvet.core.schema.repairs.lenient import LenientValue, Unreadable, read


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """The value that a text was meant to contain; `steps` has a sentence for each departure from JSON."""

    value: object
    steps: tuple[str, ...]
    confidence: Confidence


def recover(text: str) -> Recovered | None:
    """Return the JSON value that `text` was meant to contain, or None where that is uncertain.

    For JSON itself, `steps` is empty. Beyond JSON, an object or an array is read in the notations of Python and
    JavaScript, in Markdown fences, inside prose, encoded twice, and cut off at the end where only closing marks are
    missing. NaN and Infinity are not JSON values, and are refused. Raises nothing, and takes linear time.

    Example:
        >>> recover("Here you are: {'limit': 10}").value
        {'limit': 10}
    """
    if len(text) > _LONGEST:
        return None
    bare = text.strip().removeprefix("\ufeff").strip()
    try:
        return _decode_nested(_parse_json(bare), (), "high")
    except (ValueError, RecursionError):
        pass
    for inner, step, confidence in _candidates(bare):
        reading = _read_leniently(inner)
        if reading is not None:
            return _accept(reading, inner, step, confidence)
    return None


_LONGEST = 4_000_000


def _parse_json(text: str) -> object:
    """JSON and nothing else; whole numbers of any size stay exact."""
    return cast("object", json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_finite))


def _parse_finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse_constant(digits)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


_FENCE = re.compile(r"```[ \t]{0,9}[\w+-]{0,20}[ \t]{0,9}\r?\n(.*?)(?:\r?\n[ \t]*)?```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_BRACKET = re.compile(r"[{}\[\]]")
_PAIRS = (("{", "}"), ("[", "]"))
_AROUND = "Left out the words around the JSON."
_MOST_OPENINGS = 8


def _candidates(text: str) -> Iterator[tuple[str, str, Confidence]]:
    """Parts of a text that may be the value: all of it, its one fenced block, then from each opening bracket on."""
    if text[:1] in "{[(\"'":
        yield text, "", "high"
    if "```" in text:
        blocks = [block[1] for block in _FENCE.finditer(text)]
        if len(blocks) > 1:
            return
        if blocks:
            yield blocks[0].strip(), "Took the JSON out of its Markdown fence.", "high"
        elif text.startswith("```"):
            # The fence was never closed: the text may have been cut.
            yield text.split("\n", 1)[-1].strip(), "Took the JSON out of its Markdown fence.", "medium"
        return
    for _, opening in zip(range(_MOST_OPENINGS), _OPENING.finditer(text), strict=False):
        start = opening.start()
        # A part of a value that could not be read is not the value.
        if start and all(text.count(left, 0, start) == text.count(right, 0, start) for left, right in _PAIRS):
            yield text[start:], _AROUND, "medium"


def _accept(reading: LenientValue, text: str, step: str, confidence: Confidence) -> Recovered | None:
    """The value that was read, or None where the text behind it makes it doubtful."""
    steps = ((step,) if step else ()) + reading.steps
    sure = least((confidence, reading.confidence))
    rest = text[reading.end :].strip()
    if rest:
        if set(rest) <= set("}])"):
            steps, sure = (*steps, "Left out closing brackets that close nothing."), least((sure, "medium"))
        elif rest in (";", ","):
            steps = (*steps, "Left out what follows the JSON.")
        elif _BRACKET.search(rest) or not (is_object(reading.value) or is_array(reading.value)):
            # More brackets follow: which of them holds the arguments is a guess.
            return None
        else:
            steps, sure = (steps if _AROUND in steps else (*steps, _AROUND)), least((sure, "medium"))
    return _decode_nested(reading.value, steps, sure)


def _read_leniently(text: str) -> LenientValue | None:
    try:
        return read(text)
    except Unreadable:
        return None


_DEEPEST_ENCODING = 3


def _decode_nested(value: object, steps: tuple[str, ...], confidence: Confidence) -> Recovered | None:
    """The value; a text that is JSON in itself is decoded again."""
    for _ in range(_DEEPEST_ENCODING):
        if not isinstance(value, str) or value.strip()[:1] not in ("{", "[", '"'):
            break
        text = value.strip()
        try:
            value = _parse_json(text)
        except (ValueError, RecursionError):
            reading = _read_leniently(text)
            if reading is None or text[reading.end :].strip():
                break
            value, confidence, steps = reading.value, least((confidence, reading.confidence)), (*steps, *reading.steps)
        steps = (*steps, "Decoded JSON that was encoded twice.")
    if steps and not (is_object(value) or is_array(value)):
        return None
    return Recovered(value=value, steps=steps, confidence=confidence)
