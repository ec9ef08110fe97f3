"""Refusals that a validation library wrote: never a crash, and never the author's words."""

import json
from pathlib import Path

import pytest

from toolvet.core.causes import ErrorKind, State
from toolvet.core.checks.result import check_result, is_framework_refusal

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


def test_the_verdict_names_the_framework() -> None:
    texts = (PYDANTIC_EXTRA, AUTHORED, CRASH)
    verdicts = [check_result({}, {}, {"content": [{"type": "text", "text": text}], "isError": True}) for text in texts]
    assert [verdict.framework for verdict in verdicts] == ["pydantic", None, None]
    assert [verdict.to_dict().get("framework", "absent") for verdict in verdicts] == ["pydantic", "absent", "absent"]


COLLECTED = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "conformance/refusals/refusals.jsonl").read_text("utf-8").splitlines()
]
# FastMCP 2.3 hid the words of every refusal, and the words of these four an author could have written.
HIDDEN = "Error calling tool 'add'"
PLAIN = ("is not one of [", "is too short", "is too long", "does not match '^")


def test_what_libraries_refuse_is_a_refusal_and_never_a_crash() -> None:
    wrong: list[object] = []
    for row in COLLECTED:
        text = row["text"]
        verdict = check_result({"name": "t"}, {}, {"content": [{"type": "text", "text": text}], "isError": True})
        if text != HIDDEN and (verdict.state, verdict.leaks) != (State.INVALID_INPUT, ()):
            wrong.append((row, verdict.state))
    assert not wrong
    assert len({row["source"] for row in COLLECTED}) > 20


def test_the_framework_of_what_libraries_refuse_is_named() -> None:
    unnamed = [
        row
        for row in COLLECTED
        if row["case"] != "own check" and row["text"] != HIDDEN and is_framework_refusal(row["text"]) is None
    ]
    assert {row["source"] for row in unnamed} <= {"jsonschema"}
    assert all(any(words in row["text"] for words in PLAIN) for row in unnamed)


def test_the_sentence_of_an_authors_validator_is_the_authors() -> None:
    own = [row for row in COLLECTED if "must be odd" in row["text"] and "pydantic" in row["text"]]
    assert own
    assert {is_framework_refusal(row["text"]) for row in own} == {None}


@pytest.mark.parametrize("text", ["Die Datei wurde nicht gefunden", "城市不能为空", "El valor debe ser un número"])
def test_a_refusal_in_another_language_is_a_refusal(text: str) -> None:
    verdict = check_result({"name": "t"}, {}, {"content": [{"type": "text", "text": text}], "isError": True})
    assert verdict.error_kind is ErrorKind.BUSINESS
