"""A short answer is one where its question or its calls are known, unless a text was asked for."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from toolvet import AnswerStream, best_answer, check_answer, check_conversation, vet_stream
from toolvet.core.turn.asking import requests

SHORT = ["Yes.", "42", "Paris.", "4.90 EUR.", "No such book."]
CALL = {"name": "find_book", "arguments": {"title": "Emma"}, "result": "4.90 EUR, Paris, 42 copies. Yes. No such book."}


def is_short(text: str, question: object = None, calls: object = None) -> bool:
    quality = check_answer(text, question=question, calls=calls)  # type: ignore[arg-type]
    return any(signal.type == "empty_response" for signal in quality.signals)


@pytest.mark.parametrize("language", sorted(requests()))
def test_requests_keep_their_proofs(language: str) -> None:
    proofs = requests()[language]
    assert [pair for pair in proofs.hits if not is_short(pair[1], pair[0])] == []
    assert [pair for pair in proofs.misses if is_short(pair[1], pair[0])] == []


@pytest.mark.parametrize("text", SHORT)
def test_a_short_answer_needs_a_question_or_calls(text: str) -> None:
    assert is_short(text)
    assert is_short(text, question="", calls=[])
    assert not is_short(text, question="What do you know of it?")
    assert not is_short(text, calls=[CALL])
    assert is_short(text, question="Write an essay about Jane Austen.")
    assert check_answer(text, question="How much?", min_length=20).should_escalate


@pytest.mark.parametrize("text", [None, "", " \n", "...", "\u200b"])
def test_an_empty_answer_stays_empty(text: str | None) -> None:
    assert check_answer(text, question="How much is it?", calls=[CALL]).should_escalate


def test_a_text_may_be_in_the_file_that_a_call_wrote() -> None:
    call = {"name": "write_file", "arguments": {"path": "essay.md", "content": "Whales"}, "result": "written"}
    assert is_short("Done.", "Write an essay about whales.")
    assert not is_short("Done.", "Write an essay about whales.", [call])


def test_only_the_last_message_of_the_person_is_the_question() -> None:
    messages = [
        {"role": "user", "content": "Write an essay about whales."},
        {"role": "assistant", "content": "Whales are the largest animals of the sea, and have been for long."},
        {"role": "user", "content": "How many kinds are there?"},
    ]
    assert not is_short("About 90.", messages)
    assert is_short("About 90.", messages[:1])
    assert is_short("ok", messages)


def test_streams_and_choices_know_the_question() -> None:
    stream = AnswerStream()
    stream.feed("42")
    assert not stream.finish(question="How many?").signals
    assert stream.finish().should_escalate
    assert stream.finish(question="Write an essay about whales.").should_escalate

    async def chunks() -> AsyncIterator[str]:
        yield "42"

    async def read() -> None:
        vetted = vet_stream(chunks())
        assert [chunk async for chunk in vetted] == ["42"]
        assert vetted.quality.should_escalate
        assert not vetted.finish(question="How many?").signals

    asyncio.run(read())
    assert best_answer(["I cannot help with that.", "42"], question="How many?").quality.signals == ()


@pytest.mark.parametrize("text", SHORT)
def test_a_conversation_knows_its_question(text: str) -> None:
    said = {"role": "assistant", "content": text}
    assert not check_conversation([{"role": "user", "content": "What do you know of it?"}, said]).should_escalate
    assert not check_conversation([said]).should_escalate
    asked = {"role": "user", "content": "Please write a poem about the sea."}
    assert check_conversation([asked, said]).should_escalate
