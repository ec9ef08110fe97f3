"""Facts that a result states besides its words: exit codes, flags, error members, counts, lists of failures, and echoes."""
# ruff: noqa: E501 - A table is read by its lines.

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet.core.checks.result import check_result
from toolvet.core.checks.result.body import BodyReport, exit_code_in, exit_code_table, is_no_match, report_in
from toolvet.core.checks.result.unflagged import without_echoes
from toolvet.core.checks.result.verdict import ResultVerdict
from toolvet.core.turn.ledger import ToolCall, ground

Body = dict[str, Any]


def shapes(body: object) -> list[dict[str, object]]:
    """The same body as JSON in a text, as structured content, and in the wrapper of a framework as both."""
    text = json.dumps(body)
    content = [{"type": "text", "text": text}]
    return [
        {"content": content},
        {"content": content, "structuredContent": body},
        {"content": content, "structuredContent": {"result": body}},
        {"content": content, "structuredContent": {"result": text}},
    ]


def judged(tool: str, arguments: object, body: object) -> ResultVerdict:
    """The one verdict on all shapes of a body."""
    verdicts = [check_result({"name": tool}, arguments, result) for result in shapes(body)]
    kinds = {(each.error_without_flag, each.classification == "fully_working") for each in verdicts}
    assert len(kinds) == 1, kinds
    return verdicts[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "body"),
    [
        ("run_command", {"command": "foo"}, {"exit_code": 1, "stdout": "", "stderr": "bash: foo: command not found"}),
        ("tool", {}, {"stdout": "3 failed, 10 passed", "exit_code": 1}),
        ("run_tests", {}, {"returncode": 2, "output": "2 failed"}),
        ("bash", {"command": "make"}, {"exitCode": 2, "stdout": "", "stderr": ""}),
        ("bash", {"command": "make -s"}, {"exitCode": 1, "stdout": "", "stderr": ""}),
        ("bash", {"command": "pytest -q"}, {"return_code": 1, "stdout": "1 failed"}),
        ("bash", {"command": "grep x y"}, {"exit_code": 2, "stderr": "grep: y: No such file or directory"}),
        ("bash", {"command": "x"}, {"exit_code": "127", "stdout": "", "stderr": "x"}),
        ("bash", {"command": "x"}, {"exit_code": -9, "stdout": "", "name": "x", "id": "p1"}),
        ("shell", {"command": "x"}, {"status_code": 1, "stdout": "", "stderr": "x"}),
        ("bash", {"command": "x"}, {"success": True, "exit_code": 1, "stdout": "a", "stderr": "b"}),
    ],
)  # fmt: skip
def test_an_exit_code_other_than_0_is_an_error(tool: str, arguments: object, body: Body) -> None:
    assert judged(tool, arguments, body).error_without_flag


@pytest.mark.parametrize(
    ("tool", "arguments", "body"),
    [
        ("bash", {"command": "grep -r TODO src"}, {"exit_code": 1, "stdout": "", "stderr": ""}),
        ("bash", {"command": "diff a b"}, {"exit_code": 1, "stdout": "< a\n> b", "stderr": ""}),
        ("bash", {"command": "python -m pytest -k none"}, {"exit_code": 5, "stdout": "no tests ran", "stderr": ""}),
        ("run", {"command": "rg", "args": ["-n", "TODO"]}, {"exit_code": 1, "stdout": "", "stderr": ""}),
        ("run_command", {"command": ["test", "-f", "a"]}, {"exitCode": 1, "stdout": "", "stderr": ""}),
        # Nothing is known of the command, and it wrote nothing: a search, or a test that says no.
        ("bash", {}, {"exit_code": 1, "stdout": "", "stderr": ""}),
        ("bash", {"command": "x"}, {"exit_code": 0, "stdout": "Error: 3 tests failed earlier", "stderr": "fatal: no"}),
        ("bash", {"command": "x"}, {"exit_code": None, "stdout": "still running"}),
        # It is another process that ended so.
        ("get_job_status", {"job": "j1"}, {"exit_code": 1, "output": "x"}),
        ("inspect_container", {}, {"name": "db", "state": "exited", "exit_code": 137}),
        ("describe", {}, {"id": 7, "exit_code": 1, "stdout": "x"}),
        # A status of HTTP is not an exit code.
        ("call", {}, {"status_code": 404, "stdout": "x"}),
        ("bash", {"command": "x"}, {"exit_code_meaning": "1 is an error", "stdout": "x"}),
    ],
)  # fmt: skip
def test_an_exit_code_that_is_no_failure_of_this_call_is_a_success(tool: str, arguments: object, body: Body) -> None:
    assert judged(tool, arguments, body).classification == "fully_working"


