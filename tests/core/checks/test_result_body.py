"""Whether a JSON value or a page is the report of an error, by its shape: cases at the borders."""

import json

import pytest

from toolvet import check_result
from toolvet.core.checks.result.body import BodyReport, could_report, is_error_page, report_in, unwrap

PAGE = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
LONG = "a report of the day " * 11  # Longer than 200 characters: something to read.


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "no such row"}',
        '{"ERROR": "no such row"}',
        '{"errors": ["no such row"]}',
        '{"errors": [{"message": "no such row"}]}',
        '{"error": {"code": 1}}',
        '{"exception": "no such row", "a": 1, "b": 2}',
        # A flag that says no, and words that say why.
        '{"success": false, "error": "no such row", "data": ["a", "b"]}',
        '{"ok": false, "error": "no such row", "a": 1, "b": 2}',
        '{"ok": false, "error": "no such row", "a": 1, "b": 2, "c": 3}',
        '{"ok": false, "error": "no such row", "id": 1, "a": 1, "b": 2}',
        '{"success": false, "message": "no such row"}',
        '{"success": false}',
        '{"object": "error", "error": "no such row", "data": ["a", "b"]}',
        '{"object": "error", "message": "no such row"}',
        # A code, and its sentence in some language, however long; and what comes with every answer.
        f'{{"error": "missing_token", "message_ru": "{LONG}", "disclaimer": "{LONG}"}}',
        f'{{"error": "missing_token", "message_ru": "{LONG}"}}',
        f'{{"error": "missing_token", "message_ru": "{LONG}", "message_en": "{LONG}", "detail_pt_br": "no"}}',
        '{"isError": true, "message": "no such row"}',
        '{"is_error": true, "message": "no such row"}',
        '{"error": true, "message": "no such row"}',
        # A status in a word.
        '{"status": "error", "message": "no such row"}',
        '{"status": "FAILED", "message": "no such row"}',
        '{"status": "error", "message": "no such row", "a": 1, "b": 2, "c": 3, "d": 4}',
        '{"status": "error", "id": 4, "message": "no such row"}',
        '{"status": "error", "message": "no such row", "a": 1, "b": 2, "c": 3, "d": 4, "e": 5}',
        '{"warnings": [], "error": "no such row"}',
        '{"status": "failed"}',
        # Problem details, and what else is known by the keys that occur together.
        '{"detail": "no such row"}',
        '{"title": "Gone", "detail": "no such row", "type": "https://x/p"}',
        '{"status": 404, "message": "no such row"}',
        '{"status": 599, "message": "no such row"}',
        '{"status": 400, "message": "no such row"}',
        '{"code": -32000, "message": "no such row"}',
        '{"code": -32999, "message": "no such row"}',
        '{"code": "404", "message": "no such row"}',
        '{"code": "-32602", "message": "no such row"}',
        '{"code": "not_found", "message": "no such row"}',
        '{"status": "NOT_FOUND", "message": "no such row"}',
        '{"__type": "X", "message": "no such row"}',
        '{"documentation_url": "x", "message": "no such row"}',
        '{"error_type": "X", "message": "no such row"}',
        '{"errorType": "X", "message": "no such row"}',
        # Nothing but failures inside, and a page of a web server.
        '{"error": "no such row", "results": [{"error": "a"}, {"error": "b"}]}',
        '{"error": "no such row", "data": null, "result": {}, "items": []}',
        '{"error": "no such row", "data": {"error": "again"}}',
        '{"error": "no such row", "data": {"a": null}}',
        json.dumps({"data": PAGE}),
        json.dumps({"html": PAGE, "a": 1, "status": 200}),
    ],
)
def test_an_object_that_says_that_the_call_failed(body: str) -> None:
    value = json.loads(body)
    assert report_in(value) is BodyReport.FAILED
    assert could_report(value)


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        "[]",
        '"error"',
        '{"rows": []}',
        '{"error": null}',
        '{"error": ""}',
        '{"error": " None "}',
        '{"error": []}',
        '{"errors": [1]}',
        '{"errors": 3}',
        '{"error": {}}',
        '{"exception": "no such row", "a": 1, "b": 2, "c": 3}',
        json.dumps({"error": "no such row", **{f"id{n}": n for n in range(16)}}),
        # It worked, or a verdict was asked for.
        '{"success": true, "error": "no such row"}',
        '{"valid": false, "errors": ["no such row"]}',
        # A record with an identity of its own.
        '{"ok": false, "error": "no such row", "id": 1, "a": 1, "b": 2, "c": 3}',
        '{"status": "failed", "id": 4, "message": "no such row"}',
        '{"status": "error", "message": "no such row", "name": "x", "a": 1, "b": 2, "c": 3}',
        '{"status": "done", "message": "no such row"}',
        '{"success": false, "a": 1, "b": 2}',
        '{"success": false, "errors": [{"message": "x"}], "a": 1, "b": 2, "c": 3}',
        # A payload beside it.
        '{"error": "no such row", "data": {"a": 1}}',
        '{"error": "no such row", "results": [{"error": "a"}, {"row": "b"}]}',
        json.dumps({"error": "no such row", "content": LONG}),
        json.dumps({"error": "truncated", "text_ru": LONG, "disclaimer": LONG}),
        # Words and codes of something else.
        '{"message": "no such row"}',
        '{"title": "Gone", "detail": "no such row", "type": "page"}',
        '{"title": "Gone", "type": "https://x/p"}',
        '{"detail": "no such row", "name": "x"}',
        '{"status": 200, "message": "no such row"}',
        '{"status": 399, "message": "no such row"}',
        '{"status": 600, "message": "no such row"}',
        '{"code": -33000, "message": "no such row"}',
        '{"code": -31999, "message": "no such row"}',
        '{"code": "00000404", "message": "no such row"}',
        '{"code": "fine", "message": "no such row"}',
        '{"status": "not_started", "message": "no such row"}',
        json.dumps({"html": PAGE, "a": 1, "b": 2, "status": 200}),
        json.dumps({"html": PAGE}),
        json.dumps({"html": f"<p>{LONG}", "message": "x"}),
    ],
)
def test_an_object_that_only_speaks_of_errors(body: str) -> None:
    assert report_in(json.loads(body)) is not BodyReport.FAILED


