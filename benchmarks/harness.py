"""How every benchmark measures and reports: ways of doing the same thing take turns, and have one form of report.

    with Report("envelope", peers=["jsonschema"]) as report:
        report.compare("build", "an error", [
            Way("toolvet", build),
            Way("a dataclass with asdict", by_dataclass, lost="checks nothing"),
        ])

The first way is ours. All ways of a case have the same number of rounds, and take turns in each; a round runs a way as
often as fits into a few milliseconds. A figure is the median of the rounds in CPU time of the thread, which other
programs disturb least, with its quartiles and the median of the clock; "times ours" is the median of the ratios of the
rounds. A way with many inputs (268 schemas, say) has one job for each; its figure of a round is their geometric mean.

`make bench` names a file in `TOOLVET_FIGURES`, into which a report is written as JSON (benchmarks/figures.py reads it).
"""

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import repeat
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

ROUNDS: Final = 21
FEWEST_ROUNDS: Final = 5
SLICE_S: Final = 0.005  # The time of a round of one way, unless one run is longer.
LEAST_SLICE_S: Final = 0.0003  # With many inputs, what one of them takes at least.
CASE_S: Final = 20.0  # A case that would take longer has fewer rounds, all ways alike.
HAND_IN: Final = "TOOLVET_FIGURES"


class Taken(NamedTuple):
    """What some runs took in all, in seconds."""

    cpu: float
    wall: float


Job = Callable[[], object]
Clock = Callable[[int], Taken]  # Runs something this many times.


def here(job: Job) -> Clock:
    """Run it in this thread."""

    def clock(repeats: int) -> Taken:
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        for _ in repeat(None, repeats):
            job()
        return Taken((time.thread_time_ns() - cpu) / 1e9, (time.perf_counter_ns() - wall) / 1e9)

    return clock


class Way:
    """One way of doing what a case is about: a job, one job for each of many inputs, or clocks of another process.

    `lost` says what this way does not do that ours does, or what it lost while it was measured.
    """

    def __init__(self, name: str, job: Job | None = None, *, many: Iterable[Job] = (), lost: str = "") -> None:
        self.name, self.lost = name, lost
        self.clocks: list[Clock] = [here(each) for each in (many if job is None else [job])]

    @classmethod
    def timed(cls, name: str, clocks: Iterable[Clock], *, lost: str = "") -> Self:
        """One that is measured by its own clocks, one for each input."""
        way = cls(name, lost=lost)
        way.clocks = list(clocks)
        return way


class Figure(NamedTuple):
    """What one way took: microseconds of CPU time, their quartiles, those of the clock, and times ours."""

    name: str
    median: float
    low: float
    high: float
    wall: float
    times: float
    times_low: float
    times_high: float
    lost: str


class Case(NamedTuple):
    """One comparison."""

    case: str
    rounds: int
    inputs: int
    figures: list[Figure]

    def times(self, name: str) -> float:
        """How many times ours a way took."""
        return next(each.times for each in self.figures if each.name == name)


# ── arithmetic ──


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The first quartile, the median, the third."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean; every value must be positive."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def figures_of(rounds: Mapping[str, Sequence[Taken]], lost: Mapping[str, str]) -> list[Figure]:
    """The figures of the rounds of each way; those of one round have the same place in each list."""
    ours = next(iter(rounds.values()))
    found = []
    for name, each in rounds.items():
        low, middle, high = quartiles([one.cpu * 1e6 for one in each])
        times_low, times, times_high = quartiles(
            [one.cpu / own.cpu for one, own in zip(each, ours, strict=True) if own.cpu]
        )
        wall = statistics.median(one.wall * 1e6 for one in each)
        found.append(Figure(name, middle, low, high, wall, times, times_low, times_high, lost.get(name, "")))
    return found


# ── measuring ──


def warm() -> None:
    """Have compiled what is compiled once on a machine: a slower engine serves until then, and would be measured."""
    subprocess.run([sys.executable, "-m", "toolvet", "warm"], check=True, stdout=subprocess.DEVNULL)


def repeats_of(clock: Clock, slice_s: float) -> tuple[int, float]:
    """How often it runs in a slice, and what it takes once."""
    clock(1)
    once = max(clock(1).cpu, 1e-7)
    if once < slice_s / 10:
        few = max(2, min(1_000, int(slice_s / 10 / once)))
        once = max(clock(few).cpu / few, 1e-8)
    return max(1, int(slice_s / once)), once


