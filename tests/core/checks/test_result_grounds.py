"""The grounds of a verdict on an error, and the reading of results of other shapes: tables of small examples."""

import re
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

from toolvet.core.causes import State
from toolvet.core.checks.result import Classification, LeakKind, as_mcp, check_result
from toolvet.core.checks.result.check import output_schema_validation
from toolvet.core.checks.result.decision import Ground, certainty_of, error_code, shown, state_of_name
from toolvet.core.checks.result.evidence import caller_texts, is_callers_crash
from toolvet.core.checks.result.own_words import FACTOR_NAMES, BadRule
from toolvet.core.checks.result.phrases import CallerText
from toolvet.core.checks.result.response import read_response, readable
from toolvet.core.checks.result.result_check import ResultCheck
from toolvet.core.checks.result_settings import RegexEntry, ResultSettings
from toolvet.core.matching import UnsafePattern
from toolvet.core.tools import view_of

TRACE = "Traceback (most recent call last)\n"


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def error(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [text_block(text)]}


@pytest.mark.parametrize(
    ("text", "state", "ground", "reason"),
    [
        # Messages of the server by a code, a phrase, a status, a name.
        ("MCP error -32602: Xyz", "invalid_input", Ground.REFUSAL, "-32602"),
        ("MCP error -32601: Xyz", "unsupported", Ground.STATUS, "-32601"),
        (
            "1 validation error for X\n  name\n    Field required [type=missing]",
            "invalid_input",
            Ground.REFUSAL,
            "1 validation error for X",
        ),
        ("User 7 not found", "not_found", Ground.PHRASE, "User 7 not found"),
        ("HTTP 404", "not_found", Ground.STATUS, "HTTP 404"),
        ("HTTP 429", "rate_limited", Ground.STATUS, "HTTP 429"),
        ("HTTP 408", "timeout", Ground.STATUS, "HTTP 408"),
        ("HTTP 500", "internal", Ground.STATUS, "HTTP 500"),
        ("HTTP 501", "unsupported", Ground.STATUS, "HTTP 501"),
        ("msg_too_long", "invalid_input", Ground.NAME, "msg_too_long"),
        ("Missing", "not_found", Ground.VAGUE, "Missing"),
        ("The vehicle is in maintenance", "rule", Ground.SENTENCE, "The vehicle is in maintenance"),
        # A status says more than a plain sentence, and a code has none.
        ("The vehicle is in maintenance (404)", "not_found", Ground.STATUS, "The vehicle is in maintenance (404)"),
        ("MCP error -32602: The vehicle is in maintenance", "invalid_input", Ground.REFUSAL, "-32602"),
        # What broke.
        ("Connection refused", "unreachable", Ground.VETO, "Connection refused"),
        ("server error 501", "unsupported", Ground.VETO, "server error 501"),
        (f"{TRACE}ValueError: x", "crash", Ground.VETO, TRACE.strip()),
        ("DatabaseError: x", "unknown", Ground.DOUBT, "DatabaseError: x"),
        ("fatal: x", "internal", Ground.DOUBT, "fatal: x"),
        # A service that says when to come back works.
        ("503 Service Unavailable, retry later", "unavailable", Ground.VETO, "503 Service Unavailable, retry later"),
        (
            "503 Service Unavailable, rate limit exceeded",
            "rate_limited",
            Ground.PHRASE,
            "503 Service Unavailable, rate limit exceeded",
        ),
    ],
)
def test_what_the_verdict_on_an_error_rests_on(text: str, state: str, ground: Ground, reason: str) -> None:
    verdict = check_result({"name": "get_user"}, {}, error(text))
    assert verdict.error_kind is not None
    assert (verdict.state, verdict.certainty) == (State(state), certainty_of(ground, verdict.error_kind))
    refused = str(verdict.error_kind) == "business"
    said = f"Tool rejected the call: business logic: {reason}" if refused else f"The words of a failure: {reason}"
    assert verdict.evidence == (said,)
    assert verdict.confidence == (100 if refused else round(100 * (1 - (verdict.certainty or 0)), 1))


