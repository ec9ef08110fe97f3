"""`ToolValidation` without a framework: validators of every temper, memory, levels, batches."""

import asyncio
import functools
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import pytest

from toolvet.agents.integrations import Problem, ToolValidation
from toolvet.agents.integrations.validation.answer import answered
from toolvet.agents.integrations.validation.validator import CheckFunction, FailurePolicy
from toolvet.core.checks.capability import LEVELS, Message, ValidationReply
from toolvet.errors import UsageError

TOOL: Mapping[str, object] = {
    "name": "book",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}, "seats": {"type": "integer"}}},
}
PARIS = {"city": "Paris"}


def with_check(check: CheckFunction, on_failure: FailurePolicy = "error", **options: Any) -> ToolValidation:
    validation = ToolValidation(timeout=options.pop("timeout", 5), **options)
    validation.validator("book", on_failure=on_failure)(check)
    return validation


def judged(validation: ToolValidation, arguments: object = PARIS, **options: Any) -> ValidationReply:
    found = asyncio.run(validation.judge(TOOL, arguments, **options))
    assert found.valid is found.reply.valid
    return found.reply


# Return values of a check


@pytest.mark.parametrize(
    ("answer", "errors", "warnings", "suggestions"),
    [
        (None, (), (), ()),
        ([], (), (), ()),
        ("no", ("no",), (), ()),
        (["no", "never"], ("no", "never"), (), ()),
        (("no",), ("no",), (), ()),
        (Problem("no"), ("no",), (), ()),
        ([Problem("late", severity="warn"), Problem("early", severity="info")], (), ("late",), ("early",)),
    ],
)
def test_every_documented_answer_of_a_check_is_understood(
    answer: object, errors: tuple[str, ...], warnings: tuple[str, ...], suggestions: tuple[str, ...]
) -> None:
    def plain(_arguments: object) -> object:
        return answer

    async def patient(_arguments: object) -> object:
        return answer

    for check in (plain, patient, functools.partial(plain), functools.partial(patient)):
        reply = judged(with_check(check))
        assert (reply.errors, reply.warnings, reply.suggestions) == (errors, warnings, suggestions)
        assert reply.valid is not bool(errors)


NONSENSE = [True, False, 0, 3, "", " ", {}, {"valid": True}, object(), [1], [None], Problem(""), Problem(3), iter(())]  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", NONSENSE, ids=[str(number) for number in range(len(NONSENSE))])
def test_an_answer_that_means_nothing_lets_no_call_through(answer: object) -> None:
    reply = judged(with_check(lambda _: answer))
    assert not reply.valid
    assert "returned" in reply.errors[0]


def test_a_severity_that_is_unknown_is_nonsense() -> None:
    assert not judged(with_check(lambda _: Problem("odd", severity="fatal"))).valid  # type: ignore[arg-type]


def cancels_itself(_arguments: object) -> None:
    raise asyncio.CancelledError


async def cancels_itself_later(_arguments: object) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "check",
    [lambda _: 1 / 0, lambda _: exit(1), cancels_itself, cancels_itself_later, lambda _: next(iter(()))],  # noqa: PLR1722
)
def test_a_check_that_raises_refuses_the_call_and_ends_nothing(check: CheckFunction) -> None:
    reply = judged(with_check(check))
    assert not reply.valid
    assert "so these arguments could not be validated" in reply.errors[0]


def test_the_policy_decides_what_a_failure_means() -> None:
    reply = judged(with_check(lambda _: 1 / 0, "warn"))
    assert reply.valid
    assert "raised ZeroDivisionError" in reply.warnings[0]


