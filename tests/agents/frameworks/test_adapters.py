"""The same bad calls in every framework, each with its own agent loop and a model that follows a script."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agents.frameworks.scripted import (
    Call,
    google_adk_model,
    langchain_model,
    openai_agents_model,
    pydantic_ai_model,
)

import toolvet.agents.frameworks as room
from toolvet import CallRefusedError, wrap
from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, RefusedCall
from toolvet.proxy.session import CallEnded, Note, Policies, ProxySettings

HERE = Path(__file__).parent
BOOK: dict[str, Any] = json.loads((HERE / "book.json").read_text(encoding="utf-8"))
GOOD = {"title": "Emma", "copies": 2, "binding": "paper", "reader": {"name": "Ann"}, "tags": ["x"]}
TOOL = {"name": "order_book", "description": "Order a book.", "inputSchema": BOOK}
CALLED: list[dict[str, Any]] = []

# Fifty: each with its kind of mistake, and what is wrong: the places, and the kinds of issues.
TABLE: list[dict[str, Any]] = json.loads((HERE / "bad_calls.json").read_text(encoding="utf-8"))
BAD: list[dict[str, Any]] = [row["arguments"] for row in TABLE]


def order_book(**arguments: Any) -> str:
    CALLED.append(arguments)
    return f"ordered {arguments['title']}"


def guard(notes: list[Note] | None = None, **settings: Any) -> AgentGuard:
    return AgentGuard(Policies(ProxySettings(**settings)), None if notes is None else notes.append)


def by_guard(calls: Sequence[dict[str, Any]], asked: AgentGuard) -> list[str]:
    answers: list[str] = []
    for call in calls:
        found = asked.call("run", TOOL, call)
        assert isinstance(found, RefusedCall | GuardedCall)
        answers.append(found.text if isinstance(found, RefusedCall) else "made")
    return answers


def by_wrap(calls: Sequence[dict[str, Any]], asked: AgentGuard) -> list[str]:
    checked = wrap(order_book, tool=TOOL, guard=asked, conversation="run")
    answers: list[str] = []
    for call in calls:
        try:
            answers.append(checked(**call))
        except CallRefusedError as error:
            answers.append(str(error))
    return answers


def named(calls: Sequence[dict[str, Any]]) -> list[Call]:
    return [("order_book", call) for call in calls]


def by_pydantic_ai(
    calls: Sequence[dict[str, Any]], asked: AgentGuard | None, ends: Sequence[str] = ("done",)
) -> list[str]:
    answers: list[str] = []
    model = pydantic_ai_model(named(calls), answers, ends)
    from pydantic_ai import Agent, Tool, UsageLimits  # noqa: PLC0415 - where it is installed

    from toolvet.agents.frameworks.pydantic_ai import ToolvetCapability  # noqa: PLC0415

    tool: Tool[None] = Tool.from_schema(order_book, "order_book", "Order a book.", BOOK)
    tool.max_retries = 1_000
    agent = Agent(model, tools=[tool], capabilities=[] if asked is None else [ToolvetCapability(asked)])
    asyncio.run(agent.run("Order it.", usage_limits=UsageLimits(request_limit=None), conversation_id="run"))
    return answers


def by_openai_agents(
    calls: Sequence[dict[str, Any]], asked: AgentGuard | None, ends: Sequence[str] = ("done",)
) -> list[str]:
    answers: list[str] = []
    model = openai_agents_model(named(calls), answers, ends)
    from agents import Agent, FunctionTool, RunConfig, Runner  # noqa: PLC0415 - where it is installed
    from toolvet.agents.frameworks.openai_agents import ToolvetHooks  # noqa: PLC0415

    toolvet = ToolvetHooks(asked)

    async def invoke(_: Any, text: str) -> str:
        return order_book(**json.loads(text))

    tool = FunctionTool(
        name="order_book",
        description="Order a book.",
        params_json_schema=BOOK,
        on_invoke_tool=invoke,
        strict_json_schema=False,
        tool_input_guardrails=[] if asked is None else [toolvet.before],
        tool_output_guardrails=[] if asked is None else [toolvet.after],
    )
    agent = Agent(name="clerk", model=model, tools=[tool])
    config = RunConfig(tracing_disabled=True, group_id="run")
    asyncio.run(Runner.run(agent, "Order it.", max_turns=1_000, run_config=config, hooks=toolvet))
    return answers


def by_langchain(
    calls: Sequence[dict[str, Any]], asked: AgentGuard | None, ends: Sequence[str] = ("done",)
) -> list[str]:
    answers: list[str] = []
    model = langchain_model(named(calls), answers, ends)
    from langchain.agents import create_agent  # noqa: PLC0415 - where it is installed
    from langchain_core.tools import StructuredTool  # noqa: PLC0415

    from toolvet.agents.frameworks.langchain import ToolvetMiddleware  # noqa: PLC0415

    tool = StructuredTool(name="order_book", description="Order a book.", args_schema=BOOK, func=order_book)
    agent = create_agent(model, tools=[tool], middleware=[] if asked is None else [ToolvetMiddleware(asked)])
    thread = {"recursion_limit": 10_000, "configurable": {"thread_id": "run"}}
    agent.invoke({"messages": [("user", "Order it.")]}, thread)
    return answers


def by_google_adk(
    calls: Sequence[dict[str, Any]], asked: AgentGuard | None, ends: Sequence[str] = ("done",)
) -> list[str]:
    answers: list[str] = []
    model = google_adk_model(named(calls), answers, ends)
    from google.adk.agents import LlmAgent  # noqa: PLC0415 - where it is installed
    from google.adk.apps import App  # noqa: PLC0415
    from google.adk.tools.base_tool import BaseTool  # noqa: PLC0415
    from google.genai import types  # noqa: PLC0415

    from toolvet.agents.frameworks.google_adk import ToolvetPlugin  # noqa: PLC0415

    class OrderBook(BaseTool):
        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(name="order_book", description="Order.", parameters_json_schema=BOOK)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            del tool_context
            return {"result": order_book(**args)}

    tools = [OrderBook(name="order_book", description="Order.")]
    run_adk(
        App(
            name="clerk",
            root_agent=LlmAgent(name="clerk", model=model, tools=tools),
            plugins=[] if asked is None else [ToolvetPlugin(asked)],
        )
    )
    return answers


def run_adk(app: Any) -> None:
    from google.adk.runners import InMemoryRunner  # noqa: PLC0415 - where it is installed
    from google.genai import types  # noqa: PLC0415

    async def run() -> None:
        runner = InMemoryRunner(app=app)
        session = await runner.session_service.create_session(app_name=app.name, user_id="u", session_id="run")
        words = types.Content(role="user", parts=[types.Part.from_text(text="Go on.")])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=words):
            pass

    asyncio.run(run())


ADAPTERS = [by_wrap, by_pydantic_ai, by_openai_agents, by_langchain, by_google_adk]


def name_of(adapter: Any) -> str:
    name: str = adapter.__name__
    return name


def ended(notes: list[Note]) -> list[tuple[object, ...]]:
    return [(note.outcome, note.blocked, note.verdict, note.trace_id) for note in notes if isinstance(note, CallEnded)]


def found_wrong(notes: list[Note]) -> list[tuple[str, list[list[str]]]]:
    """What names a mistake in every framework: the tool, and the place and kind of each issue."""
    done = [note for note in notes if isinstance(note, CallEnded)]
    return [(note.tool, [[issue.pointer, issue.kind] for issue in note.issues]) for note in done]


IN_TABLE = [("order_book", row["issues"]) for row in TABLE]


def test_the_table_has_fifty_calls_of_every_kind() -> None:
    assert len({json.dumps(call, sort_keys=True) for call in BAD}) == len(BAD) == 50
    kinds = {"unknown enum", "missing", "misspelt", "wrong type", "extra", "nested", "range", "empty"}
    assert {row["kind"] for row in TABLE} == kinds


@pytest.mark.parametrize("adapter", ADAPTERS, ids=name_of)
def test_fifty_bad_calls_have_the_same_text_verdict_and_id(adapter: Any) -> None:
    CALLED.clear()
    wanted: list[Note] = []
    expected = by_guard(BAD, guard(wanted))
    notes: list[Note] = []
    assert adapter(BAD, guard(notes)) == expected
    assert CALLED == []
    assert ended(notes) == ended(wanted)
    assert found_wrong(notes) == found_wrong(wanted) == IN_TABLE
    assert all(blocked and trace == "run" for _, blocked, _, trace in ended(notes))


@pytest.mark.parametrize("adapter", ADAPTERS, ids=name_of)
def test_good_calls_are_made_and_judged(adapter: Any) -> None:
    CALLED.clear()
    notes: list[Note] = []
    assert adapter([GOOD, {**GOOD, "title": "Persuasion"}], guard(notes)) == ["ordered Emma", "ordered Persuasion"]
    assert [call["title"] for call in CALLED] == ["Emma", "Persuasion"]
    done = [note for note in notes if isinstance(note, CallEnded)]
    assert [note.outcome for note in done] == ["success", "success"]
    assert all(note.verdict is not None and not note.verdict.is_error for note in done)


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each is not by_openai_agents], ids=name_of)
def test_a_repair_is_applied_where_the_framework_can(adapter: Any) -> None:
    CALLED.clear()
    assert adapter([{**GOOD, "copies": "2"}], guard(repair="apply")) == ["ordered Emma"]
    assert [call["copies"] for call in CALLED] == [2]


def test_text_that_is_no_json_is_refused_with_what_is_wrong() -> None:
    found = AgentGuard().call("run", TOOL, '{"title": "Emma", ')
    assert isinstance(found, RefusedCall)
    assert "order_book" in found.text


def test_an_exception_of_the_tool_is_judged_and_goes_on() -> None:
    notes: list[Note] = []

    def broken(city: str) -> str:
        raise ConnectionRefusedError(city)

    checked = wrap(broken, guard=guard(notes))
    with pytest.raises(ConnectionRefusedError):
        checked(city="Rome")
    assert [outcome for outcome, *_ in ended(notes)] == ["tool_error"]


def test_text_in_blocks_is_judged_as_text() -> None:
    notes: list[Note] = []
    call = guard(notes).call("run", TOOL, GOOD)
    assert isinstance(call, GuardedCall)
    assert call.returned([{"type": "input_text", "text": "Error: connection refused"}]) is None
    (note,) = [note for note in notes if isinstance(note, CallEnded)]
    assert note.verdict is not None
    assert note.verdict.error_without_flag


def test_a_tool_that_does_not_exist_is_not_refused_at_once_and_stopped_in_the_end() -> None:
    asked = guard()
    answers: list[str] = []
    for _ in range(12):
        found = asked.call("run", None, {"title": "Emma"}, name="order_bok")
        if isinstance(found, RefusedCall):
            answers.append(found.text)
        else:
            found.returned("Error: order_bok is not a valid tool", failed=True)
    assert 1 <= len(answers) < 12
    assert "failed" in answers[0]


def test_text_that_is_no_json_is_refused_where_the_schema_says_nothing() -> None:
    found = AgentGuard().call("run", {"name": "order_book"}, "[")
    assert isinstance(found, RefusedCall)
    assert "order_book" in found.text


def test_text_that_is_no_json_is_noted() -> None:
    notes: list[Note] = []
    guard(notes).call("run", TOOL, '{"title": "Emma", ')
    ((outcome, blocked, _, trace),) = ended(notes)
    assert (outcome, blocked, trace) == ("refused", "arguments", "run")


def test_an_async_function_stays_one() -> None:
    async def weather(city: str) -> str:
        return f"{city}: 21 degrees"

    checked = wrap(weather)
    assert asyncio.run(checked(city="Rome")) == "Rome: 21 degrees"
    with pytest.raises(CallRefusedError, match="city"):
        asyncio.run(checked(city=7))  # type: ignore[arg-type]


def test_an_adapter_holds_little() -> None:
    for path in Path(room.__path__[0]).glob("*.py"):
        if path.stem not in {"__init__", "guard", "wrap"}:
            held = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
            assert len(held) <= 60, path.name


DOCS = HERE.parents[2] / "docs"
SCRIPT: list[Call] = [("weather", {"city": 5}), ("weather", {"city": "Rome"})]


def program(page: str) -> str:
    """The program of a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return text.split("## Anything else\n")[-1].split("```python\n")[1].split("```")[0]


