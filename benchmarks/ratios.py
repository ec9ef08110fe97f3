"""Hold the speed of what users feel to the last figures that landed: `make ratios`.

A ratio is our CPU time over that of a floor in the same process, in rounds that take turns (benchmarks/ratio_cases.py);
what is compared is the median of three processes. One that is 30 % above the landed one is measured a second time, and
fails only if that says the same. Where more than twice as many programs want to run as there are cores, it takes 60 %:
beside ten to thirty programs that fill the caches, some of these medians rose by 42 %.

The landed ones are in benchmarks/figures.json. `make ratios LAND=1` lands those that are new or clearly better;
`LAND="a refusal"` lands one as it is, even if it is worse: do that in the commit that has the reason.
"""

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.figures import FIGURES, Figures, load, read, write
from benchmarks.harness import compare, warm

WORSE: Final = 1.3
WORSE_IF_BUSY: Final = 1.6
BUSY: Final = 2.0  # Programs that want to run, for each core.
BETTER: Final = 0.9  # Less is what two measurements of the same thing may differ by.
PROCESSES: Final = 3
ROUNDS: Final = 15
SLICE_S: Final = 0.003
CASE_S: Final = 1.0

Ratios = dict[str, float]
Measure = Callable[[Sequence[str]], Ratios]


class Worse(NamedTuple):
    """A ratio that has become worse, as two measurements say."""

    name: str
    landed: float
    first: float
    second: float

    def __str__(self) -> str:
        """The sentence that a failed run ends with."""
        worse = min(self.first, self.second) / self.landed - 1
        return (
            f"{self.name}: {self.first:.3g} and, measured again, {self.second:.3g} times its floor;"
            f" {self.landed:.3g} landed ({worse:.0%} worse)"
        )


def judged(landed: Mapping[str, float], measure: Measure, bound: float = WORSE) -> tuple[Ratios, list[Worse]]:
    """The measured ratios, and those that became worse. Only those that seem worse are measured twice."""
    first = measure(list(landed))
    doubted = [name for name, ratio in first.items() if ratio > bound * landed[name]]
    second = measure(doubted) if doubted else {}
    return first, [
        Worse(name, landed[name], first[name], ratio) for name, ratio in second.items() if ratio > bound * landed[name]
    ]


def bound_at(waiting: float, cores: int) -> float:
    """How many times its landed value a ratio may be, given the number of programs that want to run."""
    return WORSE_IF_BUSY if waiting > BUSY * cores else WORSE


def landing(landed: Mapping[str, float], found: Mapping[str, float], named: str = "") -> Ratios:
    """Which of those that were measured land: the one that is named, and those that are new or clearly better."""
    return {
        name: ratio
        for name, ratio in found.items()
        if name == named or name not in landed or ratio < BETTER * landed[name]
    }


def measured(names: Sequence[str]) -> Ratios:
    """The medians of a few processes: where memory lies differs from one to the next, and so do the caches' hits."""
    warm()
    command = [sys.executable, "-m", "benchmarks.ratios", "--measure", *names]
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    found: list[Ratios] = [
        json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=FIGURES.parents[1], env=env).stdout)
        for _ in range(PROCESSES)
    ]
    return {name: statistics.median(each[name] for each in found) for name in names}


def measure(names: Sequence[str]) -> Ratios:
    """The ratios, taken here."""
    # Only here: a comparison of figures needs none of what is measured.
    from benchmarks.ratio_cases import CASES  # noqa: PLC0415

    found: Ratios = {}
    for name in names:
        ours, floor = CASES[name]()
        case = compare(name, [floor, ours], rounds=ROUNDS, slice_s=SLICE_S, case_s=CASE_S)
        found[name] = case.times("ours")
    return found


def all_names() -> list[str]:
    """Every case."""
    from benchmarks.ratio_cases import CASES  # noqa: PLC0415 - as above

    return list(CASES)


def landed_in(figures: Figures) -> Ratios:
    """The ratios that landed."""
    return {name: float(entry["ratio"]) for name, entry in figures["ratios"].items()}


def main(words: Sequence[str] | None = None, path: Path = FIGURES, take: Measure = measured) -> int:
    """Compare, or land; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs="+", metavar="NAME", help="print the ratios of these as JSON, and no more")
    parser.add_argument("--land", metavar="NAME", help="land what is new or better; with a case's name, that as it is")
    given = parser.parse_args(words)
    if given.measure:
        print(json.dumps(measure(given.measure)))
        return 0
    figures = read(path)
    landed = landed_in(figures)
    if given.land is not None:
        return land(figures, given.land, path, take)
    if not landed:
        print("ratios: none has landed, so none was compared")
        return 0
    bound = bound_at(load(), os.cpu_count() or 1)
    if bound > WORSE:
        print(f"ratios: this machine is busy (load {load():g}): only what takes {bound:g} times as long fails")
    found, worse = judged(landed, take, bound)
    for name, ratio in found.items():
        print(f"{name:34}{ratio:8.3g} times its floor, {ratio / landed[name]:5.0%} of what landed")
    for each in worse:
        print(f"ratios: {each}", file=sys.stderr)
    better = list(landing(landed, found))
    if better:
        print(f"ratios: better than what landed (make ratios LAND=1): {', '.join(better)}")
    print(f"ratios: {len(found) - len(worse)} of {len(found)} hold, at a load of {load():g}")
    return 1 if worse else 0


def land(figures: Figures, named: str, path: Path, take: Measure) -> int:
    """Write what lands: `1` names no case. The exit status."""
    names = all_names()
    if named not in (*names, "1"):
        print(f"ratios: there is no case {named!r}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    found = take([named] if named in names else names)
    new = landing(landed_in(figures), found, named)
    taken = {"date": dt.datetime.now(tz=dt.UTC).date().isoformat(), "load": load()}
    entries: dict[str, Any] = {name: {"ratio": float(f"{ratio:.4g}"), **taken} for name, ratio in new.items()}
    before = {name: entry for name, entry in figures["ratios"].items() if name in names}
    write({**figures, "ratios": {**before, **entries}}, path)
    print(f"ratios: landed {', '.join(f'{name} ({found[name]:.3g})' for name in new) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
