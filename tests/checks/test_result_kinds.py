"""Whose fault is it? Error texts as servers, drivers and vendors write them, and what an engineer would say."""
# ruff: noqa: E501 - A table is read by its lines.

import pytest

from toolvet.checks.result import Retry, State, check_result

BUSINESS = [
    ("Error executing tool get_issue: Issue PROJ-99 not found", State.NOT_FOUND),
    ("Not Found - https://docs.github.com/rest/repos/repos#get-a-repository", State.NOT_FOUND),
    ("MCP error -32602: Tool nope not found", State.NOT_FOUND),
    ("Unknown tool: get_wether", State.NOT_FOUND),
    ("ENOENT: no such file or directory, open 'missing.txt'", State.NOT_FOUND),
    ("[Errno 2] No such file or directory: 'x'", State.NOT_FOUND),
    ("fatal: ambiguous argument 'nope': unknown revision or path not in the working tree.", State.INVALID_INPUT),
    ("error: pathspec 'nope' did not match any file(s) known to git", State.INVALID_INPUT),
    ("An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation: The bucket is gone", State.NOT_FOUND),
    ("An error occurred (ResourceNotFoundException) when calling the GetItem operation: Requested resource", State.NOT_FOUND),
    ("rpc error: code = NotFound desc = project not found", State.NOT_FOUND),
    ('{"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}', State.NOT_FOUND),
    ('{"message": "The requested URL was not found on the server", "status": 404}', State.NOT_FOUND),
    ("NotFoundError: index_not_found_exception: no such index [logs-x]", State.NOT_FOUND),
    ("Error processing mcp-server-time query: No time zone found with key Mars/Base", State.NOT_FOUND),
    ('pods "web-0" not found', State.NOT_FOUND),
    ('Error from server (NotFound): deployments.apps "web" not found', State.NOT_FOUND),
    ("1 validation error for SearchArguments\nquery\n  Field required [type=missing, input_value={}]", State.INVALID_INPUT),
    ('MCP error -32602: Invalid arguments for tool echo: [{"code":"invalid_type"}]', State.INVALID_INPUT),
    ("Input validation error: 'abc' is not of type 'integer'", State.INVALID_INPUT),
    ("'query' is a required property", State.INVALID_INPUT),
    ("must have required property 'city'", State.INVALID_INPUT),
    ("data/limit must be <= 100", State.INVALID_INPUT),
    ('Expected number, received string at "count"', State.INVALID_INPUT),
    ("time data '2024-13-01' does not match format '%Y-%m-%d'", State.INVALID_INPUT),
    ("invalid literal for int() with base 10: 'abc'", State.INVALID_INPUT),
    ("ValueError: Invalid isoformat string: 'yesterday'", State.INVALID_INPUT),
    ("could not convert string to float: 'abc'", State.INVALID_INPUT),
    ("Invalid URL 'foo': No scheme supplied. Perhaps you meant https://foo?", State.INVALID_INPUT),
    ("Latitude must be between -90 and 90", State.INVALID_INPUT),
    ("The parameter 'size' only accepts small, medium or large", State.INVALID_INPUT),
    ("Error: Unsupported file format: .xyz", State.INVALID_INPUT),
    ("query: String must contain at least 1 character(s)", State.INVALID_INPUT),
    ("400 Bad Request: malformed filter expression", State.INVALID_INPUT),
    ("error: unexpected argument '--foo' found", State.INVALID_INPUT),
    ('ERROR:  column "nam" does not exist\nLINE 1: SELECT nam FROM users', State.NOT_FOUND),
    ('ERROR: syntax error at or near "FORM"', State.INVALID_INPUT),
    ('(1064, "You have an error in your SQL syntax; check the manual")', State.INVALID_INPUT),
    ("sqlite3.OperationalError: no such table: users", State.NOT_FOUND),
    ("sqlite3.IntegrityError: UNIQUE constraint failed: users.email", State.INVALID_INPUT),
    ('sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedTable) relation "x" does not exist', State.NOT_FOUND),
    ("ORA-00942: table or view does not exist", State.INVALID_INPUT),
    ("Catalog Error: Table with name nope does not exist!", State.NOT_FOUND),
    ('Binder Error: Referenced column "foo" not found in FROM clause!', State.NOT_FOUND),
    ("Parser Error: syntax error at end of input", State.INVALID_INPUT),
    ("WRONGTYPE Operation against a key holding the wrong kind of value", State.INVALID_INPUT),
    ("ERR value is not an integer or out of range", State.INVALID_INPUT),
    ("E11000 duplicate key error collection: shop.users index: email_1", State.INVALID_INPUT),
    ('GraphQL error: Cannot query field "nam" on type "User". Did you mean "name"?', State.INVALID_INPUT),
    ("Only SELECT queries are allowed for read_query", State.INVALID_INPUT),
    ("Bad credentials", State.UNAUTHORIZED),
    ("401 Unauthorized: token has expired", State.UNAUTHORIZED),
    ("HTTP error 401 while fetching issues", State.UNAUTHORIZED),
    ("Incorrect API key provided: sk-xx. You can find your API key at the dashboard.", State.UNAUTHORIZED),
    ("invalid_auth", State.UNAUTHORIZED),
    ("rpc error: code = Unauthenticated desc = missing token", State.UNAUTHORIZED),
    ("Access denied - path outside allowed directories: /etc/passwd", State.FORBIDDEN),
    ("EACCES: permission denied, open '/etc/shadow'", State.FORBIDDEN),
    ("Resource not accessible by personal access token", State.FORBIDDEN),
    ("An error occurred (AccessDenied) when calling the PutObject operation: Access Denied", State.FORBIDDEN),
    ("missing_scope: the token lacks channels:read", State.FORBIDDEN),
    ("Branch 'main' already exists", State.CONFLICT),
    ("409 Conflict: version mismatch", State.CONFLICT),
    ("Error: order has already been shipped", State.CONFLICT),
    ("Insufficient funds: required 10 but only 5 available", State.RULE),
    ("A closed ticket cannot be modified", State.RULE),
    ("You have exceeded your current quota, please check your plan and billing details.", State.QUOTA),
    ("402 Payment Required", State.QUOTA),
    ("Your credit balance is too low to access the API", State.QUOTA),
    ("API rate limit exceeded for user ID 12.", State.RATE_LIMITED),
    ("429 Too Many Requests", State.RATE_LIMITED),
    ("503 Service Unavailable: rate limit reached, retry after 30 seconds", State.RATE_LIMITED),
    ("ThrottlingException: Rate exceeded", State.RATE_LIMITED),
    ("slack: ratelimited", State.RATE_LIMITED),
]  # fmt: skip

