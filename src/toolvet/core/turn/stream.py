"""Checks an answer while it is written: chunks in, the verdict so far out."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar, Unpack

from toolvet.core.checks.answer import AnswerQuality, FailureSignal
from toolvet.core.checks.answer.read import (
    Found,
    ReadingMemory,
    apart,
    find,
    fits,
    gravity,
    is_anything_in,
    settled_length,
)
from toolvet.core.prose import Masks, MaskState
from toolvet.core.turn.check import CLEAN, AnswerCheck, AnswerOptions, checked_text

# A phrase is at most this long, and so is the part of its sentence that decides it: earlier text is settled.
_SETTLED = 512
_MOST = 100
# How many characters before it a phrase may depend on, such as a border of words.
_BEFORE = 16

Chunk = TypeVar("Chunk")


class AnswerStream:
    """An answer while it is written: feed chunks, read the verdict so far, finish.

        stream = AnswerStream()
        for chunk in chunks:
            if stream.feed(chunk).should_escalate:
                break
        quality = stream.finish(finish_reason="stop")

    A chunk costs what is in it and at most a paragraph before it, however much was read already. The verdict so far
    knows the phrases only: it does not say that the text is short or broken off (more may come), nor what the learned
    model or the tool calls would say. `finish` is `check_answer` of the whole text. The options, and what is raised for
    wrong ones, are those of `AnswerCheck`.
    """

    def __init__(self, **options: Unpack[AnswerOptions]) -> None:
        self._check = AnswerCheck(**options)
        self._chunks: list[str] = []
        self._length = 0
        self._window = ""
        self._masks = MaskState()
        # Text before this place is settled: later text cannot change the matches there.
        self._settled_before = 0
        self._settled: list[_Held] = []
        self._open: list[_Held] = []
        # The signals that the last verdict was made of: it holds as long as they do.
        self._signals: list[FailureSignal] = []
        self._verdict = CLEAN
        self._memory = ReadingMemory({}, {})

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._chunks) > 1:
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0] if self._chunks else ""

    def feed(self, chunk: str | None) -> AnswerQuality:
        """Read a chunk and return the verdict so far. None, as some APIs give for an empty chunk, adds nothing."""
        chunk = checked_text(chunk)
        if chunk:
            self._chunks.append(chunk)
            self._length += len(chunk)
            self._masks.feed(chunk)
            self._scan(chunk)
        return self.so_far

    @property
    def so_far(self) -> AnswerQuality:
        """The verdict on the text so far."""
        if not (self._settled or self._open):
            return CLEAN
        of_phrases: list[FailureSignal] = []
        own: list[FailureSignal] = []
        masks = _MasksNow(self._masks)
        for each in (*self._settled, *self._open):
            item = each.item
            if isinstance(item, FailureSignal):
                own.append(item)
            elif each.counts(item, self._length, masks):
                of_phrases.append(item.signal)
        of_phrases += own
        # Exceptions look at sentences, which grow.
        if of_phrases != self._signals or not self._check.rules.changes_nothing:
            self._signals = of_phrases
            signals = sorted(apart(of_phrases), key=gravity)[:_MOST]
            # An unchanged text need not be joined for them.
            self._verdict = self._check.verdict_on("" if self._check.rules.changes_nothing else self.text, signals)
        return self._verdict

    def finish(
        self,
        *,
        calls: Sequence[object] | None = None,
        question: str | None = None,
        finish_reason: str | None = None,
        trace: str | None = None,
    ) -> AnswerQuality:
        """Return `check_answer` of the whole text, with facts about its turn that are known only now."""
        return self._check(self.text, calls=calls, question=question, finish_reason=finish_reason, trace=trace)

    def _scan(self, chunk: str) -> None:
        window = self._window + chunk
        begin = self._length - len(window)
        check = self._check
        found: list[_Item] = []
        # If nothing is open, new text is in the part that is not settled: half as much to search.
        recent = window[-(_SETTLED + len(chunk) + _BEFORE) :]
        placed, since = self._memory.placed, self._settled_before
        if self._open or is_anything_in(recent, check.languages, check.packs, placed, since=since):
            found += find(
                window,
                check.languages,
                check.custom.replaced,
                begin,
                packs=check.packs,
                since=since,
                memory=self._memory,
            )
        found += check.custom.signals(window, begin)
        settled_before = max(0, self._length - _SETTLED)
        if found or self._open:
            fresh = [each for each in found if _start(each) >= self._settled_before]
            self._settled += [_Held(each) for each in fresh if _start(each) < settled_before]
            self._open = [_Held(each) for each in fresh if _start(each) >= settled_before]
            # More would add nothing, and every verdict would cost more.
            del self._settled[_MOST:]
        self._settled_before = settled_before
        self._window = window[-2 * _SETTLED :]


_Item = Found | FailureSignal


class _MasksNow:
    """The masks of a stream as it is, made only if a phrase outside the settled part asks for them."""

    def __init__(self, state: MaskState) -> None:
        self._state = state
        self._now: Masks | None = None

    @cached_property
    def settled_before(self) -> int:
        return self._state.settled_before()

    def is_masked(self, found: Found) -> bool:
        if found.start < self.settled_before:
            return self._state.settled().kind_at(found.start, found.end) is not None
        if self._now is None:
            self._now = self._state.masks()
        return self._now.kind_at(found.start, found.end) is not None


class _Held:
    """An item that was found, and whether it counts, once later text cannot change that."""

    __slots__ = ("_told", "item")

    def __init__(self, item: _Item) -> None:
        self.item = item
        self._told: bool | None = None

    def counts(self, found: Found, length: int, masks: _MasksNow) -> bool:
        if self._told is None:
            phrase = found.known.phrase
            told = not phrase.cue and fits(found, length) and (phrase.in_code or not masks.is_masked(found))
            if found.start < masks.settled_before and length > settled_length(found):
                self._told = told
            return told
        return self._told


def _start(item: _Item) -> int:
    return item.start if isinstance(item, Found) else item.position or 0


class VettedStream(Generic[Chunk]):
    """The chunks of a source, passed through as they are; `quality` is the verdict, so far or in the end.

    Made by `vet_stream`.
    """

    def __init__(
        self,
        chunks: AsyncIterable[Chunk],
        stream: AnswerStream,
        text: Callable[[Chunk], str | None],
        finish_reason: Callable[[Chunk], str | None] | None,
    ) -> None:
        self._chunks = chunks
        self._stream = stream
        self._text = text
        self._reason_of = finish_reason
        self._reason: str | None = None
        self._final: AnswerQuality | None = None

    @property
    def quality(self) -> AnswerQuality:
        """The verdict on the whole answer once the source has ended, before that on what came so far."""
        return self._stream.so_far if self._final is None else self._final

    def finish(
        self, *, calls: Sequence[object] | None = None, question: str | None = None, trace: str | None = None
    ) -> AnswerQuality:
        """Return the verdict with the facts known about the turn; it is `quality` from now on."""
        self._final = self._stream.finish(calls=calls, question=question, finish_reason=self._reason, trace=trace)
        return self._final

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        async for chunk in self._chunks:
            self._stream.feed(self._text(chunk))
            if self._reason_of is not None:
                self._reason = self._reason_of(chunk) or self._reason
            yield chunk
        self.finish()


def vet_stream(
    chunks: AsyncIterable[Chunk],
    *,
    text: Callable[[Chunk], str | None] | None = None,
    finish_reason: Callable[[Chunk], str | None] | None = None,
    **options: Unpack[AnswerOptions],
) -> VettedStream[Chunk]:
    """Check an answer while it streams by.

        vetted = vet_stream(response, text=lambda event: event.choices[0].delta.content)
        async for event in vetted:
            send(event)
        vetted.quality

    Exceptions of the source or the two functions pass on to the caller, and `quality` is then the verdict so far.

    Args:
        chunks: The source; its chunks come out again as they are.
        text: Returns the text of a chunk, None for none. Without it the chunks are the text.
        finish_reason: Returns why the model stopped, from the chunk that says it, and None from the others.
        options: See `AnswerCheck`.
    """
    stream = AnswerStream(**options)
    return VettedStream(chunks, stream, text or _itself, finish_reason)


def _itself(chunk: object) -> str | None:
    if chunk is None or isinstance(chunk, str):
        return chunk
    raise TypeError(f"a chunk is a {type(chunk).__name__}: say with text= where its text is")
