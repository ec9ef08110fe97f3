"""The kernel of answers gives each row the verdict of `check_answer` on its text."""

# ruff: noqa: RUF001 - Texts in many scripts.

import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.labelled import DATA

from toolvet import AnswerCheck
from toolvet.batch.kernel.answers import AnswersKernel
from toolvet.batch.kernel.screen import AnswerScreen
from toolvet.batch.kernel.texts import Texts
from toolvet.core.checks.answer import AnswerQuality
from toolvet.core.checks.answer.phrases import phrases
from toolvet.core.checks.answer.shape import raw_error_table
from toolvet.core.turn.check import CLEAN

CHECK = AnswerCheck()
KERNEL = AnswersKernel(CHECK)
SENTENCE = "The harbour was quiet in the morning, and the ferries waited for the tide. "
PIECES = (
    "I cannot help", " with that request.", "I'm sorry, but ", "I think ", "However, ", "TODO", "Let me look: ",
    "```", "`", "\n", "\n\n", '"', '\n"', "“", "”", ".", "!", "?", "…", "。", "U.S.", "e.g.", "Dr.", "(etc.", "\n3.",
    "\n- ", " ", "\t", "\u00a0", "\u3000", "\0", "\u200b", "e\u0301", "\ufb01", "don’t", "ich kann nicht helfen",
    "抱歉，我无法帮助您。", "не могу помочь", "Error: ", "Traceback (most recent call last):", "{",
    '{"error": "boom"}', "<html>",
    "404 Not Found", "ab ", "done. " * 6, SENTENCE, SENTENCE * 10, "x" * 250, "早晨的港口很安静。", "|a|b|\n|-|-|\n",
    "<|im_end|>",
)  # fmt: skip
PLACES = ("quay", "island", "old pier", "northern bank", "lighthouse", "market", "dock", "bridge")
TEXTS = st.one_of(st.none(), st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


def verdict_fields(quality: AnswerQuality) -> dict[str, object]:
    """A verdict as a row of the output has it."""
    signals = [
        {
            **{
                name: getattr(signal, name)
                for name in ("evidence", "label", "weight", "certainty", "language", "context")
            },
            **{name: getattr(signal, name) for name in ("source", "against", "model")},
            "type": signal.type.value,
            "start": signal.position,
            "end": None if signal.position is None else signal.position + len(signal.evidence),
        }
        for signal in quality.signals
    ]
    names = ("score", "likely_good", "should_escalate", "reason", "assessment_confidence", "feedback")
    return {
        **{name: getattr(quality, name) for name in names},
        "action": quality.action.value,
        "signals": signals,
        "problem": None,
    }


def judged(texts: Sequence[str | None], kernel: AnswersKernel = KERNEL, kind: object = None) -> list[dict[str, object]]:
    column = pa.array(texts, pa.string() if kind is None else kind)
    rows: list[dict[str, object]] = kernel(pa.record_batch({"text": column})).to_pylist()
    return rows


def expected(texts: Sequence[str | None], check: AnswerCheck = CHECK) -> list[dict[str, object]]:
    return [verdict_fields(check(text)) for text in texts]


def assert_same(found: Sequence[dict[str, object]], wanted: Sequence[dict[str, object]]) -> None:
    assert len(found) == len(wanted)
    for row, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert {name: ours[name] for name in theirs} == theirs, row


@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=6))
def test_a_row_has_the_verdict_of_its_text_whatever_stands_around_it(texts: list[str | None]) -> None:
    assert_same(judged(texts), expected(texts))


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), st.binary(max_size=40), st.sampled_from(PIECES).map(str.encode)), max_size=5))
def test_bytes_that_are_no_utf_8_are_judged_as_replacement_characters(rows: list[bytes | None]) -> None:
    found = KERNEL(pa.record_batch({"text": pa.array(rows, pa.binary())})).to_pylist()
    assert_same(found, expected([None if row is None else row.decode("utf-8", "replace") for row in rows]))


