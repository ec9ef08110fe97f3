"""Foreign text where a number is expected, and foreign values where a text is, give a verdict and no exception."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import toolvet
from toolvet.assess.rules import tool_definition
from toolvet.core.json_value import whole
from toolvet.core.tool_rules.consent import habits_of, why_not_called
from toolvet.core.tools import view_of
from toolvet.server.guardrails.memory import GuardrailMemory

# Superscripts and Kharosthi digits are digits to `isdigit` and not to `int`; Python converts 4,300 digits at most.
NUMERALS = ["\u00b2", "\U00010a40", "\u2460", "\u00bd", "\u2167", "\u0663", "\uff11", "--5", "9" * 5_000, "\ud800"]
NO_TEXTS: list[Any] = [["number", "null"], {"a": 1}, [], {}, 10**400, float("nan"), None]
RESULT = {"content": [{"type": "text", "text": "ordered 2025-03-01"}]}
TOOL = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"anyOf": [{"type": "number"}]}}},
}


def short(value: object) -> str:
    return ascii(value)[:24]


def answer(text: str, result: object = RESULT) -> object:
    return toolvet.check_answer(text, calls=[{"name": "t", "arguments": {}, "result": result}]).to_dict()


def said(value: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


PLACES: dict[str, Callable[[str], object]] = {
    "a span in an answer": lambda text: answer(f"It arrives on 2025-03-04, in {text} days."),
    "a span in a result": lambda text: answer("It arrives on 2025-03-04.", f"2025-03-01; ships in {text} days"),
    "a part in an answer": lambda text: answer(f"Here are {text} of {text} items on {text} May {text}."),
    "a part in a result": lambda text: answer("There are 3 items.", f"Showing 1 to {text} of {text} items"),
    "a code": lambda text: toolvet.check_result(TOOL, {}, said({"code": text, "message": "it broke"})),
    "a negative code": lambda text: toolvet.check_result(TOOL, {}, said({"code": f"-{text}", "message": "it broke"})),
    "a count in Gemini's schema": lambda text: view_of(
        {"name": "t", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "maxItems": text}}}}
    ),
    "a reference into a list": lambda text: toolvet.check_arguments(
        {"name": "t", "inputSchema": {"anyOf": [{"type": "object"}], "$ref": f"#/anyOf/{text}"}}, {}, unchecked="pass"
    ),
    "a schema to repair by": lambda text: toolvet.repair(
        {"anyOf": [{}], "properties": {"a": {"$ref": f"#/anyOf/{text}"}}}, {}
    ),
    "a list to shorten": lambda text: toolvet.fit_response({"a": [[1]] * 9}, 9, lists=[f"/a/{text}"]),
    "a delay": lambda text: toolvet.check_envelope({"retryDelay": f"{text}s", "retry_after": text}),
    "a key like an index": lambda text: toolvet.check_arguments(
        {"name": "t", "inputSchema": {"properties": {"a": {"items": {"type": "integer"}}}}}, {"a": {text: "1"}}
    ).to_text(),
}


@pytest.mark.parametrize("numeral", NUMERALS, ids=short)
@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
def test_any_numeral_anywhere(place: Callable[[str], object], numeral: str) -> None:
    try:
        place(numeral)
    except toolvet.EnvelopeError as error:
        assert "JSON Pointers" in str(error)  # noqa: PT017 - documented, and only for lists to shorten


def test_a_whole_number_is_one_that_python_converts() -> None:
    assert [whole(text) for text in ("7", "007", "\u0663", "9" * 19)] == [7, 7, 3, int("9" * 19)]
    assert [whole(text) for text in ("", "-1", "1.0", "\u00b2", "\U00010a40", "9" * 20)] == [None] * 6


@pytest.mark.parametrize("odd", NO_TEXTS, ids=short)
def test_any_value_in_the_place_of_a_type(odd: object) -> None:
    for name in ("add", "frobnicate", "names_calculator", "verify_task"):
        for schema in ({"type": odd}, {"anyOf": [{"type": odd}]}, {"type": "array", "items": {"type": odd}}, odd):
            raw = {"name": name, "inputSchema": {"type": "object", "properties": {"a": schema, "mode": schema}}}
            tool = tool_definition(raw)
            why_not_called(tool, habits_of([tool]))
            toolvet.check_arguments(raw, {"a": odd}, unchecked="pass").to_text()


def test_nullable_numbers_are_no_exception_from_arithmetic() -> None:
    tool = tool_definition({"name": "add", "inputSchema": {"properties": {"a": {"type": ["number", "null"]}}}})
    assert why_not_called(tool, habits_of([tool])) is not None


@pytest.mark.parametrize("odd", ["\ud800", {"\ud800": 1}, ["\ud800"], 10**400], ids=short)
def test_a_session_is_kept_with_any_text(odd: Any) -> None:
    memory, key = GuardrailMemory(), ("vera", "s")
    memory.says(key, f"Set the day. {odd!s:.20}")
    memory.calls(key, "Write\ud800", {"file_path": odd}, odd, failed=False)
    memory.declare("one", [{"name": "t", "description": odd}])
    session = memory.session(key)
    assert session is not None
    assert session.turn is not None
