"""Errors and blanks inside the wrapper of a framework, and payloads that are only about errors."""

import json

import pytest

from toolvet.core.checks.result import Classification, check_result

PAGE = "<!DOCTYPE html>\n<html><head><title>{}</title></head><body>" + "x" * 3000 + "</body></html>"
ERRORS: list[object] = [
    {"error": "No presentation is loaded"},
    {
        "success": False,
        "error": "Table not found",
        "errorType": "NotFoundError",
        "database": "a",
        "schema": "b",
        "table": "c",
    },
    {"success": False, "message": "Invalid email"},
    {"ok": False, "error": "channel_not_found"},
    {"status": "error", "message": "bad"},
    {"status": 404, "message": "Not found"},
    {"object": "error", "status": 401, "code": "unauthorized", "message": "API token is invalid.", "request_id": "x"},
    {"data": PAGE.format("404 Not Found")},
    {
        "success": False,
        "data": {"error_code": "VALIDATION_ERROR", "error_type": "validation", "details": {"field": "a"}},
        "error": "a is required",
        "meta": {"version": "response-v2"},
    },
]
PAYLOADS: list[object] = [
    {"level": "error", "message": "disk full", "time": "12:00", "host": "web1"},
    [{"id": 1, "title": "x", "status": "error"}],
    {"issues": [{"status": "error"}]},
    {"success": True, "error": None},
    {"errors": []},
    {"errors": [{"line": 3, "message": "x"}], "warnings": [], "files": 3},
    {"tests": 5, "failures": 2, "errors": ["a"], "success": False, "duration": 3},
    {"id": 7, "status": "failed", "error": "oom", "started": 1, "ended": 2, "node": "n", "success": False},
    {"id": "job", "name": "n", "status": "error", "logs": ["a"], "created_at": "x"},
    {"data": PAGE.format("The history of 404")},
    {"url": "https://x", "status": 404, "headers": {}, "body": "hello", "elapsed": 3},
]  # fmt: skip


def results(value: object) -> list[dict[str, object]]:
    text = json.dumps(value)
    content = [{"type": "text", "text": text}]
    return [
        {"content": content},
        {"content": content, "structuredContent": {"result": value}},
        {"content": content, "structuredContent": {"result": text}},
    ]


@pytest.mark.parametrize("value", ERRORS, ids=lambda value: json.dumps(value)[:40])
def test_an_error_is_seen_inside_a_wrapper_too(value: object) -> None:
    assert [check_result({"name": "t"}, {}, result).error_without_flag for result in results(value)] == [True] * 3


@pytest.mark.parametrize("value", PAYLOADS, ids=lambda value: json.dumps(value)[:40])
def test_a_payload_about_an_error_is_a_payload_inside_a_wrapper_too(value: object) -> None:
    assert not any(check_result({"name": "t"}, {}, result).error_without_flag for result in results(value))


@pytest.mark.parametrize("inner", ["", "  \n", None])
def test_a_wrapped_nothing_is_blank(inner: object) -> None:
    result = {"content": [{"type": "text", "text": ""}], "structuredContent": {"result": inner}}
    assert check_result({"name": "t"}, {}, result).classification is Classification.CONNECTIVITY_ONLY


def test_a_function_that_returns_nothing_by_its_schema_is_not_blank() -> None:
    tool = {"name": "t", "outputSchema": {"type": "object", "properties": {"result": {"type": "null"}}}}
    result: dict[str, object] = {"content": [], "structuredContent": {"result": None}}
    assert check_result(tool, {}, result).classification is Classification.FULLY_WORKING


def test_an_empty_list_needs_no_text() -> None:
    tool = {"name": "t", "outputSchema": {"type": "object", "properties": {"result": {"type": "array"}}}}
    assert check_result(tool, {}, {"content": [], "structuredContent": {"result": []}}).issues == ()
    assert check_result({"name": "t"}, {}, {"content": [], "structuredContent": {"items": []}}).issues
