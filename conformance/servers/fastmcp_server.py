"""A FastMCP server for `make conformance`: `fastmcp_server.py stdio` or `fastmcp_server.py PORT`."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp: FastMCP = FastMCP("fastmcp")


@mcp.tool
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@mcp.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Log while it works."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
    return "Tool with logging executed successfully"


@mcp.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress while it works."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
    return "done"


@mcp.tool
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@mcp.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the client's model."""
    answer = await ctx.sample(prompt)
    return f"LLM response: {answer.text}"


@mcp.resource("test://static-text")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@mcp.resource("test://template/{id}/data")
def template(id: str) -> str:  # noqa: A002 - the suite's name
    """A text for each id."""
    return f'{{"id": "{id}"}}'


@mcp.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@mcp.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def main() -> None:
    """Serve."""
    if sys.argv[1] == "stdio":
        mcp.run(show_banner=False)
    else:
        mcp.run("http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", show_banner=False, log_level="error")


if __name__ == "__main__":
    main()
