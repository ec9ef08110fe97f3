"""Valid calls of tools, broken in the ways in which models and form tools break them; always the same for one seed."""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolvet.errors import Unsatisfiable
from toolvet.schema import boundary_examples, compiled, valid_example
from toolvet.schema.json_value import replaced, same

REAL = Path(__file__).parents[4] / "shared" / "data" / "tool_schema.jsonl"


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """One call: the schema, the valid call, and what came instead (a text where the JSON itself is broken)."""

    kind: str
    schema: Any
    call: Any
    sent: Any
    repairable: bool = True


class Site(msgspec.Struct, frozen=True):
    """One place of a call: where, what stands there, what its schema says, and whether it may be left out."""

    path: tuple[str | int, ...]
    value: Any
    schema: Mapping[str, Any]
    optional: bool
    nullable: bool


Breaker = Callable[[random.Random, Any, Sequence[Site]], Iterator[tuple[Any, Any]]]


def broken_calls(schemas: Sequence[Any], total: int, seed: int) -> Iterator[Broken]:
    """`total` broken calls, as evenly over the kinds as the schemas allow."""
    rng = random.Random(seed)
    pools = {id(schema): calls_of(schema) for schema in schemas}
    usable = [schema for schema in schemas if pools[id(schema)]]
    kinds = [(name, breaker, True) for name, breaker in KINDS.items()]
    kinds += [(name, breaker, False) for name, breaker in HOPELESS.items()]
    made = 0
    for turn in range(total * 4):
        name, breaker, repairable = kinds[turn % len(kinds)]
        for _ in range(_DRAWS):
            schema = rng.choice(usable)
            call = varied(rng, schema, rng.choice(pools[id(schema)]))
            found = _one(rng, schema, call, breaker)
            if found is not None:
                break
        else:
            continue
        yield Broken(kind=name, schema=schema, call=found[0], sent=found[1], repairable=repairable)
        made += 1
        if made == total:
            return


# Few schemas have a date or a pattern: a kind is given up for this turn when so many do not take it.
_DRAWS = 120


def _one(rng: random.Random, schema: Any, call: Any, breaker: Breaker) -> tuple[Any, Any] | None:
    ready = compiled(schema)
    for original, sent in breaker(rng, call, list(sites(schema, call))):
        if not ready.is_valid(original):
            continue
        if isinstance(sent, Text) or not ready.is_valid(sent):
            return original, sent
    return None


class Text(str):
    """A call as a text that is no JSON."""

    __slots__ = ()


def real_schemas() -> list[Any]:
    """The schemas of real tools, where the folder with them is there."""
    if not REAL.exists():
        return []
    return [json.loads(line)["schema"] for line in REAL.read_text().splitlines()]


def calls_of(schema: Any) -> list[Any]:
    """Valid calls of a schema."""
    if compiled(schema).problem is not None:
        return []
    try:
        found = [valid_example(schema), valid_example(schema, required_only=True)]
    except Unsatisfiable:
        return []
    found += [example.instance for example in boundary_examples(schema)[:8]]
    return [call for call in found if isinstance(call, dict)]


WORDS = ["alpha", "beta", "gamma", "report", "Berlin", "alice", "draft 2", "main", "Quarterly numbers", "x-ray", "node.js"]


def varied(rng: random.Random, schema: Any, call: Any) -> Any:
    """`call` with some optional members left out and other contents, still valid."""
    ready = compiled(schema)
    for site in list(sites(schema, call)):
        if "enum" in site.schema and rng.random() < 0.7:
            other: Any = rng.choice(site.schema["enum"])
        elif site.optional and rng.random() < 0.3 and len(site.path) == 1:
            smaller = without(call, site.path)
            call = smaller if ready.is_valid(smaller) else call
            continue
        elif isinstance(site.value, bool):
            other = rng.random() < 0.5
        elif isinstance(site.value, int):
            other = rng.choice([1, 2, 3, 5, 10, 20, 50, 100, 250])
        elif isinstance(site.value, float):
            other = rng.choice([0.5, 1.5, 2.25, 12.75])
        elif isinstance(site.value, str) and not {"format", "pattern", "enum", "const"} & site.schema.keys():
            other = rng.choice([site.value, rng.choice(WORDS)])
        elif isinstance(site.value, list) and site.value and all(isinstance(item, str) for item in site.value):
            other = [rng.choice([site.value[0], rng.choice(WORDS)]) for _ in range(rng.choice([1, 2, 3]))]
        else:
            continue
        try:
            changed = replaced(call, site.path, other)
        except (IndexError, KeyError, TypeError):
            continue
        call = changed if ready.is_valid(changed) and exists(call, site.path) else call
    return call


