"""Announcements, requests and replies of the validation protocol, read without trusting them."""
# ruff: noqa: E501 - A table is read by its lines.

import json
from types import SimpleNamespace
from typing import cast

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st
from mcp.types import CallToolResult, ServerCapabilities, TextContent
from tests.examples import examples
from tests.labelled import CASES

from toolvet.core.checks.capability import (
    EXTENSION_ID,
    Announcement,
    Caching,
    Correction,
    Message,
    ValidationCall,
    ValidationReply,
    ValidationRequest,
    announcement,
    bare_name,
    has_capability,
    input_schema,
    output_schema,
    parse_replies,
    parse_reply,
    parse_request,
)

ROWS = CASES / "capability.jsonl"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
# Objects that look like ours and are not: the keys are known, the values are anything.
LIKE_OURS = st.dictionaries(
    st.sampled_from(
        [
            "valid",
            "errors",
            "warnings",
            "suggestions",
            "messages",
            "corrections",
            "results",
            "content",
            "structuredContent",
            "isError",
            "success",
            "result",
            "text",
            "type",
            "path",
            "message",
            "severity",
            "value",
            "supported",
            "method",
            "levels",
            "caching",
            "ttl",
            "maxBatchSize",
            "tool",
            "arguments",
            "calls",
        ]
    ),
    JSON | st.dictionaries(st.sampled_from(["valid", "message", "severity", "text", "path", "value"]), JSON),
)


def announced(options: object) -> dict[str, object]:
    return {"experimental": {"toolValidation": options}}


def read(options: dict[str, object]) -> Announcement:
    found = announcement(announced({"supported": True, **options}))
    assert found is not None
    return found


def reply(result: object) -> ValidationReply:
    found = parse_reply(result)
    assert isinstance(found, ValidationReply), found
    return found


def refused(result: object) -> str:
    found = parse_reply(result)
    assert isinstance(found, str), found
    return found


def asked(arguments: object, max_batch_size: int | None = 1) -> ValidationRequest:
    found = parse_request(arguments, max_batch_size=max_batch_size)
    assert isinstance(found, ValidationRequest), found
    return found


def text(words: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}]}


# Announcements


def test_supported_alone_is_enough() -> None:
    assert read({}) == Announcement(method="validate", version="1.0")


@pytest.mark.parametrize(
    "options",
    [True, "yes", {}, {"supported": "true"}, {"supported": 1}, {"supported": False}, None, [], {"method": "validate"}],
)
def test_nothing_but_supported_true_is_an_announcement(options: object) -> None:
    assert announcement(announced(options)) is None


@pytest.mark.parametrize(
    "capabilities", [None, True, 3, "x", [], {}, {"experimental": None}, {"experimental": [1]}, {"experimental": {}}]
)
def test_junk_announces_nothing(capabilities: object) -> None:
    assert announcement(capabilities) is None


def test_the_extension_announces_like_the_experimental_capability() -> None:
    assert announcement({"extensions": {EXTENSION_ID: {"supported": True, "method": "check"}}}) == Announcement(
        method="check"
    )


def test_the_experimental_capability_goes_first_if_it_is_one() -> None:
    extension = {"extensions": {EXTENSION_ID: {"supported": True, "method": "b"}}}
    first = announcement({**extension, **announced({"supported": True, "method": "a"})})
    second = announcement({**extension, **announced(True)})
    assert first is not None
    assert second is not None
    assert (first.method, second.method) == ("a", "b")


def test_every_option_is_read() -> None:
    options: dict[str, object] = {
        "supported": True, "method": "check_it", "version": "1.1", "async": True, "streaming": True, "contextAware": True, "cacheable": True,
        "levels": {"syntax": True, "semantic": False, "runtime": True, "security": False},
        "batchValidation": True, "maxBatchSize": 10,
        "caching": {"enabled": True, "ttl": 3600, "invalidateOn": ["resource_change", "tool_update"]},
    }  # fmt: skip
    found = read(options)
    assert found == Announcement(
        method="check_it", version="1.1", levels=("syntax", "runtime"), asynchronous=True, streaming=True, context_aware=True, cacheable=True,
        caching=Caching(enabled=True, ttl=3600, invalidate_on=("resource_change", "tool_update")), batch_validation=True, max_batch_size=10,
    )  # fmt: skip
    assert found.to_dict() == options
    assert announcement(announced(found.to_dict())) == found


