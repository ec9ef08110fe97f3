"""Whole answers in languages of Asia, the Middle East and Africa: the good stay unflagged, the failed are flagged."""

import tomllib
from pathlib import Path

import pytest

import toolvet

ANSWERS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("asian_answers.toml").read_text(encoding="utf-8")
)
GRAVE = {toolvet.SignalType.REFUSAL, toolvet.SignalType.TOOL_FAILURE, toolvet.SignalType.CONFUSION}


GOOD = [(language, text) for language, answers in ANSWERS.items() for text in answers["good"]]
FAILED = [
    (language, kind, text)
    for language, answers in ANSWERS.items()
    for kind, texts in answers.items()
    for text in texts
    if kind != "good"
]


@pytest.mark.parametrize(("language", "text"), GOOD, ids=[language for language, _ in GOOD])
def test_a_good_answer_has_no_grave_signal_from_any_language(language: str, text: str) -> None:
    found = [signal for signal in toolvet.check_answer(text, min_length=0).signals if signal.type in GRAVE]
    assert found == [], language


@pytest.mark.parametrize("language", list(ANSWERS))
def test_good_answers_one_after_the_other_are_not_escalated(language: str) -> None:
    assert not toolvet.check_answer("\n\n".join(ANSWERS[language]["good"]), min_length=0).should_escalate


@pytest.mark.parametrize(
    ("language", "kind", "text"), FAILED, ids=[f"{language}-{kind}" for language, kind, _ in FAILED]
)
def test_a_failed_answer_is_told_as_what_it_is(language: str, kind: str, text: str) -> None:
    quality = toolvet.check_answer(text, min_length=0)
    assert kind in {signal.type for signal in quality.signals}, language


@pytest.mark.parametrize(
    ("language", "kind", "text"), FAILED, ids=[f"{language}-{kind}" for language, kind, _ in FAILED]
)
def test_a_failed_answer_is_known_by_the_phrases_of_its_own_language(language: str, kind: str, text: str) -> None:
    quality = toolvet.check_answer(text, min_length=0, languages=[language])
    assert {signal.language for signal in quality.signals if signal.type == kind} == {language}


def test_every_language_has_good_answers_and_at_least_four_failed_ones() -> None:
    thin = [
        language
        for language, answers in ANSWERS.items()
        if len(answers["good"]) < 3 or sum(len(texts) for texts in answers.values()) - len(answers["good"]) < 4
    ]
    assert thin == []
