"""A stream says what the whole text says, wherever it is cut."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples
from tests.labelled import DATA

from toolvet import AnswerStream, check_answer, vet_stream
from toolvet.core.checks.answer import FailureSignal
from toolvet.core.checks.answer.phrases import read_phrases
from toolvet.core.checks.answer.read import apart, counts, find, gravity
from toolvet.core.matching.pattern import _Backtracker
from toolvet.core.prose import masks

PHRASES = [text for known in read_phrases().values() for text in known.phrase.hits[:1]]
SEPARATORS = ["\n\n", " ", '" ', ' "', "\n```\n", "`", "> ", "\n- ", "«", "»", ". ", "* "]
FILLER = "The harbour was quiet in the morning, and the ferries waited for the tide. "
PIECES = st.sampled_from([*PHRASES, *SEPARATORS, FILLER, FILLER * 9])
TEXTS = st.lists(PIECES, max_size=8).map(" ".join) | st.text(max_size=60)


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def told_by_phrases(text: str) -> list[FailureSignal]:
    """The phrases of a text, read at once."""
    own = masks(text)
    told = [each for each in find(text) if not each.known.phrase.cue and counts(each, len(text), own)]
    return sorted(apart([each.signal for each in told]), key=gravity)[:100]


@examples(60)
@given(cut_texts())
def test_to_finish_is_to_check_the_whole_text(chunks: list[str]) -> None:
    stream = AnswerStream()
    for chunk in chunks:
        stream.feed(chunk)
    assert stream.finish() == check_answer("".join(chunks))
    assert stream.text == "".join(chunks)


@examples(60)
@given(cut_texts())
def test_the_verdict_so_far_has_the_phrases_of_what_was_read(chunks: list[str]) -> None:
    stream = AnswerStream()
    text = ""
    for chunk in chunks:
        text += chunk
        assert list(stream.feed(chunk).signals) == told_by_phrases(text), text


@pytest.mark.labelled
@pytest.mark.parametrize("file", ["good_answer", "refusal", "uncertainty", "answer_tool_failure"])
def test_of_real_answers_too_wherever_they_are_cut(file: str) -> None:
    rows = Random(16)  # noqa: S311 - A sample by a seed.
    lines = (DATA / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    told = 0
    for line in rows.sample(lines, 12):
        text = json.loads(line)["text"][:2_000]
        stream = AnswerStream()
        at = 0
        while at < len(text):
            size = rows.choice((2, 5, 9, 40, 160))
            signals = list(stream.feed(text[at : at + size]).signals)
            at += size
            # To read all of it again after every chunk would take minutes.
            if signals or size > 9:
                assert signals == told_by_phrases(text[:at]), text[:at]
                told += bool(signals)
        assert stream.finish() == check_answer(text)
    assert told or file == "good_answer"


def test_what_was_settled_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    original = _Backtracker.search

    def counted(self: _Backtracker, text: str, start: int, limit: int) -> tuple[int, int] | None:
        searched.append(limit - start)
        return original(self, text, start, limit)

    monkeypatch.setattr(_Backtracker, "search", counted)
    text = f"{FILLER * 8}I cannot help with that request. {FILLER * 8}"
    stream = AnswerStream()
    for at in range(0, len(text), 5):
        stream.feed(text[at : at + 5])
    assert stream.so_far.signals
    # Each of the tokens behind the refusal searched for it again while it was kept: 306 searches.
    assert 0 < len(searched) < 180


def test_a_refusal_is_known_as_soon_as_it_is_read() -> None:
    stream = AnswerStream()
    assert not stream.feed("I'm sorry, but I can").should_escalate
    assert stream.feed("not help with that request.").should_escalate
    assert stream.feed(FILLER * 100).signals[0].position == stream.finish().signals[0].position


def test_a_phrase_that_turns_out_to_be_quoted_is_taken_back() -> None:
    stream = AnswerStream()
    assert stream.feed('Here is how it goes. "I cannot help with that request.').should_escalate
    assert not stream.feed('" Those are the first words of the play, which was a success.').should_escalate


def test_a_short_beginning_is_not_called_empty_but_a_short_end_is() -> None:
    stream = AnswerStream()
    assert stream.feed("It is").signals == ()
    assert [signal.type for signal in stream.finish().signals] == ["empty_response"]


def test_what_is_known_at_the_end_counts_at_the_end() -> None:
    stream = AnswerStream()
    stream.feed("The three largest harbours are Shanghai, Singapore and Ningbo.")
    assert [signal.label for signal in stream.finish(finish_reason="length").signals] == ["truncated"]


def test_own_patterns_are_found_across_chunks() -> None:
    stream = AnswerStream(custom_patterns={"refusal": ["work in progress"]})
    stream.feed("The export is work in pro")
    assert stream.feed("gress, as the release notes say.").signals[0].source == "custom"


def test_wrong_options_are_refused_at_construction() -> None:
    with pytest.raises(ValueError, match="klingon"):
        AnswerStream(languages=["klingon"])
    with pytest.raises(ValueError, match="unclosed"):
        AnswerStream(custom_patterns={"refusal": ["(unclosed"]})


def test_a_long_stream_keeps_only_a_window_and_the_text() -> None:
    stream = AnswerStream()
    for _ in range(2_000):
        stream.feed(FILLER)
    assert len(stream._window) <= 1_024
    assert stream._settled == []


async def _source(*chunks: object) -> AsyncIterator[object]:
    for chunk in chunks:
        yield chunk


def _event(content: str | None, reason: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=content), finish_reason=reason)])


def test_an_async_source_passes_through_untouched_and_ends_with_the_quality() -> None:
    events = [_event("I cannot help "), _event("with that request."), _event(None, "length")]

    async def run() -> None:
        vetted = vet_stream(
            _source(*events),
            text=lambda event: event.choices[0].delta.content,  # type: ignore[attr-defined]
            finish_reason=lambda event: event.choices[0].finish_reason,  # type: ignore[attr-defined]
        )
        passed = [event async for event in vetted]
        assert all(one is other for one, other in zip(passed, events, strict=True))
        assert {signal.label for signal in vetted.quality.signals} >= {"truncated"}
        assert vetted.quality.should_escalate

    asyncio.run(run())


def test_a_source_that_fails_leaves_the_verdict_so_far() -> None:
    async def failing() -> AsyncIterator[str]:
        yield "I cannot help with that request."
        raise ConnectionError("gone")

    async def run() -> None:
        vetted = vet_stream(failing())
        with pytest.raises(ConnectionError):
            async for _ in vetted:
                pass
        assert vetted.quality.should_escalate

    asyncio.run(run())


def test_chunks_that_are_no_text_need_to_be_told_where_it_is() -> None:
    async def run() -> None:
        async for _ in vet_stream(_source(_event("x"))):
            pass

    with pytest.raises(TypeError, match="text="):
        asyncio.run(run())
