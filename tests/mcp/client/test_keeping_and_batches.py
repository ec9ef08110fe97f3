"""Verdicts are kept as long as the server allows, and several are asked for at once where it allows that."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.mcp.client.recording import PATH, VALID, Recorded, announced, text

from toolvet.core.checks.capability.reply import MOST_ENTRIES
from toolvet.mcp.client import NativeValidationError, Validation, Validator

GOOD = {"path": "a.txt"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def asked(server: Recorded, capabilities: Mapping[str, object], calls: Sequence[Any], **options: Any) -> int:
    """How often the server was asked, when these calls are validated one after the other."""

    async def run() -> None:
        validator = Validator(server, capabilities=capabilities, tools=[PATH], **options)
        for call in calls:
            if callable(call):
                call(validator)
            else:
                assert (await validator.validate("read", call)).method == "native"

    asyncio.run(run())
    return len(server.calls)


CACHED = announced(caching={"enabled": True, "ttl": 60, "invalidateOn": ["resource_change"]})


@pytest.mark.parametrize(
    ("capabilities", "times"),
    [
        (announced(), 2),
        (announced(cacheable=True), 1),
        (CACHED, 1),
        (announced(cacheable=True, caching={"enabled": False}), 2),
        (announced(caching={"enabled": True, "ttl": "soon"}), 2),
        (announced(caching={"enabled": True, "ttl": 0}), 2),
    ],
    ids=["not announced", "cacheable", "caching", "switched off", "unreadable ttl", "no time at all"],
)
def test_a_verdict_is_kept_only_where_the_server_allows_it(capabilities: Mapping[str, object], times: int) -> None:
    assert asked(Recorded(text(VALID)), capabilities, [GOOD, GOOD]) == times


def test_a_verdict_holds_as_long_as_its_ttl() -> None:
    clock = Clock()

    def later(seconds: float) -> Any:
        return lambda _: setattr(clock, "now", clock.now + seconds)

    assert asked(Recorded(text(VALID)), CACHED, [GOOD, later(59.9), GOOD], clock=clock) == 1
    assert asked(Recorded(text(VALID)), CACHED, [GOOD, later(60), GOOD], clock=clock) == 2


@pytest.mark.parametrize(
    ("event", "times"),
    [
        ("resource_change", 2),
        (None, 2),
        ("tools/list_changed", 2),
        ("notifications/tools/list_changed", 2),
        ("tool_update", 2),
        ("something_else", 1),
    ],
)
def test_events_end_what_is_kept(event: str | None, times: int) -> None:
    assert asked(Recorded(text(VALID)), CACHED, [GOOD, lambda validator: validator.invalidate(event), GOOD]) == times


@pytest.mark.parametrize(
    "other",
    [{"path": "b.txt"}, {"path": "a.txt", "lines": 1}, {"path": "a.txt", "x": None}, {"path": "a.txt", "x": math.nan}],
    ids=repr,
)
def test_other_arguments_are_another_question(other: object) -> None:
    assert asked(Recorded(text(VALID)), CACHED, [GOOD, other, {**GOOD, "x": 1.5}]) == 3


def test_the_order_of_arguments_makes_no_other_question() -> None:
    assert asked(Recorded(text(VALID)), CACHED, [{"path": "a", "lines": 1}, {"lines": 1, "path": "a"}]) == 1


def test_a_failure_is_not_kept() -> None:
    async def run() -> None:
        answers = iter([RuntimeError("busy"), text(VALID)])
        server = Recorded(lambda _: next(answers))
        validator = Validator(server, capabilities=CACHED, tools=[PATH])
        assert [(await validator.validate("read", GOOD)).method for _ in range(3)] == ["schema", "native", "native"]
        assert len(server.calls) == 2

    asyncio.run(run())


def test_what_was_asked_before_a_change_is_not_kept_after_it() -> None:
    async def run() -> None:
        asked_once, answer = asyncio.Event(), asyncio.Event()
        calls: list[object] = []

        async def slow(name: str, arguments: Mapping[str, object]) -> object:
            del name
            calls.append(arguments)
            asked_once.set()
            await answer.wait()
            return text(VALID)

        validator = Validator(slow, capabilities=CACHED, tools=[PATH])
        first = asyncio.create_task(validator.validate("read", GOOD))
        await asked_once.wait()
        validator.invalidate("resource_change")
        answer.set()
        await first
        await validator.validate("read", GOOD)
        assert len(calls) == 2

    asyncio.run(run())


def test_memory_has_a_limit() -> None:
    questions = [{"path": str(number)} for number in range(MOST_ENTRIES + 1)]
    again = [questions[-1], questions[0]]
    assert asked(Recorded(text(VALID)), CACHED, [*questions, *again]) == len(questions) + 1


def test_many_tasks_may_ask_one_validator() -> None:
    async def run() -> None:
        def answer(arguments: Mapping[str, Any]) -> object:
            path = arguments["arguments"]["path"]
            return text({"valid": path != "7", "errors": []})

        validator = Validator(Recorded(answer), capabilities=CACHED, tools=[PATH])
        found = await asyncio.gather(*(validator.validate("read", {"path": str(n % 10)}) for n in range(100)))
        assert [number for number, one in enumerate(found) if not one.valid] == list(range(7, 100, 10))

    asyncio.run(run())


def together(server: Recorded, capabilities: Mapping[str, object], count: int, **options: Any) -> Sequence[Validation]:
    validator = Validator(server, capabilities=capabilities, tools=[PATH], **options)
    return asyncio.run(validator.validate_many([("read", {"path": str(number)}) for number in range(count)]))


def batch(arguments: Mapping[str, Any]) -> object:
    """Even paths are valid."""

    def one(call: Mapping[str, Any]) -> object:
        return {**VALID, "valid": int(call["arguments"]["path"]) % 2 == 0}

    first = one(arguments)
    return text({"results": [first, *map(one, arguments["calls"])]} if "calls" in arguments else first)


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"batchValidation": True, "maxBatchSize": 10}, [5]),
        ({"batchValidation": True, "maxBatchSize": 2}, [2, 2, 1]),
        ({"batchValidation": True}, [5]),
        ({"batchValidation": True, "maxBatchSize": 1}, [1] * 5),
        ({"maxBatchSize": 10}, [1] * 5),
        ({}, [1] * 5),
    ],
    ids=["one batch", "three batches", "no limit", "limit of one", "no batches, but a limit", "nothing announced"],
)
def test_calls_go_out_in_batches_as_large_as_announced(options: Mapping[str, object], sizes: list[int]) -> None:
    server = Recorded(batch)
    found = together(server, announced(**options), 5)
    assert [1 + len(arguments.get("calls", [])) for _, arguments in server.calls] == sizes
    assert [one.valid for one in found] == [True, False, True, False, True]
    assert {one.method for one in found} == {"native"}


def test_the_log_says_why_only_the_schema_was_checked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "toolvet.mcp.client")
    together(Recorded(batch), {}, 1)
    assert [record.getMessage() for record in caplog.records] == [
        "'read' was checked by its schema only: the server announces no toolValidation"
    ]
    caplog.clear()
    together(Recorded(batch), announced(), 1)
    assert caplog.records == []


def test_a_single_call_is_not_a_batch() -> None:
    server = Recorded(batch)
    together(server, announced(batchValidation=True), 1)
    assert "calls" not in server.calls[0][1]


def test_a_batch_asks_only_for_what_is_not_known_yet() -> None:
    async def run() -> None:
        server = Recorded(batch)
        capabilities = announced(batchValidation=True, cacheable=True)
        validator = Validator(server, capabilities=capabilities, tools=[PATH])
        calls = [("read", {"path": str(number)}) for number in range(4)]
        await validator.validate_many(calls[:2])
        found = await validator.validate_many([*calls, ("read", None)])
        asked = server.calls[1][1]
        assert [call["arguments"]["path"] for call in (asked, *asked["calls"])] == ["2", "3"]
        assert [one.valid for one in found] == [True, False, True, False, False]
        assert found[-1].method == "schema"

    asyncio.run(run())


@pytest.mark.parametrize(
    "refusal",
    [
        RuntimeError("no batches today"),
        text({"results": [VALID]}),
        text({"valid": True}),
        {**text("no batches today"), "isError": True},
    ],
    ids=["raises", "too few results", "one verdict for all", "isError"],
)
def test_a_batch_that_fails_is_asked_call_by_call_and_reported(refusal: object) -> None:
    server = Recorded(lambda arguments: refusal if "calls" in arguments else batch(arguments))
    found = together(server, announced(batchValidation=True), 3)
    assert [one.valid for one in found] == [True, False, True]
    assert {one.method for one in found} == {"native"}
    assert all("batches, but one failed" in one.warnings[0] for one in found)
    assert len(server.calls) == 4


def test_one_unreadable_result_of_a_batch_is_asked_again_alone() -> None:
    def answer(arguments: Mapping[str, Any]) -> object:
        if "calls" not in arguments:
            return batch(arguments)
        return text({"results": [VALID, {"ok": 1}, VALID]})

    server = Recorded(answer)
    found = together(server, announced(batchValidation=True), 3)
    assert [one.valid for one in found] == [True, False, True]
    assert [bool(one.warnings) for one in found] == [False, True, False]
    assert len(server.calls) == 2


@pytest.mark.parametrize("options", [{}, {"batchValidation": True, "maxBatchSize": 2}], ids=["alone", "in batches"])
def test_after_a_request_without_any_answer_the_rest_is_not_sent(options: Mapping[str, object]) -> None:
    calls: list[object] = []

    async def never(name: str, arguments: Mapping[str, object]) -> object:
        del name
        calls.append(arguments)
        await asyncio.Event().wait()
        return None

    validator = Validator(never, capabilities=announced(**options), tools=[PATH], timeout=0.01)
    found = asyncio.run(validator.validate_many([("read", {"path": str(number)}) for number in range(50)]))
    assert len(calls) == 1
    assert {(one.valid, one.method) for one in found} == {(True, "schema")}
    assert all("did not answer within" in (one.native_error or "") for one in found)


def test_who_requires_the_servers_verdict_requires_it_for_all() -> None:
    def answer(arguments: Mapping[str, Any]) -> object:
        return batch(arguments) if arguments["arguments"]["path"] != "2" else RuntimeError("not this one")

    with pytest.raises(NativeValidationError, match="not this one"):
        together(Recorded(answer), announced(), 3, require_native=True)


def test_no_calls_are_not_a_question() -> None:
    server = Recorded(batch)
    assert together(server, announced(batchValidation=True), 0) == ()
    assert server.calls == []
