"""The data set: 2,000 calls, each as it was meant and as it was sent, always the same for one seed.

Four of five are calls of functions that users gave the Berkeley Function-Calling Leaderboard, with its ground truth as
the call that was meant. The others are of the project's own dozen schemas: the leaderboard has no formats, patterns or
bounds. `build` returns them; `sha256` is the fingerprint that docs/healing.md states.
"""

import gzip
import hashlib
import io
import json
import keyword
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from pydantic import BaseModel
from tests.core.schema.repair.breaking import calls_of, varied
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS
from tests.core.schema.repair.site import Site, renamed, shuffled, sites
from tests.core.schema.repair.ways import HOPELESS, KINDS, Breaker

from toolvet.core.json_value import same
from toolvet.core.schema import compiled

BFCL: Final = "bfcl-eval==2026.3.23"
BFCL_SHA256: Final = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
CALLS: Final = 2_000
SEED: Final = 20_261_128
_OWN_SHARE: Final = 0.2
_DRAWS: Final = 120  # A kind is given up for this turn after this many calls that it cannot break.


class Tool(msgspec.Struct, frozen=True):
    """A tool: its name, where its schema is from, and the schema."""

    name: str
    source: str
    schema: Mapping[str, Any]


class Broken(msgspec.Struct, frozen=True):
    """A call of the tool with this number: as it was meant, and as it was sent.

    `undetermined`: what was sent does not say which value was meant, so any that the tool takes in its place is right.
    """

    tool: int
    kind: str
    fault: str
    call: Mapping[str, Any]
    sent: Mapping[str, Any]
    undetermined: bool

    def open_members(self) -> set[str]:
        """The members whose value is not determined."""
        if not self.undetermined:
            return set()
        return {name for name, value in self.call.items() if name not in self.sent or not same(self.sent[name], value)}


# ── kinds that the tests of repairs lack; the names of parameters are what ToolScan and BFCL find wrong most ──


def key_short(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    """A parameter by a shorter name: `loc` for `location`."""
    for site in shuffled(rng, found):
        name = site.path[-1]
        if isinstance(name, str) and len(name) > 4:
            yield call, renamed(call, site.path, name.split("_")[-1] if "_" in name else name[:3])


def key_other(rng: random.Random, call: Any, found: Sequence[Site]) -> Iterator[tuple[Any, Any]]:
    """A parameter by a name that says nothing."""
    for site in shuffled(rng, found):
        if isinstance(site.path[-1], str):
            yield call, renamed(call, site.path, rng.choice(["value", "input", "arg1", "data", "text"]))


# Each kind with the fault that it is counted under.
FAULTS: Final[Mapping[str, Sequence[str]]] = {
    "wrong type": [
        *("number_as_text", "number_as_padded_text", "boolean_as_text", "boolean_as_word", "text_as_number"),
        *("text_as_boolean", "foreign_word"),
    ],
    "text for a structure": ["json_as_text", "python_as_text"],
    "list or single value": ["scalar_for_list", "list_for_scalar", "commas_for_list", "object_for_list"],
    "not one of the choices": ["enum_case", "enum_spelling", "enum_separators", "enum_white_space", "foreign_choice"],
    "wrong name": ["key_style", "key_spelling", "key_short", "key_other"],
    "wrong depth": ["wrapped", "wrapped_call", "flattened", "too_deep"],
    "null or empty": ["null_for_optional", "null_as_text", "empty_for_optional"],
    "format, pattern or bounds": [
        *("day_notation", "time_notation", "pattern_notation", "out_of_bounds", "doubtful_day"),
    ],
    "missing": ["missing_unknown"] * 3,
    "unknown member": ["extra_key"] * 2,
    "two at once": ["two_at_once"] * 2,
}
BREAKERS: Final[Mapping[str, Breaker]] = {**KINDS, **HOPELESS, "key_short": key_short, "key_other": key_other}


def build(pools: Sequence[tuple[Tool, Sequence[Mapping[str, Any]]]], total: int = CALLS) -> list[Broken]:
    """As evenly over the kinds of each fault, and over the faults, as the schemas allow."""
    rng = random.Random(SEED)  # noqa: S311 - the same calls for the same seed
    real = [number for number, (tool, _) in enumerate(pools) if tool.source != "own"]
    own = [number for number, (tool, _) in enumerate(pools) if tool.source == "own"]
    kinds = [(fault, kind) for turn in range(7) for fault, kinds in FAULTS.items() for kind in kinds[turn : turn + 1]]
    made: list[Broken] = []
    known: set[str] = set()
    for turn in range(total * 8):
        fault, kind = kinds[turn % len(kinds)]
        for _ in range(_DRAWS):
            number = rng.choice(own if not real or rng.random() < _OWN_SHARE else real)
            tool, calls = pools[number]
            call = rng.choice(calls)
            if tool.source == "own":
                call = varied(rng, tool.schema, call)
            pair = _broken(rng, tool.schema, call, BREAKERS[kind])
            if pair and (key := json.dumps([number, pair[1]], sort_keys=True)) not in known:
                known.add(key)
                made.append(Broken(number, kind, fault, *pair, kind in HOPELESS))
                break
        if len(made) == total:
            break
    return made


def _broken(rng: random.Random, schema: Any, call: Any, breaker: Breaker) -> tuple[Any, Any] | None:
    ready = compiled(schema)
    for original, sent in breaker(rng, call, list(sites(schema, call))):
        # Only objects reach a tool.
        if isinstance(sent, dict) and ready.is_valid(original) and not ready.is_valid(sent):
            return original, sent
    return None


def tools(folder: Path) -> list[tuple[Tool, Sequence[Mapping[str, Any]]]]:
    """Each tool with calls that were meant. The wheel of the leaderboard is kept in the folder."""
    return [*leaderboard(wheel(folder)), *own()]


def own() -> list[tuple[Tool, Sequence[Mapping[str, Any]]]]:
    """The project's own schemas."""
    return [(Tool(f"own_{number}", "own", schema), calls_of(schema)) for number, schema in enumerate(OWN_SCHEMAS)]


def wheel(folder: Path) -> Path:
    """The leaderboard's wheel, downloaded with pip if it is missing."""
    found = sorted(folder.glob("bfcl_eval-*.whl"))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), BFCL]
        subprocess.run(command, check=True)
        found = sorted(folder.glob("bfcl_eval-*.whl"))
    if hashlib.sha256(found[0].read_bytes()).hexdigest() != BFCL_SHA256:
        raise SystemExit(f"{found[0]} is not the wheel of {BFCL} that the data set is made of; delete it and try again")
    return found[0]


