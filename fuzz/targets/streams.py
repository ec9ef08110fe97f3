"""`AnswerStream` and `vet_stream`: the end of a stream has the verdict of `check_answer` on the whole text."""

import asyncio
import json
from collections.abc import AsyncIterator

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import ANSWER, TURN

from toolvet import AnswerStream, check_answer, vet_stream


def check(draw: Draw) -> None:
    """One answer in pieces."""
    turn = {} if draw.byte() < 200 else draw.options(TURN)
    options = {} if draw.byte() < 235 else draw.options(ANSWER)
    try:
        stream = AnswerStream(**options)
    except ValueError:
        return
    chunks = draw.several(lambda: draw.answer() if draw.flag() else draw.text(), 8)
    for chunk in chunks:
        quality = stream.feed(chunk)
        holds(0 <= quality.score <= 1, "a score beyond 0 to 1")
    text = "".join(chunks)
    holds(stream.text == text, "a stream lost text")
    whole = check_answer(text, **turn, **options)
    holds(stream.finish(**turn).to_dict() == whole.to_dict(), "the stream says something else than the whole text")
    _agrees(stream, text, options)
    if draw.byte() > 220:
        _passes(chunks, options)


def _agrees(stream: AnswerStream, text: str, options: dict[str, object]) -> None:
    """However a text is cut, the verdict so far is the same once all of it was read."""
    if len(text) > 400:
        return
    other = AnswerStream(**options)
    other.feed(text)
    for signal in stream.so_far.signals:
        if signal.position is not None:
            holds(0 <= signal.position <= len(text), "a signal begins outside of the text")
    holds(json.dumps(other.so_far.to_dict()) == json.dumps(stream.so_far.to_dict()), "the verdict depends on the cuts")


def _passes(chunks: list[str], options: dict[str, object]) -> None:
    async def passed() -> list[str]:
        async def source() -> AsyncIterator[str]:
            for chunk in chunks:
                yield chunk

        vetted = vet_stream(source(), text=lambda chunk: chunk, finish_reason=lambda _: None, **options)
        found = [chunk async for chunk in vetted]
        vetted.quality.to_dict()
        vetted.finish(calls=[])
        return found

    holds(asyncio.run(passed()) == chunks, "a stream changed its chunks")