@pytest.mark.parametrize(
    ("options", "batch_limit"),
    [
        ({}, 1),
        ({"maxBatchSize": 5}, 1),
        ({"batchValidation": True}, None),
        ({"batchValidation": True, "maxBatchSize": 5}, 5),
        ({"batchValidation": True, "maxBatchSize": 0}, 1),
        ({"batchValidation": True, "maxBatchSize": "5"}, 1),
    ],
)
def test_a_batch_is_as_large_as_the_server_allows(options: dict[str, object], batch_limit: int | None) -> None:
    assert read(options).batch_limit == batch_limit


@pytest.mark.parametrize(
    ("options", "may_cache"),
    [
        ({}, False),
        ({"cacheable": True}, True),
        ({"caching": {"enabled": True}}, True),
        ({"cacheable": True, "caching": {"enabled": False}}, False),
        ({"caching": {"enabled": True, "ttl": "long"}}, False),
        ({"caching": {"enabled": True, "ttl": -1}}, False),
    ],
)
def test_replies_are_kept_only_if_it_is_known_for_how_long(options: dict[str, object], may_cache: bool) -> None:  # noqa: FBT001
    assert read(options).may_cache is may_cache


def test_an_option_of_another_shape_has_its_default_and_is_reported() -> None:
    found = read({"method": 5, "version": "", "async": "yes", "levels": 3, "caching": True})
    assert found.method == "validate"
    assert found.problems == (
        "toolValidation.method is not a text.",
        "toolValidation.version is not a text.",
        "toolValidation.levels is not an object of booleans.",
        "toolValidation.async is not true or false.",
        "toolValidation.caching is not an object.",
    )


def test_the_sdks_capabilities_are_read_as_they_are() -> None:
    capabilities = ServerCapabilities.model_validate(announced({"supported": True}))
    assert announcement(capabilities) == Announcement()
    assert has_capability(capabilities, "experimental.toolValidation")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tools", True),
        ("tools.listChanged", False),
        ("experimental", True),
        ("experimental.toolValidation.supported.x", False),
        ("", False),
        (".", False),
        ("extensions.dev.toolvet/tool-validation", False),
        ("extensions.com.example/x.on", True),
        ("extensions.com.example/x", True),
    ],
)
def test_a_path_leads_to_what_is_announced(path: str, expected: bool) -> None:  # noqa: FBT001
    capabilities = {
        "tools": {"listChanged": False},
        "experimental": {"toolValidation": {}},
        "extensions": {EXTENSION_ID: {}, "com.example/x": {"on": True}},
    }
    assert has_capability(capabilities, path) is expected


@pytest.mark.labelled
def test_has_capability_answers_as_the_cases_say() -> None:
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    cases = [row for row in rows if row["kind"] == "has_capability"]
    assert cases
    wrong = [
        row["id"]
        for row in cases
        if has_capability(row["input"]["capabilities"], row["input"]["path"]) is not row["target"]["result"]
    ]
    assert not wrong


# Requests


@pytest.mark.parametrize(("name", "bare"), [("book", "book"), ("srv:book", "book"), ("a:b:c", "b:c"), ("srv:", "srv:")])
def test_the_prefix_of_the_server_is_stripped(name: str, bare: str) -> None:
    assert bare_name(name) == bare


@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_arguments_have_an_alias(key: str) -> None:
    assert asked({"tool": "t", key: {"a": 1}}).calls == (ValidationCall("t", {"a": 1}),)


def test_a_request_survives_its_own_form() -> None:
    for form in (
        {"tool": "t", "arguments": {}, "levels": ["syntax", "security"], "context": {"user": 7}},
        {"tool": "t", "arguments": {}, "calls": [{"tool": "u", "arguments": [1]}]},
        {"tool": "t", "arguments": {}, "calls": []},
    ):
        assert asked(form, max_batch_size=None).to_dict() == form


def test_a_batch_may_have_all_its_calls_in_calls() -> None:
    found = asked({"calls": [{"tool": "t", "arguments": {}}, {"tool": "u", "arguments": [1]}]}, max_batch_size=2)
    assert found.is_batch
    assert [call.tool for call in found.calls] == ["t", "u"]


