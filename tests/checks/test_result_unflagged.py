"""Errors without `isError`, and payloads that only look like errors."""
# ruff: noqa: E501 - A table is read by its lines.

import pytest

from toolvet.checks.result import check_result

SILENT = [
    ('{"error": "Booking not found"}', "business"),
    ('{"error": {"code": 404, "message": "Not Found"}}', "business"),
    ('{"booking_status": false, "error": "Card not registered"}', "business"),
    ('{"errors": [{"message": "Cannot query field x on type Y", "locations": []}], "data": null}', "business"),
    ('{"success": false, "message": "Invalid email"}', "business"),
    ('{"ok": false, "error": "channel_not_found"}', "business"),
    ('{"status": "error", "message": "Rate limit exceeded"}', "business"),
    ('{"type": "https://x/p", "title": "Out of credit", "status": 403, "detail": "Your balance is 30"}', "business"),
    ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid params"}}', "business"),
    ('{"code": "invalid_argument", "message": "bad cursor"}', "business"),
    ('{"code": 5, "message": "NOT_FOUND: no such project", "status": "NOT_FOUND", "details": []}', "business"),
    ('{"detail": "Not Found"}', "business"),
    ('{"detail": [{"loc": ["query", "q"], "msg": "field required", "type": "value_error.missing"}]}', "business"),
    ('{"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}', "business"),
    ('{"__type": "ResourceNotFoundException", "message": "Requested resource not found"}', "business"),
    ('{"statusCode": 401, "error": "Unauthorized", "message": "Missing authentication"}', "business"),
    ('{"error": "connect ECONNREFUSED 127.0.0.1:5432"}', "tool_failure"),
    ('{"error": "Internal Server Error", "status": 500}', "tool_failure"),
    ("{'error': 'User not found'}", "business"),
    ('{"result": "Error: user not found"}', "business"),
    ("Error: order not found", "business"),
    ("error: invalid date", "business"),
    ("❌ Error: Missing required parameter: city", "business"),
    ("**Error**: File not found", "business"),
    ("[ERROR] Invalid API key", "business"),
    ("Error executing tool read: ENOENT: no such file or directory", "business"),
    ("An error occurred while fetching: 404 Not Found", "business"),
    ("Database error: no such column: zz", "business"),
    ("GitLab API error: 401 Unauthorized", "business"),
    ("ValueError: invalid literal for int() with base 10: 'x'", "business"),
    (
        "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nNameError: name 'x' is not defined",
        "tool_failure",
    ),
    ("exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\nKeyError: 'a'", "tool_failure"),
    ("Failed to fetch https://x.example: 404 Not Found", "business"),
    ("Failed to connect to the database", "tool_failure"),
    ("Could not find user 12", "business"),
    ("Unable to parse the query: unexpected token", "business"),
    ("Access denied - path outside allowed directories: /etc", "business"),
    ("Permission denied", "business"),
    ("Unauthorized", "business"),
    ("User 'bob' not found", "business"),
    ("Table does not exist", "business"),
    ("Rate limit exceeded. Try again in 30 seconds.", "business"),
    ("Invalid timezone: Mars/Base", "business"),
    ("MCP error -32603: Internal error", "tool_failure"),
    ('Status Code: 400. Response: {"error":"Bad Request"}', "business"),
    ("HTTP 500: Internal Server Error", "tool_failure"),
    ("Request timed out after 30 seconds", "tool_failure"),
    ("Tool 'map' execution failed: socket hang up", "tool_failure"),
    ("fatal: not a git repository (or any of the parent directories): .git", "business"),
    ("bash: foo: command not found", "tool_failure"),
    ("<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>", "business"),
    ("Sorry, an unexpected error occurred.", "tool_failure"),
    ("Unknown command: frobnicate", "business"),
]

