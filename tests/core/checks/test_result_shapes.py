"""Results in other shapes than MCP's: what they are taken for, and that the verdict is that of MCP."""

import dataclasses
import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from toolvet import ResultVerdict, State, check_result
from toolvet.core.checks.result.shapes import result_shapes

FAILS = [(shape.name, shape.has_flag, text) for shape in result_shapes() for text in shape.fails]
MISSES = [(shape.name, text) for shape in result_shapes() for text in shape.misses]


def judged(result: object) -> ResultVerdict:
    return check_result("forecast", {"city": "Atlantis"}, result)


def mcp(text: str, *, failed: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


@pytest.mark.parametrize(("name", "has_flag", "text"), FAILS, ids=[text[:50] for *_, text in FAILS])
def test_each_failure_of_the_table_is_read_as_its_shape(name: str, has_flag: bool, text: str) -> None:  # noqa: FBT001 - a parameter of the test
    verdict = judged(json.loads(text))
    assert verdict.metadata.taken_for == name
    assert verdict.to_dict()["metadata"]["taken_for"] == name  # type: ignore[index]
    assert verdict.state is State.NOT_FOUND
    assert verdict.classification == "fully_working"
    assert (verdict.is_error, verdict.error_without_flag) == (has_flag, not has_flag)
    assert verdict.issues == ()


@pytest.mark.parametrize(("name", "text"), MISSES, ids=[text[:50] for _, text in MISSES])
def test_what_only_looks_like_a_shape_is_a_payload(name: str, text: str) -> None:
    verdict = judged(json.loads(text))
    assert verdict.metadata.taken_for not in (None, name)
    assert verdict.metadata.taken_for == "payload"
    assert verdict.classification == "fully_working"
    assert verdict.state is None


def test_each_shape_that_comes_as_json_has_an_example() -> None:
    assert [shape.name for shape in result_shapes() if shape.example.startswith("{") and not shape.fails] == []


@pytest.mark.parametrize(
    ("result", "taken_for", "classification", "state"),
    [
        ("Lisbon: 21 degrees", "text", "fully_working", None),
        ("No such city: Atlantis", "text", "fully_working", "not_found"),
        ("Traceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 'city'", "text", "error", "crash"),
        (b"Lisbon: 21 degrees", "text", "fully_working", None),
        ("", "text", "connectivity_only", None),
        (21, "text", "fully_working", None),
        (None, "nothing", "broken", None),
        ([], "payload", "fully_working", None),
        ([{"id": 1}, {"id": 2}], "payload", "fully_working", None),
        (["Lisbon", "Porto"], "payload", "fully_working", None),
        ([{"type": "text", "text": "No such city: Atlantis"}], "payload", "fully_working", "not_found"),
        ({"city": "Lisbon", "degrees": 21}, "payload", "fully_working", None),
        ({"error": "No such city: Atlantis"}, "payload", "fully_working", "not_found"),
        ({"success": False, "error": "connection refused"}, "payload", "error", "unreachable"),
        ({"code": 200, "message": "OK"}, "payload", "fully_working", None),
        ({"title": "Ports", "content": "All about Lisbon"}, "payload", "fully_working", None),
        ({"title": "Ports", "content": ["All", "about", "Lisbon"]}, "payload", "fully_working", None),
        ({"role": "mayor", "content": "Elected for four years"}, "payload", "fully_working", None),
        ({"status": "error-free", "tool_call_id": None}, "payload", "fully_working", None),
        ({"status": 404, "name": "Room 404"}, "payload", "fully_working", None),
        ({"toolResult": {"toolUseId": "t", "content": [{"json": {"degrees": 21}}]}}, "Amazon Bedrock toolResult",
         "fully_working", None),
        ({"functionResponse": {"name": "f", "response": {"output": "No such city"}}}, "Gemini functionResponse",
         "partially_working", "not_found"),
        ({"functionResponse": {"name": "f", "response": {"output": 3}}}, "Gemini functionResponse",
         "fully_working", None),
        ({"jsonrpc": "2.0", "id": 1, "result": mcp("Lisbon")}, "JSON-RPC response", "fully_working", None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "city: required"}}, None, "fully_working",
         "invalid_input"),
        ({"code": -32603, "message": "Internal error"}, None, "error", "internal"),
        ({}, None, "broken", None),
        ({"content": "Lisbon"}, None, "broken", None),
        ({"toolResult": {"a": 1}}, None, "broken", None),
        ({"content": [{"type": "text", "text": "Lisbon"}], "source": "cache"}, None, "fully_working", None),
    ],
    ids=lambda each: repr(each)[:40],
)  # fmt: skip
def test_values_of_any_kind_are_judged(
    result: object, taken_for: str | None, classification: str, state: str | None
) -> None:
    verdict = judged(result)
    assert verdict.metadata.taken_for == taken_for
    assert verdict.classification == classification
    assert verdict.state == state
    if state is not None and classification == "fully_working":
        assert verdict.issues == ()


class Refused(Exception):  # noqa: N818 - of an SDK
    def __init__(self) -> None:
        super().__init__("city: required")
        self.error = SimpleNamespace(code=-32602, message="city: required")


