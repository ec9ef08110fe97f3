from collections.abc import Sequence

import pytest

from toolvet import SignalType, check_answer
from toolvet.core.messages import Turn
from toolvet.core.turn.consistency import (
    add_signals,
    contradictions,
    off_topic,
    one_negated,
    polarities,
    yes_and_no,
)

pytest.importorskip("wordllama", reason='needs the embedding model: pip install "toolvet[semantics]"')

from toolvet.agents.integrations.embedding import WordLlamaEmbedder

BREAD = "How do I bake bread at home?"
ABOUT_BREAD = "Mix flour, water, salt and yeast, knead the dough, let it rise for an hour, and bake it in a hot oven."
ABOUT_A_WAR = "The Peace of Westphalia ended the Thirty Years' War in 1648, after five years of negotiations."


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_an_answer_about_something_else_is_off_topic(embedder: WordLlamaEmbedder) -> None:
    relevance = off_topic(BREAD, ABOUT_A_WAR, embedder)
    assert relevance.state == "checked"
    assert relevance.signal is not None
    assert (relevance.signal.type, relevance.signal.label) == (SignalType.CONFUSION, "off_topic")
    assert relevance.signal.evidence == ABOUT_A_WAR
    assert relevance.signal.against == BREAD


def test_an_answer_about_what_was_asked_is_not(embedder: WordLlamaEmbedder) -> None:
    relevance = off_topic(BREAD, ABOUT_BREAD, embedder)
    assert relevance.signal is None
    assert relevance.similarity is not None
    assert relevance.similarity > 0.3


def test_a_long_answer_is_on_topic_by_its_nearest_sentence(embedder: WordLlamaEmbedder) -> None:
    assert off_topic(BREAD, f"{ABOUT_A_WAR * 8} {ABOUT_BREAD}", embedder).signal is None


def test_a_short_answer_is_not_judged_by_meaning(embedder: WordLlamaEmbedder) -> None:
    assert off_topic("What is the capital of France?", "Paris.", embedder).state == "not_judged"


def test_without_a_model_the_result_says_that_this_part_is_off() -> None:
    relevance = off_topic(BREAD, ABOUT_A_WAR, None)
    assert (relevance.state, relevance.signal) == ("off", None)
    assert "No embedding model" in relevance.reason
    consistency = contradictions([Turn("a?", "b"), Turn("a?", "c")], None)
    assert (consistency.state, consistency.contradictions) == ("off", ())


def test_a_model_that_fails_turns_the_part_off_and_is_named() -> None:
    class Broken:
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise RuntimeError(f"out of memory after {len(texts)} texts")

    class Short:
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            del texts
            return [[1.0]]

    assert "RuntimeError: out of memory" in off_topic(BREAD, ABOUT_BREAD, Broken()).reason
    assert off_topic(BREAD, ABOUT_BREAD, Short()).state == "off"
    assert contradictions([Turn("a?", "b"), Turn("a?", "c")], Broken()).state == "off"


CLASHES = [
    (
        "numbers",
        "When is the meeting?",
        "The meeting is on 3 May at 15:00.",
        "At what time is the meeting?",
        "The meeting is on 3 May at 16:00.",
    ),
    (
        "names",
        "What is the capital of Australia?",
        "The capital of Australia is Canberra.",
        "Tell me the capital of Australia.",
        "The capital city of Australia is Sydney.",
    ),
    (
        "yes_no",
        "Can I return the shoes?",
        "Yes, you can return them.",
        "Is it possible to return the shoes?",
        "No, shoes can't be returned.",
    ),
    (
        "negation",
        "Is the shop open on Sunday?",
        "The shop is open on Sunday.",
        "Is the shop open on Sundays?",
        "The shop is not open on Sunday.",
    ),
    (
        "numbers",
        "How much does the ticket cost?",
        "The ticket costs 12 euros.",
        "What does the ticket cost?",
        "The ticket costs €15.",
    ),
]


@pytest.mark.parametrize("case", CLASHES, ids=lambda case: case[2])
def test_the_same_question_answered_differently_is_a_contradiction(
    embedder: WordLlamaEmbedder, case: tuple[str, str, str, str, str]
) -> None:
    kind, first, before, second, now = case
    turns = [(first, before), ("Thanks! What's the weather like?", "It is sunny."), (second, now)]
    (found,) = contradictions(turns, embedder).contradictions
    assert (found.kind, found.earlier, found.later) == (kind, 0, 2)
    assert (found.said, found.says) == (before, now)
    assert now[found.position :].startswith(found.says)


AGREEMENTS = [
    (
        "How many people live in Rome?",
        "About 2.8 million people live in Rome.",
        "What is Rome's population?",
        "Rome has 2,8 million inhabitants.",
    ),
    (
        "When is the meeting?",
        "The meeting is on 3 May at 15:00.",
        "When is the meeting?",
        "It is on 3 May, 15:00, in room 12.",
    ),
    (
        "Who was president in 2010?",
        "President Obama governed in 2010.",
        "Who was the president in 2010?",
        "In 2010 Barack Obama was president.",
    ),
    ("Can I return the shoes?", "Yes, you can return them.", "Can I return the shoes?", "Yes, no problem."),
    (
        "How far is Paris from Berlin?",
        "Paris is 1,050 km from Berlin.",
        "How far is Rome from Berlin?",
        "Rome is 1,500 km from Berlin.",
    ),
    (
        "What does the train on 3 May cost?",
        "It costs 40 euros.",
        "What does the train on 4 May cost?",
        "It costs 60 euros.",
    ),
]


@pytest.mark.parametrize(("first", "before", "second", "now"), AGREEMENTS, ids=[case[3] for case in AGREEMENTS])
def test_answers_that_agree_or_answer_something_else_are_no_contradiction(
    embedder: WordLlamaEmbedder, first: str, before: str, second: str, now: str
) -> None:
    found = contradictions([(first, before), (second, now)], embedder)
    assert (found.state, found.contradictions) == ("checked", ())


def test_a_contradiction_weighs_on_the_later_answer(embedder: WordLlamaEmbedder) -> None:
    _, first, before, second, now = CLASHES[0]
    (found,) = contradictions([(first, before), (second, now)], embedder).contradictions
    alone = check_answer(now)
    quality = add_signals(alone, [found.signal, None])
    assert not alone.should_escalate
    assert quality.should_escalate
    assert quality.signals[0].against == before
    assert add_signals(alone, [None]) == alone


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\0" * 100, "a" * 100_000, "?!" * 50_000, "\U0001d54f" * 300])
def test_any_text_is_judged_without_an_exception(embedder: WordLlamaEmbedder, text: str) -> None:
    assert off_topic(text, text * 2, embedder).state in ("checked", "not_judged")
    assert contradictions([(text, text), (text, BREAD), (BREAD, text)], embedder).state == "checked"


@pytest.mark.parametrize("language", sorted(polarities()))
def test_the_words_for_yes_no_and_not_tell_opposites_apart(language: str) -> None:
    words = polarities()[language]
    for one, two in words.hits:
        assert yes_and_no(one, two) or one_negated(one, two), (one, two)
    for one, two in words.misses:
        assert not yes_and_no(one, two), (one, two)
        assert not one_negated(one, two), (one, two)