def test_a_failure_of_one_check_does_not_hide_the_findings_of_another() -> None:
    validation = with_check(lambda _: 1 / 0, "warn")
    validation.validator("book")(lambda _: "full")
    assert judged(validation).errors == ("full",)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Closed until the test is over: what waits for it hangs."""
    found = threading.Event()
    yield found
    found.set()


def test_a_check_that_hangs_does_not_hold_up_the_server(gate: threading.Event) -> None:
    validation = with_check(lambda arguments: gate.wait() if arguments["city"] == "Hang" else None, timeout=30)

    async def both() -> bool:
        hanging = asyncio.ensure_future(validation.judge(TOOL, {"city": "Hang"}))
        await asyncio.sleep(0)
        good = await validation.judge(TOOL, PARIS)
        assert not hanging.done()
        hanging.cancel()
        return good.valid

    assert asyncio.run(both())


def test_a_check_that_runs_out_of_time_is_named(gate: threading.Event) -> None:
    def slow(_arguments: object) -> None:
        gate.wait()

    async def slow_too(_arguments: object) -> None:
        await asyncio.Event().wait()

    for check in (slow, slow_too):
        assert f"'{check.__name__}' did not answer within 0.01 s" in judged(with_check(check, timeout=0.01)).errors[0]


def test_a_check_that_refuses_to_be_cancelled_does_not_hold_up_the_answer() -> None:
    async def stubborn(_arguments: object) -> None:
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
            return

    async def asked() -> bool:
        found = await with_check(stubborn, timeout=0.01).judge(TOOL, PARIS)
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        while rest:
            for task in rest:
                task.cancel()
            _, rest = await asyncio.wait(rest, timeout=0.01)
        return found.valid

    assert not asyncio.run(asked())


def test_threads_that_hang_do_not_pile_up(gate: threading.Event) -> None:
    validation = with_check(lambda _: gate.wait(), timeout=0.01)
    errors = [judged(validation).errors[0] for _ in range(10)]
    assert "did not answer" in errors[7]
    assert "still hangs in 8 earlier calls" in errors[8]
    assert "still hangs in 8 earlier calls" in errors[9]


# Arguments of a check


def test_a_check_cannot_change_the_call() -> None:
    arguments = {"city": "Paris", "list": [1]}

    def edits(given: dict[str, Any]) -> None:
        given["list"].append(2)
        del given["city"]

    assert judged(with_check(edits), arguments).valid
    assert arguments == {"city": "Paris", "list": [1]}


def test_a_check_with_two_parameters_gets_the_context() -> None:
    seen: list[Mapping[str, object]] = []

    def check(_arguments: object, context: Mapping[str, object]) -> None:
        seen.append(context)

    validation = with_check(check)
    judged(validation, context={"user": 7, "purpose": "forged"})
    judged(validation, purpose="call")
    assert seen == [{"user": 7, "tool": "book", "purpose": "validate"}, {"tool": "book", "purpose": "call"}]
    assert validation.announcement.context_aware
    assert not with_check(lambda _: None).announcement.context_aware


def test_checks_run_in_the_context_of_the_request() -> None:
    caller: ContextVar[str] = ContextVar("caller")
    seen: list[str] = []

    async def request() -> None:
        caller.set("Ada")
        await with_check(lambda _: seen.append(caller.get())).judge(TOOL, PARIS)

    asyncio.run(request())
    assert seen == ["Ada"]


def test_checks_may_rely_on_the_schema() -> None:
    seen: list[object] = []
    validation = with_check(seen.append)
    assert not judged(validation, {"city": 3}).valid
    assert not judged(validation, '{"city": "Paris"}').valid
    assert not judged(validation, [1]).valid
    assert seen == []


def test_a_schema_that_cannot_be_used_lets_the_call_pass_with_a_warning() -> None:
    broken = {"name": "book", "inputSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}}
    reply = asyncio.run(ToolValidation().judge(broken, {"a": 1})).reply
    assert reply.valid
    assert "were not checked" in reply.warnings[0]


# Levels


def test_only_the_levels_that_were_asked_for_are_checked() -> None:
    validation = ToolValidation()
    for level in LEVELS:
        validation.validator("book", level=level)(functools.partial(lambda text, _: text, level))
    assert judged(validation).errors == LEVELS
    assert judged(validation, levels=["runtime"]).errors == ("runtime",)
    assert judged(validation, levels=[]).valid
    assert validation.announcement.levels == LEVELS


def test_a_level_that_nothing_checks_is_reported() -> None:
    reply = judged(ToolValidation(), levels=["syntax", "security"])
    assert reply.valid
    assert reply.warnings == ("This server checks nothing at the level 'security'.",)


def test_a_validator_of_a_level_that_is_not_announced_is_refused() -> None:
    with pytest.raises(UsageError, match="'security' is not one of syntax, runtime"):
        ToolValidation(levels=["runtime", "syntax"]).validator("book", level="security")


@pytest.mark.parametrize(
    "options", [{"levels": ["deep"]}, {"max_batch_size": 0}, {"timeout": 0}, {"ttl": -1}, {"method": ""}]
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ToolValidation(**options)


# Memory


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Counter:
    """A check that counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: object = None

    def __call__(self, _arguments: object) -> object:
        self.asked += 1
        return self.answer


def test_without_ttl_and_events_every_call_is_checked_anew() -> None:
    counter = Counter()
    validation = with_check(counter)
    judged(validation)
    judged(validation)
    assert counter.asked == 2
    assert not validation.announcement.may_cache


