"""How often a repair gives back the call that was meant, by the kind of its steps and by its confidence."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.calibration.reliability import Judged
from benchmarks.calibration.slips import put, sent, sites
from tests.core.schema.repair.breaking import broken_calls
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet.core.json_value import same
from toolvet.core.schema import compiled, recover, repair, valid_example
from toolvet.core.schema.repairs.context import Confidence, RepairContext, least
from toolvet.core.schema.repairs.search import StepKind, certainty_of, find_repair, kinds_of
from toolvet.errors import Unsatisfiable

SEED = 20_261_122
LEVELS: tuple[Confidence, ...] = ("high", "medium", "low")
MOST_OF_A_SOURCE = 200  # Repairs of one kind that count: a large server must not outvote the others.
DRAWN_BY = 10  # Kinds with few repairs are drawn to the share of their confidence, as by this many repairs more.
WORDS = (
    "Hamburg",
    "quarterly report",
    "alice",
    "main",
    "draft-2",
    "invoice 7",
    "src/app.py",
    "tea",
    "blue whale",
    "v1.2",
)


class Tool(NamedTuple):
    """A tool and valid calls of it: `source` is the server, or the data set of a function."""

    source: str
    schema: Any
    calls: list[Any]


class Repaired(NamedTuple):
    """One slip that was repaired: what the repair rests on, and whether it gave back the call that was meant."""

    source: str
    slip: str
    kinds: frozenset[StepKind]
    confidence: Confidence
    right: bool


Table = dict[tuple[StepKind, Confidence], float]


def tools(folder: Path) -> Iterator[Tool]:
    """The tools of real servers with calls made for them, and functions of BFCL with the calls that are wanted."""
    rng = random.Random(SEED)  # noqa: S311 - the same calls for the same seed
    for row in rows(folder / "tool_schema.jsonl"):
        yield Tool(str(row["meta"]["server"]), row["schema"], list(made(row["schema"], rng)))
    for row in rows(folder / "schema_validation.jsonl"):
        if row["dataset"].startswith("bfcl") and row["label"] == "valid":
            yield Tool(row["dataset"], row["schema"], [row["instance"]])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)


def made(schema: Any, rng: random.Random) -> Iterator[Any]:
    """Valid calls with other words and numbers than the examples have."""
    ready = compiled(schema)
    for required_only in (True, False, False):
        try:
            call = valid_example(schema, required_only=required_only)
        except Unsatisfiable:
            return
        for site in list(sites(schema, call)):
            other: Any = None
            if "enum" in site.schema:
                other = rng.choice(site.schema["enum"])
            elif isinstance(site.value, bool):
                other = rng.random() < 0.5
            elif isinstance(site.value, (int, float)):
                other = rng.choice([2, 3, 5, 7, 12, 25, 40, 2.5])
            elif isinstance(site.value, str):
                other = rng.choice(WORDS)
            if other is not None and ready.is_valid(changed := put(call, site.path, other)):
                call = changed
        if isinstance(call, dict) and call and ready.is_valid(call):
            yield call


class Measured(NamedTuple):
    """All repairs, and how many slips of each kind were made, repaired or not."""

    repaired: list[Repaired]
    made: Counter[str]


def measure(folder: Path) -> Measured:
    """Break the calls of every tool in every way, and repair them."""
    rng = random.Random(SEED)  # noqa: S311 - the same calls for the same seed
    measured = Measured([], Counter())
    for tool in tools(folder):
        for call in tool.calls:
            for each in sent(tool.schema, call, rng):
                measured.made[each.slip] += 1
                found = outcome(tool.schema, each.value)
                if found is not None:
                    value, kinds, confidence = found
                    right = same(value, each.call)
                    measured.repaired.append(Repaired(tool.source, each.slip, kinds, confidence, right))
    return measured


def outcome(schema: Any, value: Any) -> tuple[Any, frozenset[StepKind], Confidence] | None:
    """What `check_arguments` would offer, with the kinds of its steps; None where it offers nothing."""
    kinds: frozenset[StepKind] = frozenset()
    confidence: Confidence = "high"
    if isinstance(value, str):
        read = recover(value)
        if read is None:
            return None
        value, confidence, kinds = read.value, read.confidence, frozenset({StepKind.READ})
    ready = compiled(schema)
    if ready.is_valid(value):
        return value, kinds, confidence
    if repair(schema, value) is None:
        return None
    found = find_repair(RepairContext(ready), "", value)
    if found is None:
        return None
    return found.value, kinds | kinds_of(found.operations), least((confidence, found.confidence))


def fitted(found: Sequence[Repaired]) -> Table:
    """The share of right repairs by kind of step and confidence, from those of one kind; few are drawn to their level.

    A source counts for at most `MOST_OF_A_SOURCE` repairs of one kind and confidence.
    """
    by_level = {level: shares([each for each in found if each.confidence == level]) for level in LEVELS}
    table: Table = {}
    for kind in StepKind:
        for level in LEVELS:
            own = [each for each in found if each.kinds == frozenset({kind}) and each.confidence == level]
            count, right = shares(own)
            prior = by_level[level][1] / max(by_level[level][0], 1)
            table[kind, level] = (right + DRAWN_BY * prior) / (count + DRAWN_BY)
    return table


def shares(found: Sequence[Repaired]) -> tuple[float, float]:
    """How many count, and how many of these were right."""
    parts: dict[str, list[bool]] = defaultdict(list)
    for each in found:
        parts[each.source].append(each.right)
    counted = [(min(len(part), MOST_OF_A_SOURCE), sum(part) / len(part)) for part in parts.values()]
    return sum(count for count, _ in counted), sum(count * share for count, share in counted)


def left_out(found: Sequence[Repaired]) -> list[Judged]:
    """Each repair, judged by the table of the other half of the sources."""
    sources = sorted({each.source for each in found})
    halves = [set(sources[::2]), set(sources[1::2])]
    judged: list[Judged] = []
    for half in halves:
        table = fitted([each for each in found if each.source not in half])
        for each in found:
            if each.source in half:
                said = min(table[kind, each.confidence] for kind in each.kinds)
                judged.append(Judged(each.source, said, each.right))
    return judged


def elsewhere(calls: int = 3_000) -> list[Judged]:
    """The table that is shipped, judged on other slips: those of the tests, in calls of schemas written for them."""
    judged: list[Judged] = []
    for broken in broken_calls(OWN_SCHEMAS, calls, SEED):
        found = outcome(broken.schema, broken.sent)
        if found is not None and found[1]:
            value, kinds, confidence = found
            right = broken.repairable and same(value, broken.call)
            judged.append(Judged(broken.kind, certainty_of(kinds, confidence), right))
    return judged


def written(found: Sequence[Repaired]) -> str:
    """The tables for `schema/repairs/certainty.toml`."""
    table = fitted(found)
    return "\n".join(
        f"[{kind}]\n" + "\n".join(f"{level} = {min(table[kind, level], 0.99):.2f}" for level in LEVELS) + "\n"
        for kind in StepKind
    )
