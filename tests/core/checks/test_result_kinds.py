"""Whose fault is it? Error texts as servers, drivers and vendors write them, and what an engineer would say."""
# ruff: noqa: E501 - A table is read by its lines.

import pytest

from toolvet.core.causes import Retry, State
from toolvet.core.checks.result import check_result, extract_metadata

BUSINESS = [
    ("Feature 'bulk_export' is not enabled", State.FEATURE_DISABLED),
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
    ("sqlite3.OperationalError: no such table: users", State.NOT_FOUND),
    ('sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedTable) relation "x" does not exist', State.NOT_FOUND),
    ("ORA-00942: table or view does not exist", State.INVALID_INPUT),
    ("Catalog Error: Table with name nope does not exist!", State.NOT_FOUND),
    ('Binder Error: Referenced column "foo" not found in FROM clause!', State.NOT_FOUND),
    ("Parser Error: syntax error at end of input", State.INVALID_INPUT),
    ("WRONGTYPE Operation against a key holding the wrong kind of value", State.INVALID_INPUT),
    ("ERR value is not an integer or out of range", State.INVALID_INPUT),
    ("E11000 duplicate key error collection: shop.users index: email_1", State.CONFLICT),
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
    ('Could not resolve country "". Please use an ISO country code.', State.NOT_FOUND),
    ("Path '/tmp/example' must point to an Excel file (.xlsm, .xlsx).", State.INVALID_INPUT),
    ("Range '' must have explicit rows and columns, such as 'A1:C10'.", State.INVALID_INPUT),
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
    ("failed", State.INTERNAL),
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
    ("curl: (6) Could not resolve host: api.example.com", State.UNREACHABLE),
    ("Failed to resolve 'api.example.com' ([Errno -3] Temporary failure)", State.UNREACHABLE),
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


# More of both, where the state is of less interest than the kind.
REFUSALS = [
    "Error: fatal: pathspec 'nope.txt' did not match any files",
    "Error: Invalid commit reference: 'zz'",
    "Failed to fetch robots.txt https://x: robots.txt disallows",
    "The page https://x/robots.txt specifies that autonomous fetching of this page is not allowed",
    "No such customer: 'cus_123'",
    "Your card was declined.",
    "The 'To' number +1 is not a valid phone number.",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    "Issue does not exist or you do not have permission to see it.",
    "The value 'foo' does not exist for the field 'priority'.",
    "channel_not_found",
    "not_in_channel",
    "invalid_arguments",
    "object_not_found: Could not find page with ID",
    "body failed validation: body.parent should be defined, instead was `undefined`.",
    "validation_error",
    "Reference does not exist",
    "Validation Failed: name already exists on this account",
    "Branch not found",
    "sha wasn't supplied",
    "Repository is archived so is read-only.",
    "MongoServerError: unknown operator: $foo",
    "MongoServerError: E11000 duplicate key error",
    "Element not found: #login",
    "No node found for selector: #foo",
    "locator.click: Error: strict mode violation: getByText('a') resolved to 3 elements",
    "Ref e12 not found in the current page snapshot",
    "error: resource name may not be empty",
    "Error from server (Forbidden): pods is forbidden: User cannot list resource",
    "Error from server (BadRequest): container web in pod x is waiting",
    "grep: invalid option -- 'z'",
    "ls: cannot access 'foo': No such file or directory",
    "cat: foo: Is a directory",
    "mkdir: cannot create directory 'a': File exists",
    "rm: cannot remove 'x': Operation not permitted",
    "chmod: invalid mode: 'zz'",
    "find: unknown predicate `-foo'",
    "python: can't open file 'x.py': [Errno 2] No such file",
    'ERROR: relation "users" does not exist',
    "cannot drop table x because other objects depend on it",
    "permission denied for schema public",
    "Invalid product id 99999",
    "Quantity must be a positive integer",
    "User must be logged in to perform this action",
    "This action requires admin role",
    "Booking is already cancelled",
    "Cannot cancel: flight has departed",
    "Coupon code has expired",
    "Order total below minimum of $10",
    "No flights available from X to Y on 2024-01-01",
    "Email address is already registered",
    "Password too short",
    "date must be in YYYY-MM-DD format",
    "Missing parameter: city",
    "city parameter is required",
    "The 'city' argument is missing",
    "Unexpected parameter 'foo'",
    "limit: ensure this value is less than or equal to 100",
    "Input should be less than or equal to 100",
    "Value error, start must be before end",
    "Please provide either id or name",
    "At least one of id or name is required",
    "Could not parse date 'foo'",
    "Unable to geocode address 'asdf'",
    "'USDX' is not a recognized currency code",
    "Invalid JSON in filter",
    "cursor is invalid or expired",
    "You do not have access to this workspace",
    "The token does not have the required scope",
    "Your API key is invalid or has been revoked",
    "API key missing",
    "Monthly usage cap reached",
    "Daily request limit of 100 reached",
    "Too many results; narrow your query",
    "File size exceeds limit of 10MB",
    "File is not a valid image",
    "Line 999 is out of bounds (file has 10 lines)",
    "String to replace not found in file",
    "old_string is not unique",
    "String not found in file: foo",
    "Path is not absolute: foo",
    "Path must be absolute",
    "Cannot write outside of workspace",
    "Entity with name X not found",
    "Observation for entity X already exists",
    "thoughtNumber: must be a number",
    "Invalid thought: must be a string",
    "Timeout must be between 1 and 60",
    "unsupported locale: xx",
    "Tool foo is disabled",
    "command 'foo' is not in the whitelist",
    "Query must start with SELECT",
    "Unknown prompt: foo",
    "Resource not found: demo://x",
]  # fmt: skip

BREAKDOWNS = [
    "Error: spawn npx ENOENT",
    "Error fetching page: ConnectError: All connection attempts failed",
    "httpx.ReadTimeout",
    "The read operation timed out",
    "Unable to connect to Redis at localhost:6379",
    "MongoNetworkError: connect ECONNREFUSED",
    "MongoServerSelectionError: connection timed out",
    "ClusterBlockException[blocked by: [SERVICE_UNAVAILABLE/1/state not recovered]]",
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    "Browser closed unexpectedly",
    "Target page, context or browser has been closed",
    "Protocol error (Page.navigate): Session closed.",
    "page.goto: net::ERR_CONNECTION_REFUSED",
    "Failed to launch chromium because executable doesn't exist",
    "Error: read ECONNRESET",
    "write EPIPE",
    "Client network socket disconnected before secure TLS connection was established",
    "unable to verify the first certificate",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80",
    "maximum recursion depth exceeded while calling a Python object",
    "'str' object has no attribute 'get'",
    "'dict' object is not callable",
    "unsupported operand type(s) for +: 'int' and 'str'",
    "object of type 'NoneType' has no len()",
    "not enough values to unpack (expected 2, got 1)",
    "argument of type 'NoneType' is not iterable",
    "Cannot destructure property 'a' of 'undefined'",
    "Converting circular structure to JSON",
    "ReferenceError: foo is not defined",
    "Error: Client is not connected",
    "BRAVE_API_KEY environment variable is required",
    "Missing environment variable: SLACK_TOKEN",
    "OPENAI_API_KEY not set",
    "Could not load credentials from any providers",
    "An internal error has occurred. Our engineers have been notified.",
    "We're sorry, but something went wrong (500)",
    "The server encountered an internal error and was unable to complete your request",
    "Service temporarily overloaded",
    "The engine is currently overloaded, please try again later",
    "server_error",
    "UNKNOWN: unknown error",
    "backend unavailable",
    "The service is down for maintenance",
    "Failed to connect to MCP backend",
    "docker: command not found",
    "sh: 1: jq: not found",
    "Error response from daemon: Cannot connect",
    "disk I/O error",
    "Killed",
    "Process exited with signal SIGKILL",
    "exit status 139",
    "deadlock detected",
    "java.lang.OutOfMemoryError: Java heap space",
    "java.net.UnknownHostException: api",
    "System.Net.Http.HttpRequestException: No such host is known",
    "System.TimeoutException",
    "goroutine 1 [running]",
    "fatal error: all goroutines are asleep - deadlock!",
    'Traceback (most recent call last):\n  File "a.py"\nValueError: invalid',
    "HTTPError: 502 Server Error: Bad Gateway for url",
    "Empty response from server",
    "Received invalid response from server",
    "Failed to parse response: Unexpected end of JSON input",
    "Error 524: A timeout occurred",
    "Request aborted",
    "Task cancelled",
    "asyncio.exceptions.CancelledError",
    "anyio.ClosedResourceError",
    "McpError: Connection closed",
    "MCP error -32000: Connection closed",
    "Tool execution failed",
    "undefined",
    "null",
    "[object Object]",
    "Error",
    "Error executing tool foo: ",
    "Error executing tool foo: 0",
]  # fmt: skip

# Words that show neither a refusal nor a crash or an outage.
UNCLEAR = [
    "Navigation failed: net::ERR_ABORTED 404",
    "Seat 12A is not available",
    "Maximum update depth",
    "Error: boom",
    "Ticker XYZQ may be delisted; no price data",
    "The document has 5 pages; page 9 was requested",
]


def kind(text: str, name: str = "tool") -> str | None:
    return check_result({"name": name}, {}, {"isError": True, "content": [{"type": "text", "text": text}]}).error_kind


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_any_vendors_words_is_a_business_error(text: str) -> None:
    assert kind(text) == "business"


@pytest.mark.parametrize("text", BREAKDOWNS)
def test_a_breakdown_in_any_vendors_words_is_a_tool_failure(text: str) -> None:
    assert kind(text, "get_user") == "tool_failure"


@pytest.mark.parametrize("text", UNCLEAR)
def test_only_a_sign_of_a_crash_or_an_outage_proves_a_failure(text: str) -> None:
    verdict = check_result({"name": "tool"}, {}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state, verdict.certainty) == ("unknown", "unknown", 0.5)
    assert (verdict.classification, verdict.confidence, verdict.is_valid) == ("error", 50, False)
    assert verdict.issues == ("An error that does not show whose fault it is",)


@pytest.mark.parametrize(("text", "state"), BUSINESS, ids=[text[:40] for text, _ in BUSINESS])
def test_a_rejected_call_is_a_business_error_of_the_state_that_its_words_say(text: str, state: State) -> None:
    verdict = check_result({"name": "tool"}, {}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state) == ("business", state), verdict.evidence
    assert verdict.classification == "fully_working"
    assert verdict.retry is state.retry


OF_A_STATEMENT = [
    'near "%": syntax error',
    'ERROR: syntax error at or near "FORM"',
    '(1064, "You have an error in your SQL syntax; check the manual")',
    "sqlite3.IntegrityError: UNIQUE constraint failed: users.email",
    "FOREIGN KEY constraint failed",
    "NOT NULL constraint failed: u.n",
]


@pytest.mark.parametrize("text", OF_A_STATEMENT)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_query", {}),
        ("run_sql", {}),
        ("admin", {"sql": "x"}),
        ("admin", {"text": "SELECT a FROM b"}),
    ],
)
def test_the_error_of_a_statement_is_the_callers_where_the_caller_wrote_it(
    text: str, name: str, arguments: dict[str, object]
) -> None:
    verdict = check_result({"name": name}, arguments, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state) == ("business", State.INVALID_INPUT)


