"""Texts and JSON as HTML: evidence marked by its place, keys set off, and long ones folded.

"I could not read it", span 2..16 → I <mark id="m1" class="error">could not read</mark> it
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup, escape
from orjson import JSONDecodeError, loads

from toolvet.assess.report import pretty
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.visible import visible

_LONG_TEXT: Final = 1_200
_LONG_LINES: Final = 18
_MOST_JSON: Final = 40_000
_NOTHING: Final = Markup()
_KEY: Final = re.compile(r"^( *)(&#34;(?:[^&\\]|\\.|&(?!#34;))*&#34;)(: ?)", re.MULTILINE)


@dataclass(frozen=True)
class TextSpan:
    """A part of a text, from `start` to `end` (characters), with the number of the finding that it is evidence of."""

    start: int
    end: int
    number: int
    level: str = ""


@dataclass(frozen=True)
class Folded:
    """A long text: its head, and the rest behind a click. `rest` is empty for a short one.

    `is_open` says whether the rest is shown from the start, because something in it is marked.
    """

    head: Markup
    rest: Markup = _NOTHING
    more: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class PayloadPart:
    """A piece of a result: `label` says what it is (text, structured content)."""

    label: str
    body: Folded


def find_span(text: str, evidence: str, position: object, number: int, level: str = "") -> TextSpan | None:
    """Return where evidence is in a text; None where it is not there (secrets were replaced, or it was cut)."""
    words = evidence.removesuffix("…").rstrip()
    if not words:
        return None
    start = position if isinstance(position, int) and text.startswith(words, position) else text.find(words)
    return None if start < 0 else TextSpan(start, start + len(words), number, level)


def marked(text: str, spans: Sequence[TextSpan] = ()) -> Folded:
    """Return a text with its spans marked, folded where it is long."""
    if len(text) <= _LONG_TEXT * 3 // 2:
        return Folded(_mark(text, 0, len(text), spans))
    line_end = text.rfind("\n", _LONG_TEXT // 2, _LONG_TEXT)
    cut = line_end + 1 if line_end >= 0 else _LONG_TEXT
    rest = _mark(text, cut, len(text), spans)
    return Folded(
        _mark(text, 0, cut, spans), rest, f"{len(text) - cut:,} more characters", any(each.end > cut for each in spans)
    )


def _mark(text: str, first: int, last: int, spans: Sequence[TextSpan]) -> Markup:
    """Mark what is between two places; where spans overlap, the piece has the numbers of all of them."""
    cuts = {first, last} | {place for span in spans for place in (span.start, span.end) if first < place < last}
    places = sorted(cuts)
    parts: list[Markup] = []
    for start, end in pairwise(places):
        piece = escape(visible(text[start:end]))
        over = [span for span in spans if span.start <= start and span.end >= end]
        if over:
            numbers = " ".join(str(span.number) for span in over)
            level = next((span.level for span in over if span.level == "error"), over[0].level)
            ends = " ".join(str(span.number) for span in over if span.end == end)
            ended = Markup(' data-ends="{}"').format(ends) if ends else ""
            piece = Markup('<mark class="{}" data-findings="{}"{}>{}</mark>').format(level, numbers, ended, piece)
        parts.append(piece)
    return Markup().join(parts)


def shown_json(value: object) -> Folded:
    """Return a value as indented JSON, folded where it is long, and cut where it is very long."""
    escaped = str(escape(pretty(value, _MOST_JSON)))
    lines = _KEY.sub(r"\1<b>\2</b>\3", escaped).split("\n")
    if len(lines) <= _LONG_LINES * 3 // 2 and len(escaped) <= 3 * _LONG_TEXT:
        return Folded(_joined(lines))
    if len(lines) <= _LONG_LINES:
        # Few lines with a long one among them.
        return marked(pretty(value, _MOST_JSON))
    return Folded(
        _joined(lines[:_LONG_LINES]), _joined(lines[_LONG_LINES:]), f"{len(lines) - _LONG_LINES:,} more lines"
    )


def _joined(lines: Iterable[str]) -> Markup:
    return Markup("\n".join(lines))  # noqa: S704 - escaped before


def shown_value(value: object) -> Folded:
    """Return a text as it is, or its JSON indented where it is an object or a list; any other value as JSON."""
    if isinstance(value, str):
        read = _as_json(value)
        return marked(value) if read is None else shown_json(read)
    return shown_json(value)


def result_parts(result: object) -> Sequence[PayloadPart]:
    """Return the parts of a tool's result: its text blocks as a model reads them, and the rest as JSON."""
    if not is_object(result):
        return [PayloadPart("result", shown_value(result))]
    rest = {name: value for name, value in result.items() if name not in ("content", "isError", "resultType", "_meta")}
    found: list[PayloadPart] = []
    texts: list[object] = []
    for block in elements(result.get("content")):
        text = members(block).get("text")
        if isinstance(text, str):
            read = _as_json(text)
            texts.append(read)
            found.append(PayloadPart("text" if read is None else "text, JSON", shown_value(text)))
        else:
            found.append(PayloadPart("content", shown_json(block)))
    structured = rest.pop("structuredContent", None)
    # A server repeats its structured content as text, for clients that read nothing else.
    if structured is not None and structured not in texts:
        found.append(PayloadPart("structured content", shown_json(structured)))
    if rest:
        found.append(PayloadPart("also", shown_json(rest)))
    return found


def _as_json(text: str) -> object | None:
    if text[:1] not in ("{", "["):
        return None
    try:
        read: object = loads(text)
    except JSONDecodeError:
        return None
    return read
