"""A result's statements about its own extent: how much it shows, of how much, in which words, and its columns' sums."""

import json
from typing import Any

import pytest

from toolvet import success_response
from toolvet.core.turn.ledger import ToolCall
from toolvet.core.turn.ledger.extent import PartialResult, _taken_for_total, cut_calls, overstated, partial_results
from toolvet.core.turn.ledger.outcome import outcome_of

ROWS: list[dict[str, Any]] = [{"id": f"o-{n}", "amount": 10.5, "n": n} for n in range(4)]
SUMS = (42.0, 6.0)
PAGE = json.dumps({"rows": ROWS, "has_more": True})


def enveloped(**about: Any) -> str:
    return json.dumps(success_response({"rows": ROWS}, **about).to_dict("v2"))


def blocks(*texts: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts]}


def paged(pagination: dict[str, Any], **about: Any) -> dict[str, Any]:
    meta = {"version": "response-v2", "pagination": pagination, **about}
    return {"success": True, "data": {"rows": ROWS}, "meta": meta}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"has_more": True, "rows": ["a", "b"]}
    for _ in range(depth):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    ("result", "shown", "total", "said"),
    [
        # Counts by their names.
        ({"rows": ROWS, "total_count": 9}, {4}, 9, "there are 9"),
        ({"rows": ROWS, "total_count": 5}, {4}, 5, "there are 5"),
        ({"rows": ROWS, "total_count": 5, "totalItems": 9}, {4}, 9, "there are 9"),
        ({"rows": ROWS, "totalItems": 9, "total_count": 5}, {4}, 9, "there are 9"),
        ({"rows": ROWS, "total": 9, "page": 1}, {4}, 9, "there are 9"),
        (paged({"cursor": "b"}), {4}, None, "pagination: there is a next page"),
        ({"rows": ROWS, "page_info": {"total_count": 7}}, {4}, 7, "there are 7"),
        # Flags and places where it goes on.
        ({"rows": ROWS, "hasMore": True}, {4}, None, "hasmore: true"),
        ({"rows": ROWS, "has-more": True, "next": "b"}, {4}, None, "hasmore: true"),
        ({"rows": ROWS, "next_cursor": "b", "has_more": True}, {4}, None, "nextcursor: there is a next page"),
        ({"rows": ROWS, "next_offset": 4}, {4}, None, "nextoffset: there is a next page"),
        ({"rows": ROWS, "next_offset": 0}, {4}, None, "nextoffset: there is a next page"),
        ({"rows": ROWS, "info": {"truncated": True, "page": 1, "limit": 4}}, {4}, None, "truncated: true"),
        ({"rows": ROWS, "more": {"rows": ["a", "b", "c"], "has_more": True}}, {3, 4}, None, "hasmore: true"),
        # One item is not a list to count.
        ({"rows": ["a", "b"], "has_more": True}, {2}, None, "hasmore: true"),
        ({"rows": ["a"], "has_more": True}, set(), None, "hasmore: true"),
        ({"rows": [], "has_more": True}, set(), None, "hasmore: true"),
        (nested(4), {2}, None, "hasmore: true"),
        (nested(5), set(), None, "hasmore: true"),
        # Words, at the beginning or at the end of a text.
        ("Showing 1-4 of 1,200 rows", {4}, 1_200, "Showing 1-4 of 1,200"),
        ("Showing 1-1,000 of 1,200 rows", {1_000}, 1_200, "Showing 1-1,000 of 1,200"),
        ("a\nand 5 more", set(), None, "and 5 more"),
        ("x" * 19_970 + " Showing 1-4 of 9 " + "x" * 30_000, {4}, 9, "Showing 1-4 of 9"),
        ("x" * 30_000 + " Showing 1-4 of 9 " + "x" * 19_970, {4}, 9, "Showing 1-4 of 9"),
        (blocks("ok", "Showing 1-4 of 9"), {4}, 9, "Showing 1-4 of 9"),
        (blocks(json.dumps({"rows": ROWS, "total_count": 8}), "Showing 1-4 of 9"), {4}, 8, "Showing 1-4 of 9"),
        # Where the payload is.
        (blocks(PAGE), {4}, None, "hasmore: true"),
        (blocks(f"\n {PAGE}", "ok"), {4}, None, "hasmore: true"),
        (blocks("{broken", PAGE), {4}, None, "hasmore: true"),
        (paged({}, dropped_content_ids=["a", "b"]), {4}, None, "2 items were left out"),
        ({"content": [], "structuredContent": json.loads(PAGE)}, {4}, None, "hasmore: true"),
        # Envelopes.
        (
            enveloped(pagination={"has_more": True, "cursor": "b", "total_count": 9}),
            {4},
            9,
            "pagination: there is a next page",
        ),
        (enveloped(pagination={"has_more": False, "cursor": None, "total_count": 9}), {4}, 9, "there are 9"),
        (enveloped(content_fidelity="partial", dropped_content_ids=["a"]), {4}, None, "content_fidelity: partial"),
        (
            enveloped(
                content_fidelity="summary",
                warning_details=[
                    {"code": "STALE", "message": "m", "context": {}},
                    {"code": "CONTENT_TRUNCATED", "message": "m", "context": {"total_count": 12}},
                    {"code": "CONTENT_TRUNCATED", "message": "m", "context": {"total_count": 13}},
                ],
            ),
            {4},
            12,
            "content_fidelity: summary",
        ),
    ],
)
def test_a_result_that_is_a_part(result: object, shown: set[int], total: int | None, said: str) -> None:
    (part,) = partial_results([outcome_of(ToolCall("list_orders", {}, result))])
    assert (part.tool, part.shown, part.total, part.said) == ("list_orders", frozenset(shown), total, said)
    whole = f"{max(shown)} of {total}" if shown and total is not None else "a part"
    assert part.quoted() == f"list_orders returned {whole} ({said})"
    assert part.sums == (SUMS if "amount" in str(result) and 4 in shown else ())


