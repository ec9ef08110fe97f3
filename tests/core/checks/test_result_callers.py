"""Whose text was wrong: the caller's command, query or pattern, or the tool's own. And codes, names and priors."""
# ruff: noqa: E501 - A table is read by its lines.

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from toolvet import ResultVerdict, check_result
from toolvet.core.causes import ErrorKind, State
from toolvet.core.checks.result.decision import Ground, certainty_of, error_code, prior_counts, state_of_name
from toolvet.core.checks.result.evidence import caller_texts, is_callers_crash
from toolvet.core.checks.result.phrases import CallerText
from toolvet.core.tools import view_of

ERRORS = Path(__file__).parents[3] / "conformance" / "errors" / "errors.jsonl"


def failed(words: str, tool: str | dict[str, object], arguments: object = None) -> ResultVerdict:
    definition = {"name": tool} if isinstance(tool, str) else tool
    return check_result(definition, arguments or {}, {"isError": True, "content": [{"type": "text", "text": words}]})


def texts_of(tool: dict[str, object], arguments: object = None) -> set[str]:
    return {text.value for text in caller_texts(view_of(tool), arguments)}


def schema(*names: str, **more: object) -> dict[str, object]:
    return {"type": "object", "properties": {**{name: {"type": "string"} for name in names}, **more}}


@pytest.mark.parametrize(
    ("tool", "arguments", "texts"),
    [
        ({"name": "run_bash"}, {}, {"program"}),
        ({"name": "run"}, {}, {"program"}),
        ({"name": "execute_action"}, {}, set()),
        ({"name": "execute_sql_query"}, {}, {"query"}),
        ({"name": "execute"}, {}, {"program"}),
        ({"name": "run_query"}, {}, {"query"}),
        ({"name": "analysis", "description": "Executes Python code in a sandbox."}, {}, {"program"}),
        ({"name": "analysis", "description": "Run a read-only SQL query against the warehouse."}, {}, {"query"}),
        ({"name": "desktop", "inputSchema": schema("command")}, {}, {"program"}),
        ({"name": "editor", "inputSchema": schema(command={"enum": ["view", "create"]})}, {"command": "view"}, set()),
        ({"name": "lookup"}, {"q": "SELECT name FROM users"}, {"query"}),
        ({"name": "country"}, {"code": "US"}, set()),
        ({"name": "sandbox"}, {"code": "print(1)"}, {"program"}),
        ({"name": "find", "inputSchema": schema("regex")}, {}, {"pattern"}),
        ({"name": "rows", "inputSchema": schema("table")}, {}, {"part"}),
        ({"name": "weather", "inputSchema": schema("city")}, {"city": "Oslo"}, set()),
    ],
)
def test_a_tool_runs_what_its_name_description_parameters_or_arguments_say(
    tool: dict[str, object], arguments: object, texts: set[str]
) -> None:
    assert texts_of(tool, arguments) == texts


@pytest.mark.parametrize(
    ("words", "runner", "sent", "state"),
    [
        ("bash: line 1: gti: command not found", "run_command", {"command": "gti status"}, State.NOT_FOUND),
        ("sh: 1: Syntax error: Unterminated quoted string", "shell", {"cmd": "echo 'a"}, State.INVALID_INPUT),
        ("bash: -c: line 1: unexpected EOF while looking for matching `''", "bash", {"cmd": "echo 'a"}, State.INVALID_INPUT),
        ("ls: unrecognized option '--colour'", "terminal", {"cmd": "ls --colour"}, State.INVALID_INPUT),
        ("no such table: custmers", "query_database", {"sql": "select * from custmers"}, State.NOT_FOUND),
        ('near "selct": syntax error', "query_database", {"sql": "selct 1"}, State.INVALID_INPUT),
        ("nothing to repeat at position 0", "search_regex", {"regex": "*a"}, State.INVALID_INPUT),
        ("NameError: name 'total' is not defined", "run_python", {"code": "print(total)"}, State.INVALID_INPUT),
    ],
)  # fmt: skip
def test_an_error_of_the_text_that_the_caller_wrote_is_the_callers(
    words: str, runner: str, sent: dict[str, object], state: State
) -> None:
    assert (failed(words, runner, sent).error_kind, failed(words, runner, sent).state) == ("business", state)
    # The same words from a tool that takes no such text are about the tool.
    assert failed(words, "list_orders", {"customer": 7}).error_kind == "tool_failure"


@pytest.mark.parametrize(
    ("words", "tool", "sent"),
    [
        ("curl: (7) Failed to connect to localhost port 9: Connection refused", "run_command", {"command": "curl -s localhost:9"}),
        ("OCI runtime exec failed: exec failed: unable to start container process", "run_command", {"command": "ls"}),
        ("connection to server failed: FATAL: the database system is starting up", "query_database", {"sql": "select 1"}),
        ("Request timed out", "execute_python", {"code": "while True: pass"}),
    ],
)  # fmt: skip
def test_what_runs_a_text_may_fail_whatever_the_text_was(words: str, tool: str, sent: dict[str, object]) -> None:
    assert failed(words, tool, sent).error_kind == "tool_failure"


