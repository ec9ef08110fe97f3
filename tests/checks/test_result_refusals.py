"""Refusals that a validation library wrote: never a crash, and never the author's words."""

import pytest

from toolvet.checks.result import ErrorKind, State, check_result, is_framework_refusal

PYDANTIC_EXTRA = """1 validation error for call[add]
extra
  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=1, input_type=int]
    For further information visit https://errors.pydantic.dev/2.11/v/unexpected_keyword_argument"""
AUTHORED = """1 validation error for call[add]
name
  Value error, must be a string, not 'int' [type=value_error, input_value=1, input_type=int]
    For further information visit https://errors.pydantic.dev/2.11/v/value_error"""
CRASH = "TypeError: add() got an unexpected keyword argument 'x'"


@pytest.mark.parametrize("text", [PYDANTIC_EXTRA, AUTHORED, f"Error executing tool add: {PYDANTIC_EXTRA}"])
def test_a_refusal_of_pydantic_is_no_crash(text: str) -> None:
    verdict = check_result({"name": "t"}, {}, {"content": [{"type": "text", "text": text}], "isError": True})
    assert (verdict.error_kind, verdict.state) == (ErrorKind.BUSINESS, State.INVALID_INPUT)


@pytest.mark.parametrize(
    "text",
    [
        CRASH,
        f"Traceback (most recent call last):\n  File 'a.py', line 1\n{PYDANTIC_EXTRA}",
        "'NoneType' object has no attribute 'x'",
    ],
)
def test_a_crash_of_python_stays_a_crash(text: str) -> None:
    verdict = check_result({"name": "t"}, {}, {"content": [{"type": "text", "text": text}], "isError": True})
    assert (verdict.error_kind, verdict.state) == (ErrorKind.TOOL_FAILURE, State.CRASH)


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        (PYDANTIC_EXTRA, "pydantic"),
        ("Input validation error: 'abc' is not of type 'integer'", "MCP Python SDK"),
        ("MCP error -32602: Input validation error: Invalid arguments for tool add: []", "MCP TypeScript SDK"),
        ("data must have required property 'city'", "ajv"),
        ("'query' is a required property", "jsonschema"),
        (AUTHORED, None),
        (CRASH, None),
        ("Error executing tool llen: 1 validation error for llenOutput", None),
        ("'limit' must be an integer between 1 and 50; received 500.", None),
        ("City not found: Atlantis", None),
        ("", None),
    ],
)
def test_the_framework_that_wrote_a_refusal_is_named(text: str, framework: str | None) -> None:
    assert is_framework_refusal(text) == framework