@pytest.mark.parametrize(
    ("arguments", "max_batch_size", "part"),
    [
        (None, 1, "'tool' is missing"),
        ({"tool": 3}, 1, "'tool' is missing"),
        ({"tool": "t"}, 1, "'arguments' is missing"),
        ({"calls": [{"tool": "t", "arguments": {}}]}, 1, "one call at a time"),
        ({"calls": []}, 5, "must be a list of calls"),
        ({"calls": {}, "tool": "t", "arguments": {}}, 5, "must be a list of calls"),
        ({"tool": "t", "arguments": {}, "calls": [{"tool": "t", "arguments": {}}] * 5}, 5, "6 calls in one batch"),
        ({"calls": [{"tool": "t", "arguments": {}}] * 6}, 5, "6 calls in one batch, but at most 5 are allowed"),
        ({"calls": [{"tool": "t", "arguments": {}}, 3]}, 5, "calls[1]: 'tool' is missing"),
        ({"calls": [{"tool": "t", "arguments": {}}], "tool": "t"}, 5, "'arguments' is missing"),
        ({"tool": "t", "arguments": {}, "levels": ["deep"]}, 1, "syntax, semantic, runtime, security"),
        ({"tool": "t", "arguments": {}, "levels": "syntax"}, 1, "syntax, semantic, runtime, security"),
        ({"tool": "t", "arguments": {}, "levels": ["syntax", 3]}, 1, "syntax, semantic, runtime, security"),
        ({"tool": "t", "arguments": {}, "context": "me"}, 1, "'context' must be an object"),
    ],
)
def test_a_request_that_cannot_be_understood_is_answered_with_how_to_ask(
    arguments: object, max_batch_size: int, part: str
) -> None:
    found = parse_request(arguments, max_batch_size=max_batch_size)
    assert isinstance(found, str)
    assert part in found


@pytest.mark.parametrize("size", [1, 10, None])
def test_the_schemas_are_schemas_that_every_model_api_takes(size: int | None) -> None:
    for schema in (input_schema(max_batch_size=size), output_schema(max_batch_size=size)):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & schema.keys()


@pytest.mark.parametrize("size", [1, 10, None])
def test_every_request_has_what_the_specification_requires(size: int | None) -> None:
    schema = input_schema(max_batch_size=size)
    assert schema["required"] == ["tool", "arguments"]
    call = ValidationCall("t", {})
    request = ValidationRequest(calls=(call,) * (size or 10), is_batch=size != 1)
    jsonschema.validate(request.to_dict(), schema)


def test_without_batches_the_request_is_the_documented_one() -> None:
    schema = input_schema()
    assert "calls" not in cast("dict[str, object]", schema["properties"])


# Replies


DOCUMENTED = {"valid": False, "errors": ["Path not writable: /x"], "warnings": ["w"], "suggestions": ["s"]}
WRITTEN = json.dumps(DOCUMENTED)


@pytest.mark.parametrize(
    "result",
    [
        DOCUMENTED,
        WRITTEN,
        text(WRITTEN),
        text(f"  {WRITTEN}\n"),
        text(f"```json\n{WRITTEN}\n```"),
        text(f"Here it is:\n```\n{WRITTEN}\n```\nThat is all."),
        {"content": WRITTEN},
        {"content": DOCUMENTED},
        {"content": [{"type": "text", "text": "Checked."}, {"type": "text", "text": WRITTEN}]},
        {"content": [{"type": "text", "text": WRITTEN[:20]}, {"type": "text", "text": WRITTEN[20:]}]},
        [{"type": "text", "text": WRITTEN}],
        {"content": [], "structuredContent": DOCUMENTED},
        {"content": [{"type": "text", "text": "not JSON"}], "structuredContent": DOCUMENTED},
        {"structuredContent": {"result": WRITTEN}},
        {"structuredContent": {"result": DOCUMENTED}},
        {"success": True, "content": WRITTEN},
        {"success": True, "content": DOCUMENTED},
        {"success": False, "content": WRITTEN},
        {**text(WRITTEN), "isError": True},
        CallToolResult(content=[TextContent(type="text", text=WRITTEN)]),
        CallToolResult(content=[], structured_content=DOCUMENTED),
        SimpleNamespace(content=[TextContent(type="text", text=WRITTEN)], structured_content=None, is_error=False),
    ],
)  # fmt: skip
def test_every_documented_form_is_read(result: object) -> None:
    found = reply(result)
    assert (found.valid, found.errors, found.warnings, found.suggestions) == (
        False,
        ("Path not writable: /x",),
        ("w",),
        ("s",),
    )


@pytest.mark.parametrize(
    "body", [{"valid": True}, {"valid": True, "errors": []}, {"valid": True, "errors": None, "warnings": None}]
)
def test_lists_that_are_empty_may_be_left_out(body: dict[str, object]) -> None:
    assert reply(body) == ValidationReply(valid=True)


