"""An answer that takes a part for the whole is flagged against the result's own extent."""

import json
import re
from typing import Any

import pytest

from toolvet import AnswerQuality, check_answer, fit_response, success_response
from toolvet.core.turn.ledger import ground
from toolvet.core.turn.ledger.extent import PartText, part_table

ORDERS: list[dict[str, Any]] = [{"id": f"o-{place}", "amount": 10.5} for place in range(200)]
FEW = ORDERS[:8]


def enveloped(data: dict[str, Any], **about: Any) -> dict[str, Any]:
    return success_response(data, **about).to_dict("v2")


LEFT_OUT = [each["id"] for each in ORDERS[8:]]
PARTS = {
    "fidelity": enveloped(
        {"orders": FEW},
        meta={"content_fidelity": "partial", "dropped_content_ids": [each["id"] for each in ORDERS[8:]]},
    ),
    "next page": enveloped({"orders": FEW}, pagination={"has_more": True, "cursor": "b", "total_count": 200}),
    "next page, uncounted": enveloped({"orders": FEW}, pagination={"has_more": True, "cursor": "b"}),
    "has_more": {"object": "list", "data": FEW, "has_more": True},
    "count and next": {"count": 200, "next": "https://api.example.com/?page=2", "previous": None, "results": FEW},
    "token": {"orders": FEW, "nextPageToken": "CAEQAA"},
    "page info": {"orders": FEW, "page_info": {"page": 1, "per_page": 8, "total": 200}},
    "words": "Showing 1-8 of 200 orders\n" + "\n".join(each["id"] for each in FEW),
    "cut": "\n".join(each["id"] for each in FEW) + "\n... 192 more orders",
}
WHOLE = {
    "all in one page": enveloped({"orders": FEW}, pagination={"has_more": False, "cursor": None, "total_count": 8}),
    "full": enveloped({"orders": FEW}, meta={"content_fidelity": "full"}),
    "no envelope": {"orders": FEW},
    "total of money": {"orders": FEW, "total": 200},
    "nothing follows": {"count": 8, "next": None, "previous": None, "results": FEW},
    "a record": {"id": "o-1", "truncated": True, "total": 200},
}
SAYS_WHOLE = [
    "That is the complete list.",
    "These are all of your orders: o-0, o-1 and others in this table.",
    "There are no other orders.",
    "Das ist die vollständige Liste.",
    "Voici toutes vos commandes.",
    "Esta es la lista completa.",
    "以上是您的全部订单。",
    "これが完全なリストです。",
]
SAYS_PART = [
    "Here are the first 8 orders. That is the complete first page.",
    "These are 8 of 200 orders; the total amount of them is $84.00.",
    "There are more orders; this is not the complete list.",
    "Das sind nicht alle Bestellungen, nur die ersten 8 insgesamt.",
    "These orders were placed in May.",
]


def judged(answer: str, result: object, *later: dict[str, object]) -> AnswerQuality:
    sent = result if isinstance(result, str) else json.dumps(result)
    first = {"name": "list_orders", "arguments": {"customer": "c-1"}, "result": sent}
    return check_answer(answer, calls=[first, *later], min_length=1)


def labels(quality: AnswerQuality) -> set[str | None]:
    return {signal.label for signal in quality.signals}


