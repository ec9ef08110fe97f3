"""Charts as SVG, made here and not by a script: bars, a line with its interval, a curve beside a diagonal.

Colours are classes of the style sheet. A chart is an image with a text that says what it shows; the page has the
numbers as a table beside it.
"""

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from toolvet.core.visible import one_line

_WIDTH: Final = 360
_HEIGHT: Final = 200
_LEFT: Final = 46
_RIGHT: Final = 350
_TOP: Final = 22
_BOTTOM: Final = 158
_THOUSANDS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "K"))


def bar_chart(counts: Sequence[int], *, ticks: Sequence[tuple[float, str]], across: str, up: str, says: str) -> Markup:
    """Bars of equal width. `ticks` are words below places from 0 (left) to 1 (right)."""
    top = _nice_top(max([*counts, 1]))
    width = (_RIGHT - _LEFT) / max(1, len(counts))
    gap = min(3.0, width / 6)
    parts = [_grid([(place / 4, compact(top * place / 4)) for place in range(5)] if top >= 4 else _few(top))]
    for place, count in enumerate(counts):
        if count:
            # What is there can be seen, however little it is.
            high = max(1.0, (_BOTTOM - _TOP) * count / top)
            left = _LEFT + place * width + gap / 2
            parts.append(
                Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"/>').format(
                    _n(left), _n(_BOTTOM - high), _n(width - gap), _n(high)
                )
            )
    return _image([*parts, _ticks(ticks)], across, up, says)


def line_chart(
    points: Sequence[tuple[float, float, float] | None],
    *,
    marked: frozenset[int],
    ticks: Sequence[tuple[float, str]],
    across: str,
    up: str,
    says: str,
) -> Markup:
    """Shares, each as (low, share, high); None leaves a gap. `marked` are the places that stand out."""
    top = _share_top(max([high for point in points if point is not None for high in point] or [0.0]))
    parts = [_grid([(place / 4, _percent(top * place / 4)) for place in range(5)])]
    step = (_RIGHT - _LEFT) / max(1, len(points))

    def x(place: int) -> str:
        return _n(_LEFT + (place + 0.5) * step)

    def y(value: float) -> str:
        return _n(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, value / top))

    for run in _runs(points):
        line = " ".join(f"{x(place)},{y(point[1])}" for place, point in run)
        if len(run) > 1:
            upper = " ".join(f"{x(place)},{y(point[2])}" for place, point in run)
            lower = " ".join(f"{x(place)},{y(point[0])}" for place, point in reversed(run))
            parts.append(Markup('<path class="band" d="M{} L{} Z"/>').format(upper, lower))
            parts.append(Markup('<path class="line" d="M{}"/>').format(line))
        else:
            place, point = run[0]
            parts.append(Markup('<path class="whisker" d="M{0},{1} V{2}"/>').format(x(place), y(point[0]), y(point[2])))
        for place, point in run:
            kind, radius = ("dot marked", 4) if place in marked else ("dot", 2.5 if len(points) <= 31 else 1.5)
            parts.append(
                Markup('<circle class="{}" cx="{}" cy="{}" r="{}"/>').format(kind, x(place), y(point[1]), radius)
            )
    return _image([*parts, _ticks(ticks)], across, up, says)


def curve_chart(points: Sequence[tuple[float, float, float, float, int]], *, across: str, up: str, says: str) -> Markup:
    """What was said beside what is true: (said, low, true, high, rows). On the diagonal the two are equal."""
    most = max([rows for *_, rows in points] or [1])

    def x(value: float) -> str:
        return _n(_LEFT + (_RIGHT - _LEFT) * value)

    def y(value: float) -> str:
        return _n(_BOTTOM - (_BOTTOM - _TOP) * value)

    parts = [
        _grid([(place / 4, _percent(place / 4)) for place in range(5)]),
        Markup('<path class="ideal" d="M{},{} L{},{}"/>').format(x(0), y(0), x(1), y(1)),
    ]
    if len(points) > 1:
        line = " ".join(f"{x(said)},{y(true)}" for said, _, true, _, _ in points)
        parts.append(Markup('<path class="line" d="M{}"/>').format(line))
    for said, low, true, high, rows in points:
        radius = _n(2 + 4 * math.sqrt(rows / most))
        parts.append(Markup('<path class="whisker" d="M{},{} V{}"/>').format(x(said), y(low), y(high)))
        parts.append(Markup('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(x(said), y(true), radius))
    ticks = [(place / 4, f"{place / 4:g}") for place in range(5)]
    return _image([*parts, _ticks(ticks)], across, up, says)


def compact(value: float) -> str:
    """A count in few letters.

    >>> [compact(each) for each in (0, 999, 1200, 4_000_000)]
    ['0', '999', '1.2K', '4M']
    """
    for size, letter in _THOUSANDS:
        if value >= size:
            return f"{value / size:.{3 if value < 100 * size else 4}g}{letter}"
    return f"{value:.3g}"


def spread_ticks(words: Sequence[str], most: int) -> list[tuple[float, str]]:
    """Words below the middles of as many places, some left out where there are more than `most`."""
    count = len(words)
    step = max(1, math.ceil(count / most))
    return [((place + 0.5) / count, words[place]) for place in range(0, count, step)]


def _image(parts: Sequence[Markup], across: str, up: str, says: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text class="axis" x="2" y="8">{}</text></svg>'
    ).format(
        _WIDTH,
        _HEIGHT,
        one_line(says),
        Markup("").join(parts),
        _n((_LEFT + _RIGHT) / 2),
        _HEIGHT - 6,
        one_line(across),
        one_line(up),
    )


def _grid(lines: Sequence[tuple[float, str]]) -> Markup:
    found: list[Markup] = []
    for share, word in lines:
        y = _n(_BOTTOM - (_BOTTOM - _TOP) * share)
        kind = "base" if share == 0 else "rule"
        found.append(Markup('<path class="{}" d="M{},{} H{}"/>').format(kind, _LEFT, y, _RIGHT))
        found.append(
            Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>').format(
                _LEFT - 5, _n(float(y) + 3.5), word
            )
        )
    return Markup("").join(found)


def _ticks(ticks: Sequence[tuple[float, str]]) -> Markup:
    found: list[Markup] = []
    for place, word in ticks:
        anchor = "start" if place < 0.001 else "end" if place > 0.999 else "middle"
        x = _LEFT + (_RIGHT - _LEFT) * place
        found.append(
            Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(
                _n(x), _BOTTOM + 14, anchor, escape(one_line(word))
            )
        )
    return Markup("").join(found)


def _runs(
    points: Sequence[tuple[float, float, float] | None],
) -> list[list[tuple[int, tuple[float, float, float]]]]:
    """The points that follow each other without a gap."""
    runs: list[list[tuple[int, tuple[float, float, float]]]] = []
    before: int | None = None
    for place, point in enumerate(points):
        if point is None:
            continue
        if before is not None and before == place - 1:
            runs[-1].append((place, point))
        else:
            runs.append([(place, point)])
        before = place
    return runs


def _nice_top(most: float) -> float:
    """The end of an axis of counts: above the largest, and easy to divide by four."""
    size = float(10 ** math.floor(math.log10(most)))
    for factor in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10):
        if factor * size >= most and (factor * size) % 1 == 0:
            return factor * size
    return most


def _few(top: float) -> list[tuple[float, str]]:
    return [(number / top, str(number)) for number in range(int(top) + 1)]


def _share_top(most: float) -> float:
    for top in (0.0004, 0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8):
        if most <= top:
            return top
    return 1.0


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _n(value: float) -> str:
    return f"{value:.1f}"
