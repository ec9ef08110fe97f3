"""Valid calls, and what models send instead of them: slips from lists of observed errors, not from the repairs.

The families are those of ToolScan (Kokane et al. 2024: a wrong name, type or value, an invalid format) and of the
checker of the Berkeley Function-Calling Leaderboard (missing and unexpected parameters, wrong types, values outside the
allowed ones). The forms within a family are those that issue trackers of agents report: lists and objects encoded
twice, "null" as a text, one value for a list, units and thousands in numbers, arguments inside `arguments`. Slips that
lose what was meant (another allowed value, a missing argument) are among them: there a repair must not be sure.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolvet.core.schema import compiled

Path = tuple[str | int, ...]


class Site(NamedTuple):
    """One value of a call: its place, the part of the schema about it, and whether it may be omitted."""

    path: Path
    schema: Mapping[str, Any]
    value: Any
    optional: bool = False


class Sent(NamedTuple):
    """The value sent in place of a call. A `str` for `value` is a text that should have been JSON."""

    slip: str
    call: Any
    value: Any


Slip = Callable[[random.Random, Any, Sequence[Site]], Iterator[Any]]


def sites(schema: Mapping[str, Any], value: Any, path: Path = ()) -> Iterator[Site]:
    """The values below `value` that plain `properties` and `items` describe."""
    if isinstance(value, dict):
        for name, item in value.items():
            inner = (schema.get("properties") or {}).get(name)
            if isinstance(inner, dict):
                yield Site((*path, name), inner, item, name not in (schema.get("required") or ()))
                yield from sites(inner, item, (*path, name))
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield Site((*path, index), schema["items"], item)
            yield from sites(schema["items"], item, (*path, index))


def put(value: Any, path: Path, other: Any) -> Any:
    """A copy of `value` with `other` at `path`."""
    if not path:
        return other
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = put(value[path[0]], path[1:], other)
    return copy


def rename(value: Any, path: Path, name: str) -> Any:
    """A copy of `value` with another name for the member at `path`, in its place."""
    if len(path) > 1:
        return put(value, path[:1], rename(value[path[0]], path[1:], name))
    return {name if old == path[0] else old: item for old, item in value.items()}


def drop(value: Any, path: Path) -> Any:
    if len(path) > 1:
        return put(value, path[:1], drop(value[path[0]], path[1:]))
    return {name: item for name, item in value.items() if name != path[0]}


# ── a wrong type ──


def on_values(kind: type | tuple[type, ...], *forms: Callable[[Any], Any]) -> Slip:
    """A slip that writes one value of a kind in one of these forms; a form that gives the value back does not apply."""

    def slip(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
        fitting = [site for site in found if type(site.value) in (kind if isinstance(kind, tuple) else (kind,))]
        for site in rng.sample(fitting, len(fitting)):
            for form in rng.sample(forms, len(forms)):
                other = form(site.value)
                if other is not None and json.dumps(other) != json.dumps(site.value):
                    yield put(call, site.path, other)

    return slip


NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(value: float) -> str | None:
    return NUMBER_WORDS[int(value)] if value == int(value) and 0 <= value <= 10 else None


def plain_texts(value: Any) -> list[str] | None:
    return value if value and all(isinstance(item, str) for item in value) else None


def joined(separator: str) -> Callable[[Any], str | None]:
    return lambda value: separator.join(value) if plain_texts(value) else None


def empty_for_missing(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    """An optional argument that was not meant is sent as null, "null" or "": the call is the one without it."""
    for site in rng.sample(list(found), len(found)):
        if site.optional and len(site.path) == 1:
            nothings: list[Any] = [None, "null", "None", "", "undefined", [], {}]
            for nothing in rng.sample(nothings, len(nothings)):
                yield drop(call, site.path), put(call, site.path, nothing)


# ── a wrong name ──

SYNONYMS = {
    "query": ("q", "search", "search_query", "keyword", "text"),
    "path": ("file", "filename", "file_path", "filepath", "directory"),
    "limit": ("max_results", "count", "n", "top_k", "num_results"),
    "location": ("city", "place", "address", "where"),
    "city": ("location", "town", "place"),
    "date": ("day", "when", "datetime"),
    "text": ("content", "message", "body", "input"),
    "content": ("text", "body", "data"),
    "url": ("link", "uri", "website", "href"),
    "name": ("title", "label", "id"),
    "key": ("name", "id", "field"),
    "id": ("identifier", "uid", "key", "name"),
    "start": ("from", "begin", "start_date"),
    "end": ("to", "until", "end_date"),
    "unit": ("units", "measure", "scale"),
    "repo": ("repository", "project", "repo_name"),
    "owner": ("user", "username", "org"),
    "language": ("lang", "locale"),
    "amount": ("value", "sum", "total", "quantity"),
    "type": ("kind", "category"),
}


def words_of(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def other_style(rng: random.Random, name: str) -> str:
    parts = words_of(name) or [name]
    camel = parts[0] + "".join(part.title() for part in parts[1:])
    return rng.choice([camel, "_".join(parts), "-".join(parts), camel[:1].upper() + camel[1:], " ".join(parts)])


def misspelt(rng: random.Random, name: str) -> str:
    """A letter left out, doubled, or swapped with the one before."""
    if len(name) < 2:
        return name
    at = rng.randrange(1, len(name))
    before, letter, behind = name[:at], name[at], name[at + 1 :]
    return rng.choice([before + behind, before + letter + letter + behind, before[:-1] + letter + before[-1] + behind])


def shortened(rng: random.Random, name: str) -> str:
    parts = words_of(name)
    return rng.choice([parts[0], parts[-1], "_".join(part[:3] for part in parts)]) if parts else name


def lengthened(rng: random.Random, name: str) -> str:
    return rng.choice([f"{name}s", f"{name}_name", f"the_{name}", f"{name}_id", f"input_{name}", f"{name}_value"])


def synonym(rng: random.Random, name: str) -> str:
    parts = words_of(name)
    known = [part for part in parts if part in SYNONYMS]
    if not known:
        return name
    old = rng.choice(known)
    new = rng.choice(SYNONYMS[old])
    return new if rng.random() < 0.5 else "_".join(new if part == old else part for part in parts)


def on_names(form: Callable[[random.Random, str], str]) -> Slip:
    def slip(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
        named = [site for site in found if isinstance(site.path[-1], str)]
        for site in rng.sample(named, len(named)):
            new = form(rng, str(site.path[-1]))
            if new and new != site.path[-1]:
                yield rename(call, site.path, new)

    return slip


EXTRA = {
    "verbose": True,
    "format": "json",
    "language": "en",
    "explanation": "needed for the next step",
    "timeout": 30,
    "reason": "the user asked",
    "api_key": "none",
    "user_id": "me",
}


def invented(rng: random.Random, call: Any, _found: Sequence[Site]) -> Iterator[Any]:
    for name in rng.sample(sorted(EXTRA), len(EXTRA)):
        if name not in call:
            yield {**call, name: EXTRA[name]}


def missing(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    for site in rng.sample(list(found), len(found)):
        if isinstance(site.path[-1], str) and not site.optional:
            yield drop(call, site.path)


def similar(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    """A required argument is missing, and one that does not exist shares a word with it: `team_id` for `user_id`."""
    for site in rng.sample(list(found), len(found)):
        name = str(site.path[-1])
        parts = words_of(name)
        if site.optional or not parts or not isinstance(site.path[-1], str) or not isinstance(site.value, str):
            continue
        other = f"{rng.choice(['parent', 'default', 'source', 'team', 'previous'])}_{parts[-1]}"
        yield put(rename(call, site.path, other), (*site.path[:-1], other), f"another {parts[-1]}")


# ── a wrong value ──


def other_option(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    """An allowed value, as a person would say it rather than as the list does."""
    for site in rng.sample(list(found), len(found)):
        if "enum" in site.schema and isinstance(site.value, str):
            parts = words_of(site.value) or [site.value]
            forms = [
                site.value.upper(),
                site.value.title(),
                " ".join(parts),
                "-".join(parts),
                parts[0],
                f"{site.value}s",
            ]
            forms += [
                f"{site.value}ing",
                f"{site.value} order",
                misspelt(rng, site.value),
                f'"{site.value}"',
                f"the {site.value}",
            ]
            for form in rng.sample(forms, len(forms)):
                yield put(call, site.path, form)


def no_option(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    """A value that the list does not have: the meant one is unknown."""
    for site in rng.sample(list(found), len(found)):
        if "enum" in site.schema:
            for word in rng.sample(["auto", "default", "all", "any", "other", "best", "normal", "custom"], 8):
                yield put(call, site.path, word)


def out_of_bounds(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    for site in rng.sample(list(found), len(found)):
        if type(site.value) in (int, float):
            yield from (put(call, site.path, other) for other in rng.sample([-1, 0, 10**6, site.value + 0.5], 4))


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")


def other_notation(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[Any]:
    """Dates as people write them, addresses without a scheme or with a name."""
    for site in rng.sample(list(found), len(found)):
        text = site.value
        if not isinstance(text, str):
            continue
        if (day := re.match(r"(\d{4})-(0\d|10)-(\d\d)", text)) and site.schema.get("format") in ("date", "date-time"):
            year, month, date = day[1], int(day[2]), day[3]
            forms = [
                f"{MONTHS[month - 1]} {int(date)}, {year}",
                f"{month:02}/{date}/{year}",
                f"{year}/{month:02}/{date}",
            ]
            forms += [f"{date}.{month:02}.{year}", text.replace("T", " "), day[0], text.rstrip("Z")]
        elif site.schema.get("format") in ("uri", "url"):
            forms = [text.removeprefix("https://").removeprefix("http://"), f"<{text}>", f" {text}"]
        elif site.schema.get("format") == "email":
            forms = [f"Ann Lee <{text}>", f"mailto:{text}", text.replace("@", " at ")]
        else:
            forms = [f" {text} ", f'"{text}"', text.upper(), text.replace(" ", "_")]
        for form in rng.sample(forms, len(forms)):
            yield put(call, site.path, form)


def swapped(rng: random.Random, call: Any, _found: Sequence[Site]) -> Iterator[Any]:
    """Two arguments with each other's values."""
    names = list(call)
    for _ in range(4):
        if len(names) > 1:
            one, two = rng.sample(names, 2)
            yield {**call, one: call[two], two: call[one]}


