"""How often the findings of `assess` are right, by the confidence that they state, where they were read.

Two records: the verdict on each check when the servers of `tests/live/wild.toml` were first read (faults have
been fixed since, and fail a test if they return), and what the same servers get now (`judged.toml`). Neither is
unseen: the checks were changed by what was read on these servers.
"""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

WILD = Path(__file__).parents[2] / "tests" / "live" / "wild.toml"
NOW = Path(__file__).parent / "judged.toml"
FEW = 10  # Findings that must have been read before a share says something.


class Judged(NamedTuple):
    """Verdicts on findings: `right`, `doubtful` (true, and of little use), `wrong`."""

    right: int
    doubtful: int
    wrong: int

    @property
    def read(self) -> int:
        return sum(self)

    def share(self) -> float | None:
        """The share of right ones; None where fewer than `FEW` were read."""
        return self.right / self.read if self.read >= FEW else None

    def share_true(self) -> float | None:
        """The share of those that are not wrong."""
        return 1 - self.wrong / self.read if self.read >= FEW else None


def first(path: Path = WILD) -> dict[str, Judged]:
    """The first verdicts on each check: one verdict for each server and reason."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for server in tomllib.loads(path.read_text(encoding="utf-8"))["servers"]:
        for each in server.get("judged", ()):
            counts[each["check"]][each["verdict"]] += 1
    return {check: _judged(count) for check, count in sorted(counts.items())}


def now(path: Path = NOW) -> dict[tuple[str, int], Judged]:
    """The findings that the same servers get now, by check and stated confidence."""
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["findings"]
    return {
        (row["check"], row["confidence"]): Judged(row.get("right", 0), row.get("doubtful", 0), row.get("wrong", 0))
        for row in rows
    }


def by_level(found: dict[tuple[str, int], Judged]) -> dict[str, Judged]:
    """The findings of each level of confidence."""
    levels: dict[str, list[Judged]] = {"95 to 100": [], "85 to 90": [], "40 to 80": []}
    for (_, confidence), judged in found.items():
        levels["95 to 100" if confidence >= 95 else "85 to 90" if confidence >= 85 else "40 to 80"].append(judged)
    return {
        level: Judged(*(sum(column) for column in zip(*part, strict=True))) for level, part in levels.items() if part
    }


def table(path: Path = WILD) -> Iterator[str]:
    """The tables, as Markdown: by stated confidence, then by check."""
    found = now()
    yield "| stated confidence | findings read | right | doubtful | wrong | share right | share true |"
    yield "|---" * 7 + "|"
    yield from (_row(level, judged) for level, judged in by_level(found).items())
    yield ""
    yield "| check | states | right | doubtful | wrong | at first: right | doubtful | wrong |"
    yield "|---" * 8 + "|"
    before = first(path)
    for check in sorted({*before, *(check for check, _ in found)}):
        own = {confidence: judged for (name, confidence), judged in found.items() if name == check}
        states = ", ".join(map(str, sorted(own, reverse=True))) or "\u2013"
        counts = [sum(column) for column in zip(*own.values(), strict=True)] or [0, 0, 0]
        cells = (*counts, *before.get(check, Judged(0, 0, 0)))
        yield f"| `{check}` | {states} | {' | '.join(map(str, cells))} |"


def _row(name: str, judged: Judged) -> str:
    shares = ["too few" if each is None else f"{100 * each:.0f} %" for each in (judged.share(), judged.share_true())]
    return f"| {name} | {judged.read} | {judged.right} | {judged.doubtful} | {judged.wrong} | {' | '.join(shares)} |"


def _judged(count: Counter[str]) -> Judged:
    return Judged(count["right"], count["doubtful"], count["wrong"])
