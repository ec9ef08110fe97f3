"""The pure half of alerts: thresholds, hysteresis, how long, and how many."""

import pytest

from toolvet.store import VerdictFigures
from toolvet.store.alerts import AlertRule, AlertState, measured, next_state, sentence


def states(rule: AlertRule, *values: float | None, step: float = 60.0) -> list[bool]:
    """Whether it is an alert after each of these values, a minute apart."""
    state, found = AlertState(name=rule.name), []
    for number, value in enumerate(values):
        state = next_state(rule, state, value, 1000.0 + number * step)
        found.append(state.firing)
    return found


def rule(**more: object) -> AlertRule:
    return AlertRule(**{"name": "a", "measure": "escalation_rate", "above": 0.2, **more})  # type: ignore[arg-type]


def test_an_alert_begins_above_the_threshold_and_ends_only_at_the_other_one() -> None:
    assert states(rule(clear=0.1), 0.2, 0.21, 0.15, 0.11, 0.1, 0.15) == [False, True, True, True, False, False]


def test_below_works_the_other_way_round() -> None:
    low = rule(measure="average_score", above=None, below=0.7, clear=0.8)
    assert states(low, 0.7, 0.69, 0.75, 0.8, 0.75) == [False, True, True, False, False]


def test_the_value_must_be_beyond_for_as_long_as_the_rule_says_without_a_break() -> None:
    patient = rule(lasting=2)
    assert states(patient, 0.3, 0.3, 0.3) == [False, False, True]
    assert states(patient, 0.3, 0.3, 0.1, 0.3, 0.3, 0.3) == [False, False, False, False, False, True]
    # With too few verdicts, it is unknown whether it went on.
    assert states(patient, 0.3, 0.3, None, 0.3, 0.3, 0.3) == [False, False, False, False, False, True]


def test_too_few_verdicts_begin_nothing_and_end_nothing() -> None:
    assert states(rule(), None, 0.3, None, 0.1) == [False, True, True, False]
    sums = VerdictFigures(verdicts=19, escalated=19, failed=19, score_sum=1.0, score_count=19)
    assert measured(rule(), sums) is None
    assert measured(rule(least=19), sums) == 1.0
    assert measured(rule(measure="verdicts", above=None, below=5), VerdictFigures()) == 0.0
    assert measured(rule(measure="average_score", least=0), VerdictFigures()) is None


def test_a_clock_that_was_set_back_does_not_keep_an_alert_waiting() -> None:
    patient = rule(lasting=2)
    state = next_state(patient, AlertState(name="a"), 0.3, 10_000.0)
    state = next_state(patient, state, 0.3, 100.0)
    assert next_state(patient, state, 0.3, 220.0).firing


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"above": None}, "'above' or 'below'"),
        ({"below": 0.1}, "'above' or 'below'"),
        ({"clear": 0.3}, "'clear' above 'above'"),
        ({"above": None, "below": 0.5, "clear": 0.4}, "'clear' below 'below'"),
        ({"window": 0}, "'window'"),
        ({"least": -1}, "'least'"),
        ({"name": " "}, "name"),
        ({"webhook": "file:///etc/passwd"}, "webhook is an http"),
        ({"webhook": "https://"}, "webhook is an http"),
        ({"webhook": "https://a.example/", "webhook_env": "X"}, "give one"),
    ],
)
def test_a_rule_that_contradicts_itself_is_refused(more: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rule(**more)


def test_a_sentence_says_what_where_and_how_much() -> None:
    state = AlertState(name="a", firing=False, value=0.1)
    assert sentence(rule(window=1, tool="find_book"), state) == (
        "a: escalation rate is 0.1, no longer above 0.2, over 1 minute (tool find_book)"
    )
