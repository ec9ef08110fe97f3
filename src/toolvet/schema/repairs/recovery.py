"""Text that was meant as JSON → the value, with every departure from JSON told."""

import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

import msgspec

from toolvet.schema.json_value import is_array, is_object
from toolvet.schema.repairs.confidence import Confidence, least
from toolvet.schema.repairs.lenient import LenientValue, Unreadable, read


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """The value that a text was meant to hold; `steps` tells in a sentence each what had to be read otherwise."""

    value: object
    steps: tuple[str, ...]
    confidence: Confidence


def recover(text: str) -> Recovered | None:
    """The JSON value that `text` was meant to hold, or None where that is uncertain. Total, in linear time.

    JSON itself comes back without steps. Beyond it an object or an array is read in the notations of Python and
    JavaScript, in Markdown fences, inside prose, encoded twice, and cut off at the end where only closing marks are
    missing. NaN and Infinity are no JSON values, and are refused.
    """
    if len(text) > _LONGEST:
        return None
    bare = text.strip().removeprefix("\ufeff").strip()
    try:
        return _decoded(_strict(bare), (), "high")
    except (ValueError, RecursionError):
        pass
    for inner, step, confidence in _places(bare):
        reading = _read(inner)
        if reading is not None:
            return _recovered(reading, inner, step, confidence)
    return None


_LONGEST = 4_000_000


def _strict(text: str) -> object:
    """JSON and nothing else; whole numbers of any size stay exact."""
    return cast("object", json.loads(text, parse_constant=_refused, parse_float=_finite))


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refused(digits)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


_FENCE = re.compile(r"```[ \t]{0,9}[\w+-]{0,20}[ \t]{0,9}\r?\n(.*?)(?:\r?\n[ \t]*)?```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_BRACKET = re.compile(r"[{}\[\]]")
_PAIRS = (("{", "}"), ("[", "]"))
_AROUND = "Left out the words around the JSON."
_MOST_OPENINGS = 8


def _places(text: str) -> Iterator[tuple[str, str, Confidence]]:
    """Where in a text the value may stand: all of it, its one fenced block, then behind each opening bracket."""
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
        # What stands inside a value that could not be read is not the value.
        if start and all(text.count(left, 0, start) == text.count(right, 0, start) for left, right in _PAIRS):
            yield text[start:], _AROUND, "medium"


def _recovered(reading: LenientValue, text: str, step: str, confidence: Confidence) -> Recovered | None:
    """What was read, unless what follows it makes it doubtful."""
    steps = ((step,) if step else ()) + reading.steps
    sure = least((confidence, reading.confidence))
    rest = text[reading.end :].strip()
    if rest:
        if set(rest) <= set("}])"):
            steps, sure = (*steps, "Left out closing brackets that close nothing."), least((sure, "medium"))
        elif rest in (";", ","):
            steps = (*steps, "Left out what follows the JSON.")
        elif _BRACKET.search(rest) or not (is_object(reading.value) or is_array(reading.value)):
            # More brackets follow: which of them holds the arguments is anybody's guess.
            return None
        else:
            steps, sure = (steps if _AROUND in steps else (*steps, _AROUND)), least((sure, "medium"))
    return _decoded(reading.value, steps, sure)


def _read(text: str) -> LenientValue | None:
    try:
        return read(text)
    except Unreadable:
        return None


_DEEPEST_ENCODING = 3


def _decoded(value: object, steps: tuple[str, ...], confidence: Confidence) -> Recovered | None:
    """The value; a text that holds JSON once more is read once more."""
    for _ in range(_DEEPEST_ENCODING):
        if not isinstance(value, str) or value.strip()[:1] not in ("{", "[", '"'):
            break
        text = value.strip()
        try:
            value = _strict(text)
        except (ValueError, RecursionError):
            reading = _read(text)
            if reading is None or text[reading.end :].strip():
                break
            value, confidence, steps = reading.value, least((confidence, reading.confidence)), (*steps, *reading.steps)
        steps = (*steps, "Decoded JSON that was encoded twice.")
    if steps and not (is_object(value) or is_array(value)):
        return None
    return Recovered(value=value, steps=steps, confidence=confidence)