@pytest.mark.parametrize("name", ["x1y2", "x_y2", "0xab", "aB"])
def test_the_letters_of_a_path_decide_nothing(name: str) -> None:
    """A temporary folder has another name in each run: `assess` must find the same again."""
    path = f"/srv/{name}/notes.txt"
    bare = check_result({"name": "git_diff"}, {"repo_path": path}, error(f"Error executing tool git_diff: {path}"))
    assert bare.state is State.UNKNOWN
    said = check_result({"name": "git_diff"}, {"repo_path": path}, error(f"This is not a repository of ours: {path}."))
    assert said.state is State.RULE


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "state", "ground"),
    [
        ("run_python", {"code": "print(x)"}, "NameError: x", "invalid_input", Ground.CALLER_TEXT),
        (
            "run_python",
            {"code": "print(x)"},
            f'{TRACE}  File "<string>", line 1\nNameError: x',
            "invalid_input",
            Ground.CALLER_TEXT,
        ),
        ("run_python", {"code": "print(x)"}, f'{TRACE}  File "/app/a.py", line 1\nNameError: x', "crash", Ground.VETO),
        ("run_sql", {"query": "select"}, "no such table: x", "not_found", Ground.CALLER_TEXT),
        ("get_user", {"id": "select"}, "NameError: x", "crash", Ground.VETO),
    ],
)
def test_an_error_of_what_the_caller_wrote_is_the_callers(
    tool: str, arguments: dict[str, str], text: str, state: str, ground: Ground
) -> None:
    verdict = check_result({"name": tool}, arguments, error(text))
    assert verdict.error_kind is not None
    assert (verdict.state, verdict.certainty) == (State(state), certainty_of(ground, verdict.error_kind))


def test_what_words_that_say_nothing_mostly_are() -> None:
    for text, arguments, business, words in (
        ("Hm Oslo", {"city": "Oslo"}, True, "errors that quote an argument"),
        ("Hm Oslox", {"city": "Oslo"}, False, "errors in plain words"),
        ("Hm O", {"city": "O"}, False, "errors in plain words"),
        ("Hm Os", {"city": "Os"}, True, "errors that quote an argument"),
        ("Problem: Oslo", {"city": "Oslo"}, False, "errors in plain words"),
        ('{"error": "Hm"}', {}, False, "errors in JSON"),
    ):
        verdict = check_result("", arguments, error(text))
        assert (str(verdict.error_kind) == "business") is business, text
        said = [each.evidence for each in verdict.factors if each.name == "prior"]
        assert [each.endswith(f"({words})") for each in said] == [True] * business, text


@pytest.mark.parametrize(
    ("text", "name", "state"),
    [
        ("SQLSTATE[42S02]: no table", "42S02", "not_found"),
        ("SQLSTATE ERROR", None, None),
        ("ENOENT: no such file", "ENOENT", "not_found"),
        ("EVERYTHING", None, None),
        ('{"code": "NOT_FOUND"}', "NOT_FOUND", "not_found"),
        ("{'error': 'user_not_found'}", "user_not_found", "not_found"),
        ("An error occurred (AccessDenied) when", "AccessDenied", "forbidden"),
        ("rpc error: code = NotFound desc = x", "NotFound", "not_found"),
        ('{"error": "Failed"}', None, None),
        ('{"error": "ERROR"}', None, None),
        ("boom", None, None),
    ],
)
def test_the_code_that_an_error_shows(text: str, name: str | None, state: str | None) -> None:
    found = error_code(text)
    assert (None if found is None else (found.name, str(found.state))) == (None if name is None else (name, state))


def test_very_long_texts_are_read_so_far_and_no_farther() -> None:
    for more, found in ((0, True), (1, False)):
        named = error_code("x" * (1_993 + more) + " ENOENT")
        assert (named is not None) is found
        words = "x " * 9_992 + "y" * more + "User 7 not found"
        verdict = check_result("t", {}, error(words))
        assert (str(verdict.state) == "not_found") is found
        calls = {f"p{number}": "x" for number in range(59 + more)} | {"code": "print(1)"}
        assert (CallerText.PROGRAM in caller_texts(view_of({"name": "t"}), calls)) is found


