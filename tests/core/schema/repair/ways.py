"""The ways in which models and form tools break a call. Each yields pairs of a valid call and what was sent instead."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.core.schema.repair.site import Site, exists, renamed, shuffled, without

from toolvet.core.json_value import at, replaced, same

Breaker = Callable[[random.Random, Any, Sequence[Site]], Iterator[tuple[Any, Any]]]


class Text(str):
    """A call as a text that is not JSON."""

    __slots__ = ()


def number_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, int | float) and not isinstance(site.value, bool):
            yield call, replaced(call, site.path, json.dumps(site.value))


def number_as_padded_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, int | float) and not isinstance(site.value, bool):
            text = json.dumps(site.value)
            yield call, replaced(call, site.path, rng.choice([f" {text}", f"{text}\n", f'"{text}"', f"'{text}'"]))


def boolean_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, bool):
            text = str(site.value)
            yield call, replaced(call, site.path, rng.choice([text, text.lower(), text.upper()]))


def boolean_as_word(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, bool):
            words: list[Any] = ["yes", "Yes", "on", "1", 1] if site.value else ["no", "No", "off", "0", 0]
            yield call, replaced(call, site.path, rng.choice(words))


def text_as_number(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str):
            number = rng.choice([7, 42, 2024, 1.5, 123456])
            yield replaced(call, site.path, json.dumps(number)), replaced(call, site.path, number)


def text_as_boolean(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str):
            truth = rng.random() < 0.5
            yield replaced(call, site.path, json.dumps(truth)), replaced(call, site.path, truth)


def json_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, dict | list):
            yield call, replaced(call, site.path, json.dumps(site.value))


def python_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, dict | list) and site.value:
            yield call, replaced(call, site.path, str(site.value))


def call_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    yield call, json.dumps(call)


def scalar_for_list(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, list) and site.value:
            yield replaced(call, site.path, site.value[:1]), replaced(call, site.path, site.value[0])


def list_for_scalar(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if not isinstance(site.value, list):
            yield call, replaced(call, site.path, [site.value])


def commas_for_list(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        plain = isinstance(site.value, list) and all(type(item) in (str, int) for item in site.value)
        if plain and len(site.value) > 1:
            yield call, replaced(call, site.path, rng.choice([", ", ",", ";"]).join(map(str, site.value)))


def object_for_list(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, list) and site.value:
            yield call, replaced(call, site.path, {str(index): item for index, item in enumerate(site.value)})


def enum_case(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and ("enum" in site.schema or "const" in site.schema):
            way = rng.choice([str.upper, str.title, str.capitalize, str.lower])
            yield call, replaced(call, site.path, way(site.value))


def enum_spelling(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and "enum" in site.schema and len(site.value) > 4:
            yield call, replaced(call, site.path, misspelt(rng, site.value))


def enum_separators(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and ("enum" in site.schema or "const" in site.schema):
            yield call, replaced(call, site.path, restyled(rng, site.value))


def enum_white_space(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and ("enum" in site.schema or "const" in site.schema):
            around = rng.choice([" {}", "{} ", "'{}'", '"{}"', "{}\n"])
            yield call, replaced(call, site.path, around.format(site.value))


def key_style(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.path[-1], str):
            yield call, renamed(call, site.path, restyled(rng, site.path[-1]))


def key_spelling(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.path[-1], str) and len(site.path[-1]) > 4:
            yield call, renamed(call, site.path, misspelt(rng, site.path[-1]))


def wrapped(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    if call:
        name = rng.choice(["arguments", "input", "params", "args", "parameters", "kwargs"])
        yield call, {name: call if rng.random() < 0.7 else json.dumps(call)}


def wrapped_call(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    if call:
        yield call, rng.choice([{"name": "search", "arguments": call}, {"tool": "search", "input": call}])


def flattened(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, dict) and site.value and len(site.path) == 1:
            rest = without(call, site.path)
            if not set(rest) & set(site.value):
                yield call, {**rest, **site.value}


def too_deep(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, dict) and site.value and isinstance(site.path[-1], str):
            yield call, replaced(call, site.path, {site.path[-1]: site.value})
        elif not isinstance(site.value, dict | list):
            yield call, replaced(call, site.path, {"value": site.value})


def null_for_optional(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if site.optional:
            yield without(call, site.path), replaced(call, site.path, None)


def null_as_text(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if site.optional:
            nothing = replaced(call, site.path, None)
            # Where null is allowed, it is what the text says; elsewhere it means that the member was to be left out.
            sent = replaced(call, site.path, rng.choice(["null", "None"]))
            yield (nothing if site.nullable else without(call, site.path)), sent
        elif site.value is None:
            yield call, replaced(call, site.path, "null")


def empty_for_optional(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if site.optional:
            yield without(call, site.path), replaced(call, site.path, "")


def day_notation(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if site.schema.get("format") == "date":
            year, month, day = rng.randint(1990, 2030), rng.randint(1, 12), rng.randint(13, 28)
            name = _MONTHS[month - 1]
            written = rng.choice(
                [
                    f"{year}/{month:02}/{day:02}",
                    f"{day} {name} {year}",
                    f"{name} {day}, {year}",
                    f"{name[:3]} {day} {year}",
                    f"{day}.{month:02}.{year}",
                    f"{month:02}/{day:02}/{year}",
                    f"{day:02}/{month:02}/{year}",
                    f"{year}{month:02}{day:02}",
                    f"{year}-{month:02}-{day:02}T00:00:00Z",
                ]
            )
            yield replaced(call, site.path, f"{year}-{month:02}-{day:02}"), replaced(call, site.path, written)


def time_notation(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        year, month, day, hour = rng.randint(1990, 2030), rng.randint(1, 12), rng.randint(1, 28), rng.randint(13, 23)
        date = f"{year}-{month:02}-{day:02}"
        if site.schema.get("format") == "date-time":
            written = rng.choice(
                [
                    f"{date} {hour}:15:00",
                    f"{date}T{hour}:15:00",
                    f"{date} {hour}:15",
                    f"{date} {hour - 12}:15 PM",
                    f"{date} {hour}:15:00 UTC",
                    f"{date}T{hour}:15:00+0000",
                    f"{day} {_MONTHS[month - 1]} {year} {hour}:15:00 GMT",
                    f"{date.replace('-', '/')} {hour}:15:00Z",
                ]
            )
            original = f"{date}T{hour}:15:00Z" if "+0000" not in written else f"{date}T{hour}:15:00+00:00"
            yield replaced(call, site.path, original), replaced(call, site.path, written)
        elif site.schema.get("format") == "time":
            written = rng.choice([f"{hour}:15", f"{hour}:15:00", f"{hour - 12}:15 PM", f"{hour - 12}:15pm"])
            yield replaced(call, site.path, f"{hour}:15:00Z"), replaced(call, site.path, written)


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def extra_key(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    yield (
        call,
        {**call, rng.choice(["explanation", "_reason", "thought", "confidence"]): rng.choice(["because", 1, None])},
    )


def pattern_notation(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and ("pattern" in site.schema or site.schema.get("format") in ("uuid", "email")):
            for other in (f" {site.value} ", site.value.upper(), site.value.lower(), site.value.replace("-", "_")):
                if rng.random() < 0.5 and other != site.value:
                    yield call, replaced(call, site.path, other)


def two_at_once(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    first = rng.choice([number_as_text, boolean_as_text, enum_case, key_style, scalar_for_list, json_as_text])
    for original, sent in first(rng, call, found):
        if same(original, sent) or not isinstance(sent, dict):
            continue
        second = rng.choice([wrapped, call_as_text, number_as_text, boolean_as_text, enum_case])
        rest = [site for site in found if exists(sent, site.path) and at(sent, site.path) == site.value]
        for _, worse in second(rng, sent, rest):
            yield original, worse


# Text that is not JSON.


def single_quotes(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    if "'" not in json.dumps(call) and call:
        yield call, Text(str(call))


def trailing_commas(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    if call:
        yield call, Text(re.sub(r"(?<=[^{\[\s])\n\s*([}\]])", r",\n\1", json.dumps(call, indent=1)))


def bare_names(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    if call and all(re.fullmatch(r"[a-zA-Z_]\w*", name) for name in call):
        yield call, Text("{" + ", ".join(f"{name}: {json.dumps(item)}" for name, item in call.items()) + "}")


def fenced(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    before = rng.choice(["", "Here are the arguments:\n\n"])
    yield call, Text(f"{before}```json\n{json.dumps(call, indent=2)}\n```")


def in_prose(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    if call:
        around = rng.choice(["Sure, I will call it with {}.", "Arguments: {}", "{} // done"])
        yield call, Text(around.replace("{}", json.dumps(call)))


def smart_quotes(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    text = json.dumps(call)
    if call and "\\" not in text:
        yield call, Text(re.sub(r'"([^"]*)"', "“\\1”", text))


def cut_off(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del rng, found
    text = json.dumps(call)
    if call:
        yield call, Text(text.rstrip("}]"))


# Beyond repair: the value that was meant is unknown.


def out_of_bounds(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, int | float) and not isinstance(site.value, bool):
            for wrong in (site.schema.get("maximum", 0) + 1, site.schema.get("minimum", 0) - 1):
                yield call, replaced(call, site.path, wrong)
        elif isinstance(site.value, str) and "maxLength" in site.schema:
            yield call, replaced(call, site.path, "y" * (site.schema["maxLength"] + 1))


def missing_unknown(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        known = "default" in site.schema or "const" in site.schema or len(site.schema.get("enum", [1, 2])) == 1
        if not site.optional and isinstance(site.path[-1], str) and not known:
            yield call, without(call, site.path)


def foreign_word(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, int | float) and site.schema.get("type") in ("integer", "number", "boolean"):
            yield call, replaced(call, site.path, rng.choice(["plenty", "as many as there are", "10 000", "1,5"]))


def foreign_choice(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if isinstance(site.value, str) and "enum" in site.schema:
            yield call, replaced(call, site.path, rng.choice(["zzqx", "whatever you like", "?"]))


def doubtful_day(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    for site in shuffled(rng, found):
        if site.schema.get("format") == "date":
            yield call, replaced(call, site.path, rng.choice(["03/04/2025", "1/2/2025", "tomorrow", "2025-02-30"]))


def misspelt(rng: random.Random, word: str) -> str:
    """One slip of the pen, not in the first letter."""
    at = rng.randrange(1, len(word) - 1)
    match rng.choice(["drop", "double", "swap", "change"]):
        case "drop":
            return word[:at] + word[at + 1 :]
        case "double":
            return word[:at] + word[at] + word[at:]
        case "swap":
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case _:
            return word[:at] + rng.choice("aeiourstn") + word[at + 1 :]


def restyled(rng: random.Random, name: str) -> str:
    """The same words in another case style."""
    words: list[str] = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    if not words:
        return name
    camel = words[0] + "".join(word.title() for word in words[1:])
    styles = [
        camel,
        camel[:1].upper() + camel[1:],
        "_".join(words),
        "-".join(words),
        " ".join(words),
        "_".join(words).upper(),
    ]
    found: list[str] = [style for style in styles if style != name]
    return rng.choice(found) if found else name


KINDS: dict[str, Breaker] = {
    function.__name__: function
    for function in (
        *(number_as_text, number_as_padded_text, boolean_as_text, boolean_as_word, text_as_number, text_as_boolean),
        *(json_as_text, python_as_text, call_as_text, scalar_for_list, list_for_scalar, commas_for_list),
        *(object_for_list, enum_case, enum_spelling, enum_separators, enum_white_space, key_style, key_spelling),
        *(wrapped, wrapped_call, flattened, too_deep, null_for_optional, null_as_text, empty_for_optional),
        *(day_notation, time_notation, extra_key, pattern_notation, two_at_once),
        *(single_quotes, trailing_commas, bare_names, fenced, in_prose, smart_quotes, cut_off),
    )
}
HOPELESS: dict[str, Breaker] = {
    function.__name__: function
    for function in (out_of_bounds, missing_unknown, foreign_word, foreign_choice, doubtful_day)
}
