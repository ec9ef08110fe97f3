"""Errors without `isError`, and payloads that only look like errors."""
# ruff: noqa: E501 - A table is read by its lines.

import pytest

from toolvet.core.checks.result import check_result

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
    (f"Document {'x' * 500}.docx does not exist", "business"),
    ("Style not found, nothing added", "business"),
]

PAYLOADS = [
    "test",
    "Style not found, paragraph added with default style",
    "Could not find font 'X', using the default font",
    "Config not found; created a new one",
    f"The document {'x' * 500}.docx exists",
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


MORE_PAYLOADS = [
    "No results found for 'xyz'",
    "No matching documents.",
    "Found 0 issues.",
    "0 rows affected",
    "null",
    "true",
    "Contents of a.txt:\nError: file not found\nError: x",
    "src/a.py:3: raise ValueError('not found')\nsrc/b.py:9: # error: handle",
    "diff --git a/x b/x\n-Error: a\n+Error: b",
    "<html><head><title>404 Not Found</title></head><body>x</body></html>",
    "Title: How to fix 'Error: Cannot find module'\nURL: https://x",
    "=== FAILURES ===\nFAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 3 passed",
    "error_log.txt\nerrors.md\nfailed.csv",
    "Errors: 0\nWarnings: 2",
    "Error rate: 0.3%",
    "Error log:\nnone",
    "Exception list: none",
    "Status: failed builds 0",
    "The request failed on Monday but succeeded on Tuesday.",
    "Failed login attempts: 3",
    "Failed tests: 0",
    "Cannot wait for the concert! See you there.",
    "Couldn't be happier with this product. Five stars!",
    "Could not agree more.",
    "Unknown Pleasures is an album by Joy Division.",
    "Forbidden Planet (1956) is a film.",
    "Forbidden City",
    "Unauthorized biography of a singer",
    "Conflict: Desert Storm is a video game.",
    "timeout=30",
    "The function is deprecated.",
    "Missing: Dead or Alive is a film",
    "404: a number",
    "500 Days of Summer",
    "429 results",
    "Traceback is a Python module.",
    "Rate limit: 5000, remaining: 4999",
    "Quota: 10 GB used of 100 GB",
    '{"error_rate": 0.3}',
    '{"message": "Hello"}',
    '{"status": "failed", "id": 3, "name": "build", "message": "tests failed"}',
    '{"status":"failed","run_id":7,"conclusion":"failure","branch":"main"}',
    '{"success": false, "score": 3}',
    '{"ok": false, "checks": ["a"]}',
    '{"valid": false, "errors": ["line 3: bad"]}',
    '{"is_valid": false, "errors": [{"line": 3}]}',
    '{"errors": ["E1"], "warnings": ["W1"], "files": 3}',
    '{"type":"message","title":"Hi","detail":"x"}',
    "{\"code\": \"print('error')\"}",
    '{"text": "I could not find my keys"}',
    '{"content": "Error: unused variable x"}',
    '{"result": "not guilty"}',
    '{"data": null}',
    '{"result": null}',
    '{"name":"KeyError"}',
    '{"title": "Error", "description": "An album"}',
    "warning: unused variable: `x`",
    "main.c:3:5: error: expected ';'",
    "Sorry for the delay, the parcel was sent.",
    "Oops! All Berries is a cereal.",
    "Exit code: 0\nError: none",
    "Deleted 3 files. Could not delete: none",
    "- [ ] Fix error: user not found\n- [x] done",
    "Q: What does 'permission denied' mean?",
    "Your order has been cancelled.",
    "Subscription expired on 2024-01-01",
    "Ticket is already closed.",
]  # fmt: skip

# Short sentences about errors that read like errors. A person needs to know what was asked to tell.
MISTAKEN = [
    "Thread 'a not found b' created",
    "The user does not exist in the novel's first chapter; he appears later, when the storm comes.",
    "Unable to sleep? Ten tips for better nights.",
    "Invalid until signed.",
    "Invalid ballots: 1.2%",
    "Timeout: 30s",
    "Access denied to 3 users today",
    "Permission denied is a common error.",
    "Not found: 0, found: 12",
    "Missing required labels: none",
    "HTTP 404 means that the page was not found.",
    "Memory usage: 12%; out of memory kills: 0",
    "Server is down for 0 minutes",
    '{"message": "Not found? Try our search"}',
    '{"code": 404, "description": "Not Found"}',
    "error[E0308]: mismatched types\n --> src/main.rs:2:5",
    "Lock wait timeout is 50 seconds.",
    "The account is suspended until May.",
]  # fmt: skip


def unflagged(text: str, tool: str = "tool") -> dict[str, object]:
    return check_result({"name": tool}, {}, {"content": [{"type": "text", "text": text}]}).to_dict()


@pytest.mark.parametrize(("text", "kind"), SILENT, ids=[text[:40] for text, _ in SILENT])
def test_a_success_that_reports_an_error_is_seen_without_the_flag(text: str, kind: str) -> None:
    verdict = unflagged(text)
    assert verdict["error_without_flag"] is True
    assert verdict["error_kind"] == kind, verdict["evidence"]
    assert verdict["is_error"] is False
    assert verdict["classification"] == ("partially_working" if kind == "business" else "error")
    assert "error reported without isError" in str(verdict["issues"])


@pytest.mark.parametrize("text", PAYLOADS + MORE_PAYLOADS)
def test_a_payload_that_mentions_errors_is_a_success(text: str) -> None:
    verdict = unflagged(text)
    assert verdict["error_without_flag"] is False, verdict["evidence"]
    assert (verdict["classification"], verdict["confidence"]) == ("fully_working", 100)


@pytest.mark.parametrize("text", MISTAKEN)
def test_a_short_sentence_about_an_error_is_taken_for_one(text: str) -> None:
    assert unflagged(text)["error_without_flag"] is True


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
    assert unflagged(text, "run_python")["error_without_flag"] is True
    assert unflagged(text, "read_file")["error_without_flag"] is False


def test_a_long_document_that_opens_like_an_error_is_a_payload() -> None:
    assert (
        unflagged("Error: the history of a word.\n" + "It was used in many ways. " * 400)["error_without_flag"] is False
    )


def test_an_error_in_a_later_block_is_seen() -> None:
    result = {"content": [{"type": "text", "text": "Hello!"}, {"type": "text", "text": "Error: user not found"}]}
    assert check_result({"name": "t"}, {}, result).error_without_flag