def test_names_that_say_nothing() -> None:
    assert state_of_name("Error") is state_of_name("FAILED") is state_of_name("xyzzy") is None
    assert state_of_name("NotFoundError") is State.NOT_FOUND


def test_a_long_sentence_is_cut_between_words() -> None:
    words = "word " * 200
    cut = shown(words)
    assert cut.endswith("word …")
    assert len(cut) < len(words)
    assert shown("a\n b") == "a b"
    assert readable('a\\nb\\tc\\rd\\"e\\f') == 'a  b  c  d "e\\f'


OWN: dict[str, Any] = {"factors": {"ledger": ("ledger", 7)}, "weights": {FACTOR_NAMES[1]: 5}}


@pytest.mark.parametrize(("text", "present"), [("The ledger is closed", True), ("Hm", False)])
def test_factors_of_the_callers_own_stand_behind_the_others_with_their_weights(text: str, present: bool) -> None:  # noqa: FBT001 - a column of the table.
    verdict = check_result({"name": "x"}, {}, error(text), **OWN)
    weights = {each.name: each.weight for each in verdict.factors if each.name != "prior"}
    assert list(weights)[-1] == "ledger"
    assert (weights["ledger"], weights[FACTOR_NAMES[1]], weights[FACTOR_NAMES[0]]) == (7, 5, 2)
    (own,) = [each for each in verdict.factors if each.name == "ledger"]
    assert own.to_dict() == {
        "name": "ledger",
        "weight": 7,
        "present": present,
        "evidence": text if present else "",
    }


def test_an_exception_by_the_callers_own_words_is_no_error() -> None:
    result = {"content": [text_block("Error: no rows for user 7")]}
    assert check_result("t", {}, result).error_without_flag
    for words in ("no rows", re.compile(r"rows for user \d")):
        assert not check_result("t", {}, result, exceptions=[words]).error_without_flag
    assert check_result("t", {}, result, exceptions=["no columns"]).error_without_flag


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"weights": {"ledger": 1}}, "there is no factor 'ledger'"),
        ({"weights": {FACTOR_NAMES[0]: 101}}, "from 0 to 100, not 101"),
        ({"weights": {FACTOR_NAMES[0]: -1}}, "from 0 to 100, not -1"),
        ({"weights": {FACTOR_NAMES[0]: True}}, "from 0 to 100, not True"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1"),
        ({"threshold": -0.1}, "threshold must be a number from 0 to 1"),
        ({"threshold": True}, "threshold must be a number from 0 to 1"),
        ({"thresholds": {"others": 1}}, "there is no type of tool 'others'"),
        ({"thresholds": {"other": 2}}, "the threshold of 'other' must be"),
    ],
)
def test_rules_that_cannot_be_used_are_refused_with_the_range_of_those_that_can(
    rules: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadRule, match=re.escape(said)):
        check_result("t", {}, error("Hm"), **rules)


def test_rules_at_the_ends_of_their_range() -> None:
    for weight in (0, 100):
        check_result("t", {}, error("Hm"), weights={FACTOR_NAMES[0]: weight})
    for least, business in ((0.0, True), (1.0, False)):
        both: list[dict[str, Any]] = [{"threshold": least}, {"thresholds": {"other": least}}]
        for rules in both:
            verdict = check_result("t", {}, error("Hm"), **rules)
            assert (str(verdict.error_kind) == "business") is business
    with pytest.raises(UnsafePattern, match="not a regular expression"):
        ResultCheck(ResultSettings(extra_patterns=(RegexEntry("("),)))
    own = ResultCheck(ResultSettings(extra_patterns=(RegexEntry(r"E\d{4}"),)))
    assert str(own("t", {}, error("Hm e1234")).error_kind) == "business"


def test_a_failure_by_the_callers_own_words_is_one() -> None:
    verdict = check_result("t", {}, error("User 7 not found in the ledger"), failure_patterns=["ledger"])
    assert (str(verdict.error_kind), str(verdict.state)) == ("tool_failure", "unknown")
    text = "User 7 not found in the ledger"
    both = check_result("t", {}, error(text), failure_patterns=["ledger"], strong_patterns=["user 7"])
    assert str(both.error_kind) == "business"


