"""The libraries whose error texts are compared, each called as its users call it.

A library judges a call: it returns the text that the model would read, or else what the tool received. The classes of
the Python libraries are made from the schemas by datamodel-code-generator, the schemas of zod by `z.fromJSONSchema`;
ajv and toolvet read the schemas as they are.
"""

import contextlib
import hashlib
import importlib.util
import inspect
import json
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from benchmarks.healing.calls import Tool
from benchmarks.node import NodeProcess, node
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from toolvet import check_arguments

Arguments = Mapping[str, Any]


class Judged(NamedTuple):
    """The error text, or None and what the tool received."""

    text: str | None
    received: object = None


class Library(NamedTuple):
    """One library: the family whose wording it has, and its judgement of calls of the tool with a number."""

    name: str
    family: str
    judge: Callable[[int, Arguments], Awaitable[Judged]]


@contextlib.asynccontextmanager
async def libraries(tools: Sequence[Tool], folder: Path) -> AsyncIterator[tuple[list[Library], dict[str, str]]]:
    """All of them, ready for calls, and their versions. The classes that are generated are kept in the folder."""
    logging.disable()  # Servers log each call that they refuse, some with a traceback in colour.
    models = [generated(tool, folder) for tool in tools]
    found = [of_pydantic(models), *of_toolvet(tools)]
    names = ["pydantic", "fastmcp", "mcp", "langchain-core", "langgraph", "openai-agents", "toolvet"]
    versions = {name: version(name) for name in [*names, "datamodel-code-generator"]}
    async with contextlib.AsyncExitStack() as stack:
        found.append(await stack.enter_async_context(of_fastmcp(models)))
        found.append(await stack.enter_async_context(_python_sdk(models)))
        found += [_langchain(models), _openai_agents(models, shown=False), _openai_agents(models, shown=True)]
        of_node, its_versions = stack.enter_context(_node(tools))
        yield sorted([*found, *of_node], key=lambda each: ORDER.index(each.name)), {**versions, **its_versions}


ORDER: Final = [
    *("FastMCP", "MCP SDK, Python", "MCP SDK, TypeScript", "LangChain", "OpenAI Agents", "OpenAI Agents, error shown"),
    *("pydantic", "zod, message", "zod, prettified", "ajv, errorsText", "ajv, errors as JSON"),
    *("toolvet", "toolvet, no call to copy", "toolvet, issues alone"),
]


# ── toolvet: the whole text, and less of it, so that one sees what its words alone do ──


