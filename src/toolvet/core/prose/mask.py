"""`Masks`: the parts of a text that are not its author's own words, and why."""

from bisect import bisect_right
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple

_start = itemgetter(0)


class MaskKind(StrEnum):
    """Why these words are not the author's own."""

    CODE = "code"
    """A fenced block, or inline code."""
    QUOTATION = "quotation"
    BLOCK_QUOTE = "block_quote"
    LOG = "log"
    """Lines of a log, a stack trace, a console."""
    SAMPLE = "sample"
    """A text written for someone else to use, after its lead-in: a draft, a letter, a poem, a script."""
    FICTION = "fiction"
    """A story, a dialogue with named speakers, an action between asterisks."""


class Mask(NamedTuple):
    """The characters from `start` up to `end` are not the author's words."""

    start: int
    end: int
    kind: MaskKind


class Masks:
    """The masked parts of one text, each layer sorted and without overlaps."""

    def __init__(self, *layers: list[Mask]) -> None:
        self._layers = layers

    def kind_at(self, start: int, end: int) -> MaskKind | None:
        """Return why the words from `start` up to `end` are not the author's own, or None where they are.

        The first character decides for the phrase: in `I cannot say "yes"` it is the author's. An empty
        span is judged by the character at `start`, or before it where a mask ends there.
        """
        at = start - 1 if start == end and start else start
        for layer in self._layers:
            place = bisect_right(layer, start, key=_start) - 1
            if place >= 0 and at < layer[place].end:
                return layer[place].kind
        return None

    @property
    def spans(self) -> tuple[Mask, ...]:
        """All masks in order of place; those of different kinds may overlap."""
        return tuple(sorted(mask for layer in self._layers for mask in layer))
