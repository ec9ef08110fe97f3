"""Which verdicts the rules want."""

from typing import Any

import msgspec
import pytest

from toolvet import check_answer
from toolvet.errors import UsageError
from toolvet.server.review import DEFAULT_RULES, QueueRule, chooser, kinds_of
from toolvet.server.reviewing import queue_rules
from toolvet.server.settings import QueueSettings, ReviewSettings
from toolvet.store import SignalRecord, VerdictRecord
from toolvet.store.records import encode_document


def verdict(**given: Any) -> VerdictRecord:
    fields: dict[str, Any] = {"id": "v1", "at": 1.0, "kind": "answer", "server": "books", "tool": "find", "score": 0.5}
    sources = given.pop("sources", ())
    document = encode_document({"signals": [{"type": "refusal", "source": source} for source in sources]})
    return VerdictRecord(**{**fields, **given}, signals=(SignalRecord("refusal", "error"),), document=document)


@pytest.mark.parametrize(
    ("rule", "hit", "miss"),
    [
        ({"kind": "answer"}, {}, {"kind": "result"}),
        ({"server": "books"}, {}, {"server": "other"}),
        ({"tool": "find"}, {}, {"tool": None}),
        ({"model": "m1"}, {"model": "m1"}, {"model": "m2"}),
        ({"failed": True}, {"failed": True}, {}),
        ({"escalated": False}, {}, {"escalate": True}),
        ({"max_score": 0.5}, {}, {"score": 0.51}),
        ({"min_score": 0.5}, {}, {"score": None}),
        ({"disagreement": True}, {"sources": ["model"]}, {"sources": ["model", "phrase"]}),
        ({"disagreement": True}, {"sources": ["model", "calls"]}, {"sources": []}),
    ],
)
def test_a_rule_wants_what_fits_all_that_it_says(
    rule: dict[str, Any], hit: dict[str, Any], miss: dict[str, Any]
) -> None:
    made = QueueRule(name="r", **rule)
    assert made.wants(verdict(**hit))
    assert not made.wants(verdict(**miss))


def test_a_signal_is_looked_for_by_its_type() -> None:
    assert QueueRule(name="r", signal="refusal").wants(verdict())
    assert not QueueRule(name="r", signal="empty").wants(verdict())


def test_a_share_takes_about_so_many_and_always_the_same_ones() -> None:
    rule, other = QueueRule(name="sample", share=0.2), QueueRule(name="another", share=0.2)
    taken = {number for number in range(5000) if rule.wants(verdict(id=f"v{number}"))}
    assert 900 < len(taken) < 1100
    assert taken == {number for number in range(5000) if rule.wants(verdict(id=f"v{number}"))}
    assert taken != {number for number in range(5000) if other.wants(verdict(id=f"v{number}"))}
    assert not any(QueueRule(name="none", share=0).wants(verdict(id=f"v{number}")) for number in range(100))


def test_of_several_rules_the_highest_priority_counts() -> None:
    choose = chooser([QueueRule(name="a", priority=1), QueueRule(name="b", priority=2, reviewers=3, max_score=0.6)])
    assert choose(verdict()) == ("b", 2, 3)
    assert choose(verdict(score=0.9)) == ("a", 1, 1)
    assert chooser([])(verdict()) is None


def test_only_kinds_that_a_rule_can_want_are_read() -> None:
    assert kinds_of(DEFAULT_RULES) == frozenset({"answer"})
    assert kinds_of([QueueRule(name="a", kind="call"), QueueRule(name="b")]) is None
    assert kinds_of([QueueRule(name="a", kind="call", share=0)]) == frozenset()


def test_by_default_an_escalated_answer_is_wanted_before_a_doubtful_one_and_a_clean_one_seldom() -> None:
    choose = chooser(DEFAULT_RULES)
    wish = choose(verdict(escalate=True))
    assert wish is not None
    assert (wish.rule, wish.reviewers) == ("escalated", 1)
    doubtful = choose(verdict(score=0.7))
    assert doubtful is not None
    assert doubtful.priority < wish.priority
    clean = [choose(verdict(id=f"v{number}", score=1.0)) for number in range(1000)]
    assert 5 < sum(wish is not None for wish in clean) < 50
    assert choose(verdict(kind="call", escalate=True)) is None
    assert check_answer("I cannot help with that.").should_escalate


def test_settings_have_the_members_of_a_rule() -> None:
    wanted = {field.name: field.default for field in msgspec.structs.fields(QueueRule)}
    assert {field.name: field.default for field in msgspec.structs.fields(QueueSettings)} == wanted
    (rule,) = queue_rules(ReviewSettings(queue=(QueueSettings(name="low", max_score=0.4, share=0.5),)))
    assert rule == QueueRule(name="low", max_score=0.4, share=0.5)
    assert queue_rules(ReviewSettings()) == DEFAULT_RULES
    assert queue_rules(ReviewSettings(queue=())) == ()


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ([{"name": "a", "share": 1.5}], "share of a is 1.5"),
        ([{"name": "a", "reviewers": 0}], "reviewers of a"),
        ([{"name": "a"}, {"name": "a"}], "same name"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused(rules: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        queue_rules(ReviewSettings(queue=tuple(QueueSettings(**rule) for rule in rules)))