def test_settings_are_kept_for_so_many_tools_and_no_more() -> None:
    check = ResultCheck(ResultSettings(threshold=0.5))
    for number in range(4_097):
        check(f"tool {number}", {}, "")
    assert len(check._known) == 1
    assert "tool 4096" in check._known


class Response:
    """A response of any HTTP client: what it keeps is what it is made with."""

    def __init__(self, **kept: object) -> None:
        self.__dict__.update(kept)


def http(status: int, text: str) -> dict[str, Any]:
    failed = status >= 400
    return {"content": [text_block(text)], **({"isError": True} if failed else {})}


def payload(value: object) -> dict[str, Any]:
    return {"content": [], "structuredContent": value}


def mcp_error(code: object) -> Exception:
    problem = ValueError("x")
    problem.error = SimpleNamespace(code=code, message="gone")  # type: ignore[attr-defined]
    return problem


MIXED = {"content": [text_block("a"), {"type": "odd"}], "more": 1}
STAYS: list[object] = [
    {"_meta": {}},
    {"_meta": {}, "content": "a"},
    {"task": {}},
    {"content": "a"},
    {"code": -32_768, "message": "a"},
    {"code": -32_000, "message": "a"},
    {"jsonrpc": "2.0", "error": {"code": 1, "message": "a"}},
    Response(status_code=500, text="a"),
    Response(headers={}, text="a"),
    Response(content=[], is_error=False),
    Response(content=[], isError=False),
    Response(is_error=True),
]
ANSWER = {"type": "tool_result", "tool_use_id": "a", "content": "x"}


