"""Single steps of the judgement on a result, at their borders."""

import msgspec
import pytest
from tests.core.checks.test_result_whole import flagged, said

from toolvet import check_result
from toolvet.core.checks.result.body import unwrap
from toolvet.core.checks.result.decision import error_code, shown
from toolvet.core.checks.result.evidence import is_callers_crash
from toolvet.core.checks.result_settings import FactorEntry


def test_of_what_was_sent_the_error_quotes_the_first_that_is_long_enough() -> None:
    def quoted(sent: object) -> list[str]:
        verdict = check_result("x", {"q": sent}, flagged(f"zz {sent} is not a lamp"))
        return [factor.evidence for factor in verdict.factors if factor.name == "test_data" and factor.present]

    assert quoted("y" * 2) == []
    assert quoted("y" * 3) == ["yyy"]
    assert quoted("y" * 60) == quoted("y" * 61) == ["y" * 60]
    assert quoted(99) == quoted(-99) == quoted(10**30) == []
    assert quoted(100) == ["100"]
    assert quoted(10**30 - 1) == [str(10**30 - 1)]


def test_a_frame_without_an_opening_is_read_from_the_first_letter() -> None:
    assert is_callers_crash('File "<string>", line 1\nNameError: x', [])
    assert not is_callers_crash('File "/srv/app.py", line 1\nNameError: x', [])


@pytest.mark.parametrize(("before", "start"), [(50, 0), (83, 0), (84, 1), (200, 117)])
def test_a_crash_in_a_long_line_is_quoted_from_a_hundred_letters_before_its_end(before: int, start: int) -> None:
    (leak,) = check_result("x", {}, flagged("y" * (before - 1) + " ZeroDivisionError: division")).leaks
    assert (leak.start, leak.text.endswith(" ZeroDivisionError: division")) == (start, True)


def test_a_factor_of_the_users_own_counts_once() -> None:
    assert msgspec.convert({"pattern": "ledger"}, FactorEntry) == FactorEntry("ledger", 1)


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ("cat: a: No such file or directory\nfine\nfine", False),
        ("cat: a: No such file or directory\nfine", True),
        ("cat: a: No such file or directory\nfine\nfine\nTry 'cat --help'", True),
        ("cat: a: No such file or directory\nfine\nfine\nfine\nTry 'cat --help'", False),
    ],
)
def test_the_output_of_a_program_is_an_error_where_half_of_its_lines_are(output: str, *, is_error: bool) -> None:
    shell = {"name": "run_shell", "description": "Runs a shell command.", "inputSchema": {"type": "object"}}
    assert check_result(shell, {"command": "cat a"}, said(output)).error_without_flag is is_error


@pytest.mark.parametrize(("code", "is_named"), [("42S02", True), ("ABCDE", False), ("99999", False)])
def test_a_code_of_a_database_is_one_that_is_known_and_has_a_digit(code: str, *, is_named: bool) -> None:
    assert (error_code(f"SQLSTATE[{code}]: x") is not None) is is_named


@pytest.mark.parametrize(
    ("line", "is_callers"), [("abc", False), ("abcd", True), ("abcde", True), ("", False), ("abcx", False)]
)
def test_a_line_of_four_letters_is_known_again(line: str, *, is_callers: bool) -> None:
    trace = f'Traceback (most recent call last):\n  File "/srv/app.py", line 1, in f\n    {line}\nNameError: x'
    assert is_callers_crash(trace, ["y = abc\nabcde\nz = 1\n"]) is is_callers


def test_an_error_that_is_nothing_but_an_argument_quotes_it() -> None:
    kinds = [str(check_result("x", {"city": "Oslo"}, flagged(text)).error_kind) for text in ("Oslo", "Osl")]
    assert kinds == ["business", "unknown"]


@pytest.mark.parametrize(
    ("value", "inner"),
    [
        ({}, {}),
        ({"result": "x"}, "x"),
        ({"result": "x", "error": ""}, "x"),
        ({"result": "x", "b": 1, "error": ""}, None),
    ],
)
def test_a_wrapping_has_one_member_or_two(value: dict[str, object], inner: object) -> None:
    assert unwrap(value) == (value if inner is None else inner)


def test_a_sentence_of_three_hundred_letters_is_shown_whole() -> None:
    assert shown("ab " * 99 + "abc") == "ab " * 99 + "abc"
    assert shown("ab " * 100 + "c") == "ab " * 99 + "ab \u2026"
    assert shown("x" * 300) == "x" * 300
    assert shown("x" * 600) == "x" * 300 + " \u2026"


def test_a_schema_that_does_not_compile_is_kept_by_nothing() -> None:
    validation = check_result(
        {"name": "x", "outputSchema": {"type": 5}}, {}, said("{}")
    ).metadata.output_schema_validation
    assert validation is not None
    assert (validation.has_output_schema, validation.is_valid) == (True, False)
    assert (validation.error or "").startswith("outputSchema does not compile: ")


def test_the_id_of_the_turn_is_in_the_json_form() -> None:
    verdict = check_result("x", {}, flagged("not found"), trace="t-1")
    assert verdict.to_dict()["trace_id"] == verdict.trace_id == "t-1"
    assert "trace_id" not in check_result("x", {}, flagged("not found")).to_dict()