def without_calls(text: str) -> str:
    """The text without the corrected call and the valid example: there is no call in it to copy."""
    return re.sub(r"^## (?:Correct|Valid).*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def issues_alone(text: str) -> str:
    """The lines about what is wrong: no call, no examples, no summary of the schema, no general suggestions."""
    text = re.sub(r"^## (?!Issues).*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^   - Example: .*\n?", "", text, flags=re.MULTILINE)


def of_toolvet(tools: Sequence[Tool]) -> Iterator[Library]:
    def judge_with(read: Callable[[str], str]) -> Callable[[int, Arguments], Awaitable[Judged]]:
        async def judge(number: int, arguments: Arguments) -> Judged:
            tool = tools[number]
            report = check_arguments({"name": f"tool_{number}", "inputSchema": tool.schema}, arguments)
            return Judged(None, arguments) if report.valid else Judged(read(report.to_text()))

        return judge

    yield Library("toolvet", "toolvet", judge_with(str))
    yield Library("toolvet, no call to copy", "toolvet", judge_with(without_calls))
    yield Library("toolvet, issues alone", "toolvet", judge_with(issues_alone))


# ── Python ──


def generated(tool: Tool, folder: Path) -> type[BaseModel]:
    """The pydantic class that datamodel-code-generator writes for a schema."""
    text = json.dumps(tool.schema, sort_keys=True)
    path = folder / f"model_{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    if not path.exists():
        from datamodel_code_generator import DataModelType, InputFileType, LiteralType, generate

        generate(
            text,
            input_file_type=InputFileType.JsonSchema,
            output=path,
            output_model_type=DataModelType.PydanticV2BaseModel,
            class_name="Arguments",
            enum_field_as_literal=LiteralType.All,
            formatters=[],
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found: type[BaseModel] = module.Arguments
    return found


def of_pydantic(models: Sequence[type[BaseModel]]) -> Library:
    async def judge(number: int, arguments: Arguments) -> Judged:
        try:
            read = models[number].model_validate_json(json.dumps(arguments))
        except ValidationError as error:
            return Judged(str(error))
        return Judged(None, read.model_dump(mode="json"))

    return Library("pydantic", "pydantic", judge)


class Function:
    """A Python function with the parameters of a class, which keeps what it received."""

    def __init__(self, name: str, model: type[BaseModel]) -> None:
        self.received: object = None
        self.called = False

        def tool(*in_order: object, **members: object) -> str:
            self.called = True
            self.received = to_jsonable_python({**dict(zip(signature.parameters, in_order, strict=False)), **members})
            return "done"

        parameters = []
        for member, field in model.model_fields.items():
            kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
            default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
            parameters.append(
                inspect.Parameter(member, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=default)
            )
        parameters.sort(key=lambda each: each.default is not inspect.Parameter.empty)
        signature: Any = inspect.Signature(parameters, return_annotation=str)
        tool.__signature__ = signature  # type: ignore[attr-defined]
        tool.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": str}
        tool.__name__, tool.__doc__ = name, "A tool."
        self.call = tool

    def judged(self, text: str) -> Judged:
        """The text, unless the function was called."""
        called, self.called = self.called, False
        return Judged(None, self.received) if called else Judged(text)


def functions(models: Sequence[type[BaseModel]]) -> list[Function]:
    """One for each class."""
    return [Function(f"tool_{number}", model) for number, model in enumerate(models)]


@contextlib.asynccontextmanager
async def of_fastmcp(models: Sequence[type[BaseModel]]) -> AsyncIterator[Library]:
    from fastmcp import Client, FastMCP

    server, known = FastMCP("server"), functions(models)
    for each in known:
        server.tool(each.call)
    async with Client(server) as client:

        async def judge(number: int, arguments: Arguments) -> Judged:
            result = await client.call_tool(f"tool_{number}", dict(arguments), raise_on_error=False)
            return known[number].judged(_text(result.content))

        yield Library("FastMCP", "pydantic", judge)


@contextlib.asynccontextmanager
async def _python_sdk(models: Sequence[type[BaseModel]]) -> AsyncIterator[Library]:
    from mcp.server.mcpserver import MCPServer

    from mcp.client import Client

    server, known = MCPServer("server"), functions(models)
    for each in known:
        server.tool()(each.call)
    async with Client(server) as client:

        async def judge(number: int, arguments: Arguments) -> Judged:
            result = await client.call_tool(f"tool_{number}", dict(arguments))
            return known[number].judged(_text(result.content))

        yield Library("MCP SDK, Python", "pydantic", judge)


def _text(content: Sequence[Any]) -> str:
    return "\n".join(block.text for block in content)


def _langchain(models: Sequence[type[BaseModel]]) -> Library:
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    known = functions(models)
    tools = [
        StructuredTool(name=f"tool_{number}", description="A tool.", args_schema=model, func=each.call)
        for number, (model, each) in enumerate(zip(models, known, strict=True))
    ]
    graph: Any = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    ready = graph.compile()

    async def judge(number: int, arguments: Arguments) -> Judged:
        call = {"name": f"tool_{number}", "args": dict(arguments), "id": "1"}
        state = ready.invoke({"messages": [AIMessage("", tool_calls=[call])]})
        return known[number].judged(str(state["messages"][-1].content))

    return Library("LangChain", "pydantic", judge)


def _openai_agents(models: Sequence[type[BaseModel]], *, shown: bool) -> Library:
    """As it is by default, which hides the error from the model, and with the two settings that show it."""
    os.environ["OPENAI_AGENTS_DONT_LOG_TOOL_DATA"] = "0"  # Read at the import; it changes only what is shown.
    from agents.tool_context import ToolContext

    from agents import function_tool

    how: dict[str, Any] = {"failure_error_function": lambda _, error: str(error)} if shown else {}
    known = functions(models)
    tools = [function_tool(each.call, strict_mode=False, **how) for each in known]

    async def judge(number: int, arguments: Arguments) -> Judged:
        text = json.dumps(arguments)
        context: Any = ToolContext(None, tool_name=f"tool_{number}", tool_call_id="1", tool_arguments=text)
        return known[number].judged(str(await tools[number].on_invoke_tool(context, text)))

    return Library("OpenAI Agents, error shown" if shown else "OpenAI Agents", "pydantic", judge)


# ── Node ──

PACKAGES: Final = [
    *("zod@4", "ajv@8", "ajv-formats@3", "@modelcontextprotocol/server@2", "@modelcontextprotocol/client@2"),
]
SCRIPT: Final = """
const {readFileSync: read} = await import("node:fs");
const z = await import("zod");
const {default: Ajv} = await import("ajv");
const {default: addFormats} = await import("ajv-formats");
const {McpServer, InMemoryTransport} = await import("@modelcontextprotocol/server");
const {Client} = await import("@modelcontextprotocol/client");
const ajv = new Ajv({allErrors: true, strict: false});
addFormats(ajv);
const compiled = given.schemas.map((schema) => ajv.compile(schema));
const zods = given.schemas.map((schema) => z.fromJSONSchema(schema));
const server = new McpServer({name: "server", version: "1"});
let received;
zods.forEach((inputSchema, number) => server.registerTool(`tool_${number}`, {description: "A tool.", inputSchema},
  (args) => { received = args; return {content: [{type: "text", text: "done"}]}; }));
const [one, other] = InMemoryTransport.createLinkedPair();
const client = new Client({name: "client", version: "1"});
await server.connect(one);
await client.connect(other);
const byZod = (text) => ({tool, args}) => {
  const parsed = zods[tool].safeParse(args);
  return parsed.success ? {received: parsed.data} : {text: text(parsed.error)};
};
const byAjv = (text) => ({tool, args}) => compiled[tool](args) ? {received: args} : {text: text(compiled[tool].errors)};
const version = (name) => JSON.parse(read(`node_modules/${name}/package.json`, "utf8")).version;
return {
  "zod, message": byZod((error) => error.message),
  "zod, prettified": byZod((error) => z.prettifyError(error)),
  "ajv, errorsText": byAjv((errors) => ajv.errorsText(errors)),
  "ajv, errors as JSON": byAjv((errors) => JSON.stringify(errors, null, 2)),
  "MCP SDK, TypeScript": async ({tool, args}) => {
    received = undefined;
    const result = await client.callTool({name: `tool_${tool}`, arguments: args});
    return result.isError ? {text: result.content.map((block) => block.text).join("\\n")} : {received};
  },
  versions: (names) => Object.fromEntries(names.map((name) => [name, version(name)])),
};
"""
FAMILIES: Final = {
    "zod, message": "zod",
    "zod, prettified": "zod",
    "ajv, errorsText": "ajv",
    "ajv, errors as JSON": "ajv",
}


@contextlib.contextmanager
def _node(tools: Sequence[Tool]) -> Iterator[tuple[list[Library], dict[str, str]]]:
    with node(SCRIPT, {"schemas": [tool.schema for tool in tools]}, PACKAGES) as process:
        if process is None:
            yield [], {}
            return
        names = [name.rpartition("@")[0] for name in PACKAGES]
        versions: Any = process.result("versions", names)
        yield [_of_node(process, name, FAMILIES.get(name, "zod")) for name in ORDER if f'"{name}":' in SCRIPT], versions


def _of_node(process: NodeProcess, name: str, family: str) -> Library:
    async def judge(number: int, arguments: Arguments) -> Judged:
        judged: Any = process.result(name, {"tool": number, "args": arguments})
        return Judged(judged.get("text"), judged.get("received"))

    return Library(name, family, judge)
