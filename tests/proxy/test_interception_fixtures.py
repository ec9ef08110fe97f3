"""The working group's 24 scenarios, over the bytes of our server, our reader and our chain."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.interception_fixtures import SCENARIOS

from toolvet.agents.interceptors import OwnInterceptors
from toolvet.core.checks import Message, ValidationReply
from toolvet.core.json_value import members
from toolvet.core.redact import redact_text
from toolvet.mcp.interceptors import (
    INVOKE,
    LIST,
    Handler,
    InterceptorServer,
    Invocation,
    MutatorResult,
    Phase,
    read_interceptor,
)
from toolvet.proxy.interception import ChainEntry, InvocationError, run_chain
from toolvet.proxy.session import Policies

GIVEN = os.environ.get("TOOLVET_INTERCEPTOR_FIXTURES")
FIXTURES = [
    *SCENARIOS,
    *(json.loads(file.read_bytes()) for file in sorted(Path(GIVEN or "/dev/null").glob("*/*.json"))),
]
SERVERS = {"read_file": "files", "write_file": "files", "write_query": "sql"}
OWN = OwnInterceptors(Policies())


def denied(words: str) -> ValidationReply:
    return ValidationReply(valid=False, messages=(Message(words),))


def the_note(call: Invocation) -> object:
    return members(call.params.get("arguments")).get("note")


def requires(holds: Callable[[str], bool], words: str) -> Handler:
    def decide(call: Invocation) -> ValidationReply:
        found = the_note(call)
        return ValidationReply(valid=True) if isinstance(found, str) and holds(found) else denied(words)

    return decide


def uppercase(call: Invocation) -> MutatorResult:
    found = the_note(call)
    if not isinstance(found, str):
        return MutatorResult(modified=False, payload=call.payload)
    arguments = {**members(call.params["arguments"]), "note": found.upper()}
    return MutatorResult(modified=True, payload=call.with_params({**call.params, "arguments": arguments}))


def crash(_: Invocation) -> ValidationReply:
    raise RuntimeError("crash")


def guard() -> Handler:
    """A guard of the test: toolvet does not follow values from server to server."""
    last: dict[object, str] = {}
    seen: dict[tuple[object, str], str] = {}

    def decide(call: Invocation) -> ValidationReply:
        session = call.context.get("sessionId")
        secrets = [each for each in re.findall(r"\w{16,}", json.dumps(call.payload)) if redact_text(each) != each]
        if call.phase == "response":
            seen.update({(session, each): last[session] for each in secrets})
            return ValidationReply(valid=True)
        last[session] = SERVERS[str(call.params["name"])]
        leaks = [each for each in secrets if seen.get((session, each), last[session]) != last[session]]
        return denied("another server's secret") if leaks else ValidationReply(valid=True)

    return decide


BEHAVIOURS: Mapping[str, Callable[[], Handler]] = {
    "allow-all": lambda: requires_nothing,
    "deny-all": lambda: lambda _: denied("denied by policy"),
    "require-note": lambda: requires(bool, "note is required"),
    "require-uppercase-note": lambda: requires(str.isupper, "note must be uppercase"),
    "uppercase-note": lambda: uppercase,
    "crash": lambda: crash,
    "cross-boundary-guard": guard,
    "secretless-redactor": lambda: OWN.redact,
}


def requires_nothing(_: Invocation) -> ValidationReply:
    return ValidationReply(valid=True)


class Session:
    """The four functions of the suite's adapter."""

    def __init__(self, interceptors: list[dict[str, Any]]) -> None:
        hosted = []
        for each in interceptors:
            # `phases` is the suite's shorthand; the older `hook` has the same word for both.
            found = read_interceptor({**each, "hook": {"events": each["events"], "phase": each["phases"]}})
            assert found is not None
            hosted.append((found, BEHAVIOURS[each["behavior"]]()))
        self.server = InterceptorServer(hosted, "fixtures")

    def ask(self, method: str, params: Mapping[str, object]) -> Any:
        line = self.server.answer(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
        assert line is not None
        return json.loads(line)

    async def invoke(
        self, name: str, event: str, phase: Phase, payload: object, context: Mapping[str, object]
    ) -> object:
        params = {"name": name, "event": event, "phase": phase, "payload": payload, "context": context}
        answer = self.ask(INVOKE, params)
        if "error" in answer:
            raise InvocationError(answer["error"]["message"])
        return answer["result"]

    def entries(self) -> list[ChainEntry]:
        found = map(read_interceptor, self.ask(LIST, {})["result"]["interceptors"])
        return [ChainEntry(each, self.invoke) for each in found if each is not None]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["id"])
def test_a_fixture_of_the_working_group_passes(fixture: dict[str, Any]) -> None:
    session = Session(fixture["interceptors"])
    for step in fixture["steps"]:
        expect = step["expect"]
        if step["op"] in ("chain", "apply"):
            context = step.get("context") or {}
            outcome = asyncio.run(run_chain(session.entries(), step["event"], step["phase"], step["payload"], context))
            assert ("deny" if outcome.blocked else "allow") == expect["decision"]
            if "finalPayload" in expect:
                assert outcome.payload == expect["finalPayload"]
            text = json.dumps(outcome.payload)
            assert not [each for each in expect.get("forbids", ()) if each in text]
            assert not [each for each in expect.get("requires", ()) if each not in text]
            continue
        listing = step["op"] == "list"
        answer = (
            session.ask(LIST, {"event": step["event"]} if step.get("event") else {})
            if listing
            else session.ask(INVOKE, step["params"])
        )
        if "errorCode" in expect:
            assert answer["error"]["code"] == expect["errorCode"]
        else:
            assert {key: value for key, value in answer["result"].items() if key not in fixture["volatile"]} == expect[
                "result"
            ]


def test_there_are_24() -> None:
    assert len(SCENARIOS) == 24
    assert len({each["id"] for each in SCENARIOS}) == 24
