"""Tools of real frameworks are read; a framework that is not installed is skipped."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from toolvet import ToolShapeError, check_arguments
from toolvet.core.tools import read_tool, view_of

WANTS_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def forecast(city: str, days: Annotated[int, Field(ge=1)] = 1, *, unit: Literal["c", "f"] = "c") -> str:
    """The forecast of a city."""
    return f"{city} {days} {unit}"


def module(name: str) -> Any:
    return pytest.importorskip(name, exc_type=ImportError)


def assert_read(tool: object, shape: str) -> None:
    view = view_of(tool)
    assert (view.name, view.shape, view.output_schema) == ("forecast", shape, view.output_schema)
    assert check_arguments(tool, {"city": "Rome"}).valid
    assert [issue.field for issue in check_arguments(tool, {}).issues] == ["city"]


def test_a_tool_of_langchain() -> None:
    tool = module("langchain_core.tools").tool(forecast)
    assert_read(tool, "LangChain and CrewAI tools")
    assert view_of(tool).output_schema is None
    assert not check_arguments(tool, {"city": "Rome", "days": 0}).valid
    with pytest.raises(ToolShapeError):
        read_tool(type(tool))


def test_a_tool_of_langchain_with_a_schema_as_json_as_the_mcp_adapters_make_it() -> None:
    make = module("langchain_core.tools").StructuredTool
    tool = make(name="forecast", description="d", args_schema=WANTS_CITY, func=forecast)
    assert_read(tool, "LangChain and CrewAI tools")


def test_tools_of_pydantic_ai() -> None:
    tool = module("pydantic_ai").Tool(forecast)
    assert_read(tool, "pydantic-ai Tool")
    assert_read(tool.tool_def, "pydantic-ai ToolDefinition, Gemini FunctionDeclaration")


def test_a_tool_of_the_openai_agents_sdk() -> None:
    tool = module("agents").function_tool(forecast, strict_mode=False)
    assert_read(tool, "OpenAI Agents SDK FunctionTool")


def test_declarations_of_google_genai() -> None:
    types = module("google.genai.types")
    schema = types.Schema(
        type="OBJECT", properties={"city": types.Schema(type="STRING", min_length=2, nullable=True)}, required=["city"]
    )
    declaration = types.FunctionDeclaration(name="forecast", parameters=schema)
    assert_read(
        declaration,
        "a name and `parameters`: FastMCP objects, OpenAI's older `functions`, Gemini declarations, Haystack, Agno",
    )
    assert not check_arguments(declaration, {"city": "R"}).valid
    assert check_arguments(declaration, {"city": None}).valid
    assert_read(
        types.Tool(function_declarations=[declaration]), "Gemini Tool with one declaration, as Python writes it"
    )
    assert_read(
        types.FunctionDeclaration(name="forecast", parameters_json_schema=WANTS_CITY),
        "pydantic-ai ToolDefinition, Gemini FunctionDeclaration",
    )


def test_tools_of_the_official_sdk_and_of_fastmcp() -> None:
    tool = module("fastmcp.tools").Tool.from_function(forecast)
    assert_read(
        tool,
        "a name and `parameters`: FastMCP objects, OpenAI's older `functions`, Gemini declarations, Haystack, Agno",
    )
    assert_read(tool.to_mcp_tool(), "Anthropic Messages, and objects of the MCP SDK")
    types = module("mcp.types")
    assert_read(
        types.Tool.model_validate({"name": "forecast", "inputSchema": WANTS_CITY}),
        "Anthropic Messages, and objects of the MCP SDK",
    )


def test_the_tool_that_openai_makes_of_a_pydantic_model() -> None:
    class Forecast(module("pydantic").BaseModel):  # type: ignore[misc]
        city: str

    tool = module("openai").pydantic_function_tool(Forecast, name="forecast")
    assert_read(tool, "OpenAI Chat Completions")
