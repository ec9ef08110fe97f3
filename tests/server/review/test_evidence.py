"""The text with its evidence marked."""

import pytest
from hypothesis import given, strategies as st

from toolvet import check_answer
from toolvet.errors import UsageError
from toolvet.server.review import ReviewSignal, check_label, mark_evidence, review_signals, vocabulary
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import SignalRecord, encode_document


def judged(text: str | None, signals: object) -> VerdictRecord:
    return VerdictRecord(id="v", at=1, kind="answer", text=text, document=encode_document({"signals": signals}))


def test_the_evidence_of_an_answer_is_at_its_place(tmp_path: object) -> None:
    said = "Hello! I cannot help with that order; it cost 45 euros."
    with Store(f"{tmp_path}/v.db") as store:
        calls = [{"name": "get_order", "arguments": {}, "result": {"total": 54}}]
        id_ = store.add(check_answer(said, calls=calls), text=said, calls=calls)
        verdict = store.verdict(id_)
    assert verdict is not None
    signals = review_signals(verdict)
    assert [signal.key for signal in signals] == ["0:refusal", "1:hallucination_risk"]
    marked = [(part.text, part.signals) for part in mark_evidence(said, signals) if part.signals]
    assert marked == [("I cannot help with that", ("0:refusal",)), ("45", ("1:hallucination_risk",))]
    assert "get_order" in signals[1].against


def test_overlapping_evidence_is_cut_where_one_begins_or_ends() -> None:
    parts = mark_evidence(
        "abcdef", [ReviewSignal(key="a", type="a", start=0, end=4), ReviewSignal(key="b", type="b", start=2, end=6)]
    )
    assert [(part.text, part.signals) for part in parts] == [("ab", ("a",)), ("cd", ("a", "b")), ("ef", ("b",))]


def test_evidence_that_a_replaced_secret_moved_is_found_again_and_lost_evidence_has_no_place() -> None:
    signal = {"type": "refusal", "evidence": "I cannot help", "position": 40}
    (found,) = review_signals(judged("[secret] I cannot help.", [signal]))
    assert (found.start, found.end) == (9, 22)
    (lost,) = review_signals(judged("something else", [signal]))
    assert lost.start is None
    (without,) = review_signals(judged(None, [signal]))
    assert without.start is None


def test_a_place_before_the_text_is_none() -> None:
    verdict = judged("xabc", [{"type": "refusal", "evidence": "ab", "position": -3}])
    (found,) = review_signals(verdict)
    assert (found.start, found.end) == (1, 3)


def test_other_verdicts_have_the_signals_of_their_record() -> None:
    verdict = VerdictRecord(id="v", at=1, kind="result", signals=(SignalRecord("timeout", "error"),))
    assert [(signal.key, signal.level) for signal in review_signals(verdict)] == [("0:timeout", "error")]


NAMES = st.sampled_from(["type", "evidence", "position", "label", "weight"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
    max_leaves=10,
)


@given(st.text(), VALUES)
def test_whatever_a_document_holds_the_parts_are_the_text(text: str, signals: object) -> None:
    found = review_signals(judged(text, signals))
    assert "".join(part.text for part in mark_evidence(text, found)) == text


def test_a_label_uses_the_words_of_its_kind() -> None:
    known = {"0:refusal": object()}
    check_label("answer", "right", {"0:refusal": "wrong"}, known)
    check_label("call", "business_error", {}, {})
    for kind, value, signals, problem in (
        ("answer", "business_error", {}, "value: 'business_error' is not one of right, wrong, unsure"),
        ("answer", "right", {"1:x": "right"}, "the verdict has no signal '1:x'; it has 0:refusal"),
        ("answer", "right", {"0:refusal": "maybe"}, "signals.0:refusal: 'maybe' is not one of right, wrong"),
    ):
        with pytest.raises(UsageError, match=problem):
            check_label(kind, value, signals, known)
    with pytest.raises(UsageError, match="note"):
        check_label("answer", "right", {}, {}, "x" * 4001)


def test_every_kind_has_words_and_each_word_a_key_of_its_own() -> None:
    for kind in ("answer", "call", "result", "arguments", "envelope", "something new"):
        words = vocabulary(kind)
        keys = [each.key for each in (*words.values, *words.signals)]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & set("jknosu?/g")
        assert "{verdict}" in words.question
        assert words.word("unsure") == "Unsure"
        assert words.word("of an earlier release") == "of an earlier release"
