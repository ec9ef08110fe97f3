"""Decisions of a session that no conversation comes by, each with its whole result."""

import pytest
from tests.proxy.session.test_room import LONG
from tests.proxy.session.test_state_by_state import call_of

from toolvet.core.causes import State
from toolvet.core.checks.arguments import check_arguments
from toolvet.core.checks.result import Classification, ResultCheck, ResultVerdict
from toolvet.core.envelope.archive import ContentArchive
from toolvet.proxy.session import Catalogue, Policies, Policy, ProxySettings, Session
from toolvet.proxy.session.catalogue import ResultCache
from toolvet.proxy.session.judge import end_call, stopped_verdict
from toolvet.proxy.session.own_tools import answer_own_tool, validation_reply
from toolvet.proxy.session.pending import AmbiguousAnswers
from toolvet.proxy.session.repeats import Breaker
from toolvet.proxy.session.retrieval import _found
from toolvet.proxy.session.vet import error_result


def test_the_policy_of_nobody() -> None:
    assert (
        Policies().of("t")
        == Policy()
        == Policy(
            arguments="enforce",
            repair="suggest",
            repair_from="high",
            results="annotate",
            output_schema="warn",
            verdict="on_request",
            server_validation="off",
            break_after=5,
            break_repeats=5,
            max_arguments_bytes=16_777_216,
            max_result_bytes=67_108_864,
            max_judged_bytes=1_048_576,
            max_depth=128,
            fit=0,
            record="verdicts",
            redact=(),
        )
    )
    assert ProxySettings().max_message_bytes == 67_108_864


def test_a_reading_that_begins_anew_forgets_what_was_read_before() -> None:
    known = Catalogue()
    known.learn(None, {"tools": [{"name": "a"}], "nextCursor": "2"})
    known.learn(None, {"tools": [{"name": "b"}]})
    assert (sorted(known.tools), known.is_complete) == (["b"], True)


@pytest.mark.parametrize(("limit", "told"), [(-1, 0), (0, 0), (1, 2), (2, 2), (3, 0)])
def test_calls_are_refused_from_their_limit_on(limit: int, told: int) -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker.count_name("t")
        breaker.count_failure("t", {"a": 1})
    assert breaker.check_name("t", limit) == told
    assert breaker.check("t", {"a": 1}, limit) == told
    assert (breaker.check_name("u", limit), breaker.check("t", {"a": 2}, limit)) == (0, 0)


def test_an_error_has_members_of_ours_where_there_are_any() -> None:
    plain = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert error_result("no") == error_result("no", {}) == plain
    assert error_result("no", {"a": 1}) == {**plain, "_meta": {"a": 1}}


def test_a_place_behind_one_without_room_is_not_shown() -> None:
    # The last place has nothing behind it, and would have had room.
    first, last = len(f"at 22999: {'.' * 300}x{'.' * 300}"), len(f"at 24999: {'.' * 300}x")
    shown = _found(LONG, "x", 22, first + last)
    assert [len(each) for each in shown[:-1]] == [first]
    assert shown[-1].startswith('[1 of 25 places; for the next: "offset": 23. ')


@pytest.mark.parametrize(("answers", "left"), [(1, None), (2, 2)])
def test_one_of_several_answers_that_cannot_be_told_apart_ends_nothing(answers: int, left: int | None) -> None:
    session = Session(Policies())
    session._pending[1] = AmbiguousAnswers(answers)
    assert session.unread.end_answer(1, 5) == []
    held = session._pending.get(1)
    assert (held.answers if isinstance(held, AmbiguousAnswers) else None) == left


@pytest.mark.parametrize(
    ("arguments", "valid", "said"),
    [({}, True, []), ([1], False, ["The arguments of 't' must be an object, not array."])],
)
def test_what_is_no_object_is_not_valid_even_where_nothing_is_checked(
    arguments: object, said: list[str], *, valid: bool
) -> None:
    report = check_arguments({"name": "t"}, arguments, unchecked="pass")
    assert report.valid
    reply = validation_reply("t", report, arguments)
    messages = [each.message for each in reply.messages]
    assert (reply.valid, messages[: len(said)], reply.corrections) == (valid, said, ())


@pytest.mark.parametrize(("tool", "ends"), [("retrieve_result", "keeps what it shortened"), ("validate", "this tool")])
def test_an_answer_of_ours_is_judged_as_a_good_one(tool: str, ends: str) -> None:
    catalogue = Catalogue()
    catalogue.result_cache = ResultCache(ContentArchive(max_bytes=1 << 20))
    id_ = catalogue.result_cache.keep("the whole text")
    given = {"id": id_} if tool == "retrieve_result" else {"tool": "t", "arguments": {}}
    reply = answer_own_tool(call_of(tool, arguments=given), catalogue, ResultCheck())
    verdict = reply.note.verdict
    assert verdict is not None
    assert verdict == ResultVerdict(
        is_valid=True,
        is_error=False,
        classification=Classification.FULLY_WORKING,
        confidence=100,
        evidence=verdict.evidence,
    )
    (words,) = verdict.evidence
    assert words.startswith("Answered by toolvet, which ")
    assert words.endswith(ends)
    assert (reply.note.outcome, reply.note.size) == (
        "retrieved" if tool == "retrieve_result" else "validated",
        len(reply.data),
    )


@pytest.mark.parametrize(
    ("state", "good", "shown"),
    [(State.NOT_FOUND, True, ("fully_working", 100.0)), (State.INTERNAL, False, ("error", 0.0))],
)
def test_a_stop_speaks_against_the_tool_where_its_cause_does(
    state: State, shown: tuple[str, float], *, good: bool
) -> None:
    verdict = ResultVerdict(is_valid=not good, is_error=False, classification=Classification.BROKEN, confidence=50)
    stopped = stopped_verdict("repeated", "why", verdict, state)
    assert state.is_business is good
    assert (stopped.is_valid, stopped.is_error, stopped.state) == (good, True, state)
    assert (stopped.classification.value, stopped.confidence) == shown


@pytest.mark.parametrize(("why", "learns"), [("", False), ("of hunter2hunter", True)])
def test_secrets_are_learned_of_a_call_that_is_quoted(why: str, *, learns: bool) -> None:
    call = call_of(arguments={"password": "hunter2hunter"})
    call.why = why
    note = end_call(call, "lost")
    assert (bool(note.mask), note.why) == (learns, why)
    assert note.mask.text(why) == ("of [redacted]" if learns else "")