@pytest.mark.parametrize(
    "body",
    [
        {"valid": True, "errors": ["no"]},
        {"valid": True, "messages": [{"message": "no", "severity": "error"}]},
        {"valid": True, "errors": [{"path": "a", "message": "no"}]},
    ],
)
def test_valid_beside_an_error_is_invalid(body: dict[str, object]) -> None:
    found = reply(body)
    assert not found.valid
    assert found.errors == ("no",)


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (None, "not with a tool result"),
        (3, "not with a tool result"),
        ("", "no JSON reply"),
        ("all fine", "no JSON reply: all fine"),
        ({}, "neither structuredContent nor text"),
        ({"content": []}, "neither structuredContent nor text"),
        ({"content": [{"type": "image", "data": "x"}]}, "neither structuredContent nor text"),
        (text("Path bad"), "no JSON reply: Path bad"),
        (text("[1]"), "no JSON reply"),
        (text("{" * 5000), "no JSON reply"),
        (text('{"ok": true}'), "without 'valid'"),
        ({"structuredContent": {"errors": []}}, "without 'valid'"),
        ({"valid": "true"}, "'valid' is \"true\"; it must be"),
        ({"valid": 1}, "'valid' is 1"),
        ({"valid": None}, "'valid' is null"),
        ({"valid": True, "errors": "none"}, "'errors' that is not a list: none"),
        ({"valid": True, "errors": [3]}, "'errors' with something that is not a sentence: 3"),
        ({"valid": False, "warnings": {}}, "'warnings' that is not a list"),
        ({"valid": True, "messages": [{"message": "x", "severity": "fatal"}]}, "'messages' with something that is not a message"),
        ({"valid": True, "messages": {}}, "'messages' that is not a list"),
        ({**text("boom"), "isError": True}, "failed: boom"),
        ({**text('{"valid": true}'), "isError": True}, "failed"),
        ({"success": False, "content": ""}, "failed: no text"),
        ({"success": False, "error": "disk full"}, "failed: disk full"),
        (text('```json\n{"valid": true}\n```\n```json\n{"valid": false}\n```'), "no JSON reply"),
    ],
)  # fmt: skip
def test_what_is_not_documented_is_a_sentence_and_never_valid(result: object, part: str) -> None:
    assert part in refused(result)


def test_the_reply_maps_one_to_one_onto_a_validation_interceptor() -> None:
    found = ValidationReply(
        valid=False,
        messages=(Message("too late", "error", "/when"), Message("busy day", "warn"), Message("try Monday", "info")),
        corrections=(Correction("/when", "2030-01-01"),),
    )
    proposal = found.to_interceptor_result()
    assert proposal == {
        "valid": False,
        "severity": "error",
        "messages": [
            {"path": "/when", "message": "too late", "severity": "error"},
            {"message": "busy day", "severity": "warn"},
            {"message": "try Monday", "severity": "info"},
        ],
        "suggestions": [{"path": "/when", "value": "2030-01-01"}],
    }
    assert reply(proposal) == found
    assert reply(found.to_dict()) == found
    jsonschema.validate(found.to_dict(), output_schema())


@pytest.mark.parametrize(
    ("found", "severity"),
    [
        (ValidationReply(valid=True), "info"),
        (ValidationReply(valid=False), "error"),
        (ValidationReply(valid=True, messages=(Message("a", "info"), Message("b", "warn"))), "warn"),
    ],
)
def test_the_severity_is_that_of_the_gravest_message(found: ValidationReply, severity: str) -> None:
    assert found.severity == severity


def test_a_batch_has_a_reply_for_every_call() -> None:
    results = {"valid": False, "results": [{"valid": True}, {"valid": "no"}, 3]}
    found = parse_replies(text(json.dumps(results)), 3)
    assert found == (
        ValidationReply(valid=True),
        "The validator sent a reply whose 'valid' is \"no\"; it must be true or false.",
        "A result of the batch is not an object.",
    )
    assert parse_replies(results, 2) == "The reply to a batch of 2 calls has 3 results."
    assert parse_replies({"valid": True}, 2) == "The reply to a batch has no list 'results'."
    assert parse_replies({"content": [], "isError": True}, 2) == "The validator itself failed: no text"


class Hostile:
    """An object that raises when it is looked at."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


def test_an_object_that_raises_when_looked_at_is_a_sentence() -> None:
    assert refused(Hostile()) == "The validator's result could not be read (RuntimeError)."
    assert announcement(Hostile()) is None
    assert not has_capability(Hostile(), "tools")


@examples(100)
@given(JSON | LIKE_OURS | st.builds(lambda body: text(json.dumps(body)), LIKE_OURS))
def test_nothing_raises_and_only_true_without_errors_is_valid(value: object) -> None:
    found = parse_reply(value)
    assert isinstance(found, str) or not (found.valid and found.errors)
    parse_replies(value, 1)
    parse_request(value, max_batch_size=2)
    announcement(value)
    announcement(announced(value))
    has_capability(value, "experimental.toolValidation")
    has_capability(announced(value), "experimental.toolValidation")
