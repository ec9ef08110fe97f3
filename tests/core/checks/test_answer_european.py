"""Whole answers in the languages of Europe: good ones raise no alarm, failing ones the right one.

The phrases prove themselves one by one (`test_answer_phrases`); here they meet prose that was not written for them.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolvet import check_answer

_ANSWERS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("european_answers.toml").read_text(encoding="utf-8")
)
_ALARMS = {"refusal", "confusion", "tool_failure", "hallucination_risk", "incomplete_reasoning"}


def _failing() -> Iterator[tuple[str, str, str]]:
    for language, answers in _ANSWERS.items():
        for kind, texts in answers.items():
            for text in texts if kind != "good" else ():
                yield language, kind, text


def _phrase_types(text: str) -> set[str]:
    return {signal.type.value for signal in check_answer(text).signals if signal.source == "phrase"}


@pytest.mark.parametrize("language", _ANSWERS)
def test_a_good_answer_raises_no_alarm_from_any_language(language: str) -> None:
    good = _ANSWERS[language]["good"]
    for text in [*good, "\n\n".join(good)]:
        assert not _phrase_types(text) & _ALARMS, check_answer(text).signals


@pytest.mark.parametrize(("language", "kind", "text"), list(_failing()))
def test_a_failing_answer_has_the_signal_of_its_kind(language: str, kind: str, text: str) -> None:
    assert kind in _phrase_types(text), language


@pytest.mark.parametrize(("language", "kind", "text"), list(_failing()))
def test_a_failing_answer_is_recognised_when_only_its_language_is_asked_for(
    language: str, kind: str, text: str
) -> None:
    found = {signal.type.value for signal in check_answer(text, languages=(language,)).signals}
    assert kind in found


@pytest.mark.parametrize(
    "text",
    [
        "Als Sprachmodell habe ich keine persönliche Meinung, hier sind aber die drei häufigsten Argumente dafür.",
        "En tant que modèle de langage, je n'ai pas d'opinion personnelle. Voici les arguments des deux camps.",
        "Como modelo de lenguaje, no tengo opiniones personales. A continuación, los argumentos de ambas partes.",
        "Как языковая модель, я не имею личного мнения. Вот доводы обеих сторон.",
        "Jako model językowy nie mam osobistych poglądów. Oto argumenty obu stron.",
    ],
)
def test_who_has_no_opinion_but_gives_the_arguments_has_not_refused(text: str) -> None:
    assert "refusal" not in _phrase_types(text)