def test_a_missing_table_that_the_caller_named_is_no_bug_of_the_tool() -> None:
    words = "no such table: custmers"
    assert failed(words, "describe", {"what": "custmers"}).error_kind == "business"
    assert (
        failed(words, {"name": "rows", "inputSchema": schema("table")}, {"table": "Custmers"}).error_kind == "business"
    )
    assert failed(words, "describe", {"what": "orders"}).error_kind == "tool_failure"
    # Without arguments the named thing is unknown.
    assert failed(words, "describe").error_kind == "business"


def test_a_file_that_the_caller_did_not_name_is_the_tools_own() -> None:
    words = "ENOENT: no such file or directory, open '/app/config/cities.json'"
    assert failed(words, "weather", {"city": "Oslo"}).state is State.MISCONFIGURED
    assert failed(words, "read_file", {"path": "/app/config/cities.json"}).state is State.NOT_FOUND
    assert failed(words, "weather").error_kind == "business"


TRACE = "Traceback (most recent call last):\n  File \"{file}\", line 2, in <module>\n    {line}\nKeyError: 'total'"


@pytest.mark.parametrize(
    ("file", "line", "sent", "callers"),
    [
        ("<string>", "x['total']", [], True),
        ("<ipython-input-3-1b>", "x['total']", [], True),
        ("/app/server.py", "return row['total']", ["print(1)"], False),
        ("/app/server.py", "return row['total']", [], False),
        ("/app/code_1.py", "x['total']", ["x = {}\nx['total']"], True),
        ("/app/report.py", "x['total']", ["python report.py"], True),
    ],
)
def test_a_traceback_belongs_to_the_code_of_its_frames(file: str, line: str, sent: list[str], *, callers: bool) -> None:
    assert is_callers_crash(TRACE.format(file=file, line=line), sent) is callers


def test_a_module_that_the_caller_imports_is_missing_in_the_callers_program() -> None:
    words = "Error: Cannot find module 'left-pad'"
    assert failed(words, "run_javascript", {"script": "require('left-pad')"}).error_kind == "business"
    assert failed(words, "list_orders", {"customer": 7}).error_kind == "tool_failure"


@pytest.mark.parametrize(
    ("words", "name", "state"),
    [
        ('{"ok": false, "error": "msg_too_long"}', "msg_too_long", State.INVALID_INPUT),
        ("{'ok': False, 'error': 'already_reacted'}", "already_reacted", State.CONFLICT),
        ("An error occurred (TransactionConflictException) when calling the GetItem operation", "TransactionConflictException", State.CONFLICT),
        ("(ConditionNotMet) The condition is not met.", "ConditionNotMet", State.RULE),
        ("rpc error: code = DeadlineExceeded desc = gone", "DeadlineExceeded", State.TIMEOUT),
        ("SQLSTATE[42S02]: Base table or view", "42S02", State.NOT_FOUND),
        ("1146 (42S02): gone", "42S02", State.NOT_FOUND),
        ("EROFS: read-only file system", "EROFS", State.FORBIDDEN),
        ("ESTALE", "ESTALE", State.UNAVAILABLE),
    ],
)  # fmt: skip
def test_a_code_means_what_its_table_or_its_words_say(words: str, name: str, state: State) -> None:
    assert error_code(words) == (name, state)


@pytest.mark.parametrize("words", ["boom", '{"error": "boom"}', '{"status": "ok"}', "EVERYTHING", "code"])
def test_words_that_are_no_code_mean_nothing(words: str) -> None:
    assert error_code(words) is None


def test_the_name_of_an_error_is_read_word_by_word() -> None:
    assert state_of_name("ThrottlingException") is State.RATE_LIMITED
    assert state_of_name("error") is None
    assert state_of_name("Retokenised") is None


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("406 Client Error: nope for url: https://x.example", State.INVALID_INPUT),
        ("410, message='nope', url='https://x.example'", State.NOT_FOUND),
        ("504 GET https://x.example/: nope", State.TIMEOUT),
        ('nope: 422 {"message": "nope"}', State.INVALID_INPUT),
        ("(403)\nReason: nope", State.FORBIDDEN),
        ("RequestError(400, 'nope')", State.INVALID_INPUT),
    ],
)
def test_http_clients_put_the_status_into_the_message(words: str, state: State) -> None:
    assert failed(words, "api").state is state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("Keine Berechtigung für dieses Konto", State.FORBIDDEN),
        ("Le délai d'attente a expiré : délai d'attente dépassé", State.TIMEOUT),
        ("No se pudo conectar con la base", State.UNREACHABLE),
        ("Servizio non disponibile", State.UNAVAILABLE),
        ("Ongeldige waarde", State.INVALID_INPUT),
        ("Użytkownik już istnieje", State.CONFLICT),
        ("Сервер временно недоступен", State.UNAVAILABLE),
        ("请先登录", State.UNAUTHORIZED),
        ("予期しないエラーが発生しました", State.INTERNAL),
        ("요청이 너무 많습니다", State.QUOTA),
        ("لا يوجد اتصال بالإنترنت", State.UNREACHABLE),
        ("ไม่พบผู้ใช้", State.NOT_FOUND),
    ],
)
def test_errors_are_read_in_other_languages(words: str, state: State) -> None:
    assert failed(words, "api").state is state


