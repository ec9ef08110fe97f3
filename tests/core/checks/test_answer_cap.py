"""A text made of nothing but phrases is not read to its end, and no number of hits hides the one that counts."""

# ruff: noqa: RUF001 - Texts in several scripts.

from random import Random

import pytest

from toolvet import check_answer
from toolvet.core.checks.answer import FailureSignal, read
from toolvet.core.checks.answer.read import find, read_answer

REFUSAL = "I cannot help with that request. "
QUOTED = 'He wrote: "I cannot help with that request." '
VOIDED = "He said that I cannot help with that request. "
SOFTENED = "I can't draw pictures, but here is a description of the harbour in words. "
FILLER = "The harbour was quiet in the morning, and the ferries waited for the tide. "
CUE = "However, the report is unclear. "
WITHDRAWN = (QUOTED, VOIDED, FILLER, "```\nI cannot help with that request.\n```\n", "> I cannot help with that.\n\n")


@pytest.fixture
def signals_made(monkeypatch: pytest.MonkeyPatch) -> list[FailureSignal]:
    made: list[FailureSignal] = []

    def counted(**parts: object) -> FailureSignal:
        made.append(FailureSignal(**parts))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(read, "FailureSignal", counted)
    return made


@pytest.mark.parametrize("unit", [REFUSAL, "抱歉，我无法回答这个问题。"])
def test_what_is_said_thousands_of_times_is_placed_some_hundred_times(
    unit: str, signals_made: list[FailureSignal]
) -> None:
    signals = read_answer(unit * 3_000)
    assert len(signals) == 100
    phrases = {(signal.type, signal.language, signal.label) for signal in signals_made}
    # Without the bound they were 3,000 of each phrase.
    assert len(signals_made) <= 1_000, phrases


def test_its_verdict_is_that_of_a_shorter_one() -> None:
    long, short = check_answer(REFUSAL * 5_000), check_answer(REFUSAL * 150)
    assert long.should_escalate
    assert (long.score, long.reason, long.action) == (short.score, short.reason, short.action)
    of_phrases = [[each for each in quality.signals if each.source == "phrase"] for quality in (long, short)]
    assert of_phrases[0] == of_phrases[1]


@pytest.mark.parametrize("hidden", [f"{FILLER}{REFUSAL}", "I am not able to answer that question. "])
@pytest.mark.parametrize("around", WITHDRAWN)
def test_hits_that_do_not_count_hide_none_that_does(around: str, hidden: str) -> None:
    text = f"{FILLER}\n\n{around * 400}\n\n{hidden}\n\n{around * 400}\n\n{FILLER}"
    quality = check_answer(text)
    assert quality.should_escalate
    assert any(
        text.index(hidden) <= (each.position or 0) < text.index(hidden) + len(hidden) for each in quality.signals
    )


def test_hits_that_weigh_less_hide_none_that_weighs_more() -> None:
    text = f"{FILLER}\n\n{SOFTENED * 400}\n\n{REFUSAL}\n\n{FILLER * 20}"
    assert read_answer(text)[0].weight == max(each.signal.weight for each in find(text))


def test_of_a_cue_one_is_enough(signals_made: list[FailureSignal], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def judged(text: str, _model: object) -> list[FailureSignal]:
        asked.append(text)
        return []

    monkeypatch.setattr(read, "judged", judged)
    read_answer(FILLER + CUE * 2_000 + FILLER)
    assert len(asked) == 1
    assert len(signals_made) <= 1_000


def test_with_any_bound_the_signals_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small bound is reached soon, in texts that have all there is; what is reported is what no bound reports."""
    rows = Random(16)  # noqa: S311 - Texts by a seed.
    pieces = (
        REFUSAL,
        SOFTENED,
        CUE,
        *WITHDRAWN,
        "I'm not sure, maybe. ",
        "The search tool failed with an error. ",
        "\n\n",
    )
    monkeypatch.setattr(read, "_MOST", 3)
    monkeypatch.setattr(read, "judged", lambda *_: [])
    reached = 0
    for _ in range(150):
        text = "".join(rows.choice(pieces) * rows.randint(1, 6) for _ in range(rows.randint(1, 12)))
        monkeypatch.setattr(read, "_MOST_HITS", 10_000)
        whole = read_answer(text)
        monkeypatch.setattr(read, "_MOST_HITS", 6)
        assert read_answer(text) == whole, text
        full: list[object] = []
        find(text, length=len(text), full=full)  # type: ignore[arg-type]
        reached += bool(full)
    assert reached > 30
