"""The texts of a turn are read once, however many answers are compared with them, and never twice for another turn."""

import json
from collections.abc import Iterator

import pytest

from toolvet import check_answer
from toolvet.core.turn.ledger import ToolCall, evidence as index, ground, mentions
from toolvet.core.turn.ledger.evidence import CallTexts, Evidence, _IndexCache, index_of
from toolvet.core.turn.ledger.outcome import outcome_of

ROWS = [{"id": f"INV-{2000 + row}", "total": round(19.9 + row * 7.35, 2)} for row in range(28)]
RESULT = json.dumps({"invoices": ROWS})
WRONG = "Invoice INV-2007 comes to $4,711.23."


@pytest.fixture(autouse=True)
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were gone through, with nothing kept from other tests."""
    found: list[str] = []

    class Walk(index._EvidenceWalk):
        def text(self, text: str) -> None:
            found.append(text)
            super().text(text)

    monkeypatch.setattr(index, "_EvidenceWalk", Walk)
    monkeypatch.setattr(index, "_KEPT", _IndexCache(100_000))
    return found


def unsupported(result: object, arguments: object = None, answer: str = WRONG) -> list[str]:
    return [signal.evidence for signal in ground(answer, [ToolCall("list_invoices", arguments, result)])]


def test_a_result_is_gone_through_once_for_ten_answers(walks: list[str]) -> None:
    for number in range(10):
        quality = check_answer(
            f"Invoice INV-2007 comes to ${4_711 + number}.23.",
            calls=[{"name": "list_invoices", "arguments": {"page": 1}, "result": {"content": [text_block()]}}],
        )
        assert [signal.label for signal in quality.signals] == ["unsupported_number"]
    assert walks.count(RESULT) == 1


def text_block() -> dict[str, str]:
    return {"type": "text", "text": RESULT}


def test_what_changed_is_read_anew(walks: list[str]) -> None:
    rows = {"invoices": [{"total": 71.35}]}
    arguments: dict[str, object] = {"most": 5_000}
    first = unsupported(rows, arguments)
    assert "4,711.23" in " ".join(first)
    rows["invoices"].append({"total": 4711.23})
    assert "4,711.23" not in " ".join(unsupported(rows, arguments))
    rows["invoices"].pop()
    assert unsupported(rows, arguments) == first
    arguments["most"] = 4711.23
    assert "4,711.23" not in " ".join(unsupported(rows, arguments))
    arguments["most"] = 5_000
    assert unsupported(rows, arguments) == first
    assert len(walks) == 6  # Three turns, of each the result and the question.


def test_the_search_for_calculations_begins_anew_with_each_answer() -> None:
    calls = [outcome_of(ToolCall("list_invoices", {}, RESULT))]
    spent, fresh = Evidence(calls, None), Evidence(calls, None)
    assert not spent.steps.take(10**9)
    assert spent.steps.are_spent()
    assert not fresh.steps.are_spent()
    assert spent.figures is fresh.figures


@pytest.mark.parametrize(
    "arguments", [(1, 2), {"a": (1,)}, {1: "a"}, {"a": 2**60}, {"a": float("nan")}, {"a": "\ud800"}, {"a": object()}]
)
def test_arguments_that_json_does_not_say_are_not_kept(arguments: object) -> None:
    def found() -> index.EvidenceIndex:
        evidence = Evidence([outcome_of(ToolCall("list_invoices", arguments, RESULT))], None)
        assert evidence.raw
        return evidence._index

    assert found() is not found()


def test_a_text_and_a_value_that_is_written_as_it_are_two_things() -> None:
    given: list[tuple[object, str]] = [(None, ""), ("", ""), ("null", "null"), ('{"a":1}', '{"a":1}')]
    given += [({"a": 1}, '{"a":1}'), ({"a": 1.0}, '{"a":1.0}'), ({"a": True}, '{"a":true}')]
    indexes = [index_of([CallTexts(("7",), arguments, written)], "") for arguments, written in given]
    assert len(set(map(id, indexes))) == len(given)


def test_so_much_is_kept_and_no_more() -> None:
    kept = _IndexCache(10)
    made = [index.EvidenceIndex([], "") for _ in range(4)]
    assert kept.get("a", 4, lambda: made[0]) is made[0]
    assert kept.get("b", 4, lambda: made[1]) is made[1]
    assert kept.get("a", 4, lambda: made[2]) is made[0]
    assert kept.get("c", 4, lambda: made[2]) is made[2]
    # "b" was asked for longest ago; what is larger than all of it drives nothing out.
    assert kept.get("d", 11, lambda: made[3]) is made[3]
    assert kept.get("d", 11, lambda: made[1]) is made[1]
    assert kept.get("a", 4, lambda: made[3]) is made[0]
    assert kept.get("c", 4, lambda: made[3]) is made[2]
    assert kept.get("b", 4, lambda: made[3]) is made[3]


def test_values_that_stand_as_they_are_written_are_read_only_where_another_may_follow_from_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    token = mentions._token

    def counted(text: str, word: str, start: int) -> Iterator[mentions.Mention]:
        read.append(word)
        return token(text, word, start)

    monkeypatch.setattr(mentions, "_token", counted)
    calls = [ToolCall("list", {}, {"rows": [{"id": "A-1001", "total": 20.5}, {"id": "A-1002", "total": 30.25}]})]
    assert ground("Orders A-1001 and A-1002 come to 20.5 and 30.25 euros.", calls) == []
    assert read == []
    assert ground("Orders A-1001 and A-1002 come to 20.5 and 30.25, together 50.75 euros.", calls) == []
    assert read == ["50.75", "A-1001", "A-1002", "20.5", "30.25"]


def test_a_question_that_is_too_long_to_be_kept_is_read_each_time() -> None:
    calls = [CallTexts(("7" * 60_000,), None, "")]
    assert index_of(calls, "") is index_of(calls, "")
    assert index_of(calls, "?" * 40_000) is index_of(calls, "?" * 40_000)
    assert index_of(calls, "?" * 40_001) is not index_of(calls, "?" * 40_001)


def walked(value: object) -> index._EvidenceWalk:
    walk = index._EvidenceWalk()
    walk.value(value)
    return walk


def test_numbers_are_finite_and_no_truth_values() -> None:
    values = {"a": True, "b": False, "c": 10**300, "d": 5, "e": float("inf"), "f": float("nan"), "g": -(10**299)}
    assert walked(values).numbers == [-1e299, 5.0]
    assert walked({"7": 2}).numbers == [7, 2]


def test_values_are_read_so_deep_and_no_deeper() -> None:
    for depth, numbers in ((200, [5.0]), (201, [])):
        lists: object = 5
        objects: object = 5
        for _ in range(depth):
            lists, objects = [lists], {"a": objects}
        assert walked(lists).numbers == walked(objects).numbers == numbers


def test_what_can_be_counted_in_a_text() -> None:
    text = "one two\nthree four five\n" + "x" * 17
    assert len(text) == 41
    assert walked(text).counts == {2, 3, 41, 6}
    assert walked(text[:-1]).counts == set()
    assert walked(["a", {"b": 1, "c": 2, "d": 3}]).counts == {2, 3}
    assert walked(["a", {"b": 1}]).lists == {2}


def test_the_numbers_of_long_texts_belong_to_no_list() -> None:
    short, long = "7 of them", "7 of them, and some more"
    for text, rows in ((short, 1), (long, 0)):
        columns = walked([{"a": text}, {"a": text}]).all_columns()
        assert sum("#" in name for name in columns) == rows
        assert columns["a"] == [7, 7]


def test_arguments_that_every_reader_of_json_gives_back_are_kept() -> None:
    def kept(arguments: object) -> bool:
        calls = [CallTexts(("7",), arguments, json.dumps(arguments))]
        return index_of(calls, "") is index_of(calls, "")

    values = (2**53 - 1, 2**53, -(2**53) + 1, -(2**53), 1.5, float("inf"), True, None, "a", [1, {"a": []}])
    assert [kept({"n": value}) for value in values] == [True, False, True, False, True, False, True, True, True, True]
    assert [kept([0] * count) for count in (998, 999)] == [True, False]


def test_a_text_that_only_begins_like_json_stays_a_text() -> None:
    walk = index._EvidenceWalk()
    for text in ("{broken 5", ' \n{"a": 7}', "[1, 2]", "x"):
        walk.text(text)
    assert walk.strings == ["{broken 5", "a", "x"]
    assert walk.numbers == [5, 7, 1, 2]
