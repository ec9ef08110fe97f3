"""The same bad calls through the gateways: LiteLLM's completions and MCP hooks, and the plugin host of ContextForge."""

# Both are installed by `make frameworks` only, so the type checkers of `make lint` do not see them.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

import asyncio
import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import Any

import pytest
from tests.agents.frameworks.scripted import Call
from tests.agents.frameworks.test_adapters import (
    BAD,
    BOOK,
    CALLED,
    GOOD,
    IN_TABLE,
    SCRIPT,
    by_guard,
    ended,
    found_wrong,
    guard,
    name_of,
    named,
    order_book,
    program,
)

from toolvet.agents.frameworks.guard import AgentGuard, AnswerJudged
from toolvet.proxy.session import CallEnded, Note

# LiteLLM warns about its own types when it is loaded.
pytestmark = pytest.mark.filterwarnings("ignore")

FUNCTION = {"type": "function", "function": {"name": "order_book", "parameters": BOOK}}


class Upstream(ThreadingHTTPServer):
    """A vendor's chat API, whose model makes these calls in turn, and then says `end`."""

    def __init__(self, calls: Sequence[Call], end: str = "done") -> None:
        self.calls, self.end = list(calls), end
        super().__init__(("127.0.0.1", 0), Reply)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Reply(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert isinstance(self.server, Upstream)
        number = sum(message["role"] == "tool" for message in asked["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": self.server.end}
        if number < len(self.server.calls):
            name, arguments = self.server.calls[number]
            wanted = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": f"c{number}", "type": "function", "function": wanted}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop", "message": message}
        used = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        said = {"id": "x", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
        body = json.dumps({**said, "usage": used}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def by_litellm(calls: Sequence[dict[str, Any]], asked: AgentGuard) -> list[str]:
    litellm = pytest.importorskip("litellm", reason="needs LiteLLM: make frameworks")
    from toolvet.agents.frameworks.litellm import ToolvetGuardrail  # noqa: PLC0415 - where it is installed

    upstream = Upstream(named(calls))
    litellm.callbacks = [ToolvetGuardrail(asked)]
    answers: list[str] = []

    async def loop() -> None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Order it."}]
        told = {"api_base": upstream.url, "api_key": "x", "tools": [FUNCTION], "guardrails": ["toolvet"]}
        while len(answers) < len(calls):
            call_id = f"c{len(answers)}"
            made: list[dict[str, Any]] = []
            try:
                found = await litellm.acompletion(
                    model="openai/scripted", messages=messages, litellm_session_id="run", num_retries=0, **told
                )
                wanted = found.choices[0].message.tool_calls[0]
                text = order_book(**json.loads(wanted.function.arguments))
                made = [{"id": call_id, "type": "function", "function": wanted.function.model_dump()}]
            except litellm.exceptions.GuardrailRaisedException as error:
                text = error.message
                made = [{"id": call_id, "type": "function", "function": {"name": "order_book", "arguments": "{}"}}]
            answers.append(text)
            messages += [{"role": "assistant", "content": None, "tool_calls": made}]
            messages += [{"role": "tool", "tool_call_id": call_id, "content": text}]
        # The last result is read with the next request.
        upstream.calls.append(("none", {}))
        await litellm.acompletion(model="openai/scripted", messages=messages, litellm_session_id="run", **told)

    asyncio.run(loop())
    upstream.shutdown()
    return answers


def by_litellm_mcp(calls: Sequence[dict[str, Any]], asked: AgentGuard) -> list[str]:
    """As the gateway asks before and after a call of an MCP server."""
    litellm = pytest.importorskip("litellm", reason="needs LiteLLM: make frameworks")
    types = pytest.importorskip("mcp.types")
    from litellm.caching.caching import DualCache  # noqa: PLC0415 - where it is installed
    from litellm.proxy._types import UserAPIKeyAuth  # noqa: PLC0415
    from litellm.proxy.utils import ProxyLogging  # noqa: PLC0415

    from toolvet.agents.frameworks.litellm import ToolvetGuardrail  # noqa: PLC0415

    litellm.callbacks = [ToolvetGuardrail(asked)]
    hooks = ProxyLogging(user_api_key_cache=DualCache())

    class Logged:
        def __init__(self, number: int) -> None:
            self.litellm_call_id = f"c{number}"

    async def one(number: int, arguments: dict[str, Any]) -> str:
        told = {"name": "order_book", "arguments": arguments, "server_name": "s", "tool_input_schema": BOOK}
        data = hooks.convert_mcp_to_llm_format(hooks.create_mcp_request_object_from_kwargs(told), told)
        data |= {"litellm_logging_obj": Logged(number), "litellm_session_id": "run"}
        try:
            found = await hooks.pre_call_hook(user_api_key_dict=UserAPIKeyAuth(), data=data, call_type="call_mcp_tool")
        except litellm.exceptions.GuardrailRaisedException as error:
            return str(error.message)
        called = hooks.convert_mcp_hook_response_to_kwargs(found, told)["arguments"]
        content = [types.TextContent(type="text", text=order_book(**called))]
        result = await hooks.post_mcp_call_hook(
            types.CallToolResult(content=content), {"litellm_logging_obj": Logged(number)}
        )
        return str(result.content[0].text)

    async def loop() -> list[str]:
        return [await one(number, call) for number, call in enumerate(calls)]

    return asyncio.run(loop())


def by_contextforge(calls: Sequence[dict[str, Any]], asked: AgentGuard) -> list[str]:
    pytest.importorskip("cpex.framework", reason="needs ContextForge's cpex: make frameworks")
    from toolvet.agents.frameworks.contextforge import ToolvetGatewayPlugin  # noqa: PLC0415 - where it is installed

    class Noted(ToolvetGatewayPlugin):
        def __init__(self, config: Any) -> None:
            super().__init__(config, asked)

    globals()["Noted"] = Noted
    return asyncio.run(at_gateway(hosted(f"{__name__}.Noted"), named(calls), BOOK))


def hosted(kind: str, **config: Any) -> Any:
    from cpex.framework import PluginConfig, TenantPluginManager  # noqa: PLC0415 - where it is installed
    from cpex.framework.models import Config  # noqa: PLC0415

    hooks = ["tool_pre_invoke", "tool_post_invoke"]
    return TenantPluginManager(Config(plugins=[PluginConfig(name="toolvet", kind=kind, hooks=hooks, config=config)]))


async def at_gateway(manager: Any, calls: Sequence[Call], schema: dict[str, Any]) -> list[str]:
    """The answer that a client of a gateway with this plugin host reads."""
    import cpex.framework as cpex  # noqa: PLC0415 - where it is installed

    await manager.initialize()
    answers: list[str] = []
    for number, (name, arguments) in enumerate(calls):
        tool = {"name": name, "inputSchema": schema}
        context = cpex.GlobalContext(request_id=f"r{number}", server_id="run", user=None, metadata={"tool": tool})
        payload = cpex.ToolPreInvokePayload(name=name, args=arguments)
        before, _ = await manager.invoke_hook("tool_pre_invoke", payload, context)
        if not before.continue_processing:
            answers.append(before.violation.description)
            continue
        made = (before.modified_payload or payload).args
        text = order_book(**made) if name == "order_book" else f"{made['city']}: 21 degrees"
        result = {"content": [{"type": "text", "text": text}], "isError": False}
        returned = cpex.ToolPostInvokePayload(name=name, result=result)
        after, _ = await manager.invoke_hook("tool_post_invoke", returned, context)
        answers.append((after.modified_payload or returned).result["content"][0]["text"])
    await manager.shutdown()
    return answers


GATEWAYS = [by_litellm, by_litellm_mcp, by_contextforge]


@pytest.mark.parametrize("gateway", GATEWAYS, ids=name_of)
def test_fifty_bad_calls_have_the_same_text_verdict_and_id(gateway: Any) -> None:
    CALLED.clear()
    wanted: list[Note] = []
    expected = by_guard(BAD, guard(wanted))
    notes: list[Note] = []
    assert gateway(BAD, guard(notes)) == expected
    assert CALLED == []
    assert ended(notes) == ended(wanted)
    assert found_wrong(notes) == IN_TABLE


@pytest.mark.parametrize("gateway", GATEWAYS, ids=name_of)
def test_good_calls_are_made_and_judged(gateway: Any) -> None:
    CALLED.clear()
    notes: list[Note] = []
    assert gateway([GOOD, {**GOOD, "title": "Persuasion"}], guard(notes)) == ["ordered Emma", "ordered Persuasion"]
    assert [call["title"] for call in CALLED] == ["Emma", "Persuasion"]
    done = [note for note in notes if isinstance(note, CallEnded)]
    assert [note.outcome for note in done] == ["success", "success"]


@pytest.mark.parametrize("gateway", GATEWAYS, ids=name_of)
def test_a_repair_is_applied(gateway: Any) -> None:
    CALLED.clear()
    assert gateway([{**GOOD, "copies": "2"}], guard(repair="apply")) == ["ordered Emma"]
    assert [call["copies"] for call in CALLED] == [2]


def test_the_last_answer_through_litellm_is_judged_and_refused_once() -> None:
    litellm = pytest.importorskip("litellm", reason="needs LiteLLM: make frameworks")
    from toolvet.agents.frameworks.litellm import ToolvetGuardrail  # noqa: PLC0415 - where it is installed

    said = "I have ordered the book and emailed the invoice to Ann."
    upstream = Upstream([("order_book", GOOD)], said)
    notes: list[Note] = []
    litellm.callbacks = [ToolvetGuardrail(AgentGuard(None, notes.append, answers="retry"))]
    call = {"id": "c0", "type": "function", "function": {"name": "order_book", "arguments": json.dumps(GOOD)}}
    messages = [
        {"role": "user", "content": "Order it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c0", "content": "ordered Emma"},
    ]
    told = {"api_base": upstream.url, "api_key": "x", "tools": [FUNCTION], "guardrails": ["toolvet"], "num_retries": 0}

    async def ask(session: str | None) -> str:
        try:
            found = await litellm.acompletion(
                model="openai/scripted", messages=messages, litellm_session_id=session, **told
            )
        except litellm.exceptions.GuardrailRaisedException as error:
            return f"refused: {error.message}"
        return str(found.choices[0].message.content)

    first, second = asyncio.run(ask("run")), asyncio.run(ask("run"))
    unnamed = [asyncio.run(ask(None)) for _ in range(2)]
    upstream.shutdown()
    # No one could count how often a request without a session was refused.
    assert unnamed == [said, said]
    assert first.startswith("refused: ")
    assert second == said
    judged = [note for note in notes if isinstance(note, AnswerJudged)]
    assert [(note.trace_id, note.quality.should_escalate) for note in judged] == [("run", True)] * 2 + [
        (None, True)
    ] * 2
    assert [note.advice is None for note in judged] == [False, True, True, True]


def test_policies_come_from_the_configuration_of_the_plugin() -> None:
    pytest.importorskip("cpex.framework", reason="needs ContextForge's cpex: make frameworks")
    CALLED.clear()
    manager = hosted("toolvet.agents.frameworks.contextforge.ToolvetGatewayPlugin", repair="apply")
    assert asyncio.run(at_gateway(manager, named([{**GOOD, "copies": "2"}]), BOOK)) == ["ordered Emma"]
    assert [call["copies"] for call in CALLED] == [2]


def test_the_program_of_the_page_for_contextforge() -> None:
    pytest.importorskip("cpex.framework", reason="needs ContextForge's cpex: make frameworks")
    source = program("frameworks/contextforge")
    assert len(source.splitlines()) <= 20
    found: dict[str, Any] = {}
    exec(compile(source, "page", "exec"), found)  # noqa: S102 - our own page
    weather = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    refused, made = asyncio.run(at_gateway(found["manager"], SCRIPT, weather))
    assert "Tool 'weather' received invalid arguments" in refused
    assert made == "Rome: 21 degrees"


def test_the_program_of_the_page_for_litellm() -> None:
    pytest.importorskip("litellm", reason="needs LiteLLM: make frameworks")
    source = program("frameworks/litellm")
    assert len(source.splitlines()) <= 20
    upstream = Upstream(SCRIPT)
    found: dict[str, Any] = {"model": "openai/scripted", "upstream": {"api_base": upstream.url, "api_key": "x"}}
    exec(compile(source, "page", "exec"), found)  # noqa: S102 - our own page
    assert "Tool 'weather' received invalid arguments" in asyncio.run(found["answer"]([]))
    told = [{"role": "tool", "tool_call_id": "c0", "content": "wrong"}]
    made = asyncio.run(found["answer"](told))
    assert json.loads(made.tool_calls[0].function.arguments) == {"city": "Rome"}
    upstream.shutdown()


def test_the_libraries_that_newer_versions_of_litellm_need_are_installed() -> None:
    pytest.importorskip("litellm", reason="needs LiteLLM: make frameworks")
    assert find_spec("semver") is not None