def test_a_string_column_may_hold_bytes_that_are_no_utf_8_all_the_same() -> None:
    raw = pa.array([b"I cannot help with that \xff request.", b"\xed\xa0\x80"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    found = KERNEL(pa.record_batch({"text": broken})).to_pylist()
    assert_same(found, expected([row.decode("utf-8", "replace") for row in raw.to_pylist()]))


@pytest.mark.parametrize(
    "options",
    [
        {"languages": ["en"]},
        {"languages": ["zh", "de"]},
        {"packs": ["medical", "legal", "finance", "code"], "strict": True},
        {"min_length": 0},
        {"min_length": 400},
        {"custom_patterns": {"refusal": ["harbour"]}, "replace_patterns": True},
        {"weights": {"refusal": 0.0}, "threshold": 0.9},
    ],
    ids=str,
)
def test_options_hold_for_every_row(options: dict[str, object]) -> None:
    check = AnswerCheck(**options)  # type: ignore[arg-type]
    texts = [*PIECES, *(f"{SENTENCE}{piece}" for piece in PIECES), *(f"{piece}{SENTENCE * 12}" for piece in PIECES)]
    assert_same(judged(texts, AnswersKernel(check)), expected(texts, check))


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_every_type_of_text_column_is_read(kind: object) -> None:
    texts = ["I cannot help with that request.", None, SENTENCE.strip(), "I cannot help with that request."]
    assert_same(judged(texts, kind=kind), expected(texts))


def test_a_slice_of_a_batch_is_judged_as_its_rows() -> None:
    texts = [SENTENCE, "I cannot help", " with that request.", SENTENCE, "I'm sorry, but"]
    batch = pa.record_batch({"text": texts}).slice(1, 3)
    assert_same(KERNEL(batch).to_pylist(), expected(texts[1:4]))


def test_a_phrase_that_two_rows_share_is_found_in_neither() -> None:
    found = judged(["The letter ends here: I cannot", "help with that request, he wrote to us at last."])
    assert not any(signal["type"] == "refusal" for row in found for signal in row["signals"])  # type: ignore[attr-defined]


def test_calls_finish_reasons_and_problems_of_a_row_are_heeded() -> None:
    calls = [{"name": "send", "arguments": {}, "result": {"isError": True, "content": []}}]
    batch = pa.record_batch(
        {
            "text": ["Done, I have sent the report to Ann.", f"{SENTENCE}It ", SENTENCE, "I cannot help with that."],
            "calls": [json.dumps(calls), None, None, None],
            "finish_reason": [None, "length", None, None],
            "problem": [None, None, None, "is lost"],
        }
    )
    kernel = AnswersKernel(CHECK, {"calls": "calls", "finish_reason": "finish_reason"})
    rows = kernel(batch).to_pylist()
    wanted = [
        CHECK("Done, I have sent the report to Ann.", calls=calls),
        CHECK(f"{SENTENCE}It ", finish_reason="length"),
    ]
    assert_same(rows[:3], [*map(verdict_fields, wanted), verdict_fields(CHECK(SENTENCE))])
    assert rows[0]["failed_calls"] == [
        {"tool": "send", "state": None, "error_code": None, "retry": None} | rows[0]["failed_calls"][0]
    ]
    assert rows[3]["problem"] == "is lost"
    assert rows[3]["score"] is None


def test_a_clean_row_has_no_work_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    long = " ".join(f"The ferry number {number} left the {place} at dusk." for number, place in enumerate(PLACES))
    chinese = "她在早晨去了海边的博物馆，看了很多古老的船，下午坐车回家了。"
    texts = [SENTENCE, long, "The museum opens at nine and closes at six.\n", chinese]
    assert all(CHECK(text) == CLEAN for text in texts)
    called: list[str | None] = []

    def call(self: AnswerCheck, text: str | None, **more: object) -> AnswerQuality:
        del self, more
        called.append(text)
        return CLEAN

    monkeypatch.setattr(AnswerCheck, "__call__", call)
    assert [row["score"] for row in judged(texts)] == [1.0] * 4
    assert not called


def test_a_row_with_a_hit_is_scanned_once_and_its_shape_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hyperscan")
    from toolvet.core.matching.engine_hyperscan import HyperscanEngine  # noqa: PLC0415 - where it is installed

    story = "".join(f"The ferry number {number} left the {place} at dusk. " for number, place in enumerate(PLACES))
    narrow, wide = f"{story}I can't help with that.", f"{story}I can’t help with that."
    texts = [narrow, wide, narrow.replace("ferry", "boat"), story]
    wanted = expected(texts)
    assert [row["score"] for row in wanted] == [0.25, 0.25, 0.25, 1.0]
    scanned: list[bytes] = []
    ends = HyperscanEngine._ends

    def counted(self: HyperscanEngine, data: bytes) -> dict[int, list[int]]:
        if self is getattr(engine, "_engine", engine):
            scanned.append(data)
        return ends(self, data)

    judged(texts)
    engine = phrases().pattern_set._engine
    monkeypatch.setattr(HyperscanEngine, "_ends", counted)
    monkeypatch.setattr("toolvet.core.checks.answer.read.shape_signals", None)
    assert_same(judged(texts), wanted)
    ascii_rows = "\n".join(texts[:1] + texts[2:]).encode()
    assert scanned == [ascii_rows, wide.replace("’", "'").encode()]


def test_the_screen_suspects_every_proof_of_a_raw_error() -> None:
    table = raw_error_table()
    hits = [hit for each in table.error for hit in each.hits] + table.json.hits
    texts = [*hits, *(f" \n{hit}" for hit in hits), *(f"{hit}." for hit in hits)]
    assert AnswerScreen(CHECK).suspects(Texts(pa.array(texts)))[0].all()


def test_a_question_or_calls_make_a_short_answer_one() -> None:
    questions = [None, "How many?", None, "Write an essay about whales.", ""]
    calls = [None, None, [{"name": "count", "arguments": "{}", "result": "42"}], None, None]
    wanted = [True, False, False, True, True]
    answers = {"text": ["42"] * 5, "question": questions}
    kernel = AnswersKernel(CHECK, {"question": "question", "calls": "calls"})
    judged_rows = kernel(pa.record_batch({**answers, "calls": calls})).column("should_escalate").to_pylist()
    assert judged_rows == wanted
    alone = AnswersKernel(CHECK, {"question": "question"})
    assert alone(pa.record_batch(answers)).column("should_escalate").to_pylist() == [True, False, True, True, True]


def test_a_kernel_pickles_and_an_empty_batch_stays_one() -> None:
    again = pickle.loads(pickle.dumps(KERNEL))  # noqa: S301 - what we just made
    assert_same(judged(["I cannot help with that request."], again), expected(["I cannot help with that request."]))
    assert judged([], again) == []
    assert again(pa.record_batch({"text": pa.array([], pa.string())})).schema == KERNEL.schema


def test_a_column_that_holds_no_texts_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="the column 'text' holds int64, not texts"):
        KERNEL(pa.record_batch({"text": [1, 2]}))
    with pytest.raises(TypeError, match="there is no column 'text'"):
        KERNEL(pa.record_batch({"words": ["a"]}))


@pytest.mark.labelled
@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_labelled_rows_have_the_verdicts_of_check_answer(path: Path) -> None:
    records = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    texts = [text for record in records[::3] if isinstance(text := record.get("text"), str)]
    assert_same(judged(texts), expected(texts))