@pytest.mark.parametrize(
    ("problem", "classification", "state"),
    [
        (ValueError("No such city: Atlantis"), "fully_working", "not_found"),
        (TimeoutError(), "error", "timeout"),
        (ConnectionRefusedError(111, "Connection refused"), "error", "unreachable"),
        (KeyError("city"), "error", "crash"),
        (Refused(), "fully_working", "invalid_input"),
    ],
    ids=repr,
)
def test_an_exception_is_a_failure_in_its_own_words(problem: Exception, classification: str, state: str) -> None:
    verdict = judged(problem)
    assert verdict.metadata.taken_for == "exception"
    assert verdict.is_error
    assert (verdict.classification, verdict.state) == (classification, state)


def response(status: int, **stored: object) -> object:
    return SimpleNamespace(status_code=status, headers={}, reason_phrase="", **stored)


@pytest.mark.parametrize(
    ("result", "failed", "state"),
    [
        (response(200, _content=b'{"degrees": 21}'), False, None),
        (response(204, _content=b""), False, None),
        (response(404, _content=b'{"detail": "No such city"}'), True, "not_found"),
        (response(503, _content=False), True, "unavailable"),
        (response(422, body=b"city: field required"), True, "invalid_input"),
        (SimpleNamespace(status=429, headers={}, _body=b"", reason="Too Many Requests"), True, "rate_limited"),
        ({"status": 404, "headers": {"content-type": "text/plain"}, "body": "No such city"}, True, "not_found"),
        ({"statusCode": 500, "body": "Internal Server Error"}, True, "internal"),
        ({"status": 200, "statusText": "OK", "headers": {}, "data": {"degrees": 21}}, False, None),
    ],
    ids=lambda each: repr(each)[:50],
)
def test_an_http_response_fails_by_its_status(result: object, failed: bool, state: str | None) -> None:  # noqa: FBT001 - a parameter of the test
    verdict = judged(result)
    assert verdict.metadata.taken_for == "HTTP response"
    assert (verdict.is_error, verdict.state) == (failed, state)
    if not failed:
        assert verdict.classification == "fully_working"


def test_no_body_is_read_for_a_verdict() -> None:
    class Response:
        status_code = 200
        headers = None

        @property
        def text(self) -> str:
            raise AssertionError("reads from the network")

        content = text

    assert judged(Response()).metadata.taken_for == "HTTP response"


def test_objects_are_read_by_their_attributes() -> None:
    message = SimpleNamespace(type="tool", tool_call_id="1", content="No such city: Atlantis", status="error")
    assert judged(message).metadata.taken_for == "LangChain ToolMessage"
    assert judged(message).is_error
    part = SimpleNamespace(part_kind="tool-return", tool_name="forecast", content={"degrees": 21}, outcome="success")
    assert judged(part).metadata.taken_for == "pydantic-ai ToolReturnPart"
    assert judged(part).classification == "fully_working"


class Weather(BaseModel):
    degrees: int


@dataclasses.dataclass
class Reading:
    degrees: int


@pytest.mark.parametrize("value", [Weather(degrees=21), Reading(21)], ids=["pydantic", "dataclass"])
def test_a_record_of_python_is_a_payload(value: object) -> None:
    tool = {"name": "forecast", "inputSchema": {}, "outputSchema": {"required": ["degrees"]}}
    verdict = check_result(tool, {}, value)
    assert verdict.metadata.taken_for == "payload"
    assert verdict.metadata.output_schema_validation is not None
    assert verdict.metadata.output_schema_validation.is_valid


def test_what_a_server_sent_is_broken_where_it_is_not_mcp() -> None:
    values: list[object] = ["Lisbon", {"degrees": 21}, [1], None, {"role": "tool", "tool_call_id": "1", "content": "x"}]
    for result in values:
        verdict = check_result("forecast", {}, result, shape="mcp")
        assert verdict.classification == "broken"
        assert verdict.metadata.taken_for is None


def test_the_verdict_of_a_flagged_shape_is_that_of_mcp() -> None:
    for words in ("No such city: Atlantis", "Connection refused", "Internal error", "rate limit exceeded"):
        expected = judged(mcp(words, failed=True))
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": "1", "content": words, "is_error": True}
        found = judged(block)
        assert (found.state, found.classification, found.retry) == (
            expected.state, expected.classification, expected.retry
        )  # fmt: skip


def test_a_validation_error_of_pydantic_ai_is_a_refusal() -> None:
    error = {"type": "missing", "loc": ("city",), "msg": "Field required", "input": {}}
    verdict = judged({"part_kind": "retry-prompt", "tool_name": "forecast", "content": [error]})
    assert verdict.is_error
    assert verdict.state is State.INVALID_INPUT


class Trap:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "result",
    [
        Trap(),
        object(),
        SimpleNamespace(content=Trap()),
        {"type": "tool_result", "tool_use_id": 1, "content": Trap()},
        set(),
    ],
    ids=["trap", "object", "inside", "in a message", "set"],
)
def test_nothing_raises(result: object) -> None:
    verdict = judged(result)
    verdict.to_dict()