def test_an_error_of_unknown_words_is_the_callers_only_where_such_errors_mostly_are() -> None:
    verdict = failed("blorp", "harbour")
    assert (verdict.certainty, verdict.confidence, verdict.state) == (0.5, 50, State.UNKNOWN)
    verdict = failed("blorp", "run_command", {"command": "blorp"})
    (prior,) = [factor for factor in verdict.factors if factor.name == "prior"]
    carrier = "tools that run a program of their caller"
    assert prior.evidence == f"12 of 12 errors whose words said nothing were the caller's ({carrier})"
    assert verdict.error_kind == "business"


def test_certainty_is_a_share_and_every_ground_has_one() -> None:
    for ground in Ground:
        for kind in ErrorKind:
            assert 0.5 <= certainty_of(ground, kind) < 1
    assert all(0 <= count.business <= count.total for count in prior_counts().values())
    assert check_result({"name": "a"}, {}, {"content": [{"type": "text", "text": "fine"}]}).certainty is None


@pytest.mark.parametrize("text", list(CallerText))
def test_a_missing_table_or_file_explains_no_crash(text: CallerText) -> None:
    assert text.explains_crashes is (text not in (CallerText.PART, CallerText.PATH))


@pytest.mark.parametrize(
    ("output", "reported"),
    [
        ("cat: notes.txt: No such file or directory", True),
        ("bash: line 1: gti: command not found\nTry 'git --help'", True),
        ("total 4\n-rw-r--r-- 1 a a 5 notes.txt", False),
        ("  File \"a.py\", line 2\n    print(\n         ^\nSyntaxError: '(' was never closed", True),
        ("no pods\n\nCommand completed with return code: 2", True),
        ("Command completed with return code: 1", True),
        ("3 files\nReturn code: 0", False),
        ("docs/shell.md: bash says command not found\nsrc/a.py\nsrc/b.py\nsrc/c.py", False),
    ],
)
def test_the_output_of_a_shell_is_an_error_if_it_opens_and_goes_on_as_one(output: str, *, reported: bool) -> None:
    result = {"content": [{"type": "text", "text": output}]}
    assert check_result({"name": "run_command"}, {"command": "x"}, result).error_without_flag is reported


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        ({"error": "", "response": "{'success': False, 'message': 'Tracking information not found'}"}, True),
        ({"error": "", "response": '{"status":"401","msg":"Authentication required"}'}, True),
        ({"error": "", "response": "Forbidden"}, False),
        ({"error": None, "response": {"items": [1]}}, False),
    ],
)
def test_a_report_beside_an_empty_error_is_opened(value: object, *, reported: bool) -> None:
    result = {"content": [{"type": "text", "text": json.dumps(value)}]}
    assert check_result({"name": "api"}, {}, result).error_without_flag is reported


def collected() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ERRORS.read_text(encoding="utf-8").splitlines()]


def test_the_errors_of_libraries_are_told_apart() -> None:
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in collected():
        verdict = failed(row["text"], row["tool"], row.get("arguments"))
        right[row["source"].split()[0], row["kind"]].append(verdict.error_kind == row["kind"])
    for kind in ("business", "tool_failure"):
        every = [is_right for (_, of), found in right.items() if of == kind for is_right in found]
        assert sum(every) / len(every) >= 0.98, kind
    poor = {key: sum(found) / len(found) for key, found in right.items() if sum(found) / len(found) < 0.75}
    assert poor == {}


def test_refusals_and_failures_are_told_apart_in_thirteen_languages() -> None:
    """The floors are those of today: a failure that no word of a failure tells is not recognised."""
    right: dict[str, list[bool]] = defaultdict(list)
    languages: dict[str, list[bool]] = defaultdict(list)
    for line in ERRORS.with_name("translations.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = failed(row["text"], "api_request").error_kind == row["kind"]
        right[row["kind"]].append(found)
        languages[row["lang"]].append(found)
    shares = {kind: sum(found) / len(found) for kind, found in right.items()}
    assert shares["business"] >= 0.98
    assert shares["tool_failure"] >= 0.65
    assert len(languages) == 13
    assert all(sum(found) / len(found) >= 0.9 for found in languages.values())
