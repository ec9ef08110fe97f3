"""Valid calls of tools, broken in the ways in which models and form tools break them; always the same for one seed."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from tests.core.schema.repair.site import exists, sites, without
from tests.core.schema.repair.ways import HOPELESS, KINDS, Breaker, Text
from tests.labelled import DATA

from toolvet.core.json_value import replaced
from toolvet.core.schema import boundary_examples, compiled, valid_example
from toolvet.errors import Unsatisfiable

REAL = DATA / "tool_schema.jsonl"


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """One call: the schema, the valid call, and what came instead (a text where the JSON itself is broken)."""

    kind: str
    schema: Any
    call: Any
    sent: Any
    repairable: bool = True


def broken_calls(schemas: Sequence[Any], total: int, seed: int) -> Iterator[Broken]:
    """`total` broken calls, as evenly over the kinds as the schemas allow."""
    rng = random.Random(seed)  # noqa: S311 - the same calls for the same seed
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


# Few schemas have a date or a pattern: a kind is given up for this turn after this many schemas without it.
_DRAWS = 120


def _one(rng: random.Random, schema: Any, call: Any, breaker: Breaker) -> tuple[Any, Any] | None:
    ready = compiled(schema)
    for original, sent in breaker(rng, call, list(sites(schema, call))):
        if not ready.is_valid(original):
            continue
        if isinstance(sent, Text) or not ready.is_valid(sent):
            return original, sent
    return None


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


WORDS = [
    "alpha",
    "beta",
    "gamma",
    "report",
    "Berlin",
    "alice",
    "draft 2",
    "main",
    "Quarterly numbers",
    "x-ray",
    "node.js",
]


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