PAYLOADS = [
    "test",
    "None",
    "Echo: error",
    "No errors found.",
    "0 errors, 0 warnings",
    "The sum of 404 and 500 is 904.",
    "Successfully wrote to /srv/data/one.txt",
    "Search completed: 0 matches for 'file not found'",
    "Error handling in Go\n\nErrors are values. This chapter explains how to wrap them, and when to panic.",
    "# Error: how to deal with it\n\nAn error is a message.",
    "Error budgets were introduced by Google's SRE teams.",
    "Mean squared error: 0.031",
    "Standard error: 0.2, p < 0.05",
    "The standard error message says 'file not found', which puzzled many users.",
    "2026-01-01 10:00:00 ERROR Failed to connect\n2026-01-01 10:00:01 INFO retrying\n2026-01-01 10:00:02 INFO connected",
    "ERROR: disk full\nINFO: cleaned up\nINFO: ok\nERROR: again",
    "exitcode: 0 (execution succeeded)\nCode output: ValueError was caught",
    'Status Code: 200. Response: {"message": "no error"}',
    '{"error": null, "data": [1, 2]}',
    '{"error": "", "value": 3}',
    '{"error": false}',
    '{"errors": [], "items": []}',
    '{"errors": 0, "warnings": 2}',
    '{"errorCount": 3, "files": ["a", "b"]}',
    '{"success": true, "error": "none"}',
    '{"success": true, "message": "User not found in cache, loaded from the database"}',
    '{"ok": true}',
    '{"status": "available"}',
    '{"status": "Ticket 1 has been resolved successfully."}',
    '{"canDrive": false}',
    '{"valid": false, "matches": 0}',
    '{"id": 7, "title": "Login fails", "description": "Error: invalid token when I log in", "status": "open", "author": "x"}',
    '{"id": "job-1", "state": "FAILED", "started": 1, "ended": 2, "error": "oom", "logs": ["a"], "node": "n1"}',
    '{"data": {"user": {"id": 1}}, "errors": [{"message": "field x is deprecated"}]}',
    '{"results": [{"name": "a", "error": "not found"}, {"name": "b", "error": null}]}',
    '{"code": "USD", "message": "Dollar"}',
    '{"code": 200, "message": "OK"}',
    '{"code": 0, "msg": "success", "data": {}}',
    '{"title": "The Not Found", "type": "book", "status": "published"}',
    '{"detail": "A fine detail of the painting", "artist": "Vermeer"}',
    '{"type": "error_bars", "x": [1, 2], "y": [3, 4]}',
    '{"name": "ValueError", "doc": "Raised when an argument has the right type but a wrong value", "module": "builtins", "bases": ["Exception"]}',
    '[{"level": "error", "message": "not found"}, {"level": "info", "message": "ok"}]',
    "['RMS', 'SBK']",
    "- Observation 1: Error detected\n+ Observation 2: normal",
    "def f():\n    raise ValueError('not found')\n",
    "commit 1a2b3c\nAuthor: X\n\n    Fix 'user not found' error",
    "Here are 3 results:\n1. How to fix Error: user not found\n2. 404 pages",
    "Your subscription is active until 2027.",
    "The API rate limit is 60 requests per hour.",
    "Invitation sent. Invalid addresses: none",
    "{}",
    "[]",
    "42",
]


def unflagged(text: str, tool: str = "tool") -> dict[str, object]:
    return check_result({"name": tool}, {}, {"content": [{"type": "text", "text": text}]}).to_dict()


@pytest.mark.parametrize(("text", "kind"), SILENT, ids=[text[:40] for text, _ in SILENT])
def test_a_success_that_reports_an_error_is_seen_without_the_flag(text: str, kind: str) -> None:
    verdict = unflagged(text)
    assert verdict["errorWithoutFlag"] is True
    assert verdict["errorKind"] == kind, verdict["evidence"]
    assert verdict["isError"] is False
    assert verdict["classification"] == ("partially_working" if kind == "business" else "error")
    assert "error reported without isError" in str(verdict["issues"])


@pytest.mark.parametrize("text", PAYLOADS, ids=[text[:40] for text in PAYLOADS])
def test_a_payload_that_mentions_errors_is_a_success(text: str) -> None:
    verdict = unflagged(text)
    assert verdict["errorWithoutFlag"] is False, verdict["evidence"]
    assert (verdict["classification"], verdict["confidence"]) == ("fully_working", 100)


def test_the_same_holds_for_structured_content() -> None:
    for structured, reported in (
        ({"error": "User not found"}, True),
        ({"result": "Error: user not found"}, True),
        ({"error": None, "items": []}, False),
        ({"users": [], "errors": []}, False),
    ):
        result: dict[str, object] = {
            "content": [{"type": "text", "text": "see the structured content"}],
            "structuredContent": structured,
        }
        assert check_result({"name": "t"}, {}, result).error_without_flag is reported, structured


def test_a_traceback_is_the_outcome_of_a_tool_that_runs_programs_and_the_content_of_one_that_reads_files() -> None:
    text = "Output:\nTraceback (most recent call last):\n  File 'x.py', line 1\nKeyError: 'a'"
    assert unflagged(text, "run_python")["errorWithoutFlag"] is True
    assert unflagged(text, "read_file")["errorWithoutFlag"] is False


def test_a_long_document_that_opens_like_an_error_is_a_payload() -> None:
    assert (
        unflagged("Error: the history of a word.\n" + "It was used in many ways. " * 400)["errorWithoutFlag"] is False
    )


def test_an_error_in_a_later_block_is_seen() -> None:
    result = {"content": [{"type": "text", "text": "Hello!"}, {"type": "text", "text": "Error: user not found"}]}
    assert check_result({"name": "t"}, {}, result).error_without_flag
