"""The result check at its borders: how long, how many, which names; and what is merged, written out and quoted."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, Field

from toolvet import State, check_result
from toolvet.core.checks.result.body import BodyReport, ResultContext, report_in
from toolvet.core.checks.result.check import _structure
from toolvet.core.checks.result.decision import _NO_ERROR_NAME, prior_of, state_of_name
from toolvet.core.checks.result.evidence import CallFacts, FirstHits, is_callers_crash, plain_sentence
from toolvet.core.checks.result.outage import outage_of
from toolvet.core.checks.result.own_words import BadRule
from toolvet.core.checks.result.phrases import phrases
from toolvet.core.checks.result.response import envelope_in, read_response
from toolvet.core.checks.result.result_check import _options
from toolvet.core.checks.result.shapes import as_mcp, is_plainly_mcp, read_foreign
from toolvet.core.checks.result.unflagged import _is_error_text
from toolvet.core.checks.result.verdict import OutputSchemaValidation
from toolvet.core.checks.result_settings import ResultSettings, ToolResultSettings
from toolvet.core.tools import view_of

FAILURES = ("Connection refused", "Internal server error", "HTTP 503: Service Unavailable", "boom", "Request timed out")


def error(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(("length", "reports"), [(200, True), (201, False)])
def test_a_text_beside_an_error_is_a_payload_where_it_is_long(length: int, reports: bool) -> None:  # noqa: FBT001 - a column.
    body = {"error": "no such row", "content": "x" * length}
    assert report_in(body) is (BodyReport.FAILED if reports else BodyReport.PART_FAILED)


@pytest.mark.parametrize("text", FAILURES)
def test_the_confidence_in_a_failure_has_one_decimal_and_is_what_the_certainty_leaves(text: str) -> None:
    verdict = check_result({}, {}, error(text))
    assert verdict.certainty is not None
    assert round(verdict.confidence, 1) == verdict.confidence
    assert verdict.confidence == pytest.approx(min(100 * (1 - verdict.certainty), 50), abs=0.11)
    assert round(verdict.certainty, 3) == verdict.certainty


@pytest.mark.parametrize(("before", "found"), [(3_998, "JSON with error"), (3_999, "")])
def test_json_in_an_error_is_looked_for_so_far(before: int, found: str) -> None:
    assert _structure("{" + "x" * before + '"error": 1}', read_response({"content": []}, "mcp")) == found


@pytest.mark.parametrize("name", sorted(_NO_ERROR_NAME))
def test_a_word_for_any_error_is_no_name_of_one(name: str) -> None:
    assert state_of_name(name) is state_of_name(name.title()) is None


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("timeout", State.TIMEOUT),
        ("Unauthorized", State.UNAUTHORIZED),
        ("not_found_error", State.NOT_FOUND),
        ("RateLimitExceeded", State.RATE_LIMITED),
        ("blue", None),
    ],
)
def test_the_words_of_a_name_say_what_went_wrong(name: str, state: State | None) -> None:
    assert state_of_name(name) is state


@pytest.mark.parametrize(
    ("text", "is_internal"),
    [
        ('print("Internal error")', False),
        ('x = 1\nprint("Internal error")', False),
        ('  console.log("Internal error")', False),
        ("Internal error", True),
        ('print("x")\nInternal error', True),
    ],
)
def test_words_in_code_that_would_print_them_are_said_by_nobody(text: str, is_internal: bool) -> None:  # noqa: FBT001 - a column.
    assert (check_result({}, {}, error(text)).state is State.INTERNAL) is is_internal


@pytest.mark.parametrize("before", ["", "\n", "\n\n", "first line\n", "x" * 300 + "\n"])
def test_a_leak_is_quoted_from_the_beginning_of_its_line(before: str) -> None:
    text = f"{before}ZeroDivisionError: division by zero\nlast line"
    (leak,) = check_result({}, {}, error(text)).leaks
    assert leak.text == text[leak.start : leak.end] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("weight", "problem"), [(0, ""), (100, ""), (-1, "must be"), (101, "must be"), (True, "must be")]
)
def test_a_weight_is_from_nothing_to_a_hundred(weight: int, problem: str) -> None:
    if not problem:
        factors = check_result({}, {}, error("Order 5 not found"), weights={"test_data": weight}).factors
        assert {factor.name: factor.weight for factor in factors}["test_data"] == weight
        return
    with pytest.raises(BadRule, match=problem):
        check_result({}, {}, error("Order 5 not found"), weights={"test_data": weight})


def test_the_prior_is_that_of_what_carries_the_error() -> None:
    def prior(text: str, tool: str, arguments: dict[str, Any]) -> float:
        call = CallFacts(view_of({"name": tool}), arguments, tuple(map(str, arguments.values())))
        found = prior_of(FirstHits(text, (), phrases(), call))
        return 0.5 if found is None else found.share

    assert prior("Hm, UK", "weather", {"country": "UK"}) > prior("Hm, U", "weather", {"country": "U"}) == 0.5
    assert prior("Oslo ".ljust(1_000, "x"), "weather", {"city": "Oslo"}) > 0.5
    assert prior("Oslo ".ljust(1_001, "x"), "weather", {"city": "Oslo"}) == 0.5
    quoted, plain = prior("Hm, Oslo", "weather", {"city": "Oslo"}), prior("Hm", "weather", {"city": "Oslo"})
    program = prior("Hm", "run_python", {"code": "print(1)"})
    assert plain == 0.5
    assert 0.5 < quoted < 1
    assert 0.5 < program < 1


@pytest.mark.parametrize(
    ("sent", "is_callers"), [(["x+1;"], True), (["x+1"], False), ([], False), (["", "x + 1"], True)]
)
def test_a_program_has_some_letters(sent: list[str], is_callers: bool) -> None:  # noqa: FBT001 - a column.
    assert is_callers_crash("boom", sent) is is_callers


def test_of_the_options_of_several_sections_the_last_that_is_set_counts() -> None:
    sections = (
        ResultSettings(threshold=0.1, expects_validation=True, any_response=True, extra_patterns=("a", "b")),
        ToolResultSettings(threshold=0.0, extra_patterns=("b", "c"), weights={"test_data": 3}),
        ToolResultSettings(expects_validation=False, any_response=False),
    )
    found = _options(sections)
    assert (found["threshold"], found["expects_validation"], found["any_response"]) == (0.0, False, False)
    assert (found["extra_patterns"], found["weights"]) == (("a", "b", "c"), {"test_data": 3})
    assert {"threshold", "expects_validation", "any_response"}.isdisjoint(_options((ToolResultSettings(),)))


class Row(BaseModel):
    name: str = Field(alias="Name")
    age: int | None = None


def test_a_model_is_read_by_its_own_names_and_without_what_is_absent() -> None:
    assert as_mcp(Row(Name="Ann")) == {"content": [], "structuredContent": {"Name": "Ann"}}


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        (json.dumps({"error": "no such row " + "x " * 1_200}), True),
        (json.dumps({"Error": "no such row " + "x " * 1_200}), True),
        (json.dumps({"error": "no such row", "note": "x " * 1_200}), False),
        ("{'error': 'no such row'}", True),
        ("{'error': '" + "x" * 1_987 + "'}", True),
        ("{'error': '" + "x" * 1_988 + "'}", False),
        ("{'error': 'no such row'", False),
        ("{'rows': [1, 2], 'more': ", False),
    ],
)
def test_an_object_as_text_that_is_large_or_broken(text: str, reports: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert check_result({}, {}, said(text)).error_without_flag is reports


def test_a_validation_is_written_with_its_error_or_without() -> None:
    valid, invalid = OutputSchemaValidation(True, True), OutputSchemaValidation(True, False, "no a")
    assert valid.to_dict() == {"has_output_schema": True, "is_valid": True}
    assert invalid.to_dict() == {"has_output_schema": True, "is_valid": False, "error": "no a"}


@pytest.mark.parametrize(("before", "is_read"), [(3_987, True), (3_988, False)])
def test_what_is_missing_is_looked_for_so_far(before: int, is_read: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert (outage_of("x" * before + " ECONNREFUSED") is not None) is is_read


def test_so_many_programs_and_so_much_of_a_body_are_read() -> None:
    assert is_callers_crash("boom", [*["x"] * 9, "x + 1"])
    assert not is_callers_crash("boom", [*["x"] * 10, "x + 1"])
    text: Any = as_mcp(b"x" * 1_000_001)
    assert len(text["content"][0]["text"]) == 1_000_000


@pytest.mark.parametrize(("length", "reports"), [(4_000, True), (4_001, False)])
def test_a_report_of_an_error_has_an_end(length: int, reports: bool) -> None:  # noqa: FBT001 - a column of the table.
    text = f"Error: order not found. {'so it is ' * 500}"[:length]
    assert check_result({}, {}, said(text)).error_without_flag is reports


@pytest.mark.parametrize(
    ("text", "threshold", "points"),
    [
        ("Hm", 0.0, "business logic: 0 of 9 points, and the threshold is 0"),
        ("Hm", 0.1, "Too little shows a refusal: 0 of 9 points, and the threshold is 0.1"),
        ("Hm Oslo", 0.1, "business logic: 1 of 9 points, and the threshold is 0.1"),
        ("Hm Oslo", 0.2, "Too little shows a refusal: 1 of 9 points, and the threshold is 0.2"),
    ],
)
def test_what_no_word_decides_is_decided_by_the_callers_threshold(text: str, threshold: float, points: str) -> None:
    verdict = check_result({"name": "weather"}, {"city": "Oslo"}, error(text), threshold=threshold)
    refused = points.startswith("business")
    assert (verdict.error_kind == "business", verdict.state == "invalid_input", verdict.is_valid) == (refused,) * 3
    assert verdict.evidence == (f"Tool rejected the call: {points}" if refused else points,)
    assert verdict.certainty == (0.9 if refused else 0.5)


@pytest.mark.parametrize("text", ["DatabaseError: x", "FATAL: x", "subprocess failed"])
def test_a_word_that_everything_is_wrapped_in_is_a_failure_where_nothing_else_is_said(text: str) -> None:
    verdict = check_result({"name": "weather"}, {}, error(text))
    assert (verdict.error_kind, verdict.certainty) == ("tool_failure", 0.65)
    assert verdict.evidence == (f"The words of a failure: {text}",)


def test_an_envelope_beside_words_is_seen_in_the_metadata() -> None:
    body = {"success": True, "meta": {"version": "response-v2", "warnings": ["old"]}}
    seen = envelope_in(read_response({**said("All is well."), "_meta": {"x/y": body}}))
    assert seen is not None
    assert seen.warnings == ("old",)
    assert envelope_in(read_response(said("All is well."))) is None


@pytest.mark.parametrize(("length", "is_sentence"), [(300, True), (301, False)])
def test_a_plain_sentence_is_short(length: int, is_sentence: bool) -> None:  # noqa: FBT001 - a column of the table.
    text = ("The van is in the garage and " * 12)[:length]
    assert (plain_sentence(text) != "") is is_sentence


@pytest.mark.parametrize(
    ("result", "is_mcp"),
    [
        ({"content": []}, True),
        ({"content": [], "_meta": {}}, True),
        ({"content": [], "a": 1}, False),
        ({"content": "x"}, False),
        ({"isError": 1}, True),
        ({"structuredContent": None}, True),
        ({"resultType": "x"}, True),
        ({}, False),
    ],
)
def test_what_looks_like_nothing_but_mcp(result: dict[object, object], is_mcp: bool) -> None:  # noqa: FBT001 - a column.
    assert is_plainly_mcp(result) is is_mcp


@pytest.mark.parametrize(
    ("result", "text", "failed"),
    [
        ({"status": 404, "headers": {}, "body": "x"}, "HTTP status 404\nx", True),
        ({"statusCode": 404, "body": "gone"}, "HTTP status 404\ngone", True),
        ({"statusCode": 404, "headers": {}}, "HTTP status 404", True),
        ({"status_code": 400, "headers": {}}, "HTTP status 400", True),
        ({"status_code": 399, "headers": {}}, "HTTP status 399", False),
        ({"status_code": 200, "body": "ok"}, "ok", False),
        ({"status_code": 200, "headers": {}, "text": " "}, "HTTP status 200", False),
        ({"status_code": 204, "headers": {}, "reason": "No Content"}, "HTTP status 204 No Content", False),
        ({"status_code": 100, "headers": {}}, "HTTP status 100", False),
        ({"status_code": 599, "headers": {}}, "HTTP status 599", True),
        ({"status": 404, "body": "x"}, None, False),
        ({"statusCode": 404}, None, False),
        ({"status": 600, "headers": {}}, None, False),
        ({"status": 99, "headers": {}}, None, False),
        ({"status": True, "headers": {}}, None, False),
    ],
)
def test_a_response_of_http_as_json(result: dict[str, object], text: str | None, failed: bool) -> None:  # noqa: FBT001 - a column.
    found = read_foreign(result)
    assert found is not None
    if text is None:
        assert (found.taken_for, found.parts) == ("payload", {"content": [], "structuredContent": result})
        return
    assert found.taken_for == "HTTP response"
    assert found.has_flag
    assert found.parts == {"content": [{"type": "text", "text": text}], **({"isError": True} if failed else {})}


def test_the_validation_is_in_the_metadata_as_json() -> None:
    tool = {"name": "t", "inputSchema": {}, "outputSchema": {"type": "object", "required": ["a"]}}
    metadata = check_result(tool, {}, {"content": [], "structuredContent": {"a": 1}}).metadata.to_dict()
    assert metadata["output_schema_validation"] == {"has_output_schema": True, "is_valid": True}
    assert "output_schema_validation" not in check_result({}, {}, said("ok")).metadata.to_dict()


@pytest.mark.parametrize(("length", "reports"), [(39_999, True), (40_000, True), (40_001, False)])
def test_the_output_of_a_program_is_read_so_far(length: int, reports: bool) -> None:  # noqa: FBT001 - a column.
    ending = "Traceback (most recent call last)"
    text = "ok\n".ljust(length - len(ending), "x") + ending
    assert _is_error_text(text, phrases(), ResultContext(runs_programs=True)) is reports


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("exit code: 0", False),
        ("a\nexit code: 00", False),
        ("exit code: 1", False),
        ("a\nexit code: 1", True),
        ("exit status 3", True),
        ("a\nexit code: 2, exit code: 0", False),
        ("a\n" + "exit code: 2".ljust(200), True),
        ("a\n" + "exit code: 2".ljust(201), False),
    ],
)
def test_a_program_failed_by_its_last_exit_code_near_its_end(text: str, failed: bool) -> None:  # noqa: FBT001 - a column.
    assert _is_error_text(text, phrases(), ResultContext(runs_programs=True)) is failed


@pytest.mark.parametrize(("length", "reports"), [(200, True), (201, False)])
def test_a_report_that_nobody_marked_is_short(length: int, reports: bool) -> None:  # noqa: FBT001 - a column.
    text = "Document does not exist".ljust(length - 1, ".") + "!"
    assert _is_error_text(text, phrases(), ResultContext()) is reports


@pytest.mark.parametrize(("length", "reports"), [(201, True), (4_000, True), (4_001, False)])
def test_a_long_value_hides_no_short_report(length: int, reports: bool) -> None:  # noqa: FBT001 - a column.
    before, behind = "Document ", " does not exist"
    text = before + "x" * (length - len(before) - len(behind)) + behind
    assert _is_error_text(text, phrases(), ResultContext()) is reports


@pytest.mark.parametrize(("length", "reports"), [(79, False), (80, True)])
def test_a_word_is_a_long_value_from_eighty_letters(length: int, reports: bool) -> None:  # noqa: FBT001 - a column.
    word = "x" * length
    assert _is_error_text(f"Document {word} does not exist. {word} {word}", phrases(), ResultContext()) is reports
