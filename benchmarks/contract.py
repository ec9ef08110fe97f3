"""Compare `propose_schema` with genson: learn a schema from half of the results of a tool, and hold the others to it.

Run: python -m benchmarks.contract FILE.jsonl… (each line `{"group": "tool", "rows": [[arguments or null, result], …]}`)

Halves are drawn twice. Refused results are false alarms. Then up to 60 held-out results of each half are changed in six
ways, and each change counts that leaves a result which the schema accepted.
"""

import copy
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolvet.core.contract import propose_schema
from toolvet.core.schema import compiled

LEAST = 10  # Results of a group.
MOST_CHANGED = 60
SIZES = ((100, "100 and more"), (30, "30 to 99"), (0, "5 to 29"))
Place = tuple[tuple[str | int, ...], str]


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[Place]:
    """Where the members are: the path of the object, and the name."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield path, name
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value[:5]):
            yield from places(each, (*path, index))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def rename(owner: dict[str, Any], name: str) -> None:
    changed = {(f"{key}_v2" if key == name else key): value for key, value in owner.items()}
    owner.clear()
    owner.update(changed)


WAYS: Mapping[str, Callable[[dict[str, Any], str], object]] = {
    "renamed": rename,
    "other type": lambda owner, name: owner.update({name: 7 if isinstance(owner[name], str) else str(owner[name])}),
    "missing": lambda owner, name: owner.pop(name),
    "null": lambda owner, name: owner.update({name: None}),
    "other word": lambda owner, name: owner.update({name: f"{owner[name]}X"}),
}


def changed(rng: random.Random, result: Any, way: str, words: set[tuple[str, ...]]) -> Any:
    """The result with one change; None if there is nothing to change in that way."""
    if way == "wrapped":
        return {"data": result}
    found = copy.deepcopy(result)
    left = [
        (path, name)
        for path, name in places(found)
        for value in [at(found, path)[name]]
        if (way != "null" or value is not None)
        if (way != "other type" or isinstance(value, str | int | float))
        if (way != "other word" or (shape(path, name) in words and isinstance(value, str)))
    ]
    if not left:
        return None
    path, name = rng.choice(left)
    WAYS[way](at(found, path), name)
    return found


def shape(path: tuple[str | int, ...], name: str) -> tuple[str, ...]:
    return (*("*" if isinstance(part, int) else part for part in path), name)


def words_of(results: list[Any]) -> set[tuple[str, ...]]:
    """Where the results have few words again and again: at most 12, five times each."""
    values: defaultdict[tuple[str, ...], Counter[Any]] = defaultdict(Counter)
    for result in results:
        for path, name in places(result):
            value = at(result, path)[name]
            values[shape(path, name)][value if isinstance(value, str) else None] += 1
    return {
        where
        for where, found in values.items()
        if None not in found and 1 < len(found) <= 12 and found.total() >= max(5 * len(found), len(results) / 2)
    }


def by_genson(results: list[Any]) -> object:
    builder = import_module("genson").SchemaBuilder()
    for result in results:
        builder.add_object(result)
    # Its `$schema` names no draft, which a strict validator refuses.
    return {key: value for key, value in builder.to_schema().items() if key != "$schema"}


def main() -> None:
    makers: dict[str, Callable[[list[Any], list[Any]], object]] = {
        "toolvet": lambda results, arguments: propose_schema(results, arguments).schema or True
    }
    if find_spec("genson"):
        makers["genson"] = lambda results, _: by_genson(results)
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for file in sys.argv[1:]:
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            group = json.loads(line)
            rows = [(arguments, result) for arguments, result in group["rows"] if isinstance(result, dict | list)]
            for seed in range(2) if len(rows) >= LEAST else ():
                rng = random.Random(f"{group['group']}{seed}")  # noqa: S311 - a sample
                rng.shuffle(rows)
                half = len(rows) // 2
                learnt, held = rows[:half], [result for _, result in rows[half:]]
                size = next(words for least, words in SIZES if half >= least)
                words = words_of([result for _, result in rows])
                given = [arguments for arguments, _ in learnt] if learnt[0][0] is not None else []
                for name, make in makers.items():
                    schema = compiled(make([result for _, result in learnt], given))
                    good = [result for result in held if schema.is_valid(result)]
                    found = Counter(tools=1, results=len(held), refused=len(held) - len(good))
                    sample = random.Random(f"{group['group']}{seed}")  # noqa: S311 - as above
                    for result in good[:MOST_CHANGED]:
                        for way in (*WAYS, "wrapped"):
                            other = changed(sample, result, way, words)
                            if other is not None:
                                found[f"all {way}"] += 1
                                found[way] += not schema.is_valid(other)
                    counts[size, name] += found
                    counts["all", name] += found
    ways = (*WAYS, "wrapped")
    print(f"| results behind the schema | | halves | held-out results | refused | {' | '.join(ways)} |")
    print("|---" * (5 + len(ways)) + "|")
    for size in (*(words for _, words in SIZES), "all"):
        for name in makers:
            found = counts[size, name]
            shares = (f"{found[way] / max(1, found[f'all {way}']):.1%}" for way in ways)
            refused = f"{found['refused'] / max(1, found['results']):.2%}"
            print(f"| {size} | {name} | {found['tools']} | {found['results']:,} | {refused} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