def leaderboard(path: Path) -> Iterator[tuple[Tool, Sequence[Mapping[str, Any]]]]:
    """The functions of its live part, with those of its right calls that are valid."""
    found: dict[str, tuple[Tool, list[Mapping[str, Any]]]] = {}
    with zipfile.ZipFile(path) as archive:
        for part in ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"):
            questions = _lines(archive, f"bfcl_eval/data/BFCL_v4_{part}.json")
            answers = _lines(archive, f"bfcl_eval/data/possible_answer/BFCL_v4_{part}.json")
            truth = {row["id"]: row["ground_truth"] for row in answers}
            for row in questions:
                functions = {each["name"]: each["parameters"] for each in row["function"]}
                for right in truth.get(row["id"], ()):
                    for name, members in right.items():
                        if name in functions:
                            _keep(found, name, functions[name], members)
    return (pair for pair in found.values() if pair[1])


def _lines(archive: zipfile.ZipFile, name: str) -> list[Any]:
    return [json.loads(line) for line in archive.read(name).splitlines()]


def _keep(found: dict[str, tuple[Tool, list[Mapping[str, Any]]]], name: str, parameters: Any, members: Any) -> None:
    schema = _schema(parameters)
    # The checker of the leaderboard refuses a parameter that the function does not have, and so do most tools.
    schema["additionalProperties"] = False
    if not all(_plain(each) for each in schema["properties"]):
        return
    call = _first([members])
    if call and compiled(schema).is_valid(call):
        tool = Tool(re.sub(r"\W", "_", name), "leaderboard", schema)
        calls = found.setdefault(json.dumps([name, schema], sort_keys=True), (tool, []))[1]
        if call not in calls:
            calls.append(call)


def _plain(name: str) -> bool:
    """Whether it can be the parameter of a Python function and the field of a pydantic class as it is."""
    return name.isidentifier() and not (keyword.iskeyword(name) or name.startswith("_") or hasattr(BaseModel, name))


# As the leaderboard itself translates its types (bfcl_eval/constants/type_mappings.py).
_TYPES: Final = {
    "float": "number",
    "dict": "object",
    "tuple": "array",
    "list": "array",
    "any": "string",
    "bool": "boolean",
}


def _schema(parameters: Any) -> dict[str, Any]:
    schema = dict(parameters)
    schema["type"] = _TYPES.get(schema["type"], schema["type"])
    if "properties" in schema:
        schema["properties"] = {name: _schema(each) for name, each in schema["properties"].items()}
    if isinstance(schema.get("items"), dict) and "type" in schema["items"]:
        schema["items"] = _schema(schema["items"])
    return schema


def _first(options: Any) -> Any:
    """The first of the values that count as right; the empty text means that the member may be left out."""
    value = options[0] if isinstance(options, list) and options else options
    if isinstance(value, dict):
        # Some answers write the value of an inner member as it is, without a list around it.
        return {
            name: _first(each)
            for name, each in value.items()
            if not (isinstance(each, list) and each[:1] in ([], [""]))
        }
    if isinstance(value, list):
        return [_first([each]) for each in value]
    return value


def write(rows: Sequence[Broken], pools: Sequence[tuple[Tool, Any]], path: Path) -> str:
    """Write the data set as JSON lines, and return the SHA-256 of the lines."""
    lines = b"".join(
        msgspec.json.encode({"name": pools[row.tool][0].name, "inputSchema": pools[row.tool][0].schema, **each}) + b"\n"
        for row in rows
        for each in [msgspec.to_builtins(row)]
    )
    held = io.BytesIO()
    with gzip.GzipFile(fileobj=held, mode="wb", mtime=0) as packed:
        packed.write(lines)
    path.write_bytes(held.getvalue())
    return hashlib.sha256(lines).hexdigest()