def exists(call: Any, path: Sequence[str | int]) -> bool:
    for step in path:
        if isinstance(call, dict) and step in call:
            call = call[step]
        elif isinstance(call, list) and isinstance(step, int) and step < len(call):
            call = call[step]
        else:
            return False
    return True


def sites(schema: Any, call: Any) -> Iterator[Site]:
    """Every place of the call with what the schema says there, by the plain keywords alone."""
    yield from _sites(schema, schema, call, (), optional=False)


def _sites(root: Any, schema: Any, value: Any, path: tuple[str | int, ...], *, optional: bool) -> Iterator[Site]:
    nullable = any(way == {"type": "null"} for way in schema.get("anyOf", ())) if isinstance(schema, dict) else False
    schema = _resolved(root, schema, value)
    if path:
        yield Site(path, value, schema, optional, nullable)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, item in value.items():
            if name in properties:
                below = name not in schema.get("required", [])
                yield from _sites(root, properties[name], item, (*path, name), optional=below)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _sites(root, schema["items"], item, (*path, index), optional=False)


def _resolved(root: Any, schema: Any, value: Any) -> Mapping[str, Any]:
    for _ in range(8):
        if not isinstance(schema, dict):
            return {}
        if "$ref" in schema:
            schema = _at(root, schema["$ref"])
        elif "anyOf" in schema or "oneOf" in schema:
            ways = schema.get("anyOf") or schema.get("oneOf")
            defs = {name: root[name] for name in ("$defs", "definitions") if name in root}
            fitting = [way for way in ways if compiled({**defs, **way}).is_valid(value)]
            if not fitting:
                return schema
            schema = fitting[0]
        else:
            break
    return schema if isinstance(schema, dict) else {}


def _at(root: Any, reference: str) -> Any:
    for step in reference.removeprefix("#").split("/")[1:]:
        root = root.get(step, {}) if isinstance(root, dict) else {}
    return root


def without(call: Any, path: Sequence[str | int]) -> Any:
    if len(path) == 1:
        return {name: item for name, item in call.items() if name != path[0]}
    return replaced(call, path[:1], without(call[path[0]], path[1:]))


def renamed(call: Any, path: Sequence[str | int], name: str) -> Any:
    if len(path) == 1:
        return {name if key == path[0] else key: item for key, item in call.items()}
    return replaced(call, path[:1], renamed(call[path[0]], path[1:], name))


def shuffled(rng: random.Random, found: Sequence[Site]) -> list[Site]:
    return rng.sample(list(found), len(found))


# The ways. Each yields pairs of a valid call and what was sent instead of it.


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
        if isinstance(site.value, list) and len(site.value) > 1:
            if all(isinstance(item, str | int) and not isinstance(item, bool) for item in site.value):
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


_MONTHS = "January February March April May June July August September October November December".split()


def extra_key(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    del found
    yield call, {**call, rng.choice(["explanation", "_reason", "thought", "confidence"]): rng.choice(["because", 1, None])}


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
        rest = [site for site in found if exists(sent, site.path) and _value(sent, site.path) == site.value]
        for _, worse in second(rng, sent, rest):
            yield original, worse


def _value(call: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        call = call[step]
    return call


# Text that is no JSON.


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


# What nobody can repair: the value that was meant cannot be known.


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
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    if not words:
        return name
    camel = words[0] + "".join(word.title() for word in words[1:])
    styles = [camel, camel[:1].upper() + camel[1:], "_".join(words), "-".join(words), " ".join(words), "_".join(words).upper()]
    return rng.choice([style for style in styles if style != name])


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

Outcome = Literal["original", "other, high", "other, lower", "none"]