@pytest.mark.parametrize("row", exit_code_table().program, ids=lambda row: row.match[:30])
def test_the_codes_hold_for_the_commands_that_prove_them(row: Any) -> None:
    for code in row.codes:
        assert [each for each in row.hits if not is_no_match(code, each, silent=True)] == []
        assert [each for each in row.misses if re.match(row.match, each) and is_no_match(code, each, silent=True)] == []
        assert not any(is_no_match(code + 1, each, silent=True) for each in row.hits)
    assert row.hits
    assert row.misses


@pytest.mark.parametrize(
    ("command", "is_benign"),
    [
        ("cd /srv && grep x f", True),
        ("grep x f; make", False),
        ("grep x f && make", False),
        ("make; grep x f", True),
        ("grep 'a; make' f", True),
        ("make | grep x", True),
        ("grep x f || echo none", True),
        ("sudo -n grep x f", True),
        ("LC_ALL=C timeout 5 /usr/bin/grep x f", True),
        ("bash -lc 'cd x; grep y z'", True),
        ("bash -c grep x f", True),
        ('/bin/sh -c "grep x f; make"', False),
        ("echo grep", False),
        ("", False),
        ("'" * 3_000, False),
    ],
)
def test_the_last_program_that_does_more_than_print_decides(command: str, *, is_benign: bool) -> None:
    assert is_no_match(1, command, silent=False) is is_benign


@given(st.integers(-300, 300), st.text(alphabet="grep test[]'\"|;&\n/-=A1 ", max_size=80), st.booleans())
def test_any_command_has_an_answer(code: int, command: str, silent: bool) -> None:  # noqa: FBT001 - drawn.
    assert isinstance(is_no_match(code, command, silent=silent), bool)


@pytest.mark.parametrize(
    "body",
    [
        {"ok": False, "message": "no index", "a": 1, "b": 2, "c": []},
        {"success": False, "message": "Session not found", "warnings": None},
        {"success": False, "message": "Session not found", "warnings": ["slow"]},
        {"ok": False, "result": None, "confidence": 0.0, "provenance": "ambiguous", "needs_review": True, "reasons": ["no index"]},
        {"error": "state_var must be a text.", "root": "/srv", "grade": "definite", "count": 0, "calls": [], "truncated": False, "safe": True},
        {"error": {"code": "x", "why": "no"}, "root": "/srv", "grade": "definite", "mode": "a", "ready": True},
        {"status": "error", "message": "no such row", **{f"m{n}": n for n in range(8)}},
        {"error": "No function matches it", **{f"flag_{n}": False for n in range(20)}},
        [{"error": "timed out"}, {"error": "refused"}],
        {"results": [{"success": False, "error": "timed out"}], "duration": 3},
        {"successful": 0, "errors": 1},
        {"files": [], "summary": {"total": 2, "succeeded": 0, "failed": 2}},
    ],
)  # fmt: skip
def test_a_failure_decides_however_many_members_are_beside_it(body: object) -> None:
    assert judged("tool", {}, body).error_without_flag


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"user": {"id": 1}}, "errors": [{"message": "field x is deprecated"}]},
        {"error": "Sensor 2 is offline", "city": "Oslo", "temperature": 12, "wind": 3},
        {"error": "Page 3 failed to load", "pages": ["a", "b"], "from": 1, "to": 3},
        {"success": False, "message": "2 of 5 rows were refused", "rows": [{"a": 1}]},
        {"error": "The list is cut", "note": "x" * 300},
        {"tests": 5, "failures": 2, "errors": ["a"], "success": False, "duration": 3},
    ],
)
def test_results_of_the_call_outweigh_an_error_and_a_part_failed(body: Body) -> None:
    verdict = judged("tool", {}, body)
    assert (verdict.classification, verdict.is_valid, verdict.error_kind) == ("partially_working", True, None)
    assert "a part of the result is an error" in verdict.issues
    assert not verdict.error_without_flag


