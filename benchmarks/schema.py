"""Measure a schema: cache hit, valid check, all violations, example; beside `jsonschema` where it is installed.

Run: python benchmarks/schema.py [FOLDER of *.json schemas]
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolvet.errors import Unsatisfiable
from toolvet.schema import compiled, invalid_examples, valid_example

try:
    import jsonschema  # type: ignore[import-untyped]
except ImportError:
    jsonschema = None

BUILT_IN: dict[str, Any] = {
    "search": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "What to search for"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "sort": {"type": "string", "enum": ["relevance", "date"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "booking": {
        "type": "object",
        "properties": {
            "guest": {"$ref": "#/$defs/person"},
            "nights": {"type": "integer", "minimum": 1},
            "rooms": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]-[0-9]{3}$"}, "minItems": 1},
            "note": {"anyOf": [{"type": "string", "maxLength": 200}, {"type": "null"}]},
        },
        "required": ["guest", "nights", "rooms"],
        "$defs": {
            "person": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "email": {"type": "string", "format": "email"}},
                "required": ["name", "email"],
            }
        },
    },
    "tree": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["id"],
    },
}


def microseconds(job: Callable[[], object], rounds: int = 7, calls: int = 500) -> float:
    """The median over the rounds of the mean time of a call."""
    job()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            job()
        taken.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(taken)


def compare(name: str, schema: Any) -> None:
    ready = compiled(schema)
    value = valid_example(schema)
    wrong = [example.instance for example in invalid_examples(schema)]
    print(f"{name:10} cache hit {microseconds(lambda: compiled(schema)):6.2f} µs", end="")
    valid = microseconds(lambda: ready.is_valid(value))
    told = microseconds(lambda: [ready.violations(one) for one in wrong], calls=50) / len(wrong)
    print(f"   valid {valid:6.2f} µs   violations of a wrong value {told:6.2f} µs", end="")
    if jsonschema is not None:
        peer = jsonschema.Draft202012Validator(schema)
        slow = microseconds(lambda: peer.is_valid(value), calls=50)
        errors = microseconds(lambda: [list(peer.iter_errors(one)) for one in wrong], calls=5) / len(wrong)
        print(f"   jsonschema: {slow / valid:.1f} times and {errors / told:.1f} times as long", end="")
    print()


def examples(schemas: list[Any]) -> None:
    """`valid_example` over many schemas: how many get one, and how long one takes (compiling apart)."""
    usable = [schema for schema in schemas if compiled(schema).problem is None]
    for required_only in (True, False):
        taken, found = [], 0
        for schema in usable:
            compiled(schema)
            start = time.perf_counter()
            try:
                valid_example(schema, required_only=required_only)
                found += 1
            except Unsatisfiable:
                pass
            taken.append((time.perf_counter() - start) * 1e3)
        taken.sort()
        middle, high = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
        what = "required only" if required_only else "all properties"
        print(f"valid_example, {what}: {found} of {len(usable)}, median {middle:.2f} ms, p95 {high:.2f} ms")


def main() -> None:
    for name, schema in BUILT_IN.items():
        compare(name, schema)
    if len(sys.argv) > 1:
        examples([json.loads(path.read_bytes()) for path in sorted(Path(sys.argv[1]).rglob("*.json"))])
    else:
        examples(list(BUILT_IN.values()))


if __name__ == "__main__":
    main()
