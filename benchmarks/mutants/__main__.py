"""Run the mutants of rooms: `python -m benchmarks.mutants breaker`, or `make mutants ROOM=breaker`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.mutants.report import Report
from benchmarks.mutants.room import Room, read_rooms
from benchmarks.mutants.trial import judge

_SAMPLE: Final = 300


def main(words: Sequence[str] | None = None) -> int:
    """Run, print the survivors, write a JSON file for each room; the exit code is 1 below the floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="room", help="of rooms.toml; all of them without")
    parser.add_argument("--table", type=Path, help="another table of rooms; its paths begin at its folder")
    parser.add_argument("--sample", type=int, default=_SAMPLE, help="mutants of each room (%(default)s); 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="which sample is drawn (%(default)s)")
    parser.add_argument("--floor", type=float, default=0.9, help="the share that must be killed (%(default)s)")
    parser.add_argument("--again", action="store_true", help="only those that survived the last run of this seed")
    parser.add_argument("--verbose", action="store_true", help="a line for each mutant")
    given = parser.parse_args(words)
    rooms = read_rooms(given.table)
    unknown = set(given.rooms) - rooms.keys()
    if unknown:
        parser.error(f"no room is named {', '.join(sorted(unknown))}; there are {', '.join(rooms)}")
    scores = [_run(rooms[name], given) for name in given.rooms or rooms]
    return 0 if all(score >= given.floor for score in scores) else 1


def _run(room: Room, given: argparse.Namespace) -> float:
    kept = room.root / ".mutants" / f"{room.name}-{given.seed}.json"
    everything = room.mutations()
    chosen = sorted(everything, key=lambda mutation: mutation.order(given.seed))[: given.sample or None]
    if given.again:
        survivors = Report.survivors_of(kept)
        chosen = [mutation for mutation in everything if mutation.id in survivors]
    chosen.sort(key=lambda mutation: (mutation.path, mutation.line))
    outcomes, broken = judge(room, chosen, _print_to_stderr if given.verbose else _say_nothing)
    report = Report(room.name, given.seed, len(everything), list(zip(chosen, outcomes, strict=True)), broken)
    print(report, flush=True)
    if not given.again:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(report.as_json(), encoding="utf-8")
    return report.score


def _print_to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_nothing(text: str) -> None:
    pass


if __name__ == "__main__":
    raise SystemExit(main())
