"""Passages that someone else speaks: drafts and poems after a lead-in, stories, dialogues.

Their words are in `languages/<language>/frames.toml`. A `[[phrase]]` there has a `kind` (below) and a `match`, which is
looked for in one line. Its `[labels]` are what is written before a colon without naming a speaker (`none`), and the two
sides of a chat (`chat`).
"""

import re
from collections.abc import Iterable
from copy import copy
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.discover.cache import compiled_from
from toolvet.core.matching.pattern import LANGUAGES, WORDS_FILE, Pattern, Phrase, PhraseFile
from toolvet.core.matching.patterns import PatternSet
from toolvet.core.prose.mask import Mask, MaskKind

if TYPE_CHECKING:
    from toolvet.core.matching.phrasebook import PhraseSource

_FILES = (WORDS_FILE, "frames.toml")
_FORMAT = "frames/2"
_SOURCES = (
    __name__,
    "toolvet.core.matching.pattern",
    "toolvet.core.matching.phrasebook",
)
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,}|\u2014{3,})\s*\Z")
_SPEAKER = re.compile(
    r"\s*(?:[*_]{1,2})?([^\W\d_][^\n:\uff1a*_]{0,30}?)(?:[*_]{1,2})?\s?[:\uff1a][*_]{0,2}(?=\s*\S)(?!//)"
)
_STAGE = re.compile(r"\s*[(\[*_\uff08\u3010]")
_SHORTEST_DIALOGUE = 3
# How many lines of name and title may follow a sign-off.
_MOST_NAMES = 3
_LONGEST_NAME = 60
_MOST_SPEAKERS = 12


class FrameKind(StrEnum):
    """The effect of a line on a frame."""

    LEAD_IN = "lead_in"
    """A draft, a poem, a script follows."""
    STORY = "story"
    """A story begins with this line."""
    SIGN_OFF = "sign_off"
    """A letter ends."""
    RESUME = "resume"
    """The author speaks again."""


class Frame(Phrase, frozen=True, kw_only=True):
    """One entry of `frames.toml`."""

    kind: FrameKind


class Labels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The labels before a colon: names of the two sides of a chat, and words that do not name a speaker."""

    chat: frozenset[str] = frozenset()
    none: frozenset[str] = frozenset()


class FrameFile(PhraseFile[Frame], frozen=True, kw_only=True):
    """The frames of one language."""

    labels: Labels = Labels()


class Frames(msgspec.Struct, frozen=True):
    """The frames of all languages."""

    frame: tuple[Frame, ...]
    labels: Labels


class FrameState:
    """Reads line after line; `settled` are the passages that are over."""

    def __init__(self) -> None:
        self.settled: list[Mask] = []
        self._open: Mask | None = None
        # Lines with words since the passage began, and since it was signed.
        self._lines = 0
        self._signed: int | None = None
        self._speakers: tuple[str, ...] = ()
        self._dialogue: Mask | None = None

    def line(self, line: str, start: int) -> None:
        """One line outside of fences, with its end."""
        end = start + len(line)
        if self._open is not None:
            self._continue(self._open, line, start)
            return
        if line.isspace():
            return
        kinds = _kinds(line)
        if FrameKind.LEAD_IN in kinds:
            self._end_dialogue()
            self._begin(end, MaskKind.SAMPLE)
            return
        if FrameKind.STORY in kinds:
            self._end_dialogue()
            self._begin(start, MaskKind.FICTION)
            return
        # Only a line of a dialogue names its speaker.
        speaker = _SPEAKER.match(line)
        name = speaker.group(1).strip().casefold() if speaker else ""
        if not name or name in _frames().labels.none:
            if self._dialogue is None or not _STAGE.match(line):
                self._end_dialogue()
            return
        begun = self._dialogue.start if self._dialogue is not None else start
        self._dialogue = Mask(begun, end, MaskKind.FICTION)
        if len(self._speakers) < _MOST_SPEAKERS:
            self._speakers = (*self._speakers, name)

    def fence(self) -> None:
        """Handle an opening fence: it may contain what a lead-in announced."""
        self._end_dialogue()
        if self._open is not None and not self._lines:
            self._open = None

    def open_since(self, end: int) -> int:
        """The place where the first passage begins that is not over; `end` if all are."""
        return min(each.start if each is not None else end for each in (self._open, self._dialogue))

    def continued(self) -> "FrameState":
        """Return a copy that may be read to an end; the settled masks stay here."""
        rest = copy(self)
        rest.settled = []
        return rest

    def ended(self, end: int) -> list[Mask]:
        """Return the masks of a text that ends here, including the open ones."""
        self._end_dialogue()
        if self._open is not None:
            self._close(self._open, end)
        return self.settled

    def _begin(self, start: int, kind: MaskKind) -> None:
        self._open, self._lines, self._signed = Mask(start, start, kind), 0, None

    def _continue(self, passage: Mask, line: str, start: int) -> None:
        if line.isspace():
            if self._signed:
                self._close(passage, start)
            return
        kinds = _kinds(line)
        is_rule = _RULE.match(line) is not None and passage.kind is MaskKind.SAMPLE
        if self._lines and (FrameKind.RESUME in kinds or is_rule):
            self._close(passage, start)
        elif FrameKind.SIGN_OFF in kinds:
            self._signed = 0
        elif self._signed is not None:
            self._signed += 1
            if len(line) > _LONGEST_NAME or self._signed > _MOST_NAMES:
                self._close(passage, start)
        if not is_rule:
            self._lines += 1

    def _close(self, passage: Mask, end: int) -> None:
        if passage.start < end:
            self.settled.append(Mask(passage.start, end, passage.kind))
        self._open = None

    def _end_dialogue(self) -> None:
        """A dialogue has two speakers of whom one speaks again, or is a chat."""
        speakers = self._speakers
        of_chat = len(set(speakers) & _frames().labels.chat) > 1 if speakers else False
        if self._dialogue is not None and (
            of_chat or (len(speakers) >= _SHORTEST_DIALOGUE and 1 < len(set(speakers)) < len(speakers))
        ):
            self.settled.append(self._dialogue)
        self._dialogue, self._speakers = None, ()


def read_sources(language: str | None = None) -> list["PhraseSource[FrameFile]"]:
    """The frame files of all languages, or of one; raises `PhraseError` for one that cannot be used."""
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_languages  # noqa: PLC0415

    return read_languages(_FILES, FrameFile, language)


def _built(files: Iterable[tuple[str, bytes]]) -> bytes:
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_phrases  # noqa: PLC0415

    read = [source.file for source in read_phrases(LANGUAGES, files, FrameFile)]
    return msgspec.msgpack.encode(
        Frames(
            tuple(msgspec.structs.replace(frame, hits=[], misses=[]) for each in read for frame in each.phrase),
            Labels(
                frozenset(name for each in read for name in each.labels.chat),
                frozenset(name for each in read for name in each.labels.none),
            ),
        )
    )


@cache
def _frames() -> Frames:
    return msgspec.msgpack.decode(compiled_from(LANGUAGES, _FILES, _built, _FORMAT, _SOURCES), type=decodable(Frames))


@cache
def frame_patterns() -> PatternSet:
    """Every frame that toolvet ships; read for the first text that may have one."""
    return PatternSet(
        Pattern(f"{frame.kind}/{number}", frame.match, spans=False) for number, frame in enumerate(_frames().frame)
    )


def _kinds(line: str) -> set[str]:
    """Return the effects of this line on a frame."""
    return {hit.id.partition("/")[0] for hit in frame_patterns().scan(line)}
