"""Run `toolvet batch` over a million real answers and a million clean rows, and over rows of each other kind.

    python -m benchmarks.batch_million [--rows N]    N answers, and a tenth as many rows of the other kinds

Parquet to Parquet, with two processes, in CPU time of all of them, and by the clock. The peers of benchmarks/batch.py
have their turns before and after the answers, on as many rows as they do in some seconds, and their ratios are those of
CPU time a row. On a quiet machine with two cores it takes about ten minutes.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.batch import NAMES, SHARE, Run, of_command, of_pair
from benchmarks.batch_peers import pairs
from benchmarks.batch_rows import MAKERS, batches, write
from benchmarks.harness import Report, digits, shown
from benchmarks.node import node_version

SAMPLE = 3_000
TURN = 60_000  # The rows of which a turn of a peer has its share.


def measured(name: str, rows: int, folder: Path) -> tuple[Run, int, int]:
    """A run over `rows` rows, the bytes of their texts, and those of the verdicts."""
    path = folder / f"{name}.parquet"
    size, _ = write(name, rows, path)
    run = of_command(path, rows, kind=MAKERS[name][0])
    path.unlink()
    return run, size, (folder / "verdicts.parquet").stat().st_size


def with_peers(name: str, rows: int, folder: Path) -> tuple[Run, int, int, dict[str, float]]:
    """The same, and how many times our CPU time a row each peer takes, by its turns before and after."""
    texts = next(batches(name, SAMPLE)).column("text").to_pylist()
    with pairs(texts, folder) as peers:
        before = {how: of_pair(pair, TURN // SHARE[how]) for how, pair in peers.items()}
        run, size, written = measured(name, rows, folder)
        after = {how: of_pair(pair, TURN // SHARE[how]) for how, pair in peers.items()}
    times = {how: statistics.mean((before[how].us, after[how].us)) / run.us for how in peers}
    return run, size, written, times


def answers(report: Report, rows: int, folder: Path) -> None:
    """A million of each of the two inputs."""
    lines = []
    for name in ("real", "clean"):
        run, size, _, times = with_peers(name, rows, folder)
        peers = [digits(times[how]) if how in times else "" for how in NAMES]
        lines.append([f"{rows:,} {name} rows of {size / rows:,.0f} bytes", *cells(run), *peers])
    columns = [*COLUMNS, *(f"times ours: {name}" for name in NAMES.values())]
    report.table("A million answers", columns, lines, about="two processes; ratios of CPU time a row")


def others(report: Report, rows: int, folder: Path) -> None:
    """Rows of each other kind."""

    def lines() -> Iterator[list[str]]:
        for name in MAKERS:
            if name in ("real", "clean"):
                continue
            run, size, written = measured(name, rows, folder)
            row = f"{rows:,} {name} of {size / rows:,.0f} bytes"
            yield [row, *cells(run), f"{run.us / 3600:.3f} core hours", f"{written / rows:,.0f} bytes"]

    columns = [*COLUMNS, "for a million rows", "output a row"]
    report.table("Rows of each other kind", columns, lines(), about="two processes; the start is in it")


COLUMNS = ["", "rows a second", "CPU time a row", "by the clock", "memory"]


def cells(run: Run) -> list[str]:
    return [digits(run.rate), shown(run.us), shown(run.taken.wall * 1e6), f"{run.held / 2**20:.0f} MiB"]


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows: int = parser.parse_args().rows
    with Report("batch_million", peers=["hyperscan", "pyarrow"]) as report, tempfile.TemporaryDirectory() as name:
        report.versions["Node"] = node_version()
        answers(report, rows, Path(name))
        others(report, max(1, rows // 10), Path(name))


if __name__ == "__main__":
    main()
