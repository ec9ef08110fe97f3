"""Compare `repair_json` with json-repair: valid calls as JSON text, broken in sixteen ways and in many further kinds.

Run: python -m benchmarks.repair_json [FOLDER of *.json, each a schema or `{"tools": […]}`] [--show WAY]

JSON_REPAIR=FOLDER, a checkout of json-repair (github.com/mangiucugna/json_repair): the inputs of its own tests, too.
MASKBENCH=FOLDER, `maskbench/data` of github.com/guidance-ai/jsonschemabench: its valid instances, broken.
"""

import ast
import json
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.broken_texts import HOPELESS, KINDS, LAST, LATER
from benchmarks.harness import Report, quartiles
from tests.core.schema.repair.breaking import real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet import repair_json, valid_example
from toolvet.core.json_value import same
from toolvet.core.schema import compiled

TEXTS = 6_000
OF_A_KIND = 100
DRAWS = 4_000
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


Pair = tuple[Any, Any]
"""A schema and a value that satisfies it."""


def schemas() -> Iterator[Any]:
    given = [Path(word) for word in sys.argv[1:] if not word.startswith("--") and Path(word).is_dir()]
    if not given:
        yield from real_schemas() + OWN_SCHEMAS
    for path in sorted(path for folder in given for path in folder.rglob("*.json")):
        read = json.loads(path.read_bytes())
        yield from (tool.get("inputSchema") for tool in read["tools"]) if "tools" in read else (read,)


def calls(rng: random.Random) -> Iterator[Pair]:
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


def instances(rng: random.Random, folder: Path) -> Iterator[Pair]:
    """The schemas of MaskBench, each with one of its valid objects."""
    known: list[Pair] = []
    for path in sorted(folder.glob("*.json")):
        read = json.loads(path.read_bytes())
        ready = compiled(read["schema"])
        held = [
            test["data"] for test in read["tests"] if test["valid"] and isinstance(test["data"], dict) and test["data"]
        ]
        known += [(read["schema"], each) for each in held[:1] if ready.problem is None and ready.is_valid(each)]
    while known:
        yield rng.choice(known)


def is_accepted(schema: Any, text: str) -> bool:
    try:
        return compiled(schema).is_valid(json.loads(text))
    except ValueError:
        return False


class Measured:
    """What became of texts, by their kind, and the microseconds that each took."""

    def __init__(self, peer: Any) -> None:
        self.counts = defaultdict[str, Counter[str]](Counter)
        self.times: dict[str, list[float]] = {"toolvet": [], "json-repair": []}
        self.peer = peer
        self.shown = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else ""

    def add(self, kind: str, schema: Any, broken: str, value: Any) -> None:
        start = time.perf_counter()
        found = repair_json(broken, schema)
        self.times["toolvet"].append((time.perf_counter() - start) * 1e6)
        outcome = "none" if not found.ok else "same" if same(found.value, value) else "other"
        self.counts[kind][f"ours {outcome}"] += 1
        self.counts[kind][f"ours {outcome} {found.confidence}"] += 1
        if self.shown in (kind, "all") and outcome != "same":
            shown = (repr(broken)[:400], repr(value)[:200], repr(found.value)[:200])
            print(kind, outcome, found.confidence, *shown, sep=" | ")
        if self.peer is not None:
            start = time.perf_counter()
            theirs = self.peer(broken, return_objects=True)
            self.times["json-repair"].append((time.perf_counter() - start) * 1e6)
            self.counts[kind]["peer same" if same(theirs, value) else "peer other"] += 1

    def broken(
        self, kinds: Mapping[str, Callable[[random.Random, str], str | None]], each: int, pairs: Iterator[Pair]
    ) -> "Measured":
        """Break values in every kind in turn, `each` times."""
        rng = random.Random(SEED)  # noqa: S311 - a fixed sequence
        for kind in (kind for _ in range(each) for kind in kinds):
            for _ in range(DRAWS):
                schema, value = next(pairs)
                text = kinds[kind](rng, json.dumps(value, ensure_ascii=False))
                # An open schema may accept the slip as it is: nothing says that it is one.
                if text is not None and not is_accepted(schema, text):
                    self.add(kind, schema, text, value)
                    break
        return self

    def report(self, report: Report, title: str) -> None:
        total = sum(self.counts.values(), Counter[str]())
        outcomes = ("ours same", "ours other", "ours none", "peer same", "peer other")
        rows = [
            [kind, *(f"{found[outcome]:,}" for outcome in outcomes)]
            for kind, found in [*self.counts.items(), ("all", total)]
        ]
        middle = [f"{name} {quartiles(sorted(found))[1]:.0f} µs" for name, found in self.times.items() if found]
        texts = total["ours same"] + total["ours other"] + total["ours none"]
        report.table(
            title,
            ["way", "restored", "other", "refused", "json-repair: restored", "other"],
            rows,
            about=f"{texts:,} texts; another value and sure: {total['ours other high']}; median {', '.join(middle)}",
        )


