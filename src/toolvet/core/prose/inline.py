"""`inline_masks`: the masks inside one paragraph: inline code, quotations, and actions between asterisks."""

import re

from toolvet.core.prose.mask import Mask, MaskKind
from toolvet.core.prose.quotations import quotations

_BACKTICKS = re.compile(r"`+")
_ACTION = re.compile(
    r"(?:^[ \t]*|(?<=[.!?\u2026]\s)|(?<=\u3002))\*(?=[^\W\d_])([^*\n]{2,120}?[^\W_])[.\u2026]{0,3}\*(?![\w*])",
    re.MULTILINE,
)


def inline_masks(paragraph: str) -> list[Mask]:
    """Return inline code, quotations and actions of one paragraph; the outer ones only, in order."""
    found = _code_spans(paragraph)
    if found:
        # Marks inside code are code: blanked out, so that every place stays.
        pieces: list[str] = []
        reached = 0
        for start, end, _kind in found:
            pieces += paragraph[reached:start], "x" * (end - start)
            reached = end
        paragraph = "".join([*pieces, paragraph[reached:]])
    found += [Mask(start, end, MaskKind.QUOTATION) for start, end in quotations(paragraph)]
    if "*" in paragraph:
        for action in _ACTION.finditer(paragraph):
            if action.group(1)[0].islower():
                found.append(Mask(paragraph.index("*", action.start()), action.end(), MaskKind.FICTION))
    found.sort(key=_outer_first)
    outer: list[Mask] = []
    for mask in found:
        if not outer or mask.start >= outer[-1].end:
            outer.append(mask)
    return outer


def _outer_first(mask: Mask) -> tuple[int, int]:
    return mask.start, -mask.end


def _code_spans(paragraph: str) -> list[Mask]:
    """Runs of backticks that a run of the same length closes (CommonMark 6.1), in linear time."""
    if "`" not in paragraph:
        return []
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(paragraph)]
    of_length: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        of_length.setdefault(runs[number][1] - runs[number][0], []).append(number)
    found: list[Mask] = []
    number = 0
    while number < len(runs):
        later = of_length[runs[number][1] - runs[number][0]]
        while later and later[-1] <= number:
            later.pop()
        if later:
            found.append(Mask(runs[number][0], runs[later[-1]][1], MaskKind.CODE))
            number = later[-1]
        number += 1
    return found
