"""A value that contains itself, or shares its parts so often that it has no end in JSON, costs little everywhere."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

import toolvet
from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, RefusedCall
from toolvet.core.json_value import is_endless
from toolvet.core.redact import REDACTED, redact
from toolvet.core.tools import view_of
from toolvet.proxy.session import Policies, ProxySettings
from toolvet.server.guardrails.memory import GuardrailMemory
from toolvet.store.records import encode_document

# Windows has no such module.
resource = pytest.importorskip("resource")


def shared_lists() -> object:
    value: object = {"type": "text", "text": "Error: not found"}
    for _ in range(28):
        value = [value, value]
    return value


def shared_objects() -> object:
    value: object = {"type": "object"}
    for _ in range(28):
        value = {"a": value, "b": value}
    return value


def own_item() -> object:
    value: list[object] = []
    value += [value, value]
    return value


def own_member() -> object:
    value: dict[str, object] = {}
    value |= {"a": value, "b": value}
    return value


ENDLESS = [shared_lists, shared_objects, own_item, own_member]
LEVELS = 100_000


def deep_objects() -> object:
    value: object = {"type": "string"}
    for _ in range(LEVELS):
        value = {"type": "object", "properties": {"a": value}}
    return value


def deep_blocks() -> object:
    value: object = {"type": "text", "text": "Error: not found"}
    for _ in range(LEVELS):
        value = [{"type": "resource", "resource": value}]
    return value


DEEP = [deep_objects, deep_blocks]
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
TOOL = {"name": "t", "inputSchema": OBJECT, "outputSchema": OBJECT}
TEXT: dict[str, Any] = {"content": [{"type": "text", "text": "Error: not found"}]}


def report(tool: object, arguments: object) -> object:
    found = toolvet.check_arguments(tool, arguments, unchecked="pass")
    return [found.to_dict(), found.to_text(), found.repair, repr(found), found.unchecked, found.is_checked]


def refused(call: Callable[[], object]) -> object:
    """What documented errors say; any other is a fault."""
    try:
        return call()
    except (toolvet.ToolvetError, TypeError) as error:
        return str(error)


def answer(result: object = None, arguments: object = None, **options: Any) -> object:
    calls = [{"name": "t", "arguments": arguments, "result": result}]
    return toolvet.check_answer("It costs 21 EUR.", **{"calls": calls, **options}).to_dict()


WALKS: dict[str, Callable[[Any], object]] = {
    "redact": redact,
    "view_of": view_of,
    "arguments": lambda value: report(TOOL, value),
    "an argument": lambda value: report(TOOL, {"a": value}),
    "a tool": lambda value: report(value, {}),
    "an inputSchema": lambda value: report({"name": "t", "inputSchema": value}, {"a": 1}),
    "a result": lambda value: toolvet.check_result(TOOL, {}, value).to_dict(),
    "content": lambda value: toolvet.check_result(TOOL, {}, {"content": value}).to_dict(),
    "structured content": lambda value: toolvet.check_result(TOOL, {}, {"structuredContent": value, **TEXT}).to_dict(),
    "the tool of a result": lambda value: toolvet.check_result(value, {}, TEXT).to_dict(),
    "the arguments of a result": lambda value: toolvet.check_result(TOOL, value, {"isError": True, **TEXT}).to_dict(),
    "an outputSchema": lambda value: toolvet.check_result({"name": "t", "outputSchema": value}, {}, TEXT).to_dict(),
    "metadata": lambda value: toolvet.extract_metadata(TOOL, value),
    "an envelope": toolvet.check_envelope,
    "the data of an envelope": lambda value: toolvet.check_envelope({"success": True, "data": {"a": value}}),
    "the data of a response": lambda value: refused(lambda: toolvet.success_response({"a": value})),
    "the details of an error": lambda value: refused(lambda: toolvet.error_response("x", details={"a": value})),
    "data to fit": lambda value: refused(lambda: toolvet.fit_response({"a": [value] * 3}, 200)),
    "a value to repair": lambda value: toolvet.repair(OBJECT, value),
    "the schema of a repair": lambda value: toolvet.repair(value, {"a": 1}),
    "a schema": lambda value: refused(lambda: toolvet.valid_example(value)),
    "a constant": lambda value: refused(lambda: toolvet.valid_example({"const": value})),
    "a schema to break": toolvet.invalid_examples,
    "messages": lambda value: refused(lambda: toolvet.turns(value)),
    "content of messages": lambda value: toolvet.turns(
        [{"role": "user", "content": "hi"}, {"role": "tool", "content": value}, {"role": "user", "content": value}]
    ),
    "a conversation": lambda value: toolvet.check_conversation(
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": value, "tool_calls": value}], tools=[value]
    ).to_dict(),
    "the result of a call": lambda value: answer(result=value),
    "a block of the result of a call": lambda value: answer(
        result={"content": [{"type": "resource", "resource": value}]}
    ),
    "the arguments of a call": lambda value: answer(arguments=value),
    "a call": lambda value: answer(calls=[value]),
    "calls": lambda value: answer(calls=value),
    "a call of the noun": lambda value: answer(calls=[toolvet.ToolCall("t", value, value)]),
    "the calls of a stream": lambda value: toolvet.AnswerStream().finish(calls=[value], question=value),
    "the calls of advice": lambda value: toolvet.regeneration_advice(
        toolvet.check_answer("I cannot help with that."), calls=[value, {"name": "t", "result": value}]
    ),
    "the calls of the best answer": lambda value: toolvet.best_answer(
        ["1", "2"], calls=[{"name": "t", "result": value}]
    ),
    "a business error": lambda value: toolvet.is_business_logic_error(TOOL, value, value),
    "a question": lambda value: answer(question=[{"role": "user", "content": value}, value]),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("walk", WALKS.values(), ids=list(WALKS))
@pytest.mark.parametrize("make", [*ENDLESS, *DEEP])
def test_it_ends_and_needs_no_memory(walk: Callable[[Any], object], make: Callable[[], object]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    walk(make())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (300 * 1024 if sys.platform == "linux" else 300 * 1024 * 1024)


@pytest.mark.parametrize("make", ENDLESS)
def test_an_endless_value_in_a_framework_is_refused_or_judged_as_words(make: Callable[[], object]) -> None:
    assert isinstance(AgentGuard().call("", TOOL, {"a": make()}), RefusedCall)
    for result in (make(), {"content": [{"type": "text", "text": "x"}, make()]}):
        call = AgentGuard(Policies(ProxySettings(results="enforce"))).call("", TOOL, {"a": "x"})
        assert isinstance(call, GuardedCall)
        assert call.returned(result) is None


@pytest.mark.parametrize("half", [[], ["\ud800"]], ids=["", "half"])
@pytest.mark.parametrize("make", ENDLESS)
def test_an_endless_value_is_stored_as_a_document_that_says_so(make: Callable[[], object], half: list[object]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert json.loads(bytes(encode_document([make(), *half])))["unwritable"].startswith("it contains itself")
    # Else it takes all memory, and the encoder ends the process.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024 * 1024 // 1024
    row = {"a": [1, 2]}
    assert json.loads(bytes(encode_document([row] * 1000))) == [row] * 1000


@pytest.mark.parametrize("make", DEEP)
def test_a_deep_value_is_stored_as_a_document(make: Callable[[], object]) -> None:
    assert json.loads(bytes(encode_document(make())))
    GuardrailMemory().calls(("vera", "s"), "t", make(), make(), failed=True)


def test_a_deep_value_with_half_a_character_is_stored_as_a_document() -> None:
    for levels in (100, 400, 600, 900, 2_000):
        value: object = "\ud800"
        for _ in range(levels):
            value = [value]
        assert json.loads(bytes(encode_document(value)))


@pytest.mark.parametrize("make", ENDLESS)
def test_it_is_told_from_a_value_that_repeats_a_row(make: Callable[[], object]) -> None:
    assert is_endless(make())
    row = {"a": [1, 2, 3], "b": {"c": None}}
    assert not is_endless([row] * 50_000)
    assert not is_endless([[1] * 100_000, *({"id": number} for number in range(100_000))])
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert not is_endless(deep)


def test_arguments_without_end_are_refused_with_the_reason() -> None:
    (issue,) = toolvet.check_arguments(TOOL, {"a": shared_lists()}).issues
    assert (issue.keyword, issue.problem) == ("unexplained", "Not a JSON value that can be checked")
    assert not toolvet.check_result(TOOL, {}, shared_lists()).is_valid
    (finding,) = toolvet.check_envelope(own_member())
    assert "contains itself" in finding.message


def test_secrets_of_shared_parts_are_hidden_once_and_stay_shared() -> None:
    part: dict[str, object] = {"password": "hunter2"}
    hidden = redact([part, part, {"token": part}])
    assert hidden == [{"password": REDACTED}, {"password": REDACTED}, {"token": {"password": REDACTED}}]
    assert isinstance(hidden, list)
    assert hidden[0] is hidden[1]
    part["self"] = part
    assert redact(part) == {"password": REDACTED, "self": REDACTED}


def test_a_secret_below_every_honest_depth_is_not_shown() -> None:
    deep: object = {"password": "hunter2"}
    for _ in range(300):
        deep = [deep]
    assert "hunter2" not in repr(redact(deep))
    assert "hunter2" in repr(deep)