@pytest.mark.parametrize("text", [*OF_A_STATEMENT, "encoding with 'idna' codec failed (UnicodeError: label too long)"])
def test_the_error_of_a_statement_that_the_tool_wrote_is_a_crash(text: str) -> None:
    content = [{"type": "text", "text": text}]
    verdict = check_result(
        {"name": "get_item_timeline"}, {"text": "select a gift"}, {"isError": True, "content": content}
    )
    assert (verdict.error_kind, verdict.state) == ("tool_failure", State.CRASH)


@pytest.mark.parametrize(("text", "state"), FAILURES, ids=[text[:40] for text, _ in FAILURES])
def test_a_crash_or_broken_infrastructure_is_a_tool_failure(text: str, state: State) -> None:
    verdict = check_result({"name": "get_user"}, {}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert (verdict.error_kind, verdict.state) == ("tool_failure", state), verdict.evidence
    assert verdict.classification == "error"
    assert 0 <= verdict.confidence <= 50


def test_every_state_is_reached_by_some_text() -> None:
    assert {state for _, state in (*BUSINESS, *FAILURES)} | {State.UNKNOWN} == set(State)


def test_every_state_but_the_unknown_says_what_to_do_next() -> None:
    assert {state for state in State if state.retry is None} == {State.UNKNOWN}
    assert {state.retry for state in State} == {*Retry, None}


def test_blocks_of_every_type_are_counted_and_in_the_evidence() -> None:
    clip = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    blocks = [
        {"type": "text", "text": "Here."},
        clip,
        clip,
        {"type": "hologram"},
        {"type": "hologram"},
        {"type": "smell"},
    ]
    verdict = check_result({"name": "t"}, {}, {"content": blocks})
    assert verdict.metadata.audio_count == 2
    assert dict(verdict.metadata.other_counts) == {"hologram": 2, "smell": 1}
    assert {"Response includes 2 audio clip(s)", "Response includes 2 hologram block(s)"} <= set(verdict.evidence)
    found = verdict.metadata.to_dict()
    assert (found["audio_count"], found["other_counts"]) == (2, {"hologram": 2, "smell": 1})
    plain = extract_metadata({"name": "t"}, {"content": blocks[:1]})
    assert (plain.audio_count, dict(plain.other_counts)) == (0, {})
    assert not {"audio_count", "other_counts"} & plain.to_dict().keys()
    # A server may invent a type for every block: names are not kept without end.
    many = [{"type": f"type{number}"} for number in range(500)]
    counts = extract_metadata({"name": "t"}, {"content": many}).other_counts
    assert len(counts) <= 21
    assert sum(counts.values()) == 500
