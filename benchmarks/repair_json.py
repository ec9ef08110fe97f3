"""Compare `repair_json` with json-repair: valid calls as JSON text, broken in sixteen ways.

Run: python -m benchmarks.repair_json [FOLDER of *.json, each a schema or `{"tools": […]}`] [--show WAY]
"""

import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.harness import Report, quartiles
from tests.core.schema.repair.breaking import real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet import repair_json, valid_example
from toolvet.core.json_value import same
from toolvet.core.schema import compiled

TEXTS = 6_000
SEED = 20_261_128
WORDS = ("tea", "hello world", "it's here", "node.js", "Berlin, Germany", "a\nb", "50%", "x: y", "{braces}")


def without_comma(rng: random.Random, text: str) -> str | None:
    places = [found.start() for found in re.finditer(r",(?=\s*\")", text)]
    place = rng.choice(places) if places else -1
    return f"{text[:place]} {text[place + 1 :]}" if places else None


def python(rng: random.Random, text: str) -> str | None:
    del rng
    return repr(json.loads(text))


def unquoted(rng: random.Random, text: str) -> str | None:
    del rng
    found = re.sub(r'"([A-Za-z_]\w*)":', r"\1:", text)
    return found if found != text else None


def call(rng: random.Random, text: str) -> str | None:
    del rng
    value = json.loads(text)
    if not all(name.isidentifier() for name in value):
        return None
    return f"tool({', '.join(f'{name}={each!r}' for name, each in value.items())})"


def typed(rng: random.Random, text: str) -> str | None:
    value = json.loads(text)
    names = [name for name, each in value.items() if isinstance(each, int | float) and not isinstance(each, bool)]
    return json.dumps({**value, (name := rng.choice(names)): str(value[name])}) if names else None


def misnamed(rng: random.Random, text: str) -> str | None:
    value = json.loads(text)
    names = [name for name in value if "_" in name]
    if not names:
        return None
    wrong = rng.choice(names)
    head, *rest = wrong.split("_")
    return json.dumps(
        {(head + "".join(map(str.title, rest)) if name == wrong else name): value[name] for name in value}
    )


# In each, `{"a": 1, "b": "x"}` is written as a model may write it.
WAYS: dict[str, Callable[[random.Random, str], str | None]] = {
    "fence": lambda _, text: f"```json\n{text}\n```",
    "prose around": lambda _, text: f"Here is the call you asked for:\n\n{text}\n\nLet me know if it helps.",
    "trailing comma": lambda _, text: f"{text[:-1]},}}" if text != "{}" else None,
    "comment": lambda _, text: text.replace("{", "{ // the arguments\n", 1),
    "Python literals": python,
    "names without quotes": unquoted,
    "curly quotes": lambda rng, text: (
        None
        if "“" in text or "'" in text
        else re.sub('"', "“", text)
        if rng.random() < 0.5
        else re.sub(r'"([^"]*)"', "“\\1”", text)
    ),
    "missing comma": without_comma,
    "semicolons": lambda _, text: re.sub(r",(?=\s*\")", ";", text) if re.search(r",(?=\s*\")", text) else None,
    "cut: brackets": lambda _, text: text[:-1] if text[-2:-1] in '"]}' else None,
    "line breaks in a text": lambda _, text: text.replace("\\n", "\n") if "\\n" in text else None,
    "encoded twice": lambda _, text: json.dumps(text),
    "Python call": call,
    "a number as text": typed,
    "a name in camelCase": misnamed,
    "a bracket too many": lambda _, text: f"{text}}}",
}


def schemas() -> Iterator[Any]:
    given = [Path(word) for word in sys.argv[1:] if not word.startswith("--") and Path(word).is_dir()]
    if not given:
        yield from real_schemas() + OWN_SCHEMAS
    for path in sorted(path for folder in given for path in folder.rglob("*.json")):
        read = json.loads(path.read_bytes())
        yield from (tool.get("inputSchema") for tool in read["tools"]) if "tools" in read else (read,)


def calls(rng: random.Random) -> Iterator[tuple[Any, Any]]:
    """Pairs of a schema and a valid call; texts of the example are replaced by others where the schema allows it."""
    known = []
    for schema in schemas():
        ready = compiled(schema)
        try:
            example = valid_example(schema)
        except Exception:  # noqa: BLE001, S112 - a schema without an example is not measured
            continue
        if ready.problem is None and isinstance(example, dict) and example:
            known.append((schema, ready, example))
    while known:
        schema, ready, example = rng.choice(known)
        changed = {
            name: rng.choice(WORDS) if isinstance(each, str) and rng.random() < 0.7 else each
            for name, each in example.items()
        }
        yield schema, changed if ready.is_valid(changed) else example


def is_accepted(schema: Any, text: str) -> bool:
    try:
        return compiled(schema).is_valid(json.loads(text))
    except ValueError:
        return False


def main() -> None:
    """Print the table."""
    # Not installed everywhere.
    peer: Any = import_module("json_repair").repair_json if find_spec("json_repair") else None
    rng = random.Random(SEED)  # noqa: S311 - a fixed sequence
    counts = defaultdict[str, Counter[str]](Counter)
    times: dict[str, list[float]] = {"toolvet": [], "json-repair": []}
    shown = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else ""
    made = calls(rng)
    for number in range(TEXTS):
        way = list(WAYS)[number % len(WAYS)]
        broken = None
        while broken is None:
            schema, value = next(made)
            broken = WAYS[way](rng, json.dumps(value, ensure_ascii=False))
            # An open schema may accept the slip as it is: nothing says that it is one.
            if broken is not None and is_accepted(schema, broken):
                broken = None
        start = time.perf_counter()
        found = repair_json(broken, schema)
        times["toolvet"].append((time.perf_counter() - start) * 1e6)
        outcome = "none" if not found.ok else "same" if same(found.value, value) else "other"
        counts[way][f"ours {outcome}"] += 1
        counts[way][f"ours {outcome} {found.confidence}"] += 1
        if shown in (way, "all") and outcome != "same":
            print(
                way, outcome, found.confidence, repr(broken)[:300], "|", repr(value)[:200], "|", repr(found.value)[:200]
            )
        if peer is not None:
            start = time.perf_counter()
            theirs = peer(broken, return_objects=True)
            times["json-repair"].append((time.perf_counter() - start) * 1e6)
            counts[way]["peer same" if same(theirs, value) else "peer other"] += 1
    total = sum(counts.values(), Counter[str]())
    rows = [
        [
            way,
            f"{each['ours same']:,}",
            f"{each['ours other']:,}",
            f"{each['ours none']:,}",
            f"{each['peer same']:,}",
            f"{each['peer other']:,}",
        ]
        for way, each in [*counts.items(), ("all", total)]
    ]
    middle = {name: f"{quartiles(sorted(found))[1]:.0f} µs" for name, found in times.items() if found}
    about = f"{TEXTS:,} texts; another value and sure: {total['ours other high']}; median {middle}"
    with Report("repair_json") as report:
        report.table(
            "Broken JSON texts",
            ["way", "restored", "other", "refused", "json-repair: restored", "other"],
            rows,
            about=about,
        )


if __name__ == "__main__":
    main()
