"""Parts of a text that were begun and that nothing fills: a row, a label, a formula, a quotation, a document.

Each function looks at the last line, or at the lines before it, of a text that does not end with the mark of a
sentence.
"""

import re
from collections.abc import Sequence

# "Name: Ada", "- **Born:** 1815": a label, and what it is filled with.
_LABEL = re.compile(
    r"[ \t>]*(?:[-*\u2022+][ \t]+|\d{1,3}[.)][ \t]+)?(\*{0,2})[^\W\d_][\w '/()-]{0,40}(?:\1:|:\1)[ \t]*(\S?)"
)
_RULED = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\Z")
_ORDINAL = re.compile(r"[ \t>*]*(\d{1,3})\Z")
_ORDERED = re.compile(r"[ \t>*]*(\d{1,3})[.)、][ \t*]")
_CONTRACTED = re.compile(r"[^\W\d_]['\u2019]\Z")
_INCHES = re.compile(r"\d\"")
_POWER = re.compile(r"\$[^$]*[\^{}\\][^$]*\Z")
_LABELS_LOOKED_AT = 12
_ROWS_LOOKED_AT = 60
_SHORT_LINE = 80


def is_short_row(lines: Sequence[str]) -> bool:
    """Whether the last line is a row with fewer cells than the rows above it, or a table's head without a body."""
    above = 0
    first = len(lines) - 1
    while first and above < _ROWS_LOOKED_AT and lines[first - 1].lstrip().startswith("|"):
        first -= 1
        above += 1
    if not above:
        return False
    cells = [each.count("|") - each.count("\\|") for each in lines[first:]]
    if _RULED.match(lines[-1]):
        return above == 1
    return min(cells[:-1]) > cells[-1]


def is_empty_label(lines: Sequence[str]) -> bool:
    """Whether the last line is a label with nothing behind it, while most labels before it have something."""
    last = _LABEL.match(lines[-1])
    if last is None or last[2]:
        return False
    before = [found for line in lines[-40:-1] if (found := _LABEL.match(line)) is not None][-_LABELS_LOOKED_AT:]
    return len(before) > 1 and 2 * sum(bool(found[2]) for found in before) > len(before)


def is_filled_label(lines: Sequence[str]) -> bool:
    """Whether the last line is a label with a few words behind it, as those before it are: "Priority: High".

    The lines of a dialogue, which end with marks, are no labels.
    """
    if len(lines[-1]) > _SHORT_LINE or _LABEL.match(lines[-1]) is None:
        return False
    before = [line for line in lines[-40:-1] if _LABEL.match(line)][-_LABELS_LOOKED_AT:]
    return len(before) > 1 and 2 * sum(line[-1] not in ".!?…" for line in before) > len(before)


def is_bare_ordinal(lines: Sequence[str]) -> bool:
    """Whether the last line is the number that the next item of a list would have."""
    last = _ORDINAL.match(lines[-1])
    if last is None:
        return False
    for line in reversed(lines[:-1]):
        before = _ORDERED.match(line)
        if before is not None:
            return int(before[1]) + 1 == int(last[1])
    return False


def opens_formula(tail: str, line: str) -> bool:
    """Whether a formula of TeX stays open."""
    if "$" not in tail and "\\" not in tail:
        return False
    if tail.count("$$") % 2 or tail.count("\\[") > tail.count("\\]") or tail.count("\\(") > tail.count("\\)"):
        return True
    if line.endswith("\\") and line[-2:-1] in (" ", "", "("):
        return True
    odd = line.count("$") % 2 == 1
    return (odd and _POWER.search(line) is not None) or ("\\" in line and (odd or line.count("{") > line.count("}")))


def opens_quotation(tail: str, line: str) -> bool:
    """Whether a straight quotation mark in the line stays open, or a word is broken at its apostrophe."""
    if line.endswith('"'):
        return line[-2:-1] in ("", " ", "(")
    if line[-1:] in "'\u2019":
        # "customers'" is whole, and so is a quotation in single marks.
        opened = any(mark in line for mark in (" '", " \u2018", "('")) or line.lstrip()[:1] in "'\u2018"
        return not opened and _CONTRACTED.search(line) is not None and line[-2] not in "sxzSXZ"
    # A quotation may have begun some paragraphs before.
    return line.count('"') % 2 == 1 and tail.count('"') % 2 == 1 and _INCHES.search(line) is None


def opens_document(tail: str, *, whole: bool) -> bool:
    """Whether the text is JSON or HTML from its first character and never closes; `whole` is whether all is there."""
    text = tail.lstrip()
    if not whole:
        return False
    if text.startswith(('{"', '[{"', "{\n")):
        return text[-1] not in "}]"
    head = text[:200].lower()
    return head.startswith(("<html", "<!doctype html")) and "</html>" not in text.lower()
