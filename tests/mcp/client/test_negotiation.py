"""Choice of a call's validator, how it is announced, and the handling of a validator that breaks its announcement."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from tests.mcp.client.recording import PATH, VALID, Recorded, announced, text

from toolvet.errors import ToolvetError, UsageError
from toolvet.mcp.client import (
    InvalidArgumentsError,
    NativeValidationError,
    Validation,
    Validator,
    has_capability,
    negotiate_and_validate,
)

GOOD = {"path": "a.txt"}
BAD = {"path": ""}


def validated(answer: object, arguments: object = GOOD, **options: Any) -> tuple[Validation, Recorded]:
    server = Recorded(answer)
    capabilities = options.pop("capabilities", announced())
    validator = Validator(server, capabilities=capabilities, tools=[PATH], **options)
    return asyncio.run(validator.validate(options.pop("tool", "fs:read"), arguments)), server


INVALID = {"valid": False, "errors": ["path: no such file"], "warnings": ["slow disk"], "suggestions": ["try b.txt"]}
FORMS = {
    "text": text(INVALID),
    "structured": {"content": [], "structuredContent": INVALID},
    "a fence": text(f"```json\n{json.dumps(INVALID)}\n```"),
    "bare": INVALID,
    "a string": json.dumps(INVALID),
    "success and content": {"success": True, "content": json.dumps(INVALID)},
    "after a greeting": {"content": [{"type": "text", "text": "Here you are:"}, *text(INVALID)["content"]]},
    "messages": text(
        {
            "valid": False,
            "severity": "error",
            "messages": [
                {"path": "path", "message": "path: no such file", "severity": "error"},
                {"path": "", "message": "slow disk", "severity": "warn"},
                {"path": "", "message": "try b.txt", "severity": "info"},
            ],
        }
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_server_is_asked_and_its_words_are_passed_on(form: object) -> None:
    found, server = validated(form)
    assert (found.valid, found.method, found.native_error) == (False, "native", None)
    assert found.errors == ("path: no such file",)
    assert found.warnings == ("slow disk",)
    assert found.suggestions == ("try b.txt",)
    assert server.calls == [("validate", {"tool": "read", "arguments": GOOD})]


def test_a_method_of_another_name_is_called() -> None:
    _, server = validated(text(VALID), capabilities=announced(method="check_call"))
    assert server.calls[0][0] == "check_call"


def test_the_extension_of_the_modern_era_is_an_announcement_too() -> None:
    capabilities = {"extensions": {"dev.toolvet/tool-validation": {"supported": True}}}
    found, _ = validated(text(VALID), capabilities=capabilities)
    assert found.method == "native"


@pytest.mark.parametrize(
    "capabilities",
    [{}, {"tools": {}}, {"experimental": {}}, {"experimental": {"toolValidation": {"supported": False}}}],
    ids=json.dumps,
)
def test_a_server_that_announces_nothing_is_not_asked_and_not_blamed(
    capabilities: Mapping[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    found, server = validated(AssertionError("asked"), BAD, capabilities=capabilities)
    assert (found.valid, found.method, found.announced, found.native_error) == (False, "schema", False, None)
    assert found.warnings == ()
    assert server.calls == []
    assert caplog.records == []


FAILURES: Mapping[str, tuple[object, str]] = {
    "raises": (RuntimeError("out of order"), "out of order"),
    "raises without words": (ValueError(), "ValueError"),
    "isError": ({**text("no database"), "isError": True}, "no database"),
    "prose": (text("looks fine to me"), "looks fine to me"),
    "no valid": (text({"ok": True}), "without 'valid'"),
    "valid is a word": (text({"valid": "yes"}), "must be true or false"),
    "errors are a text": (text({"valid": True, "errors": "none"}), "not a list"),
    "nothing": ({"content": []}, "neither structuredContent nor text"),
    "null": (None, "NoneType"),
    "success false": ({"success": False, "content": "boom"}, "boom"),
    "a failed call cannot say yes": ({**text(VALID), "isError": True}, "itself failed"),
}


@pytest.mark.parametrize(("answer", "words"), FAILURES.values(), ids=FAILURES)
def test_announced_but_failing_is_reported_and_the_schema_decides(
    answer: object, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    found, _ = validated(answer, BAD)
    assert (found.valid, found.method, found.announced) == (False, "schema", True)
    assert found.native_error is not None
    assert words in found.native_error
    assert found.native_error in found.warnings[0]
    assert [(record.name, record.levelno) for record in caplog.records] == [("toolvet.mcp.client", logging.WARNING)]
    good, _ = validated(answer, GOOD)
    assert (good.valid, good.method) == (True, "schema")
    assert good.native_error is not None


@pytest.mark.parametrize(("answer", "words"), FAILURES.values(), ids=FAILURES)
def test_who_requires_the_servers_verdict_gets_an_error_instead(answer: object, words: str) -> None:
    with pytest.raises(NativeValidationError) as caught:
        validated(answer, require_native=True)
    assert words in str(caught.value)
    assert caught.value.announced


def test_not_announced_is_another_error_than_failed() -> None:
    with pytest.raises(NativeValidationError, match="announces no toolValidation") as caught:
        validated(text(VALID), capabilities={}, require_native=True)
    assert not caught.value.announced
    assert isinstance(caught.value, ToolvetError)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (True, "official clients fail to connect"),
        ({"supported": "true"}, "neither true nor false"),
        ({"method": "validate"}, "does not say whether it is supported"),
    ],
    ids=str,
)
def test_an_announcement_that_is_none_is_not_taken_for_silence(said: object, words: str) -> None:
    found, server = validated(text(VALID), capabilities={"experimental": {"toolValidation": said}})
    assert (found.method, found.announced) == ("schema", True)
    assert words in (found.native_error or "")
    assert server.calls == []


def test_a_validator_that_hangs_is_given_up_in_time() -> None:
    async def never(name: str, arguments: Mapping[str, object]) -> object:
        del name, arguments
        await asyncio.Event().wait()
        return None

    validator = Validator(never, capabilities=announced(), tools=[PATH], timeout=0.01)
    found = asyncio.run(validator.validate("read", GOOD))
    assert (found.valid, found.method) == (True, "schema")
    assert found.native_error == "'validate' did not answer within 0.01 s"


def test_being_cancelled_is_not_a_failure_of_the_server() -> None:
    async def run() -> None:
        asked = asyncio.Event()

        async def never(name: str, arguments: Mapping[str, object]) -> object:
            del name, arguments
            asked.set()
            await asyncio.Event().wait()
            return None

        task = asyncio.create_task(Validator(never, capabilities=announced(), tools=[PATH]).validate("read", GOOD))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_valid_beside_errors_is_not_valid() -> None:
    found, _ = validated(text({"valid": True, "errors": ["path: no such file"]}))
    assert (found.valid, found.method) == (False, "native")


def test_invalid_without_a_reason_still_has_an_error() -> None:
    found, _ = validated(text({"valid": False}))
    assert found.errors == ("The server calls the arguments invalid and does not say why.",)


def test_what_a_server_says_of_its_failure_is_fit_for_a_log(caplog: pytest.LogCaptureFixture) -> None:
    found, _ = validated(RuntimeError("boom\x1b[31m\r\nCRITICAL root: all is lost " + "x" * 10_000))
    assert found.native_error is not None
    assert "boom CRITICAL root: all is lost xxx" in found.native_error
    assert len(found.native_error) < 400
    assert len(caplog.text.splitlines()) == 1


def test_secrets_in_a_servers_failure_are_not_reported() -> None:
    found, _ = validated(RuntimeError("login failed: password=hunter22 rejected"))
    assert "hunter22" not in found.to_text() + json.dumps(found.to_dict())


@pytest.mark.parametrize("arguments", [None, 5, "x", ["a"], '{"path": "a.txt"}'], ids=repr)
def test_what_is_not_object_is_invalid_and_never_sent(arguments: object) -> None:
    found, server = validated(text(VALID), arguments)
    assert (found.valid, found.method, found.native_error) == (False, "schema", None)
    assert found.errors
    assert server.calls == []
    strict, _ = validated(text(VALID), arguments, require_native=True)
    assert not strict.valid


def test_levels_are_asked_for_where_they_are_announced() -> None:
    capabilities = announced(levels={"syntax": True, "runtime": True, "security": False})
    found, server = validated(text(VALID), capabilities=capabilities, levels=["runtime", "security"])
    assert server.calls[0][1]["levels"] == ["runtime"]
    assert found.levels == ("runtime",)
    assert "level security" in found.warnings[0]


def test_levels_are_not_asked_for_where_they_are_not_announced() -> None:
    found, server = validated(text(VALID), levels=["runtime"])
    assert "levels" not in server.calls[0][1]
    assert found.levels == ()
    assert "level runtime" in found.warnings[0]


def test_without_a_wish_all_announced_levels_are_looked_at() -> None:
    found, server = validated(text(VALID), capabilities=announced(levels={"syntax": True, "runtime": True}))
    assert "levels" not in server.calls[0][1]
    assert (found.levels, found.warnings) == (("syntax", "runtime"), ())
    schema, _ = validated(text(VALID), capabilities={})
    assert schema.levels == ("syntax",)


def test_the_context_is_passed_on() -> None:
    _, server = validated(text(VALID), context={"user": "u1"})
    assert server.calls[0][1]["context"] == {"user": "u1"}


def test_a_level_that_does_not_exist_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match="there is no level deep; the levels are syntax"):
        validated(text(VALID), levels=["deep"])


def test_an_option_that_cannot_be_read_is_logged_and_the_server_is_still_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found, _ = validated(text(VALID), capabilities=announced(maxBatchSize="many"))
    assert found.method == "native"
    assert "maxBatchSize" in caplog.text


def test_the_guard_raises_with_the_text_that_fixes_the_call() -> None:
    validator = Validator(Recorded(None), capabilities={}, tools=[PATH])
    assert asyncio.run(validator.validate_or_raise("read", GOOD)).valid
    with pytest.raises(InvalidArgumentsError) as caught:
        asyncio.run(validator.validate_or_raise("read", {"lines": 0}))
    assert "**path**: Required" in str(caught.value)
    assert caught.value.validation.report is not None
    assert isinstance(caught.value, ValueError)


def test_the_guard_repeats_the_servers_own_words_too() -> None:
    validator = Validator(Recorded(text(INVALID)), capabilities=announced(), tools=[PATH])
    with pytest.raises(InvalidArgumentsError) as caught:
        asyncio.run(validator.validate_or_raise("read", GOOD))
    assert str(caught.value) == (
        "The arguments for 'read' are not valid.\n\nErrors:\n- path: no such file\n\n"
        "Warnings:\n- slow disk\n\nSuggestions:\n- try b.txt"
    )


def test_the_json_form_is_the_documented_reply_and_how_it_came_about() -> None:
    found, _ = validated(text(INVALID))
    document = found.to_dict()
    assert {key: document[key] for key in INVALID} == INVALID
    assert (document["method"], document["native_error"], document["tool"]) == ("native", None, "read")
    assert json.loads(json.dumps(document)) == document


def test_the_plain_function_needs_no_more_than_what_the_server_said() -> None:
    server = Recorded(text(INVALID))
    found = asyncio.run(
        negotiate_and_validate(
            capabilities=announced(), tools=[PATH], tool="fs:read", arguments=GOOD, call_tool=server, timeout=5
        )
    )
    assert (found.valid, found.method) == (False, "native")
    nothing = asyncio.run(
        negotiate_and_validate(capabilities=None, tools=[PATH], tool="read", arguments=GOOD, call_tool=server)
    )
    assert (nothing.valid, nothing.method) == (True, "schema")


def test_has_capability_is_at_hand() -> None:
    assert has_capability(announced(), "experimental.toolValidation")


@pytest.mark.parametrize(
    ("connected", "options", "words"),
    [
        (Recorded(None), {}, "needs capabilities= and tools="),
        (Recorded(None), {"capabilities": {}}, "needs capabilities= and tools="),
        (object(), {}, "a object is not a client"),
        ("http://localhost/mcp", {}, "a str is not a client"),
    ],
    ids=["nothing known", "no tools", "an object", "a URL"],
)
def test_what_cannot_be_asked_is_refused_when_the_validator_is_made(
    connected: object, options: Mapping[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Validator(connected, **options)