# ── an invalid format ──


def wrapped(rng: random.Random, call: Any, _found: Sequence[Site]) -> Iterator[Any]:
    forms: list[Any] = [{key: call} for key in ("arguments", "args", "input", "parameters", "kwargs", "request")]
    forms += [{"name": "tool", "arguments": call}, {"arguments": json.dumps(call)}, [call], list(call.values())]
    forms += [{"tool": "tool", "parameters": call}, {"properties": call}, {"type": "object", "properties": call}]
    yield from rng.sample(forms, len(forms))


def flattened(rng: random.Random, call: Any, _found: Sequence[Site]) -> Iterator[Any]:
    for name in rng.sample(list(call), len(call)):
        if isinstance(call[name], dict) and call[name]:
            rest = drop(call, (name,))
            yield {**rest, **call[name]}
            yield {**rest, **{f"{name}.{inner}": value for inner, value in call[name].items()}}
            yield {**rest, **{f"{name}_{inner}": value for inner, value in call[name].items()}}


def as_text(rng: random.Random, call: Any, _found: Sequence[Site]) -> Iterator[Any]:
    """The whole call as a text that is not quite JSON."""
    text, wide = json.dumps(call), json.dumps(call, indent=2)
    if len(text) < 8:
        return
    forms = [
        repr(call),
        f"```json\n{wide}\n```",
        f"Here is the call:\n{text}",
        re.sub(r"([}\]])", r",\1", text, count=1),
    ]
    forms += [text[:-1], text[:-2], text[: len(text) // 2], re.sub(r'"(\w+)":', r"\1:", text), f"{text}\n{text}"]
    forms += [
        text.replace('"', "'"),
        f"{text}}}",
        wide.replace(",\n", ", // as asked\n", 1),
        f"{text} I hope this helps.",
    ]
    forms += [f"tool({', '.join(f'{name}={value!r}' for name, value in call.items())})", text.replace(", ", " ", 1)]
    yield from rng.sample(forms, len(forms))


SLIPS: Mapping[str, Slip] = {
    "number as text": on_values((int, float), json.dumps, lambda value: f" {value}", lambda value: f'"{value}"'),
    "number with a unit": on_values(
        (int, float), lambda value: f"{value} km", lambda value: f"${value}", lambda value: f"{value}%"
    ),
    "number in words": on_values((int, float), in_words, lambda value: f"about {value}", lambda value: f"{value:,}"),
    "boolean as text": on_values(bool, str, lambda value: str(value).lower()),
    "boolean as word": on_values(
        bool, lambda value: "yes" if value else "no", int, lambda value: "Y" if value else "N"
    ),
    "container encoded twice": on_values((list, dict), json.dumps, repr, lambda value: json.dumps(json.dumps(value))),
    "list as text": on_values(
        list, joined(", "), joined(","), joined("; "), joined(" and "), joined("\n"), joined(" ")
    ),
    "item for a list": on_values(list, lambda value: value[0] if len(value) == 1 else None),
    "list for an item": on_values((str, int, float, bool), lambda value: [value], lambda value: [value, value]),
    "object for a value": on_values(
        (str, int, float), lambda value: {"value": value}, lambda value: {"type": "string", "value": value}
    ),
    "list as object": on_values(
        list, lambda value: {str(at): item for at, item in enumerate(value)}, lambda value: {"items": value}
    ),
    "null for a value": on_values((str, int, float, bool, list, dict), lambda _: "null", lambda _: ""),
    "empty for missing": empty_for_missing,
    "name in another style": on_names(other_style),
    "name misspelt": on_names(misspelt),
    "name shortened": on_names(shortened),
    "name lengthened": on_names(lengthened),
    "another name": on_names(synonym),
    "argument invented": invented,
    "argument missing": missing,
    "similar argument": similar,
    "option said otherwise": other_option,
    "no option": no_option,
    "out of bounds": out_of_bounds,
    "another notation": other_notation,
    "values swapped": swapped,
    "wrapped": wrapped,
    "flattened": flattened,
    "not quite JSON": as_text,
}


def sent(schema: Mapping[str, Any], call: Any, rng: random.Random) -> Iterator[Sent]:
    """Each slip once, where the call has a place for it and the schema refuses what comes of it; then pairs."""
    ready = compiled(schema)
    found = list(sites(schema, call))
    once: list[Sent] = []
    for name, slip in SLIPS.items():
        for made in slip(rng, call, found):
            meant, value = made if isinstance(made, tuple) else (call, made)
            if ready.is_valid(meant) and (isinstance(value, str) or not ready.is_valid(value)):
                once.append(Sent(name, meant, value))
                break
    yield from once
    first = [each for each in once if isinstance(each.value, dict) and each.call is call]
    for each in rng.sample(first, min(len(first), 4)):
        one = len(ready.violations(each.value))
        for made in SLIPS[rng.choice(first).slip](rng, each.value, list(sites(schema, each.value))):
            # A second slip that the schema does not see cannot be repaired, and says nothing about the first.
            if isinstance(made, dict) and len(ready.violations(made)) > one:
                yield Sent("two slips", call, made)
                break