@pytest.mark.parametrize(
    ("tool", "body"),
    [
        ("weather", {"city": "Oslo", "error_margin": "2 degrees", "temperature": 12, "forecast": "rain"}),
        ("weather", {"forecast": "rain", "error": "±2 °C"}),
        ("measure", {"value": 3.2, "error": "0.5 %"}),
        ("fit", {"slope": 2, "intercept": 1, "r": 0.9, "error": "small"}),
        ("count_things", {"status": "error_count", "errors": 0}),
        ("validate_config", {"valid": False}),
        ("check_address", {"valid": False, "message": "no such street"}),
        ("tool", {"valid": False}),
        ("get_token", {"valid": False, "reason": "expired"}),
        ("probe", {"url": "https://x", "status_code": 404, "title": "Not found"}),
        ("http_head", {"status": 404, "message": "Not Found"}),
        ("get_job", {"id": 7, "name": "nightly", "success": False, "message": "disk full", "node": "n1", "tries": 3}),
        ("list_runs", [{"error": "disk full", "run": 4}]),
        ("list_things", [{"id": 4, "error": "disk full"}]),
        ("list_things", [{"error": "disk full"}, {"row": 1}]),
        ("get_logs", {"errors": ["disk full"], "until": "12:00"}),
        ("get_stats", {"successful": 0, "errors": 10}),
        ("list_checks", [{"command": "pytest", "exit_code": 1, "stderr": "1 failed", "success": False}]),
        ("count", {"successful": 0, "errors": 0}),
        ("lint_file", {"errors": ["E1"], "warnings": ["W1"]}),
        ("play", {"success": False, "score": 3}),
        ("tool", {"ok": False, "checks": ["a"]}),
        ("tool", []),
        ("tool", {"success": True, "error": "was fixed"}),
    ],
)  # fmt: skip
def test_a_fact_about_something_else_is_what_was_asked_for(tool: str, body: object) -> None:
    assert judged(tool, {}, body).classification == "fully_working"


def test_an_invalid_call_of_a_tool_that_acts_is_an_error() -> None:
    assert judged("create_user", {}, {"valid": False}).error_without_flag
    assert judged("create_user", {}, {"valid": False, "errors": ["the name is taken"]}).error_without_flag
    described = {"name": "create_rule", "description": "Says whether a rule is valid."}
    assert not check_result(described, {}, {"content": [], "structuredContent": {"valid": False}}).error_without_flag


def test_a_member_that_only_repeats_what_was_sent_is_no_identity() -> None:
    body = {"ok": False, "message": "no such lamp", "name": "lamp 7", "a": 1, "b": 2, "c": 3}
    assert judged("get_lamp", {"name": "lamp 7"}, body).error_without_flag
    assert not judged("get_lamp", {"name": "lamp"}, body).error_without_flag
    failures = [{"url": "https://a.example/x", "error": "timed out"}]
    assert judged("load_pages", {"urls": ["https://a.example/x"]}, failures).error_without_flag
    assert not judged("load_pages", {}, failures).error_without_flag


def test_an_answer_is_held_against_the_facts_of_its_calls() -> None:
    tests = ToolCall("run_tests", {}, {"stdout": "3 failed, 10 passed", "exit_code": 1})
    assert [each.label for each in ground("All tests pass now.", [tests])] == ["claimed_success_after_failure"]
    passed = ToolCall("run_tests", {}, {"stdout": "13 passed", "exit_code": 0})
    assert list(ground("All tests pass now.", [passed])) == []
    index = ToolCall("reindex", {}, {"ok": False, "message": "no index", "a": 1, "b": 2, "c": []})
    assert [each.label for each in ground("I rebuilt the index.", [index])] == ["claimed_success_after_failure"]


def test_a_value_as_deep_as_json_may_be_is_read() -> None:
    for outside in ("[{}]", '{{"results": [{}]}}', '{{"result": [{}]}}'):
        text = '{"error": "x"}'
        for _ in range(300):
            text = outside.format(text)
        result: Body = {"content": [{"type": "text", "text": text}]}
        assert not check_result("t", {}, result).error_without_flag
        assert not check_result("t", {}, {**result, "structuredContent": json.loads(text)}).error_without_flag