@pytest.mark.parametrize(
    ("result", "parts", "taken_for"),
    [
        # Responses of HTTP clients, and responses as JSON.
        (Response(status_code=200, headers={}, _content=b"a", text=5), http(200, "a"), "HTTP response"),
        (Response(status_code=399, headers={}, text="a"), http(200, "a"), "HTTP response"),
        (Response(status_code=400, headers={}, text="a"), http(400, "HTTP status 400\na"), "HTTP response"),
        (
            Response(status=500, headers={}, reason="Oops", body="a"),
            http(500, "HTTP status 500 Oops\na"),
            "HTTP response",
        ),
        (Response(status=404, headers={}, _body=None, body=b"a"), http(404, "HTTP status 404\na"), "HTTP response"),
        (Response(status=204, headers={}), http(204, "HTTP status 204"), "HTTP response"),
        ({"statusCode": 500, "body": "a"}, http(500, "HTTP status 500\na"), "HTTP response"),
        ({"statusCode": 200, "body": "  "}, http(200, "HTTP status 200"), "HTTP response"),
        ({"statusCode": 100, "body": "a"}, http(200, "a"), "HTTP response"),
        ({"status": 404, "headers": {}, "data": {"a": 1}}, http(404, 'HTTP status 404\n{"a":1}'), "HTTP response"),
        *(
            (value, payload(value), "payload")
            for value in (
                {"status": 404, "body": "a"},
                {"statusCode": 600, "body": "a"},
                {"statusCode": True, "body": "a"},
                {"statusCode": 99, "body": "a"},
            )
        ),
        # Values.
        (b"a", {"content": [text_block("a")]}, "text"),
        (bytearray(b"a"), {"content": [text_block("a")]}, "text"),
        (True, {"content": [text_block("True")]}, "text"),
        (1.5, {"content": [text_block("1.5")]}, "text"),
        (None, {}, "nothing"),
        ([1, 2], payload([1, 2]), "payload"),
        (("a", "b"), payload(["a", "b"]), "payload"),
        ([], payload([]), "payload"),
        (OrderedDict(a=1), payload({"a": 1}), "payload"),
        ({"content": "a", "title": "b"}, payload({"content": "a", "title": "b"}), "payload"),
        ({"code": -31_999, "message": "a"}, payload({"code": -31_999, "message": "a"}), "payload"),
        ({"code": -32_769, "message": "a"}, payload({"code": -32_769, "message": "a"}), "payload"),
        # Blocks of other APIs.
        ([{"type": "input_text", "text": "a"}], {"content": [text_block("a")]}, "payload"),
        ([{"type": "output_text", "text": "a"}], {"content": [text_block("a")]}, "payload"),
        (["a", {"type": "text", "text": "b"}], {"content": [text_block("a"), text_block("b")]}, "payload"),
        ([{"text": "a"}], {"content": [text_block("a")]}, "payload"),
        ([{"text": "a", "n": 1}], payload([{"text": "a", "n": 1}]), "payload"),
        (["a", 5], payload(["a", 5]), "payload"),
        ([{"json": {"a": 1}}], {"content": [], "structuredContent": {"a": 1}}, "payload"),
        (
            [{"json": 1}, {"text": "a"}, {"json": 2}],
            {"content": [text_block("a")], "structuredContent": [1, 2]},
            "payload",
        ),
        (
            [{"type": "image", "source": {"data": "a"}}],
            {"content": [{"type": "image", "data": {"data": "a"}}]},
            "payload",
        ),
        (
            [{"type": "image_url", "image_url": {"url": "a"}}],
            {"content": [{"type": "image", "data": {"url": "a"}}]},
            "payload",
        ),
        ([{"type": "input_image", "image_url": "a"}], {"content": [{"type": "image", "data": "a"}]}, "payload"),
        ([{"type": "image", "data": "a"}], {"content": [{"type": "image", "data": "a"}]}, "payload"),
        # Exceptions, and the one result of a message.
        (ValueError("a"), http(400, "ValueError: a"), "exception"),
        (ValueError(), http(400, "ValueError"), "exception"),
        (mcp_error(-32_000), http(400, "MCP error -32000: gone"), "exception"),
        (mcp_error("x"), http(400, "ValueError: x"), "exception"),
        ({"role": "user", "content": ["hello", ANSWER]}, {"content": [text_block("x")]}, "Anthropic"),
        (
            {"role": "user", "content": [ANSWER, ANSWER]},
            payload({"role": "user", "content": [ANSWER, ANSWER]}),
            "payload",
        ),
        ({"role": 1, "content": [ANSWER]}, payload({"role": 1, "content": [ANSWER]}), "payload"),
        ({"jsonrpc": "2.0", "result": {"content": []}}, {"content": []}, "JSON-RPC response"),
        (MIXED, MIXED, None),
        # A result that is MCP's already, or cannot be read, stays as it is.
        *((value, value, None) for value in STAYS),
    ],
)
def test_what_a_result_is_taken_for(result: object, parts: object, taken_for: str | None) -> None:
    assert as_mcp(result) == parts
    found = check_result("t", {}, result).metadata.taken_for
    assert found == taken_for or (taken_for == "Anthropic" and "Anthropic" in str(found))


def test_structured_content_of_any_mapping_and_blocks_beside_it() -> None:
    verdict = check_result("t", {}, {"content": [text_block("a")], "structuredContent": OrderedDict(a=1)})
    assert verdict.classification is Classification.FULLY_WORKING
    flagged = check_result(
        "t", {}, {"isError": True, "content": [], "structuredContent": OrderedDict(error="User 7 not found")}
    )
    assert str(flagged.state) == "not_found"
    response = read_response({"content": [OrderedDict(type="text", text="a"), {"type": "text", "text": "b"}]})
    assert response.texts == ("a", "b")


