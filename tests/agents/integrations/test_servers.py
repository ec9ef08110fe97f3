"""The messages of a server with validation on the wire: both eras, three frameworks, two transports."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal

import pytest

from toolvet.core.checks.capability import EXTENSION_ID, ValidationReply, announcement, parse_replies, parse_reply
from toolvet.core.json_value import members
from toolvet.mcp.transport import Answer, McpSession, RpcError, StdioTarget, Target, open_session

Era = Literal["legacy", "modern"]
ERAS: tuple[Era, ...] = ("legacy", "modern")
pytestmark = pytest.mark.parametrize("era", ERAS)


def ask(target: Target, era: Era, question: Callable[[McpSession], Awaitable[Any]]) -> Any:
    async def asked() -> Any:
        async with open_session(target, era=era) as session:
            return await question(session)

    return asyncio.run(asked())


def call(target: Target, era: Era, tool: str, arguments: object) -> dict[str, Any]:
    reply = ask(target, era, lambda session: session.call_tool(tool, arguments))
    assert isinstance(reply, Answer), reply
    assert isinstance(reply.result, dict)
    assert (reply.result.get("resultType") == "complete") is (era == "modern")
    return reply.result


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"])


def test_the_capability_is_announced_where_the_era_has_a_place_for_it(target: Target, era: Era) -> None:
    capabilities = ask(target, era, lambda session: asyncio.sleep(0, session.capabilities))
    said = capabilities["experimental"]["toolValidation"]
    assert said == {
        "supported": True,
        "method": "validate",
        "version": "1.0",
        "levels": {"syntax": True, "semantic": True, "runtime": True, "security": True},
        "async": True,
        "contextAware": True,
        "cacheable": True,
        "caching": {"enabled": True, "ttl": 60, "invalidateOn": ["timetable_change"]},
        "batchValidation": True,
        "maxBatchSize": 3,
    }
    assert capabilities.get("extensions", {}).get(EXTENSION_ID) == (said if era == "modern" else None)
    found = announcement(capabilities)
    assert found is not None
    assert not found.problems


def test_the_tool_is_listed_once(target: Target, era: Era) -> None:
    listing = ask(target, era, lambda session: session.list_tools())
    names = [tool["name"] for tool in listing.tools]
    assert sorted(set(names) - {"ping_me"}) == ["book_flight", "validate"]
    assert len(names) == len(set(names))
    ours = next(tool for tool in listing.tools if tool["name"] == "validate")
    assert ours["inputSchema"]["properties"]["calls"]["maxItems"] == 2
    assert ours["inputSchema"]["required"] == ["tool", "arguments"]
    assert ours["annotations"]["readOnlyHint"] is True
    assert not listing.problems


def test_a_good_call_reaches_the_tool(target: Target, era: Era) -> None:
    result = call(target, era, "book_flight", {"city": "Athens", "seats": 2})
    assert text_of(result) == "2 to Athens"
    assert not result["isError"]
    assert EXTENSION_ID not in result.get("_meta", {})


def test_a_bad_call_is_answered_with_how_to_fix_it(target: Target, era: Era) -> None:
    result = call(target, era, "book_flight", {"seats": "12"})
    assert result["isError"]
    text = text_of(result)
    assert "Tool 'book_flight' received invalid arguments" in text
    assert "**city**" in text
    assert "**seats**" in text
    assert "pydantic" not in text


def test_a_call_without_arguments_is_checked_too(target: Target, era: Era) -> None:
    assert "**city**" in text_of(call(target, era, "book_flight", None))


def test_what_no_schema_can_say_is_said_by_the_validator(target: Target, era: Era) -> None:
    result = call(target, era, "book_flight", {"city": "Atlantis"})
    assert result["isError"]
    assert "**city**: No airline flies to Atlantis." in text_of(result)
    assert 'Use "Athens".' in text_of(result)
    assert result["_meta"][EXTENSION_ID]["corrections"] == [{"path": "/city", "value": "Athens"}]


@pytest.mark.parametrize(
    ("city", "part"),
    [
        ("Hang", "'city_is_served' did not answer within 0.2 s"),
        ("Raise", "'temper' raised RuntimeError"),
        ("Exit", "'temper' raised SystemExit"),
        ("Nonsense", "'temper' returned an unusable dict"),
    ],
)
def test_a_validator_that_fails_refuses_the_call_and_the_server_lives(
    target: Target, era: Era, city: str, part: str
) -> None:
    async def both(session: McpSession) -> tuple[Any, Any]:
        return await session.call_tool("book_flight", {"city": city}), await session.call_tool(
            "book_flight", {"city": "Oslo"}
        )

    bad, good = ask(target, era, both)
    assert bad.result["isError"]
    assert part in text_of(bad.result)
    assert "hunter2" not in json.dumps(bad.result)
    assert text_of(good.result) == "1 to Oslo"


def test_a_validator_that_may_fail_lets_the_call_through_with_a_warning(target: Target, era: Era) -> None:
    result = call(target, era, "book_flight", {"city": "Warn"})
    assert text_of(result) == "1 to Warn"
    (warning,) = result["_meta"][EXTENSION_ID]["warnings"]
    assert "'audited' raised OSError" in warning


def test_validate_answers_in_the_documented_shape(target: Target, era: Era) -> None:
    good = call(target, era, "validate", {"tool": "agency:book_flight", "arguments": {"city": "Athens"}})
    assert parse_reply(good) == ValidationReply(valid=True)
    assert json.loads(text_of(good)) == good["structuredContent"]
    bad = parse_reply(call(target, era, "validate", {"tool": "book_flight", "parameters": {"city": 3, "seats": 1}}))
    assert isinstance(bad, ValidationReply)
    assert not bad.valid
    assert [message.path for message in bad.messages if message.severity == "error"] == ["/city"]


def test_validate_makes_no_call_and_sees_what_a_call_would_meet(target: Target, era: Era) -> None:
    found = parse_reply(call(target, era, "validate", {"tool": "book_flight", "arguments": {"city": "Atlantis"}}))
    assert isinstance(found, ValidationReply)
    assert found.errors == ("No airline flies to Atlantis.",)
    shallow = {"tool": "book_flight", "arguments": {"city": "Atlantis"}, "levels": ["syntax", "semantic"]}
    assert parse_reply(call(target, era, "validate", shallow)) == ValidationReply(valid=True)


def test_the_context_of_the_client_reaches_the_validators(target: Target, era: Era) -> None:
    question = {"tool": "book_flight", "arguments": {"city": "Rome"}}
    assert parse_reply(call(target, era, "validate", question)) == ValidationReply(valid=True)
    banned = parse_reply(call(target, era, "validate", {**question, "context": {"user": "banned"}}))
    assert isinstance(banned, ValidationReply)
    assert banned.errors == ("This user may not fly to Rome.",)


def test_a_batch_is_answered_in_its_order(target: Target, era: Era) -> None:
    cities = ("Athens", "Atlantis", "Oslo")
    calls = [{"tool": "book_flight", "arguments": {"city": city}} for city in cities]
    result = call(target, era, "validate", {**calls[0], "calls": calls[1:]})
    replies = parse_replies(result, 3)
    assert [reply.valid for reply in replies if isinstance(reply, ValidationReply)] == [True, False, True]
    assert result["structuredContent"]["valid"] is False
    assert result["structuredContent"]["errors"] == ["results[1] book_flight: No airline flies to Atlantis."]


QUESTION = {"tool": "book_flight", "arguments": {"city": "Oslo"}}


def test_a_batch_that_is_too_large_is_refused_as_a_whole(target: Target, era: Era) -> None:
    result = call(target, era, "validate", {**QUESTION, "calls": [QUESTION] * 3})
    assert result["isError"]
    assert text_of(result) == "4 calls in one batch, but at most 3 are allowed: send them in several batches."
    assert "structuredContent" not in result


def test_a_question_about_no_tool_is_answered_with_the_nearest(target: Target, era: Era) -> None:
    found = parse_reply(call(target, era, "validate", {"tool": "book_fligth", "arguments": {}}))
    assert isinstance(found, ValidationReply)
    assert found.errors == ("There is no tool 'book_fligth'. Did you mean 'book_flight'?",)


def test_over_pipes_it_is_the_same_server(program: StdioTarget, era: Era) -> None:
    async def conversation(session: McpSession) -> list[Any]:
        bad = [{"city": "Hang"}, {"city": "Exit"}, {"seats": 1}]
        replies = [await session.call_tool("book_flight", arguments) for arguments in (*bad, {"city": "Oslo"})]
        assert announcement(session.capabilities) is not None
        assert "validate" in {members(tool)["name"] for tool in (await session.list_tools()).tools}
        reply = await session.call_tool("validate", {"tool": "book_flight", "arguments": {"city": "Atlantis"}})
        assert isinstance(reply, Answer)
        found = parse_reply(reply.result)
        assert isinstance(found, ValidationReply)
        assert not found.valid
        assert not session.anomalies
        return [reply.result for reply in replies if isinstance(reply, Answer)]

    results = ask(program, era, conversation)
    assert [result["isError"] for result in results] == [True, True, True, False]
    assert "did not answer within" in text_of(results[0])
    assert text_of(results[3]) == "1 to Oslo"


def test_a_malformed_request_stays_a_protocol_error(target: Target, era: Era) -> None:
    for arguments in ([1], "text"):
        reply = ask(target, era, partial(McpSession.call_tool, name="book_flight", arguments=arguments))
        assert isinstance(reply, RpcError)
        assert reply.code == -32602