AVAILABLE = "Available primitives: " + ", ".join(f"primitive-{n}" for n in range(40))


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        *((('Primitive "x" not found. ' + AVAILABLE)[:length], True) for length in (100, 200, 201, 400, 900)),
        (f"Primitive 'x' not found.\n\n{AVAILABLE}", True),
        ("Unknown kind 'x' does not exist. Did you mean one of these: " + "a, " * 90, True),
        ("❌ Validation failed:\n• name is empty\n• age is too low", True),
        ("❌ Validation failed: name is empty", True),
        ('No icons found in category "x". Available categories: ' + "a, " * 90, True),
        # Another text follows, or the words are not of the first sentence.
        ("The lost city was not found until 1911. " + "Hiram Bingham went there on foot. " * 8, False),
        ("How to fix a file that is not found:\n1. Look for it\n2. Make it", False),
        ("Reasons why a page does not exist.\n- it moved\n- it was removed", False),
        ("❌ lint failed\n✅ tests passed", False),
        (f"The primitives of the day. {AVAILABLE}. Primitive x was not found.", False),
        ('No products found for "red". Available filters: ' + "a, " * 90, False),
        ("No products found for red shoes", False),
    ],
)
def test_the_first_sentence_decides_and_not_the_length(text: str, *, reports: bool) -> None:
    result = {"content": [{"type": "text", "text": text}]}
    assert check_result({"name": "tool"}, {}, result).error_without_flag is reports


ODD = 'O\'Brien "quoted" \\ & <b>; -- ${x} {{y}} %s'


@pytest.mark.parametrize(
    "value", ["x" * 256, ODD, "connection refused", "/srv/a b/c.txt", "traceback (most recent call last)"]
)
def test_a_value_that_comes_back_does_not_change_the_verdict(value: str) -> None:
    for words in ('Icon "{}" not found.', "Invalid value {} for `length`", "Directory not found: {}"):
        plain, echoed = (
            check_result("get_icon", {"name": sent}, {"isError": True, "content": [{"type": "text", "text": words.format(sent)}]})
            for sent in ("lamp", value)
        )  # fmt: skip
        assert (echoed.error_kind, echoed.state, echoed.certainty) == (plain.error_kind, plain.state, plain.certainty)
        assert echoed.error_kind == "business"
        body = {"error": words.format(value)}
        assert judged("get_icon", {"name": value}, body).state == plain.state


def test_a_reader_sees_the_value_that_was_sent() -> None:
    result = {"isError": True, "content": [{"type": "text", "text": "File '/srv/a b.txt' not found"}]}
    verdict = check_result("get_file", {"path": "/srv/a b.txt"}, result)
    assert verdict.evidence == ("Tool rejected the call: business logic: File '/srv/a b.txt' not found",)


def test_what_only_repeats_the_caller_reports_nothing() -> None:
    result = {"content": [{"type": "text", "text": "Error: no such user"}]}
    assert not check_result("echo", {"message": "Error: no such user"}, result).error_without_flag
    assert check_result("echo", {"message": "hello"}, result).error_without_flag


def test_a_leak_behind_a_long_echo_is_where_it_is_in_the_text() -> None:
    value = "some words " * 20
    text = f"No row for {value}: open '/srv/app/rows.db'"
    verdict = check_result("get_row", {"q": value}, {"isError": True, "content": [{"type": "text", "text": text}]})
    assert [text[leak.start : leak.end] for leak in verdict.leaks] == ["/srv/app/rows.db"]


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=6))
def test_an_echo_can_be_put_back(text: str, sent: list[str]) -> None:
    shortened, echoes = without_echoes(text, sent)
    if not any(word in text for word in echoes):
        for word, written in echoes.items():
            shortened = shortened.replace(word, written)
        assert shortened == text


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["exit_code", "error", "1"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["error", "exit_code", "ok", "result", "stdout", "valid", "summary", "errors", "a"]), inner, max_size=5),
    max_leaves=12,
))  # fmt: skip
def test_any_value_is_read(value: object) -> None:
    assert isinstance(report_in(value), BodyReport)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("2 failed, 3 passed\nProcess exited with code 1", 1),
        ("Exit code 1\n\nERROR: no such target", 1),
        ("a\nexit status: 0", 0),
        ('{"exit_code": 2, "output": "x"}', 2),
        ({"returncode": 3, "stdout": "x"}, 3),
        ({"stdout": "x", "status_code": "404"}, None),
        ({"code": 3}, None),
        # A script that is shown, and a number elsewhere.
        ("#!/bin/sh\nexit 1", None),
        ("exit code 1" + "\nline" * 500 + "\nlast", 1),
        ("line\n" * 500 + "exit code 1" + "\nline" * 500, None),
        ("take exit 12", None),
        (None, None),
    ],
)
def test_the_exit_code_in_an_output_or_an_object(output: object, code: int | None) -> None:
    assert exit_code_in(output) == code
