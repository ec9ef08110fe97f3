"""`masks`: the parts of a text that are not its author's own words: code, quotations, logs, drafts, fiction.

    masks('He said "I cannot help".').kind_at(9, 22)     # MaskKind.QUOTATION
    masks('"I cannot help."').kind_at(1, 14)             # None: these quotation marks are packaging

One text, line by line:

    He wrote: "I cannot help".      1. An ordinary line: it begins a paragraph.
    ```                             2. A fence: the paragraph ends. `inline_masks` looks for pairs of marks in it and
    print("no")                        finds characters 10 to 25, a QUOTATION. Lines up to the closing fence are its
    ```                                own, whatever they contain: characters 27 to 47 are CODE.
    > Sorry.                        3. A block quote: lines that follow each other are one mask, BLOCK_QUOTE.
    I can.                          4. An ordinary line again. The text ends: its paragraph has no marks.

The blocks, the quotations and the passages of `frame` (drafts, stories) are three layers, because a quotation may be in
a draft. So "I cannot" is a QUOTATION, and "I can" is the author's. At the end, a layer that covers all words is taken
off: then it is only the packaging of the answer.

Masked are: fenced code, also unclosed; inline code; quotations in the styles of `quotations.toml`, if they close
within their paragraph; Markdown block quotes; lines of logs, stack traces and consoles; drafts, poems and
stories from their lead-in to where the author speaks again; dialogues and `*actions*` (`frames/`). Indented text is
not masked: it is as often a list's paragraph as it is code. Tables are not: their cells are the author's.

A text that is as a whole one quotation, one fence, one block quote or one log is not masked by it.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from copy import copy
from functools import cache

from toolvet.core.prose.frame import FrameState
from toolvet.core.prose.mask import Mask, MaskKind, Masks, inline_masks

# A longer line is read in pieces, and so is a longer paragraph: it bounds what one more chunk can cost.
_LONGEST = 8_000
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})")
_BLOCK_QUOTE = re.compile(r"[ \t]{0,3}>(?!>> )")
_BREAKS_PARAGRAPH = re.compile(r"\s*(?:[-*+\u2022\u00b7\u2013\u2014]|\(?\d{1,3}[.)\u3001]|\#{1,6})\s|\s*\|")
_WORD = re.compile(r"[^\W_]")
_PACKAGING = frozenset({MaskKind.CODE, MaskKind.QUOTATION, MaskKind.BLOCK_QUOTE, MaskKind.LOG})


def masks(text: str, asked: Sequence[int] | None = None) -> Masks:
    """Return the masked parts of `text`, in time that grows linearly with it.

    If only some places are `asked` for, in order, the reader stops when they are known. The masks are then valid for
    these places only.
    """
    if asked is None:
        state = MaskState()
        state.feed(text)
        return state.masks()
    reading = _MaskReader(asked)
    last = asked[-1] if asked else -1
    at = 0
    while reading.settled_before() <= last:
        end = _end_of_line(text, at)
        if end < 0:
            return reading.ended(text[at:])
        reading.read(text[at:end])
        at = end
    return reading.settled()


def _end_of_line(text: str, at: int) -> int:
    """The end of the line, or of the piece of a long one, that begins at `at`; -1 if the text ends before."""
    newline = text.find("\n", at, at + _LONGEST)
    if newline >= 0:
        return newline + 1
    return -1 if len(text) - at < _LONGEST else at + _LONGEST


class MaskState:
    """The masks of a text that is still being written: `feed` chunks, read `masks()` as if the text ended here.

    The chunks may be cut anywhere: after the same text the masks are the same. A chunk costs what is in it, plus at
    most the paragraph that it continues. `masks()` reads only the paragraph that is open; what it returns holds until
    the next `feed`.
    """

    def __init__(self) -> None:
        self._unread = ""
        self._reading = _MaskReader()

    def feed(self, chunk: str) -> None:
        """Read the next chunk."""
        text = self._unread + chunk
        at = 0
        while (end := _end_of_line(text, at)) >= 0:
            self._reading.read(text[at:end])
            at = end
        self._unread = text[at:]

    def masks(self) -> Masks:
        """Return the masks so far, as if the text ended here."""
        return self._reading.ended(self._unread)

    def settled_before(self) -> int:
        """Return the place before which the masks will stay as they are, whatever is fed; 0 if that is not known."""
        return self._reading.settled_before()

    def settled(self) -> Masks:
        """Return the masks before `settled_before`, at no cost."""
        return self._reading.settled()


class _MaskReader:
    """Reads line after line; a mask that is settled does not change any more.

    `asked` are the places, in order, that will be asked for; None for all.
    """

    def __init__(self, asked: Sequence[int] | None = None) -> None:
        self._asked = asked
        self._at = 0
        self._mid_line = False
        self._blocks: list[Mask] = []
        self._inline: list[Mask] = []
        self._frames = FrameState()
        self._fence: tuple[str, int] | None = None
        # Lines of a block quote or a log that follow each other are one mask.
        self._run: Mask | None = None
        self._paragraph = ""
        self._paragraph_at = 0
        # For the question whether one mask covers everything: where the first and the last letters are.
        self._first_word = -1
        self._last_word = -1
        self._first_paragraph = ""
        self._first_paragraph_at = 0

    def ended(self, unread: str) -> Masks:
        """Return the masks as if the text ended after `unread`; the reader itself is not changed."""
        rest = copy(self)
        # The settled masks stay in this reader: a copy reads only what is open to its end.
        settled = [self._blocks, self._inline, self._frames.settled]
        return Masks(*rest.layers_at_end(unread, settled))

    def settled_before(self) -> int:
        """The place before which nothing changes any more; 0 while a mask may still turn out to be packaging."""
        place = min(
            self._paragraph_at if self._paragraph else self._at,
            self._fence[1] if self._fence is not None else self._at,
            self._run.start if self._run is not None else self._at,
            self._frames.open_since(self._at),
        )
        # A mask that begins after the first word is not packaging, and one that ends before the last neither.
        if not 0 <= self._first_word < place:
            return 0
        firsts = (layer[0] for layer in (self._blocks, self._inline) if layer)
        may_be_packaging = any(
            mask.kind in _PACKAGING and mask.start <= self._first_word and self._last_word < mask.end for mask in firsts
        )
        return 0 if may_be_packaging else place

    def settled(self) -> Masks:
        """The masks that are over."""
        return Masks(self._blocks, self._inline, self._frames.settled)

    def layers_at_end(self, unread: str, settled: list[list[Mask]]) -> list[list[Mask]]:
        """Read this copy to its end; return the layers, those that were settled before included."""
        self._blocks, self._inline, self._frames = [], [], self._frames.continued()
        if unread:
            self.read(unread)
        self._end_paragraph()
        self._end_run()
        if self._fence is not None:
            self._blocks.append(Mask(self._fence[1], self._at, MaskKind.CODE))
        frames = self._frames.ended(self._at)
        blocks, inline, framed = settled
        return self._without_packaging([blocks, self._blocks, inline, self._inline, framed, frames])

    def read(self, piece: str) -> None:
        """Read one line with its end, or a piece of a long one."""
        start, continues = self._at, self._mid_line
        self._at += len(piece)
        self._mid_line = not piece.endswith("\n")
        self._note_words(piece, start)
        if self._fence is not None:
            marker, fence_start = self._fence
            closing = piece.strip()
            if not continues and closing.startswith(marker) and not closing.strip(marker[0]):
                self._blocks.append(Mask(fence_start, self._at, MaskKind.CODE))
                self._fence = None
        elif continues:
            self._add(piece, start)
        else:
            self._begin_line(piece, start)

    def _begin_line(self, line: str, start: int) -> None:
        fence = _FENCE.match(line)
        if fence is not None:
            self._end_paragraph()
            self._end_run()
            self._fence = (fence.group(1), start)
            self._frames.fence()
            return
        self._frames.line(line, start)
        kind = MaskKind.BLOCK_QUOTE if _BLOCK_QUOTE.match(line) else MaskKind.LOG if _log().match(line) else None
        if kind is not None:
            self._end_paragraph()
            if self._run is not None and self._run.kind is kind:
                self._run = Mask(self._run.start, self._at, kind)
            else:
                self._end_run()
                self._run = Mask(start, self._at, kind)
            return
        self._end_run()
        if line.isspace():
            self._end_paragraph()
            return
        if _BREAKS_PARAGRAPH.match(line):
            self._end_paragraph()
        self._add(line, start)

    def _add(self, piece: str, start: int) -> None:
        if len(self._paragraph) + len(piece) > _LONGEST:
            self._end_paragraph()
        if not self._paragraph:
            self._paragraph_at = start
        self._paragraph += piece

    def _end_run(self) -> None:
        if self._run is not None:
            self._blocks.append(self._run)
            self._run = None

    def _end_paragraph(self) -> None:
        paragraph, at = self._paragraph, self._paragraph_at
        if not paragraph:
            return
        self._paragraph = ""
        if not self._first_paragraph:
            self._first_paragraph, self._first_paragraph_at = paragraph, at
        if self._asked is not None and 0 <= self._first_word < at:
            # After the first word nothing is packaging: only the places asked for matter.
            place = bisect_left(self._asked, at)
            if place == len(self._asked) or self._asked[place] >= at + len(paragraph):
                return
        self._inline += [Mask(start + at, end + at, kind) for start, end, kind in inline_masks(paragraph)]

    def _note_words(self, piece: str, start: int) -> None:
        if self._first_word < 0:
            first = _WORD.search(piece)
            if first is None:
                return
            self._first_word = start + first.start()
        for place in range(len(piece) - 1, -1, -1):
            if piece[place].isalnum():
                self._last_word = start + place
                return

    def _without_packaging(self, layers: list[list[Mask]]) -> list[list[Mask]]:
        """The layers without the one mask that covers every word, if there is one."""
        for number, layer in enumerate(layers):
            if not layer or layer[0].kind not in _PACKAGING:
                continue
            start, end, kind = layer[0]
            if start <= self._first_word and self._last_word < end:
                inner: list[Mask] = []
                if kind is MaskKind.QUOTATION:
                    at = start + 1
                    inside = self._first_paragraph[at - self._first_paragraph_at : end - 1 - self._first_paragraph_at]
                    inner = [
                        Mask(first + at, last + at, inner_kind) for first, last, inner_kind in inline_masks(inside)
                    ]
                return [*layers[:number], inner, *layers[number + 1 :]]
        return layers


@cache
def _log() -> re.Pattern[str]:
    """A line of a log, a stack trace or a console; compiled when the first text is masked."""
    return re.compile(
        r"""\s*(?:
            \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S*\s      # 2024-05-01T12:00:01.123Z …
          | \[?\d\d:\d\d:\d\d[.,\]\ ]                           # 12:00:01 …
          | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\ # syslog
          | \[(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]\s
          | (?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]+:       # logging.basicConfig()
          | at\ [\w.$<>\[\]\ ]{1,200}\([^()\n]{0,300}:\d+(?::\d+)?\)  # a frame of JavaScript, Java, Kotlin
          | at\ (?:async\ )?(?:file://|node:|/)\S{1,300}:\d+
          | File\ "[^"\n]{1,300}",\ line\ \d+
          | Traceback\ \(most\ recent\ call\ last\)
          | Caused\ by:\ [\w.$]+(?:Exception|Error)
          | goroutine\ \d+\ \[
          | (?:\$|>>>|PS>|C:\\[^>\n]{0,100}>)\ \S
          | [\w.-]{1,40}@[\w.-]{1,60}:[^\s$\#]{0,100}[$\#]\ \S  # user@host:~$ …
        )""",
        re.VERBOSE,
    )