def of_values(kinds: Mapping[str, Callable[[random.Random, Any], str | None]]) -> Any:
    return {name: lambda rng, text, kind=kind: kind(rng, json.loads(text)) for name, kind in kinds.items()}


def tested(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """The file, input and expected value of each comparison in json-repair's tests that names both as literals."""
    for path in sorted((folder / "tests").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.Is):
                continue
            call = node.left
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in ("repair_json", "loads"):
                continue
            options = {word.arg for word in call.keywords}
            if not call.args or options - {"return_objects", "skip_json_loads", "ensure_ascii"}:
                continue
            try:
                text, expected = ast.literal_eval(call.args[0]), ast.literal_eval(node.comparators[0])
                if "return_objects" not in options and getattr(call.func, "id", "") == "repair_json":
                    expected = json.loads(expected) if expected else ""
            except ValueError:
                continue
            if isinstance(text, str):
                yield path.stem, text, expected


def derived(value: Any) -> dict[str, Any]:
    """The closed schema of one value."""
    if isinstance(value, dict):
        inner = {name: derived(each) for name, each in value.items()}
        return {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [derived(each) for each in value]}} if value else {"type": "array"}
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": kinds[type(value)]}


def main() -> None:
    """Print the tables."""
    # Not installed everywhere.
    peer: Any = import_module("json_repair").repair_json if find_spec("json_repair") else None
    rng = random.Random(SEED)  # noqa: S311 - a fixed sequence
    with Report("repair_json") as report:
        Measured(peer).broken(WAYS, TEXTS // len(WAYS), calls(rng)).report(report, "Broken JSON texts")
        kinds = Measured(peer).broken(of_values(KINDS), OF_A_KIND, calls(rng))
        kinds.report(report, "Further kinds of broken texts")
        later = Measured(peer).broken(of_values(LATER), OF_A_KIND, calls(rng))
        later.report(report, "Kinds invented after those came back")
        last = Measured(peer).broken(of_values(LAST), OF_A_KIND, calls(rng))
        last.report(report, "Kinds for which nothing was changed")
        lost = Measured(peer).broken(of_values(HOPELESS), OF_A_KIND, calls(rng))
        lost.report(report, "Texts whose value is lost")
        if "MASKBENCH" in os.environ:
            mask = Measured(peer).broken(WAYS, OF_A_KIND * 4, instances(rng, Path(os.environ["MASKBENCH"])))
            mask.report(report, "Instances of MaskBench")
        if "JSON_REPAIR" in os.environ:
            plain, guided = Measured(peer), Measured(peer)
            for file, text, expected in tested(Path(os.environ["JSON_REPAIR"])):
                plain.add(file, {}, text, expected)
                if isinstance(expected, dict | list):
                    guided.add(file, derived(expected), text, expected)
            plain.report(report, "Inputs of json-repair's tests, without a schema")
            guided.report(report, "Inputs of json-repair's tests, with a schema derived from the expected value")


if __name__ == "__main__":
    main()