def test_a_foreign_value_is_shown_shortly() -> None:
    name = "k" * 30
    verdict = check_result("t", {}, {"content": [{name: 1, "b": 2, "c": 3, "d": 4, "e": 5}, {}, "x" * 60, 3, object()]})
    shown_as = [issue.removeprefix("Malformed content block: ") for issue in verdict.issues]
    assert shown_as == [f"an object with {'k' * 20}, b, c, d", "an object", repr("x" * 60)[:40], "3", "object"]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (['{"a": 1}'], None),
        (["7", '{"a": 1}'], None),
        (["7"], "(root): "),
        (["7", '{"a": "x", "b": "y"}'], "/a: "),
        (['{"a": "x", "b": "y"}', '{"a": 1, "b": "y"}'], "/b: "),
        (['See:\n```json\n{"a": 1}\n```'], None),
        (["no JSON"], "contains no valid JSON"),
    ],
)
def test_of_several_values_the_one_counts_that_comes_closest_to_the_schema(texts: list[str], said: str | None) -> None:
    found = output_schema_validation(SCHEMA, read_response({"content": [text_block(text) for text in texts]}))
    assert found is not None
    assert found.is_valid is (said is None)
    assert said is None or said in str(found.error)


def test_a_value_that_conforms_goes_before_an_object_that_does_not() -> None:
    found = output_schema_validation(
        {"type": "integer"}, read_response({"content": [text_block('{"a": 1}'), text_block("7")]})
    )
    assert found is not None
    assert found.is_valid


def test_of_several_tracebacks_the_last_says_whose_code_crashed() -> None:
    theirs, ours = (f'{TRACE}  File "{file}", line 1\nNameError: x\n' for file in ("<string>", "/app/a.py"))
    assert not is_callers_crash(f"{theirs}\nDuring handling of it:\n\n{ours}", ["y + 1"])
    assert is_callers_crash(f"{ours}\nDuring handling of it:\n\n{theirs}", ["y + 1"])


@pytest.mark.parametrize(
    ("sent", "leaks"), [("/srv/app", 0), ("/srv/app/data.json", 0), ("/srv/app/data.json/x", 0), ("/var", 1)]
)
def test_a_path_that_the_caller_named_is_no_leak(sent: str, leaks: int) -> None:
    verdict = check_result("t", {"path": sent}, error("Hm: cannot open /srv/app/data.json"))
    assert len([leak for leak in verdict.leaks if leak.kind is LeakKind.ABSOLUTE_PATH]) == leaks


def test_how_many_violations_are_told() -> None:
    many = {"type": "object", "additionalProperties": {"type": "integer"}}
    for count, more in ((3, False), (4, True)):
        body = dict.fromkeys("abcde"[:count], "x")
        found = output_schema_validation(many, read_response({"structuredContent": body, "content": []}))
        assert found is not None
        assert (" and 1 more" in str(found.error)) is more


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("[ERROR] The service is down", True),
        ('[{"error": "x"}]', True),
        ('[{"error": "x"}, {"row": 1}]', False),
        ('{"error": "User 7 not found"}', True),
        ('{"result": "Error: no such user 7"}', True),
        ('{"result": "[{\\"error\\": \\"no such user\\"}]"}', True),
        ('{"error": "", "response": "not found"}', False),
        ('{"error": "", "response": "Error: User 7 was not found"}', True),
        ("{'error': 'User 7 not found'}", True),
        ("\n  Error: User 7 not found\n ", True),
        ("Error: User 7 not found\nand more", True),
        ("2026-01-01 ERROR User 7 not found\n2026-01-01 INFO done", False),
        ("[ERROR] The service is down\n[INFO] done", False),
        ("[ERROR] The service is down\nSee the log", True),
        ('{"result": "[{1}] Error: no such user 7"}', False),
        ('{"success": broken', False),
        (f"User {'x' * 300} does not exist", True),
        (f"User {'x ' * 150} does not exist", False),
        ('The message "User 7 not found" is shown', False),
    ],
)
def test_an_error_without_the_flag(text: str, reported: bool) -> None:  # noqa: FBT001 - a column of the table.
    verdict = check_result({"name": "get_user"}, {}, {"content": [text_block(text)]})
    assert verdict.error_without_flag is reported
    assert verdict.is_error is False


def test_the_trace_and_a_wrong_call_on_purpose() -> None:
    assert check_result("t", {}, "ok", trace="turn-1").trace_id == "turn-1"
    assert check_result("t", {}, "ok").trace_id is None
    for category, business in (("error_case", True), ("happy_path", False), (None, False)):
        assert (str(check_result("t", {}, error("Hm"), category).error_kind) == "business") is business
