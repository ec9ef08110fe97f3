"""Lines without those in the middle: a table keeps its header, a log the lines that report a problem."""

import re
from typing import Final, Literal, TypeAlias

from toolvet.core.shorten.middle import without_middle

LineForm: TypeAlias = Literal["table", "lines"]

_PROBLEM: Final = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAIL(?:ED|URE)?|WARN(?:ING)?|Exception|Traceback|panic|error|failed)\b"
)
_RULE: Final = re.compile(r"\s*\|?[\s:|+-]*-{3,}[\s:|+-]*\Z")
_SEPARATORS: Final = ("\t", ";", ",", "|")
_MOST_MARK: Final = 64
# So many lines show whether the text is a table.
_SAMPLE: Final = 20
_MOST_LOOKED_AT: Final = 200_000


def shorten_lines(text: str, most: int) -> tuple[str, LineForm]:
    """Return the lines with which the text has at most `most` characters, with marks in place of the others."""
    lines = text.split("\n")
    header = header_of(lines)
    longest = max(most // 4, 40)
    kept = _KeptLines(lines, most, longest)
    kept.take_all(range(header))
    kept.share = 0.45
    kept.take_all(range(header, len(lines)))
    kept.share = 0.7
    kept.take_all(range(len(lines) - 1, header, -1))
    if not header:
        kept.share = 0.95
        kept.take_all(_problems(lines), whole_row=False)
    kept.share = 1.0
    kept.take_all(range(header, len(lines)))
    return kept.render(most), "table" if header else "lines"


def header_of(lines: list[str]) -> int:
    """How many lines are the header of a table; 0 for what is no table."""
    if len(lines) > 2 and "|" in lines[0] and _RULE.match(lines[1]):
        return 2
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    if len(sample) < 4:
        return 0
    for separator in _SEPARATORS:
        counts = [line.count(separator) for line in sample]
        if counts[0] >= 2 and sum(count == counts[0] for count in counts) * 10 >= len(counts) * 9:
            return 1
    return 0


def _problems(lines: list[str]) -> list[int]:
    """The places of lines that report a problem: from both ends, because the first causes and the last ends it."""
    found = [index for index, line in enumerate(lines[:_MOST_LOOKED_AT]) if _PROBLEM.search(line[:2_000])]
    half = (len(found) + 1) // 2
    return [place for pair in zip(found[:half], reversed(found), strict=False) for place in pair]


class _KeptLines:
    """The lines that stay, and the room that they take."""

    def __init__(self, lines: list[str], most: int, longest: int) -> None:
        self._lines = lines
        self._longest = longest
        self._most = most - _MOST_MARK
        self._shown: dict[int, str] = {}
        self._size = 0
        self.share = 1.0

    def take_all(self, places: "range | list[int]", *, whole_row: bool = True) -> None:
        """Take these lines until the share of the room is used. A line out of a row costs a mark as well."""
        for place in places:
            if place in self._shown:
                continue
            shown = self._lines[place]
            shown = shown if len(shown) <= self._longest else without_middle(shown, self._longest)
            size = len(shown) + 1 + (0 if whole_row else _MOST_MARK)
            if self._size + size > self._most * self.share:
                return
            self._shown[place] = shown
            self._size += size

    def render(self, most: int) -> str:
        """The lines with the marks, as a text of at most `most` characters."""
        parts: list[str] = []
        following = 0
        for place in sorted(self._shown):
            parts += self._mark(following, place)
            parts.append(self._shown[place])
            following = place + 1
        parts += self._mark(following, len(self._lines))
        return without_middle("\n".join(parts), most)

    def _mark(self, start: int, end: int) -> list[str]:
        if end == start:
            return []
        if end - start == 1:
            return [f"… 1 line left out (line {start + 1}) …"]
        return [f"… {end - start:,} lines left out (lines {start + 1} to {end}) …"]