def test_findings_are_remembered_until_their_time_is_up() -> None:
    clock, counter = Clock(), Counter()
    validation = with_check(counter, ttl=10, clock=clock)
    counter.answer = "full"
    assert judged(validation).errors == ("full",)
    counter.answer = None
    clock.now += 9.9
    assert judged(validation).errors == ("full",)
    clock.now += 0.1
    assert judged(validation).valid
    assert counter.asked == 2


def test_other_arguments_are_another_question() -> None:
    counter = Counter()
    validation = with_check(counter, ttl=10)
    for arguments in ({"city": "Rome"}, {"city": "Rome", "seats": 1}, {"seats": 1, "city": "Rome"}, {"city": "1"}):
        judged(validation, arguments)
    assert counter.asked == 3


def test_another_context_is_another_question_for_who_looks_at_it() -> None:
    seen: list[object] = []
    validation = with_check(lambda _, context: seen.append(context.get("user")), ttl=10)
    for user in (1, 1, 2):
        judged(validation, context={"user": user})
    assert seen == [1, 2]


def test_an_event_ends_what_is_remembered() -> None:
    counter = Counter()
    validation = with_check(counter, invalidate_on=("timetable_change",))
    judged(validation)
    judged(validation)
    assert validation.invalidate("timetable_change") == 1
    judged(validation)
    assert counter.asked == 2
    assert validation.invalidate(tool="another") == 0
    assert validation.invalidate(tool="book") == 1
    with pytest.raises(UsageError, match="timetable_change"):
        validation.invalidate("timetabel_change")


def test_an_answer_from_before_the_event_is_not_kept_after_it() -> None:
    seen: list[str] = []

    async def check(_arguments: object) -> None:
        seen.append("asked")
        if len(seen) == 1:
            validation.invalidate("change")

    validation = with_check(check, invalidate_on=("change",))
    judged(validation)
    judged(validation)
    judged(validation)
    assert len(seen) == 2


def test_a_failure_is_not_remembered() -> None:
    outcomes = iter([ZeroDivisionError, None])

    def check(_arguments: object) -> None:
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome

    validation = with_check(check, ttl=10)
    assert not judged(validation).valid
    assert judged(validation).valid


def test_a_new_validator_is_asked_about_what_was_remembered() -> None:
    validation = with_check(Counter(), ttl=10)
    assert judged(validation).valid
    validation.validator("book")(lambda _: "full")
    assert not judged(validation).valid


def test_the_memory_is_bounded() -> None:
    counter = Counter()
    validation = with_check(counter, ttl=10)

    async def many() -> None:
        for number in range(1100):
            await validation.judge(TOOL, {"seats": number})

    asyncio.run(many())
    assert validation.invalidate() == 1024


# The tool


def ask(validation: ToolValidation, arguments: object) -> dict[str, Any]:
    return asyncio.run(answered(validation, arguments, {"book": TOOL, "odd:name": {**TOOL, "name": "odd:name"}}))


def test_batches_can_be_switched_off() -> None:
    validation = ToolValidation(max_batch_size=1)
    assert "batchValidation" not in validation.announcement.to_dict()
    result = ask(validation, {"calls": [{"tool": "book", "arguments": {}}]})
    assert result["isError"]
    assert "one call at a time" in result["content"][0]["text"]


def test_a_tool_with_a_colon_in_its_name_is_found() -> None:
    for tool in ("odd:name", "server:book", "book"):
        assert ask(ToolValidation(), {"tool": tool, "arguments": PARIS})["structuredContent"]["valid"]


@pytest.mark.parametrize("arguments", [None, {}, [], "x", {"tool": "book"}, {"tool": "book", "arguments": None}])
def test_any_question_is_answered(arguments: object) -> None:
    result = ask(ToolValidation(), arguments)
    assert result["isError"] or not result["structuredContent"]["valid"]


def test_the_checks_of_a_batch_run_side_by_side() -> None:
    waiting = asyncio.Barrier(3)

    async def meet(_arguments: object) -> None:
        await waiting.wait()

    result = ask(with_check(meet), {"calls": [{"tool": "book", "arguments": PARIS}] * 3})
    assert result["structuredContent"]["valid"]


def test_a_custom_method_is_announced_and_listed() -> None:
    validation = ToolValidation(method="check_it", version="2.0")
    assert validation.definition()["name"] == "check_it"
    assert validation.announcement.to_dict()["method"] == "check_it"
    assert validation.announcement.version == "2.0"


def test_a_repair_comes_with_the_reply() -> None:
    reply = judged(ToolValidation(), {"city": "Paris", "seats": "2"})
    assert reply.errors
    assert all(isinstance(message, Message) for message in reply.messages)
    assert {correction.path: correction.value for correction in reply.corrections} == {"/seats": 2}