@pytest.mark.parametrize(
    ("value", "inner"),
    [
        ({"result": 5}, 5),
        ({"response": None}, None),
        ({"error": "", "output": [1]}, [1]),
        ({"message": "text"}, "text"),
        ({"data": {"a": 1}}, {"a": 1}),
        ({"message": {"a": 1}}, ...),
        ({"error": "no", "output": [1]}, ...),
        ({"result": 5, "data": 6}, ...),
        ({"error": "", "err": "", "result": 5}, ...),
        ({"rows": [1]}, ...),
        ({}, ...),
        ([1], ...),
    ],
)
def test_what_a_framework_wrapped_is_unwrapped(value: object, inner: object) -> None:
    assert unwrap(value) == (value if inner is ... else inner)


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        (PAGE, True),
        ("  <!DOCTYPE html><h1>Error: Not found</h1>", True),
        ("<?xml version='1.0'?><body><h1>Forbidden", True),
        ("x" * 10 + PAGE, False),
        ("<html><title>Errors of the day", False),
        ("<html><title>The 404 page", False),
        ("502 Bad Gateway", False),
    ],
)
def test_the_error_page_of_a_web_server(text: str, is_page: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert is_error_page(text) is is_page


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ('{"result": "[{\\"error\\": \\"x\\"}]"}', True),
        ('{"result": "[{\\"error\\": \\"x\\"}, {\\"row\\": 1}]"}', False),
        ('{"result": "  [{\\"text\\": \\"Error: no such row\\"}]"}', False),
        ('{"result": "Error: no such row"}', True),
        ("{'result': 'Error: no such row'}", True),
        ("{'result': 'Error: no such row'", False),
        ('{"error": "", "message": "failed"}', False),
    ],
)
def test_an_error_inside_a_wrapped_text(text: str, reports: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert check_result({"name": "t"}, {}, {"content": [{"type": "text", "text": text}]}).error_without_flag is reports