@pytest.mark.parametrize("result", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("answer", SAYS_WHOLE)
def test_a_part_is_not_the_whole(answer: str, result: object) -> None:
    quality = judged(answer, result)
    assert labels(quality) == {"part_as_whole"}
    assert quality.should_escalate
    assert quality.signals[0].against


@pytest.mark.parametrize("result", [value for name, value in PARTS.items() if name != "cut"])
@pytest.mark.parametrize("answer", ["There are 8 orders in total.", "Es gibt insgesamt 8 Bestellungen.", "Total: 8"])
def test_the_number_on_a_page_is_not_the_total(answer: str, result: object) -> None:
    assert judged(answer, result).should_escalate


@pytest.mark.parametrize("name", [name for name in PARTS if name not in ("words", "cut")])
@pytest.mark.parametrize("answer", ["The total amount is $84.00.", "Der Gesamtbetrag ist 84,00 Euro."])
def test_the_sum_of_a_page_is_not_the_total(name: str, answer: str) -> None:
    assert "part_as_whole" in labels(judged(answer, PARTS[name]))


@pytest.mark.parametrize("result", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("answer", [*SAYS_PART, "There are 200 orders in total."])
def test_who_says_that_there_is_more_is_not_blamed(answer: str, result: object) -> None:
    assert "part_as_whole" not in labels(judged(answer, result))


@pytest.mark.parametrize("result", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("answer", [*SAYS_WHOLE, "There are 8 orders in total."])
def test_the_whole_is_the_whole(answer: str, result: object) -> None:
    assert "part_as_whole" not in labels(judged(answer, result))


def test_what_a_later_call_completes_is_no_part() -> None:
    rest: dict[str, object] = {
        "name": "list_orders",
        "arguments": {"page": 2},
        "result": json.dumps({"orders": ORDERS[8:]}),
    }
    assert "part_as_whole" not in labels(judged("That is the complete list.", PARTS["has_more"], rest))
    fetched: dict[str, object] = {
        "name": "retrieve_content",
        "arguments": {"ids": ["o-8"]},
        "result": json.dumps({"orders": ORDERS[8:]}),
    }
    assert "part_as_whole" not in labels(judged("That is the complete list.", PARTS["fidelity"], fetched))


def test_what_fit_response_left_out_is_known_to_the_answer() -> None:
    fitted = fit_response(success_response({"orders": ORDERS}), 800).to_dict("v2")
    assert fitted["meta"]["content_fidelity"] != "full"
    quality = judged("That is the complete list.", fitted)
    assert quality.should_escalate
    assert "of 200 (" in str(quality.signals[0].against)


@pytest.mark.parametrize("text", part_table().text, ids=lambda text: text.hits[0])
def test_words_of_a_part_keep_their_proofs(text: PartText) -> None:
    assert all(re.search(text.match, hit, re.IGNORECASE) for hit in text.hits)
    assert not any(re.search(text.match, miss, re.IGNORECASE) for miss in text.misses)


@pytest.mark.parametrize("result", ["[" * 5_000, '{"has_more":true,"a":' + "[" * 500 + "]" * 500 + "}", "… " * 9_000])
def test_hostile_results_cost_little(result: str) -> None:
    assert "part_as_whole" not in labels(judged("all " * 2_000, result))


PAGE: dict[str, Any] = {
    "name": "list_invoices",
    "arguments": {"status": "all"},
    "result": {"invoices": [{"id": 1, "status": "paid"}, {"id": 2, "status": "paid"}], "has_more": True},
}
BROKE: dict[str, Any] = {
    **PAGE,
    "result": {"isError": True, "content": [{"type": "text", "text": "504 gateway timeout"}]},
}


@pytest.mark.parametrize("text", ["There are no overdue invoices.", "None of them is overdue.", "There is none."])
def test_absence_over_a_part_or_after_a_search_that_broke(text: str) -> None:
    def labels(call: object) -> set[str | None]:
        return {signal.label for signal in ground(text, [call], "Which invoices are overdue?")}

    assert "part_as_whole" in labels(PAGE)
    assert "part_as_whole" in labels(BROKE)
    assert not labels({**PAGE, "result": {**PAGE["result"], "has_more": False}})
    assert not labels({**PAGE, "result": {"invoices": []}})


def test_the_absence_of_something_else_is_no_claim_about_the_part() -> None:
    assert not ground("There are no delivery fees.", [PAGE], "Which invoices are overdue?")
    assert not ground("On this page there are no overdue invoices.", [PAGE], "Which invoices are overdue?")
    sorry = "The search failed, so I don't know of any; there are no overdue invoices that I can name."
    assert "part_as_whole" not in {each.label for each in ground(sorry, [BROKE], "Which invoices are overdue?")}