@pytest.mark.parametrize(
    "result",
    [
        {"rows": ROWS, "total_count": 4},
        {"rows": ROWS, "total_count": 3},
        {"rows": ROWS, "total_count": 4, "has_more": True},
        {"rows": ROWS, "total": 9},
        {"rows": ROWS, "has_more": "yes"},
        paged({"cursor": ""}),
        paged({"cursor": 5}),
        paged({"has_more": 1}),
        {"rows": ROWS, "has_more": 1},
        {"rows": ROWS, "next_cursor": " "},
        {"rows": ROWS, "next_offset": None},
        {"rows": ROWS, "next_offset": True},
        {"rows": ROWS[:1], "total_count": 9},
        {"rows": ROWS, "info": {"truncated": True}},
        {"rows": ROWS, "info": {"truncated": True, "page": 1}},
        nested(6),
        "Showing 1-4 of 4 rows",
        "x" * 29_990 + " Showing 1-4 of 1,200 rows " + "x" * 30_000,
        blocks(PAGE, json.dumps({"rows": ROWS[:2]})),
        blocks("ok", "ok", "Showing 1-4 of 9"),
        enveloped(content_fidelity="full"),
        enveloped(pagination={"has_more": False, "cursor": None, "total_count": 4}),
        {"isError": True, "content": [{"type": "text", "text": PAGE}]},
    ],
)
def test_a_result_that_is_the_whole_or_does_not_say(result: object) -> None:
    assert partial_results([outcome_of(ToolCall("list_orders", {}, result))]) == []


def test_sums_are_those_of_finite_numbers_that_are_not_nothing() -> None:
    rows = [{"p": 1e300, "q": 1e299, "r": True, "s": 0}, {"p": 1, "q": 1, "s": 0}]
    (part,) = partial_results([outcome_of(ToolCall("list", {}, {"rows": rows, "has_more": True}))])
    assert part.sums == (1e299, 1.0)


def test_a_later_call_completes_a_part_by_its_name_or_by_what_was_left_out() -> None:
    part = ToolCall("list_orders", {}, enveloped(content_fidelity="partial", dropped_content_ids=["o-8", "o-9"]))
    same = ToolCall("list_orders", {"page": 2}, "[]")
    broken = ToolCall("list_orders", {"page": 2}, {"isError": True, "content": [{"type": "text", "text": "Timeout"}]})
    fetched = ToolCall("get_orders", {"ids": ["o-9"]}, "[]")
    other = ToolCall("get_orders", {"ids": ["o-7"]}, "[]")
    for later, completed in ((same, True), (broken, False), (fetched, True), (other, False)):
        outcomes = [outcome_of(part), outcome_of(later)]
        assert ([each.tool for each in partial_results(outcomes)] == []) is completed
        assert ([each.tool for each in cut_calls(outcomes)] == []) is completed
        assert [each.tool for each in partial_results(outcomes[::-1])] == ["list_orders"]


def test_calls_that_were_cut_are_named_with_their_warning() -> None:
    cut = enveloped(content_fidelity="partial", warnings=["old", "CONTENT_TRUNCATED: 3 items omitted"])
    plain = enveloped(content_fidelity="summary", warnings=["old"])
    whole = enveloped(content_fidelity="full", warnings=["CONTENT_TRUNCATED: 3 items omitted"])
    calls = [outcome_of(ToolCall(name, {}, result)) for name, result in (("a", cut), ("b", plain), ("c", whole))]
    assert [(each.tool, each.content_fidelity, each.warning_code) for each in cut_calls(calls)] == [
        ("a", "partial", "CONTENT_TRUNCATED"),
        ("b", "summary", None),
    ]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("8", [8.0]),
        ("1,234.50", [1234.5, 1.2345]),
        ("1.234,50", [1.2345, 1234.5]),
        ("  8, ", [8.0]),
        ("", []),
        (" ,.", []),
    ],
)
def test_a_number_is_read_in_both_ways_to_write_it(written: str, values: list[float]) -> None:
    for value in (8.0, 1.2345, 1234.5):
        part = PartialResult("list_orders", frozenset(), None, "", (value,))
        assert (_taken_for_total(written, [part]) is part) is (value in values)


@pytest.mark.parametrize(
    ("number", "taken"),
    [("4", True), ("42.00", True), ("42.004", True), ("42.01", False), ("6", True), ("9", False), ("5", False)],
)
def test_a_count_or_a_sum_of_a_part_is_no_total(number: str, taken: bool) -> None:  # noqa: FBT001 - a column of the table.
    parts = partial_results([outcome_of(ToolCall("list_orders", {}, {"rows": ROWS, "total_count": 9}))])
    assert (_taken_for_total(number, parts) is parts[0]) is taken
    assert _taken_for_total(number, []) is None


def test_the_signal_quotes_the_answer_and_what_is_around_it() -> None:
    text = f"{'Of these I have read every one. ' * 3}There are 4 orders in total. {'They are all of them late. ' * 3}"
    calls = [outcome_of(ToolCall("list_orders", {}, {"rows": ROWS, "total_count": 9}))]
    (signal,) = overstated(text, calls)
    start = text.index(signal.evidence)
    assert signal.position == start > 40
    assert signal.context == text[start - 40 : start + len(signal.evidence) + 40]
    assert (signal.weight, signal.label, signal.source) == (0.5, "part_as_whole", "calls")
    assert signal.against == "list_orders returned 4 of 9 (there are 9)"
    assert overstated(text, []) == overstated(f"{text} There are more orders.", calls) == []
