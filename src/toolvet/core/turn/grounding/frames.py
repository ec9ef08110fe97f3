"""The words before a value that say what it is: a quotation, a name, an example, an ending, a reference."""

import re
from functools import cache

import msgspec

from toolvet.core.discover.toml import read_toml

_REACH = 44
_FAR = 90


class MentionFrame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of words before a value; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]


class MentionFrames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The frames of `frames.toml`."""

    quotes: MentionFrame
    names: MentionFrame
    examples: MentionFrame
    endings: MentionFrame
    references: MentionFrame
    given: MentionFrame


@cache
def frames() -> MentionFrames:
    """The frames of `frames.toml`."""
    return read_toml("toolvet.core.turn.grounding", "frames.toml", MentionFrames)


@cache
def _compiled(name: str) -> re.Pattern[str]:
    frame: MentionFrame = getattr(frames(), name)
    return re.compile(frame.match, 0 if name in ("names", "references") else re.IGNORECASE)


def _stands_before(name: str, text: str, start: int, reach: int) -> bool:
    return _compiled(name).search(text, max(0, start - reach), start) is not None


def quotes_before(before: str) -> bool:
    """Whether a quotation that follows is a report of what was said."""
    return _compiled("quotes").search(before) is not None


def names_before(before: str) -> bool:
    """Whether a name that follows is that of a person."""
    return _compiled("names").search(before) is not None


def after_example(text: str, start: int) -> bool:
    """Whether what begins at `start` only shows what such values look like."""
    return _stands_before("examples", text, start, _REACH)


def after_ending(text: str, start: int) -> bool:
    """Whether what begins at `start` is the end of something longer, such as a card's number."""
    return _stands_before("endings", text, start, _REACH)


def after_reference(text: str, start: int) -> bool:
    """Whether what begins at `start` is presented as the name of one thing: an order, a booking."""
    return _stands_before("references", text, start, _REACH)


def after_given(text: str, start: int) -> bool:
    """Whether what begins at `start` is said to come from the person."""
    return _stands_before("given", text, start, _FAR)