def test_guardrails_of_a_whole_mcp_server_refuse_the_same_calls(tmp_path: Path) -> None:
    answers: list[str] = []
    model = openai_agents_model(named([*BAD, GOOD]), answers)
    from agents.mcp import MCPServerStdio  # noqa: PLC0415

    from agents import Agent, RunConfig, Runner  # noqa: PLC0415 - where it is installed
    from toolvet.agents.frameworks.openai_agents import ToolvetHooks  # noqa: PLC0415

    notes: list[Note] = []
    toolvet = ToolvetHooks(guard(notes))
    log = tmp_path / "calls.jsonl"

    async def run() -> None:
        command: Any = {"command": sys.executable, "args": [str(HERE / "order_server.py"), str(log)]}
        rails: dict[str, Any] = {"tool_input_guardrails": [toolvet.before], "tool_output_guardrails": [toolvet.after]}
        async with MCPServerStdio(command, **rails) as server:
            agent = Agent(name="clerk", model=model, mcp_servers=[server])
            config = RunConfig(tracing_disabled=True, group_id="run")
            await Runner.run(agent, "Order it.", max_turns=1_000, run_config=config, hooks=toolvet)

    asyncio.run(run())
    wanted: list[Note] = []
    assert answers[:50] == by_guard(BAD, guard(wanted))
    assert ended(notes)[:50] == ended(wanted)
    assert "ordered Emma" in str(answers[50])
    assert ended(notes)[50][0] == "success"
    assert [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] == [GOOD]


