"""The parts of the result check, each beside the cases at its borders."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import pytest

from toolvet import ResultCheck, check_result
from toolvet.core.checks.result import response
from toolvet.core.checks.result.check import NO_MIRROR, _sent, _structure
from toolvet.core.checks.result.decision import _quotes_an_argument
from toolvet.core.checks.result.evidence import CallFacts, FirstHits
from toolvet.core.checks.result.own_words import BadRule
from toolvet.core.checks.result.phrases import phrases
from toolvet.core.checks.result.response import envelope_in, read_response
from toolvet.core.checks.result.result_check import _thresholds
from toolvet.core.checks.result.unflagged import strings_of
from toolvet.core.checks.result.verdict import Classification
from toolvet.core.checks.result_settings import ResultSettings, ToolResultSettings
from toolvet.core.matching import Hit
from toolvet.core.tools import view_of

PAGE = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
LONG = "a report of the day " * 11  # Longer than 200 characters: something to read.


def envelope(**body: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": json.dumps(body)}], "isError": False}


CLAIM: dict[str, object] = {"version": "response-v2"}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"success": False, "error": "No.", "data": {"error_code": "CONFLICT"}}, "No."),
        ({"success": False, "message": "No.", "error_code": "CONFLICT"}, "No."),
        ({"success": False, "error": " ", "message": "No.", "error_type": "conflict"}, "No."),
        ({"success": False, "error": "No.", "meta": CLAIM}, "No."),
        ({"success": False, "meta": {"version": "RESPONSE_V9"}}, ""),
        ({"success": True, "error": "No.", "meta": CLAIM}, ""),
        ({"success": False, "error": "No."}, None),
        ({"success": False, "data": {"error_code": "CONFLICT"}}, None),
        ({"success": True, "error": "No.", "data": {"error_code": "CONFLICT"}}, None),
        ({"success": "false", "error": "No.", "meta": CLAIM}, None),
        ({"success": True, "meta": {"version": "2"}}, None),
    ],
)
def test_an_envelope_is_known_by_its_version_or_by_flag_error_and_code(
    body: dict[str, object], error: str | None
) -> None:
    for result in (
        envelope(**body),
        {"content": [], "structuredContent": body},
        {"content": [], "_meta": {"x/y": body}},
    ):
        seen = envelope_in(read_response(result))
        assert (None if seen is None else seen.error) == error
    if error is not None:
        wrapped = {"content": [], "structuredContent": {"result": body}}
        assert envelope_in(read_response(wrapped)) == seen
        assert envelope_in(read_response({**wrapped, "structuredContent": {"result": body, "b": 1}})) is None


def test_what_the_metadata_of_an_envelope_says() -> None:
    details = [
        {"code": "STALE", "message": "old"},
        {"code": "SAID", "message": "said"},
        {"message": "bare"},
        {"code": "EMPTY"},
        5,
    ]
    meta = {
        **CLAIM,
        "warnings": ["said", 5, "too"],
        "warning_details": details,
        "pagination": {"has_more": True},
        "content_fidelity": "partial",
        "dropped_content_ids": ["a", 5, "b"],
        "request_id": "r1",
    }
    seen = envelope_in(read_response(envelope(success=True, data={}, meta=meta)))
    assert seen is not None
    assert seen.warnings == ("said", "too", "STALE: old", "bare")
    assert (seen.pagination, seen.content_fidelity, seen.request_id) == ({"has_more": True}, "partial", "r1")
    assert seen.dropped_content_ids == ("a", "b")
    many = envelope_in(
        read_response(envelope(success=True, meta={**CLAIM, "warnings": [str(n) for n in range(1_100)]}))
    )
    assert many is not None
    assert many.warnings == tuple(map(str, range(1_000)))
    for before in (49, 50):
        among = {**{str(n): n for n in range(before)}, "x/y": {"success": True, "meta": CLAIM}}
        assert (envelope_in(read_response({"content": [], "_meta": among})) is not None) is (before < 50)
    verdict = check_result({}, {}, envelope(success=True, data={}, meta=meta)).metadata.to_dict()
    assert verdict["pagination"] == {"has_more": True}
    assert verdict["warnings"] == ["said", "too", "STALE: old", "bare"]
    assert (verdict["content_fidelity"], verdict["dropped_content_ids"]) == ("partial", ["a", "b"])


@pytest.mark.parametrize(
    ("structured", "schema", "problem"),
    [
        ({"a": 1}, {"type": "object", "required": ["a"]}, None),
        ({}, {"type": "object", "required": ["a"]}, "Output schema validation failed: "),
        ({}, {"type": "object", "required": ["a", "b", "c"]}, "(required)"),
        ({}, {"type": "object", "required": ["a", "b", "c", "d", "e"]}, " and 2 more"),
        ({}, {"type": "no such type"}, "outputSchema does not compile"),
    ],
)
def test_structured_content_is_held_to_its_schema(structured: object, schema: object, problem: str | None) -> None:
    tool = {"name": "t", "inputSchema": {}, "outputSchema": schema}
    found = check_result(tool, {}, {"content": [], "structuredContent": structured}).metadata.output_schema_validation
    assert found is not None
    assert found.is_valid is (problem is None)
    assert problem is None or problem in (found.error or "")
    assert " and 1 more" not in (found.error or "")


@pytest.mark.parametrize(
    ("texts", "valid"),
    [
        (["5", '{"a": 1}'], True),
        (['see:\n```json\n{"a": 1}\n```\n'], True),
        (["5", '{"b": 1}'], False),
        (['"x"', "7"], False),
        (["no JSON"], False),
    ],
)
def test_of_several_texts_the_object_that_comes_closest_counts(texts: list[str], valid: bool) -> None:  # noqa: FBT001 - a column.
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    result = {"content": [{"type": "text", "text": text} for text in texts]}
    found = check_result({"name": "t", "inputSchema": {}, "outputSchema": schema}, {}, result)
    assert found.metadata.output_schema_validation is not None
    assert found.metadata.output_schema_validation.is_valid is valid
    if texts == ["5", '{"b": 1}']:
        assert '"a"' in str(found.metadata.output_schema_validation.error)
        assert "5" not in str(found.metadata.output_schema_validation.error)


@pytest.mark.parametrize(
    ("structured", "mirror"),
    [({"result": []}, True), ({"result": None}, True), ({"result": [1]}, False), ({"a": 1}, False), ([], False)],
)
def test_an_empty_list_that_was_wrapped_has_no_text_to_mirror(structured: object, mirror: bool) -> None:  # noqa: FBT001 - a column.
    schema = {"type": "object", "properties": {"result": {"type": "null"}}}
    tool = {"name": "t", "inputSchema": {}, "outputSchema": schema if structured == {"result": None} else None}
    verdict = check_result(tool, {}, {"content": [], "structuredContent": structured}, shape="mcp")
    assert (NO_MIRROR not in verdict.issues) is mirror


@pytest.mark.parametrize(
    ("flag", "flagged", "issue"),
    [
        (True, True, ""),
        (False, False, ""),
        (None, False, ""),
        (" TRUE ", True, "isError is not a boolean: ' TRUE '"),
        ("false", False, "isError is not a boolean: 'false'"),
        (1, False, "isError is not a boolean: 1"),
        ({"a": 1, "b": 2, 3: 4}, False, "isError is not a boolean: an object with a, b"),
        ({}, False, "isError is not a boolean: an object"),
        ([1], False, "isError is not a boolean: list"),
        ("x" * 50, False, "isError is not a boolean: '" + "x" * 39),
    ],
)
def test_a_flag_is_read_as_it_was_meant(flag: object, flagged: bool, issue: str) -> None:  # noqa: FBT001 - a column.
    for content in ([{"type": "text", "text": "ok"}], [{"type": "text", "text": "ok"}, {"type": "text", "text": "ok"}]):
        read = read_response({"content": content, "isError": flag})
        assert (read.flagged, read.malformed) == (flagged, (issue,) if issue else ())
        assert (read.texts, read.text_block_count) == (("ok",) * len(content), len(content))
        assert read.content_types == ("text",)


def test_blocks_are_counted_and_malformed_ones_are_named() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": 5},
        {"type": "image", "data": "x"},
        {"type": "image"},
        {"type": "audio", "data": "x"},
        {"type": "resource", "resource": {}},
        {"type": "resource_link", "uri": "u"},
        {"type": "resource_link"},
        {"type": "chart", "text": "no text block"},
        {"type": "chart"},
        {"text": "no type"},
        "bare",
    ]
    read = read_response({"content": blocks}, "mcp")
    assert read.texts == ("a",)
    assert (read.text_block_count, read.image_count, read.audio_count, read.resource_count) == (1, 2, 1, 3)
    assert dict(read.other_counts) == {"chart": 2}
    assert len(read.malformed) == 5
    assert read.malformed[-1] == "Malformed content block: 'bare'"
    # A block of one type is not read as text, however alone it is.
    assert read_response({"content": [{"type": "chart", "text": "a"}]}, "mcp").texts == ()


@dataclass
class Weather:
    city: str
    degrees: int


@pytest.mark.parametrize(
    ("result", "texts", "structured"),
    [
        ([{"type": "text", "text": "a"}, "b"], ("a", "b"), None),
        (["a", "b"], (), ["a", "b"]),
        ([], (), []),
        ([{"text": "a"}], ("a",), None),
        ([{"text": "a", "x": 1}], (), [{"text": "a", "x": 1}]),
        ([{"type": "text", "text": "a"}, {"json": {"b": 1}}], ("a",), {"b": 1}),
        ([{"json": 1}, {"json": 2}], (), [1, 2]),
        ({"toolResult": {"content": [{"text": "a"}]}}, None, None),
        (Weather("Oslo", 3), (), {"city": "Oslo", "degrees": 3}),
    ],
)
def test_what_a_function_returned_becomes_blocks_or_a_payload(
    result: object, texts: tuple[str, ...] | None, structured: object
) -> None:
    read = read_response({"role": "tool", "content": result, "tool_call_id": "1"})
    if texts is not None:
        assert (read.texts, read.structured) == (texts, structured)


@pytest.mark.parametrize(
    ("status", "is_http"), [(99, False), (100, True), (200, True), (599, True), (600, False), (True, False)]
)
def test_a_status_of_http_is_one(status: int, is_http: bool) -> None:  # noqa: FBT001 - a column of the table.
    read = read_response({"statusCode": status, "headers": {}, "body": "text"})
    assert ("HTTP" in read.taken_for) is is_http


def test_the_strings_of_a_value_are_in_order_and_there_is_an_end() -> None:
    assert strings_of({"a": "1", "b": ["2", {"c": "3"}, 5], "d": "4"}) == "1\n2\n3\n4"
    assert strings_of([str(n) for n in range(300)]) == "\n".join(map(str, range(200)))


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"a": "x", "n": 100, "few": 99, "much": 10**30, "b": True}, ("x", "100")),
        ({"n": -100, "m": -99, "more": 10**30 - 1}, ("-100", str(10**30 - 1))),
        ({"a": ["x", {"b": "y"}], "c": "z"}, ("z", "x", "y")),
        ([], ()),
        (None, ()),
    ],
)
def test_what_an_error_may_quote_of_the_arguments(arguments: object, sent: tuple[str, ...]) -> None:
    assert _sent(arguments) == sent


@pytest.mark.parametrize(
    ("text", "structured", "found"),
    [
        ('{"error": "x"}', None, "JSON with error"),
        ('oh: {"message": "x", "code": 5}', None, "JSON with message"),
        ('{"detail": "x"}', None, "JSON with detail"),
        ('"error" {', None, ""),
        ("{error}", None, ""),
        ('{"rows": 5}', None, ""),
        ("no", {"a": 1}, "structuredContent"),
        ("no", [1], ""),
    ],
)
def test_whether_a_program_can_read_the_error(text: str, structured: object, found: str) -> None:
    response = read_response({"content": [], "structuredContent": structured}, "mcp")
    assert _structure(text, response) == found


def test_settings_of_one_tool_win_over_those_of_all() -> None:
    error: Any = {"isError": True, "content": [{"type": "text", "text": "Internal error: the market is asleep"}]}
    asleep = ToolResultSettings(strong_patterns=("market is asleep",))
    check = ResultCheck(ResultSettings(tools={"trade_*": asleep}))
    assert check({"name": "trade_stock"}, {}, error).error_kind == "business"
    assert check({"name": "quote"}, {}, error).error_kind == "tool_failure"
    assert ResultCheck()({"name": "trade_stock"}, {}, error) == check_result({"name": "trade_stock"}, {}, error)
    everything = ResultCheck(ResultSettings(any_response=True, tools={"quote": ToolResultSettings(any_response=False)}))
    assert everything({"name": "trade_stock"}, {}, error).is_valid
    assert not everything({"name": "quote"}, {}, error).is_valid
    any_response = check_result({}, {}, error, any_response=True)
    assert (any_response.is_error, any_response.confidence, any_response.classification) == (True, 100, "fully_working")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"threshold": 1.1}, "threshold must be a number from 0 to 1, not 1.1"),
        ({"threshold": -0.1}, "threshold must be a number from 0 to 1"),
        ({"threshold": True}, "threshold must be a number from 0 to 1"),
        ({"weights": {"test_data": 101}}, "must be a whole number from 0 to 100"),
        ({"weights": {"test_data": -1}}, "must be a whole number from 0 to 100"),
        ({"weights": {"no_factor": 1}}, "there is no factor 'no_factor'"),
        ({"threshold": 0, "weights": {}}, ""),
        ({"threshold": 1}, ""),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], problem: str) -> None:
    if not problem:
        check_result({}, {}, None, **options)
        return
    with pytest.raises(BadRule, match=problem):
        check_result({}, {}, None, **options)


def error(text: str) -> dict[str, object]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def test_the_code_of_an_error_is_that_of_its_envelope_else_that_of_its_cause() -> None:
    own = {"success": False, "error": "No.", "data": {"error_code": "ROW_LOCKED", "error_type": "conflict"}}
    assert check_result({}, {}, {**envelope(**own), "isError": True}).error_code == "ROW_LOCKED"
    assert check_result({}, {}, error("Order 5 not found")).error_code == "NOT_FOUND"


def test_a_tool_that_the_caller_expects_to_validate_counts_by_its_name() -> None:
    def named(**options: Any) -> list[str]:
        verdict = check_result({"name": "weather"}, {}, error("Value must be positive"), **options)
        return [factor.name for factor in verdict.factors if "validat" in factor.name and factor.evidence]

    assert len(named(expects_validation=True)) > len(named()) == len(named(expects_validation=False))


def test_a_result_that_says_isError_is_taken_for_nothing_else() -> None:  # noqa: N802 - the member's name.
    block = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}]}
    assert read_response(block).taken_for
    assert not read_response({**block, "isError": False}).taken_for


def test_every_leak_is_found_also_behind_a_path_that_the_caller_sent() -> None:
    text = "Error: cannot open /home/ann/a.txt, nor /home/bob/b.txt, nor /home/bob/b.txt, nor /home/eve/c.txt"
    found = check_result({}, {"path": "/home/ann/a.txt"}, error(text)).leaks
    assert [leak.text for leak in found] == ["/home/bob/b.txt", "/home/eve/c.txt"]


class Ship(msgspec.Struct):
    name: str


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"loc": ["a", 0], "msg": "no", "type": "x"}], "1 validation errors\na.0\n  no [type=x]"),
        (
            [{"loc": "a", "msg": "no"}, {"loc": ["b"], "msg": "so"}],
            "2 validation errors\na\n  no [type=None]\nb\n  so [type=None]",
        ),
        ([{"type": "text", "text": "try again"}], "try again"),
        (Ship("Aurora"), {"name": "Aurora"}),
        (b"caf\xc3\xa9", "café"),
    ],
)
def test_what_is_asked_to_be_tried_again_is_an_error_in_its_own_words(content: object, text: object) -> None:
    read = read_response({"part_kind": "retry-prompt", "content": content})
    assert read.flagged
    assert (read.texts if isinstance(text, str) else read.structured) == ((text,) if isinstance(text, str) else text)


def test_a_blank_error_is_an_error_and_a_result_without_content_is_none() -> None:
    blank, broken = check_result({}, {}, error(" ")), check_result({}, {}, {"isError": False})
    assert (blank.is_error, blank.is_valid, blank.classification) == (True, False, "connectivity_only")
    assert (broken.is_error, broken.is_valid, broken.classification) == (False, False, "broken")


def test_classes_weigh_less_the_worse_they_are() -> None:
    order = ("fully_working", "partially_working", "connectivity_only", "error", "broken")
    assert [Classification(name).weight for name in order] == [1.0, 0.7, 0.3, 0.2, 0.0]


def test_a_limit_for_all_tools_of_a_later_section_replaces_those_by_type() -> None:
    by_type = ToolResultSettings(thresholds={"crud": 0.9})
    for_all = ToolResultSettings(threshold=0.1, thresholds={"validator": 0.3})
    assert _thresholds((by_type,)) == {"crud": 0.9}
    assert _thresholds((by_type, ToolResultSettings(thresholds={"validator": 0.3}))) == {"crud": 0.9, "validator": 0.3}
    assert _thresholds((by_type, for_all)) == {"validator": 0.3}


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("Oslo?", True),
        ("no Oslo here", True),
        ("no Oslofjord here", False),
        ("could not read Oslo", False),
        ("Oslo " + "x" * 994, True),
        ("Oslo " + "x" * 1_000, False),
    ],
)
def test_an_error_that_repeats_a_value_is_the_callers_unless_it_says_what_failed(text: str, repeats: bool) -> None:  # noqa: FBT001 - a column.
    call = CallFacts(view_of({"name": "weather"}), {"city": "Oslo"}, ("Oslo",))
    assert _quotes_an_argument(FirstHits(text, (), phrases(), call)) is repeats


@pytest.mark.parametrize(
    ("before", "behind", "words"),
    [
        ("", " of it", "not found of it"),
        ("first line\nsecond ", "\nthird\nfourth", "second not found"),
        ("a" * 90 + " b ", " c", "b not found c"),
        ("a" * 90 + "not found and not found and ", " c", "found and not found and not found c"),
    ],
)
def test_the_words_around_a_hit_are_cut_to_its_line_and_to_whole_words(before: str, behind: str, words: str) -> None:
    text = f"{before}not found{behind}"
    call = CallFacts(view_of({"name": "weather"}), {}, ())
    end = len(before) + len("not found")
    assert FirstHits(text, (), phrases(), call).words(Hit("x", end - 9, end)) == words


@pytest.mark.parametrize("shape", ["any", "mcp"])
@pytest.mark.parametrize("flag", [{}, {"isError": True}, {"isError": False}])
def test_a_result_that_is_one_text_is_read_without_a_walk(
    shape: Literal["any", "mcp"], flag: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    block = {"type": "text", "text": "No such room."}
    plain: dict[str, object] = {"content": [block], **flag}
    slowly = read_response({**plain, "_meta": None}, shape)
    # Whatever else there is may have no end.
    others: list[dict[str, object]] = [
        {"content": [{**block, "annotations": {}}], **flag},
        {"content": [block, block], **flag},
        {"content": [block], "isError": "true"},
        {**plain, "structuredContent": {}},
    ]
    walked: list[object] = []
    monkeypatch.setattr(response, "is_endless", walked.append)
    assert read_response(plain, shape) == slowly
    assert walked == []
    for other in others:
        read_response(other, shape)
    assert walked == others


def test_what_one_text_consists_of() -> None:
    for result in ({"content": [{"type": "text", "text": "Ada"}]}, {"isError": True, "content": "Ada"}, "Ada", ["Ada"]):
        for meta in ({}, {"_meta": {"a": 1}}):
            given = {**result, **meta} if isinstance(result, dict) else result
            seen = read_response(given)
            about = check_result("get_user", {}, given).metadata
            assert about.content_types == seen.content_types
            assert about.text_block_count == seen.text_block_count
            assert about.has_meta is (seen.meta is not None)
            assert about.taken_for == (seen.taken_for or None)
