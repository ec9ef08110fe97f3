"""Hits of texts that were scanned as one buffer are those of a scan of each."""

import pytest

from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.patterns import SEPARATOR, RowScan

PATTERNS = [
    Pattern("help", r"\b(?:can't|cannot) (?:\w+ ){0,3}help\b"),
    Pattern("lines", r"\bsorry\s+cannot\b"),
    Pattern("open", r"\bwanted .*answer\b"),
]
ROWS = (
    "I cannot really help with that. You can't help.",
    "so sorry",
    "cannot say, cannot help",
    "nothing at all",
    "help",
    "I cannot",
    "sorry\ncannot help sorry cannot",
)


@pytest.fixture
def patterns() -> PatternSet:
    pytest.importorskip("hyperscan")
    return PatternSet(PATTERNS)


def ends_by_row(scan: RowScan, rows: tuple[str, ...]) -> list[dict[int, list[int]]]:
    """Where in each row each pattern may end, of one scan of all."""
    found: list[dict[int, list[int]]] = [{} for _ in rows]
    starts = [len(SEPARATOR.join(row.encode() for row in (*rows[:number], ""))) for number in range(len(rows))]
    for number, ends in scan.scan(SEPARATOR.join(row.encode() for row in rows)).items():
        for end in ends:
            row = max(each for each, start in enumerate(starts) if start < end)
            if end - starts[row] <= len(rows[row]):
                found[row].setdefault(number, []).append(end - starts[row])
    return found


def test_what_a_buffer_has_is_placed_as_in_the_text_alone(patterns: PatternSet) -> None:
    scan = RowScan(patterns)
    every = ends_by_row(scan, ROWS)
    # A match that begins in one row and ends in the next is seen, but is not a hit.
    assert every[2][1] == [len("cannot")]
    for row, ends in zip(ROWS, every, strict=True):
        assert scan.place(scan.found_in(row, ends)) == patterns.scan(row), row
    assert [hit.id for hit in patterns.scan(ROWS[2])] == ["help"]


def test_of_each_pattern_no_more_hits_are_placed_than_asked_for(patterns: PatternSet) -> None:
    scan = RowScan(patterns)
    assert [hit.start for hit in scan.place(scan.found_in(ROWS[0], ends_by_row(scan, ROWS)[0]), 1)] == [2]


def test_a_text_in_which_a_pattern_without_a_greatest_length_ends_is_scanned_by_itself(patterns: PatternSet) -> None:
    row = "It wanted an answer."
    scan = RowScan(patterns)
    ends = ends_by_row(scan, (row,))[0]
    assert list(ends) == [2]
    assert scan.found_in(row, ends) is None
    alone = scan.scan_one(row)
    assert alone is not None
    assert scan.place(alone) == patterns.scan(row)
    assert scan.scan_one("nothing at all") is None