def compare(
    case: str, ways: Sequence[Way], *, rounds: int = ROUNDS, slice_s: float = SLICE_S, case_s: float = CASE_S
) -> Case:
    """Measure all ways in turns."""
    inputs = len(ways[0].clocks)
    assert all(len(way.clocks) == inputs for way in ways), "every way has a job for every input"
    share = max(LEAST_SLICE_S, slice_s / inputs)
    ready = [[(clock, *repeats_of(clock, share)) for clock in way.clocks] for way in ways]
    one_round = sum(repeats * once for way in ready for _, repeats, once in way)
    rounds = max(min(FEWEST_ROUNDS, rounds), min(rounds, int(case_s / max(one_round, 1e-9))))
    taken: dict[str, list[Taken]] = {way.name: [] for way in ways}
    assert len(taken) == len(ways), "every way of a case has a name of its own"
    # Objects built before are left out of garbage collections: otherwise whichever way happens to run during a
    # collection would also be charged for walking them.
    gc.collect()
    gc.freeze()
    try:
        for number in range(rounds):
            # Each round starts with another way, so that what the one before left in the processor's caches is not
            # always to the good or the harm of the same one.
            for place in range(len(ways)):
                turn = (place + number) % len(ways)
                parts = [_per_run(clock(repeats), repeats) for clock, repeats, _ in ready[turn]]
                taken[ways[turn].name].append(
                    Taken(geometric_mean(part.cpu for part in parts), geometric_mean(part.wall for part in parts))
                )
    finally:
        gc.unfreeze()
    return Case(case, rounds, inputs, figures_of(taken, {way.name: way.lost for way in ways}))


def _per_run(taken: Taken, repeats: int) -> Taken:
    return Taken(max(taken.cpu / repeats, 1e-9), max(taken.wall / repeats, 1e-9))


# ── reporting ──


def shown(us: float) -> str:
    """Microseconds with three digits that count, in the unit that suits them."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= 10 * size:
            return f"{digits(us / size)} {unit}"
    return f"{digits(us)} µs"


def digits(number: float) -> str:
    """Three digits that count, and as many more as there are before the point."""
    if number == 0:
        return "0"
    if abs(number) < 0.001:
        return "< 0.001"
    places = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{places}f}"


@dataclass
class Report:
    """The findings of a program, printed as it comes and handed in at the end.

    `part` is its place in docs/performance.md, `peers` are distributions whose versions stand there.
    """

    part: str
    peers: Sequence[str] = ()
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        for peer in self.peers:
            try:
                self.versions[peer] = version(peer)
            except PackageNotFoundError:
                print(f"{peer} is not installed")
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        """Hand in; nothing of a program that broke off."""
        path = os.environ.get(HAND_IN)
        if path and kind is None:
            told = {"part": self.part, "peers": self.versions, "tables": self.tables}
            Path(path).write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")

    def compare(self, title: str, case: str, ways: Sequence[Way], *, about: str = "", **how: Any) -> Case:
        """Measure a case of the table with this title; `how` is for the function of the same name."""
        found = compare(case, ways, **how)
        self.add(title, found, about=about)
        return found

    def add(self, title: str, found: Case, *, about: str = "") -> None:
        """Report a case that was measured elsewhere."""
        table = self._table(title, about, {"cases": []})
        table["cases"].append(
            {
                "case": found.case,
                "rounds": found.rounds,
                "inputs": found.inputs,
                "ways": [{key: _short(value) for key, value in each._asdict().items()} for each in found.figures],
            }
        )
        print(found.case if found.inputs == 1 else f"{found.case} ({found.inputs} inputs, geometric mean)")
        for each in found.figures:
            spread = f"{shown(each.low)} to {shown(each.high)}"
            print(f"    {each.name:36}{shown(each.median):>12}  ({spread}){digits(each.times):>10}x  {each.lost}")

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, about: str = "") -> None:
        """Report figures of any other kind, as they shall be shown."""
        cells = [[str(cell) for cell in row] for row in rows]
        self._table(title, about, {"columns": list(columns), "rows": cells})
        widths = [max(len(row[place]) for row in [list(columns), *cells]) for place in range(len(columns))]
        for row in [list(columns), *cells]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def _table(self, title: str, about: str, empty: dict[str, Any]) -> dict[str, Any]:
        if title not in self.tables:
            print(f"\n{title}{f': {about}' if about else ''}")
            self.tables[title] = {"about": about, **empty}
        return self.tables[title]


def _short(value: object) -> object:
    """A number as the data file keeps it."""
    return float(f"{value:.4g}") if isinstance(value, float) else value