FAILURES = [
    ("Error: boom", State.UNKNOWN),
    ("failed", State.UNKNOWN),
    ("TypeError: Cannot read properties of undefined (reading 'map')", State.CRASH),
    ("KeyError: 'results'", State.CRASH),
    ("list index out of range", State.CRASH),
    ("Error executing tool x: 'NoneType' object is not subscriptable", State.CRASH),
    ("x is not defined", State.CRASH),
    ("panic: runtime error: invalid memory address or nil pointer dereference", State.CRASH),
    ("thread 'main' panicked at src/main.rs:4:5: index out of bounds: the len is 3 but the index is 9", State.CRASH),
    ('java.lang.NullPointerException: Cannot invoke "String.length()"', State.CRASH),
    ("System.NullReferenceException: Object reference not set to an instance of an object.", State.CRASH),
    ("undefined method `name' for nil:NilClass (NoMethodError)", State.CRASH),
    ("PHP Fatal error:  Uncaught Error: Call to undefined function foo()", State.CRASH),
    ("Segmentation fault (core dumped)", State.CRASH),
    ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", State.CRASH),
    ("Object of type datetime is not JSON serializable", State.CRASH),
    ("foo() got an unexpected keyword argument 'bar'", State.CRASH),
    ("foo() missing 1 required positional argument: 'x'", State.CRASH),
    ("coroutine 'main' was never awaited", State.CRASH),
    ("ModuleNotFoundError: No module named 'pandas'", State.MISCONFIGURED),
    ("Error: Cannot find module 'express'", State.MISCONFIGURED),
    ("spawn docker ENOENT", State.MISCONFIGURED),
    ("/bin/sh: 1: ffmpeg: not found", State.MISCONFIGURED),
    ("GITHUB_TOKEN environment variable is not set", State.MISCONFIGURED),
    ("Unable to locate credentials. You can configure credentials by running aws configure", State.MISCONFIGURED),
    ("Failed to launch the browser process! spawn /usr/bin/chrome ENOENT", State.MISCONFIGURED),
    ("connect ECONNREFUSED 127.0.0.1:5432", State.UNREACHABLE),
    ("Error 111 connecting to localhost:6379. Connection refused.", State.UNREACHABLE),
    ("getaddrinfo ENOTFOUND api.example.com", State.UNREACHABLE),
    ("TypeError: fetch failed", State.UNREACHABLE),
    ("HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /v1", State.UNREACHABLE),
    ("[Errno -3] Temporary failure in name resolution", State.UNREACHABLE),
    ("dial tcp 10.0.0.1:443: connect: connection refused", State.UNREACHABLE),
    ("dial tcp: lookup api.example.com: no such host", State.UNREACHABLE),
    ("SSL: CERTIFICATE_VERIFY_FAILED certificate verify failed", State.UNREACHABLE),
    ("socket hang up", State.UNREACHABLE),
    ("All connection attempts failed", State.UNREACHABLE),
    ("psycopg2.OperationalError: server closed the connection unexpectedly", State.UNREACHABLE),
    ("(2006, 'MySQL server has gone away')", State.UNREACHABLE),
    ("net::ERR_NAME_NOT_RESOLVED at https://nope.example", State.UNREACHABLE),
    ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", State.UNREACHABLE),
    ("Request timed out", State.TIMEOUT),
    ("MCP error -32001: Request timed out", State.TIMEOUT),
    ("TimeoutError: Navigation timeout of 30000 ms exceeded", State.TIMEOUT),
    ("context deadline exceeded", State.TIMEOUT),
    ("rpc error: code = DeadlineExceeded desc = slow", State.TIMEOUT),
    ("504 Gateway Time-out", State.TIMEOUT),
    ("AbortError: The operation was aborted", State.TIMEOUT),
    ("HTTP 503 Service Unavailable", State.UNAVAILABLE),
    ("502 Bad Gateway", State.UNAVAILABLE),
    ("rpc error: code = Unavailable desc = transport is closing", State.UNAVAILABLE),
    ("EMFILE: too many open files, open 'x'", State.UNAVAILABLE),
    ("sqlite3.OperationalError: database is locked", State.UNAVAILABLE),
    ("OSError: [Errno 28] No space left on device", State.UNAVAILABLE),
    ("Overloaded", State.UNAVAILABLE),
    ("FATAL: the database system is starting up", State.UNAVAILABLE),
    ("500 Internal Server Error", State.INTERNAL),
    ("Internal error", State.INTERNAL),
    ("Request failed with status code 500", State.INTERNAL),
    ("Something went wrong. Please try again later.", State.UNAVAILABLE),
    ("Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", State.INTERNAL),
    ("Expecting value: line 1 column 1 (char 0)", State.INTERNAL),
    ("database disk image is malformed", State.INTERNAL),
    ('{"code":-32601,"message":"Method not found"}', State.UNSUPPORTED),
    ("MCP error -32603: Internal error", State.INTERNAL),
    ("1 validation error for get_userOutput\nresult\n  Input should be a valid string [type=string_type]", State.INVALID_OUTPUT),
    ("MCP error -32602: Output validation error: Invalid structured content for tool x", State.INVALID_OUTPUT),
]  # fmt: skip


@pytest.mark.parametrize(("text", "state"), BUSINESS, ids=[text[:40] for text, _ in BUSINESS])
def test_a_rejected_call_is_a_business_error_of_the_state_that_its_words_say(text: str, state: State) -> None:
    verdict = check_result({"name": "tool"}, {}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state) == ("business", state), verdict.evidence
    assert verdict.classification == "fully_working"
    assert verdict.retry is state.retry


@pytest.mark.parametrize(("text", "state"), FAILURES, ids=[text[:40] for text, _ in FAILURES])
def test_a_crash_or_broken_infrastructure_is_a_tool_failure(text: str, state: State) -> None:
    verdict = check_result({"name": "get_user"}, {}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state) == ("tool_failure", state), verdict.evidence
    assert verdict.classification == "error"
    assert 0 <= verdict.confidence <= 50


def test_every_state_is_reached_by_some_text() -> None:
    assert {state for _, state in (*BUSINESS, *FAILURES)} == set(State)


def test_every_state_but_the_unknown_says_what_to_do_next() -> None:
    assert {state for state in State if state.retry is None} == {State.UNKNOWN}
    assert {state.retry for state in State} == {*Retry, None}