def run_pydantic_ai(found: dict[str, Any]) -> None:
    asyncio.run(found["agent"].run("How warm is it?"))


def run_openai_agents(found: dict[str, Any]) -> None:
    from agents import RunConfig, Runner  # noqa: PLC0415 - where it is installed

    asyncio.run(Runner.run(found["agent"], "How warm is it?", run_config=RunConfig(tracing_disabled=True)))


def run_langchain(found: dict[str, Any]) -> None:
    found["agent"].invoke({"messages": [("user", "How warm is it?")]})


PROGRAMS = [
    ("frameworks/langchain", langchain_model, run_langchain),
    ("frameworks/openai-agents", openai_agents_model, run_openai_agents),
    ("frameworks/pydantic-ai", pydantic_ai_model, run_pydantic_ai),
    ("frameworks/google-adk", google_adk_model, lambda found: run_adk(found["app"])),
]


@pytest.mark.parametrize(("title", "model", "run"), PROGRAMS, ids=[title for title, *_ in PROGRAMS])
def test_the_program_of_the_page_refuses_a_bad_call_and_makes_a_good_one(title: str, model: Any, run: Any) -> None:
    answers: list[str] = []
    source = program(title)
    assert len(source.splitlines()) <= 20
    found: dict[str, Any] = {"model": model(SCRIPT, answers)}
    exec(compile(source, title, "exec"), found)  # noqa: S102 - our own page
    run(found)
    refused, made = answers
    assert "Tool 'weather' received invalid arguments" in refused
    assert made == "Rome: 21 degrees"


def test_the_program_of_the_page_for_any_loop() -> None:
    source = program("agent-frameworks")
    assert len(source.splitlines()) <= 20
    found: dict[str, Any] = {}
    exec(compile(source, "page", "exec"), found)  # noqa: S102 - our own page
    assert "city" in found["call"]("weather", {"city": 5})
    assert found["call"]("weather", {"city": "Rome"}) == "Rome: 21 degrees"
