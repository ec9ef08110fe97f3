"""Answers for one value that is wrong in itself: the value that was meant in its place."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import orjson

from toolvet.core.json_value import Path, elements, is_array, is_object, same, type_name, unique
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.repairs.context import (
    Confidence,
    Guess,
    Meaning,
    Operation,
    PathPatch,
    View,
    bare,
    meant,
    nearest,
    rank,
    unquoted,
    wanted_types,
)
from toolvet.core.schema.repairs.notation import variants
from toolvet.core.schema.repairs.recovery import recover
from toolvet.core.schema.violation import Violation


def leaf_answer(view: View, path: Path, violations: Sequence[Violation]) -> PathPatch | None:
    """Return what answers the violations of the value at `path` itself, or None: bounds are never clamped."""
    value = view.at(path)
    place = view.place(path)
    # All schemas at the place, and those that were broken: they may belong to an option that was not chosen.
    parts = place.parts
    for violation in violations:
        broken = view.context.holder(view.base, violation.schema_pointer)
        if broken is not None and not [part for part in parts if part.schema is broken.schema]:
            parts = [*parts, broken]
    says_null: Confidence | None = None
    if (value is None or value == [] or isinstance(value, str)) and view.is_optional(path):
        if value is None:
            return _remove(path, "it is null, and may be left out", "high")
        if value in ("", []):
            return _remove(path, "it is empty, and may be left out", "medium")
        says_null = meant(value, "null") if isinstance(value, str) else None
        if says_null == "high" and not _is_of_type(view, parts, value):
            return _remove(path, "it says null, and may be left out", "medium")
    schemas = place.schemas if parts is place.parts else [part.schema for part in parts if is_object(part.schema)]
    name = path[-1] if path else ""
    if not isinstance(name, str):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
    guess = _choose_guess(view, parts, _guesses(value, name, violations, schemas))
    if guess is not None:
        return PathPatch(
            path=path,
            operations=(Operation(op="replace", path=path, value=guess.value, old=value),),
            confidence=guess.confidence,
            cost=guess.cost,
        )
    if says_null:
        return _remove(path, "it says null, and may be left out", "medium")
    return None


def _remove(path: Path, why: str, confidence: Confidence) -> PathPatch:
    return PathPatch(path=path, operations=(Operation(op="remove", path=path, why=why),), confidence=confidence, cost=1)


def _guesses(
    value: object, name: str, violations: Sequence[Violation], schemas: Sequence[Mapping[str, object]]
) -> Iterator[Guess]:
    keywords = {violation.keyword: violation for violation in violations}
    for violation in violations:
        if violation.keyword == "enum":
            yield from match_options(value, elements(violation.params.get("options")))
            break
        if violation.keyword == "const":
            yield from match_options(value, [violation.params.get("expected_value")])
            break
    broken = keywords.get("type")
    if broken is not None:
        for kind in wanted_types(broken):
            yield from convert(value, kind, name, schemas)
            if kind == "string" and not isinstance(value, str):
                yield from variants(value, schemas)
        return
    if isinstance(value, float) and value.is_integer():
        yield Guess(int(value), "high")
    if isinstance(value, str) and not keywords.keys().isdisjoint(_TEXTUAL):
        yield from variants(value, schemas)
    if "uniqueItems" in keywords and len(elements(value)) <= _MOST_COMPARED:
        yield Guess(unique(elements(value)), "medium")


_MOST_COMPARED = 300
_TEXTUAL = frozenset({"format", "pattern", "maxLength"})


def match_options(value: object, options: Sequence[object]) -> Iterator[Guess]:
    """Guesses which of the allowed values `value` means."""
    if is_array(value) and len(value) == 1:
        for option in options:
            if same(option, value[0]):
                yield Guess(option, "high")
        value = value[0]
    texts = [option for option in options if isinstance(option, str)]
    if isinstance(value, str):
        found = nearest(value, texts)
        if found is not None:
            yield Guess(found.option, found.confidence)
    for option in options:
        if isinstance(option, str) == isinstance(value, str) or is_object(option) or is_array(option):
            continue
        # The same value as another type: `5` and `"5"`, `true` and `"True"`.
        for guess in convert(value, type_name(option), "", ()):
            if same(guess.value, option):
                yield Guess(option, guess.confidence, 1)
        if isinstance(option, str) and isinstance(value, bool | int | float) and not is_array(value):
            for guess in convert(option, type_name(value), "", ()):
                if same(guess.value, value):
                    yield Guess(option, guess.confidence, 1)


def _choose_guess(view: View, parts: list[Subschema], guesses: Iterator[Guess]) -> Guess | None:
    """The surest guess that fits; two that are equally sure refute each other."""
    fitting: list[Guess] = []
    opening: list[Guess] = []
    for guess in guesses:
        if view.context.accepts(parts, guess.value):
            fitting.append(guess)
        elif (is_object(guess.value) or is_array(guess.value)) and _is_of_type(view, parts, guess.value):
            opening.append(guess)
    if not fitting and opening:
        fitting = opening
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    ordered = sorted(fitting, key=lambda guess: (rank(guess.confidence), guess.cost))
    first = ordered[0]
    others = [guess for guess in ordered if not same(guess.value, first.value)]
    if any((guess.confidence, guess.cost) == (first.confidence, first.cost) for guess in others):
        return None
    if first.confidence == "high" and any(guess.confidence != "low" for guess in others):
        # Another reading fits as well: this one is only the likelier of the two.
        return msgspec.structs.replace(first, confidence="medium")
    return first


def _is_of_type(view: View, parts: list[Subschema], value: object) -> bool:
    """Whether `value` is of a type that the parts allow; what is wrong inside a container is answered next."""
    return type_name(value) in view.of(parts, value).types()


def convert(value: object, kind: str, name: str, schemas: Sequence[Mapping[str, object]]) -> Iterator[Guess]:
    """Yield what `value` may be as the JSON type `kind`, the surest guess first.

    `name` is the name of the member that holds the value, `schemas` those that apply to it: both hint at the value.
    """
    if is_object(value) and kind != "object" and len(value) == 1:
        # The one value of an object that only wraps it: `{"value": 5}`.
        ((key, inner),) = value.items()
        if bare(key) == bare(name) or meant(key, "value") or meant(key, "wrapping"):
            yield Guess(inner, "medium")
            for guess in convert(inner, kind, name, ()) if not is_object(inner) and kind != "array" else ():
                yield Guess(guess.value, "low", guess.cost)
    if is_array(value) and kind != "array":
        yield from _from_single_item(value, kind, name, schemas)
    elif kind in ("integer", "number"):
        yield from _as_number(value, kind)
    elif kind in _SPOKEN and isinstance(value, str):
        for meaning, meant_value in _SPOKEN[kind]:
            confidence = meant(unquoted(value), meaning)
            if confidence is not None:
                yield Guess(meant_value, confidence)
    elif kind == "boolean" and not isinstance(value, bool) and value in (0, 1):
        yield Guess(value == 1, "medium")
    elif kind == "string":
        if isinstance(value, bool):
            yield Guess("true" if value else "false", "high")
        elif isinstance(value, int):
            if value.bit_length() < 200:
                yield Guess(str(value), "high")
        elif isinstance(value, float):
            if value.is_integer() and abs(value) < 2**53:
                yield Guess(str(int(value)), "medium")
            yield Guess(orjson.dumps(value).decode(), "medium" if value.is_integer() else "high", 1)
        elif is_object(value) and _asks_for_json(name, schemas):
            yield from _as_json_text(value)
    elif kind == "array":
        yield from _as_list(value)
    elif kind == "object":
        yield from _as_object(value)


# The values that words mean, by the type that is wanted.
_SPOKEN: Mapping[str, tuple[tuple[Meaning, bool | None], ...]] = {
    "boolean": (("true", True), ("false", False)),
    "null": (("null", None),),
}

# As JSON writes numbers, with the plus sign, the zeros and the bare points that people write.
_NUMBER = re.compile(
    r"[+-]?(?P<zeros>0*)(?=[0-9.])(?P<whole>[0-9]*)(?P<point>\.[0-9]*)?(?P<power>[eE][+-]?[0-9]{1,3})?"
)
_LONGEST_NUMBER = 60
# Groups of three. One group is a number only where an integer is wanted: "1,234" may be 1.234, as in German, or 1234.
# "10 000" may be two numbers.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?P<mark>[,'_])[0-9]{3}(?P<more>(?:(?P=mark)[0-9]{3})*)")


def _as_number(value: object, kind: str) -> Iterator[Guess]:
    if isinstance(value, bool):
        yield Guess(int(value), "low")
    elif isinstance(value, float) and kind == "integer" and value.is_integer():
        yield Guess(int(value), "high")
    elif isinstance(value, str) and len(value) <= _LONGEST_NUMBER:
        text = unquoted(value)
        grouped = _GROUPED.fullmatch(text)
        if grouped is not None and (kind == "integer" or grouped["more"]):
            yield Guess(int(text.replace(grouped["mark"], "")), "medium")
            return
        found = _NUMBER.fullmatch(text)
        if found is None or not (found["whole"] or found["zeros"]) or not text.isascii():
            return
        padded = bool(found["zeros"] and found["whole"])
        if not found["point"] and not found["power"]:
            yield Guess(int(text), "medium" if padded else "high")
            return
        exact = float(text)
        if not math.isfinite(exact):
            return
        if kind == "number":
            yield Guess(exact, "medium" if padded else "high")
        elif exact.is_integer() and abs(exact) < 2**53:
            yield Guess(int(exact), "medium" if padded else "high")


_JSON = re.compile(r"\bjson\b", re.IGNORECASE)


def _asks_for_json(name: str, schemas: Sequence[Mapping[str, object]]) -> bool:
    """Whether a text is meant to hold JSON, by its name, description or media type."""
    said = [name.replace("_", " "), re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)]
    for schema in schemas:
        texts = (schema.get(key) for key in ("description", "contentMediaType", "title"))
        said += [text[:1000] for text in texts if isinstance(text, str)]
    return any(_JSON.search(text) for text in said)


def _as_json_text(value: object) -> Iterator[Guess]:
    try:
        yield Guess(orjson.dumps(value).decode(), "medium")
    except (TypeError, ValueError):
        return


def _as_list(value: object) -> Iterator[Guess]:
    if value is None:
        return
    if isinstance(value, str):
        parsed = _parse_container(value, "[")
        if parsed is not None and is_array(parsed.value):
            yield parsed
            return
        # The parts of a text that lists things by one kind of separator; prose has longer ones.
        kinds = set(_SEPARATORS.findall(value.strip()))
        if "," in kinds:
            kinds.discard("\n")
        is_list = len(kinds) == 1 and len(value) <= 4_000
        pieces = [unquoted(piece) for piece in value.split(kinds.pop())] if is_list else []
        if pieces and pieces[-1] == "":
            pieces.pop()
        if pieces and all(piece and len(piece.split()) <= _MOST_WORDS for piece in pieces):
            yield Guess(pieces, "medium")
            # One text that holds commas, or several: the list is the likelier reading, and the other is kept.
            yield Guess([value], "low", 2)
            return
        if _SEPARATORS.search(value):
            yield Guess([value], "medium", 2)
            return
        if meant(value, "null") is not None:
            # "" and "null" in place of a list mean that there is no list; they are not an item of one.
            return
    elif is_object(value):
        for start in (0, 1):
            # An array as an object that is keyed by index.
            if value and list(value) == [str(index) for index in range(start, start + len(value))]:
                yield Guess(list(value.values()), "high" if start == 0 else "medium")
    yield Guess([value], "high", 2)


_SEPARATORS = re.compile(r"[,;\n|]")
_MOST_WORDS = 4


def _as_object(value: object) -> Iterator[Guess]:
    if isinstance(value, str):
        parsed = _parse_container(value, "{")
        if parsed is not None and is_object(parsed.value):
            yield parsed
    elif is_array(value) and len(value) == 1 and is_object(value[0]):
        yield Guess(value[0], "high")
    elif value is None or value == []:
        yield Guess({}, "medium")


_LONGEST_JSON = 200_000


def _parse_container(text: str, opening: str) -> Guess | None:
    """The JSON that a text contains, if it has the bracket that opens the container."""
    if opening not in text[:200] or len(text) > _LONGEST_JSON:
        return None
    found = recover(text)
    return None if found is None else Guess(found.value, found.confidence)


def _from_single_item(value: object, kind: str, name: str, schemas: Sequence[Mapping[str, object]]) -> Iterator[Guess]:
    """The one item of a list."""
    items = elements(value)
    if kind == "object":
        yield from _as_object(value)
    elif len(items) == 1:
        yield Guess(items[0], "high")
        for guess in convert(items[0], kind, name, schemas):
            yield Guess(guess.value, "low" if guess.confidence == "low" else "medium", guess.cost)
    elif kind == "string" and len(items) > 1:
        if _asks_for_json(name, schemas):
            yield from _as_json_text(value)
        elif all(isinstance(item, str) and "," not in item for item in items) and any(
            _COMMAS.search(text[:1000]) for schema in schemas if isinstance(text := schema.get("description"), str)
        ):
            yield Guess(",".join(map(str, items)), "medium")


_COMMAS = re.compile(r"\bcomma[- ](?:separated|delimited)\b|\bCSV\b", re.IGNORECASE)
