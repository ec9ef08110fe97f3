"""`docs/shapes.md`, made from the shape tables: `python -m toolvet.core.checks.result.page > docs/shapes.md`."""

import sys

from toolvet.core.checks.result.shapes import result_shapes
from toolvet.core.tools.shape import readable_shapes

_INTRO = """# The tools and results that toolvet reads

`check_arguments`, `check_result` and every other function that takes a tool or a result read the shapes below. toolvet
imports nothing from a framework; it recognises objects by their attributes. This page is generated from the tables in
`src/toolvet/core/tools/shapes.toml` and `src/toolvet/core/checks/result/shapes.toml`, which also have an example of
each shape that comes as JSON.

## Tools

| shape | what it looks like |
|---|---|
"""
_TOOLS = """
```python
>>> from toolvet import check_arguments
>>> schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
>>> tool = {"type": "function", "function": {"name": "forecast", "parameters": schema}}
>>> check_arguments(tool, '{"day": 2}').issues[0].fix
"Add 'city': provide a string."

>>> def forecast(city: str, days: int = 1) -> str: ...
>>> check_arguments(forecast, {"city": "Lisbon", "days": "two"}).issues[0].problem
'Expected integer, received string'

```

- For **Python's types**, pydantic makes the schema if the program has loaded it, otherwise msgspec. toolvet leaves out
  parameters that a framework fills in itself (`Context`, `RunContext`, `ToolRuntime` and similar). A function without
  `**kwargs` takes no other arguments.
- toolvet converts a schema in **Gemini**'s style to JSON Schema: lower-case types, `nullable`, counts as strings.
- **OpenAI and Gemini** allow a function without a schema: it takes no arguments.
- **Any other shape** raises `ToolShapeError`, a `TypeError` that lists these shapes. A list of tools is not one of
  them: pass one tool.
- **A definition without a schema** is never valid: the report has an issue of the kind `unchecked`, and
  `toolvet check arguments` exits with 2. It also exits with 2 for an unusable schema (`report.is_checked` is False);
  with such a schema a call is valid. `check_arguments(…, unchecked="pass")` lets a call of any tool pass and never
  raises. The proxy and the integrations use it for the tools of a server.
- **A handle** (`toolvet.tool(definition)`) works wherever a definition works. toolvet reads and compiles it once, which
  halves the cost of a valid call in `check_arguments`. Make a new one when the definition changes.

```python
>>> report = check_arguments({"name": "forecast"}, {"city": "Lisbon"})
>>> report.valid, report.is_checked, report.issues[0].problem
(False, False, 'Not checked: the tool has no inputSchema')

```

## Results

toolvet reads an MCP result as it is. It treats anything else as one of these shapes; `metadata.taken_for` names the
shape. The column "says that it failed" shows what counts as the error flag of MCP. If a shape has no flag, an error in
the words is not blamed for missing it.

| shape | what it looks like | says that it failed |
|---|---|---|
"""
_RESULTS = """
toolvet also reads a message that contains exactly one of them
(`{"role": "user", "content": [{"type": "tool_result", …}]}`).

```python
>>> from toolvet import check_result
>>> block = {"type": "tool_result", "tool_use_id": "t1", "content": "No such city: Atlantis", "is_error": True}
>>> verdict = check_result("forecast", {"city": "Atlantis"}, block)
>>> verdict.metadata.taken_for, verdict.state.value, verdict.retry.value
('Anthropic tool_result', 'not_found', 'fix_arguments')
>>> check_result("forecast", {}, TimeoutError("no answer within 30 s")).state.value
'timeout'

```

toolvet reads only the part of an HTTP response that is in memory; it fetches nothing. `check_result(…, shape="mcp")`
accepts only MCP results. The assessment and the proxy use it, because a server that sends something else is broken.
"""
_VALUES = (
    ("text", "`str`, `bytes`, a number", "no"),
    ("payload", "a list, a JSON object that is not an MCP result, a pydantic object, a dataclass", "no"),
    ("exception", "the exception itself: type and message", "always"),
    (
        "HTTP response",
        "an object of httpx, requests, aiohttp or Starlette; JSON with a status, and headers or a body",
        "from status 400 on",
    ),
    ("JSON-RPC response", '`{"jsonrpc": "2.0", "result": {…}}`', "`isError` in it"),
    ("nothing", "`None`", "no: it is broken, nothing came back"),
)


def render_shapes_page() -> str:
    """`docs/shapes.md`."""
    tools = [f"| {name} | {_shown(example)} |" for name, example in readable_shapes()]
    results = [f"| {shape.name} | {_shown(shape.example)} | {_flags(shape.name)} |" for shape in result_shapes()]
    values = [f"| {name} | {example} | {flag} |" for name, example, flag in _VALUES]
    return "".join(
        [_INTRO, *(f"{line}\n" for line in tools), _TOOLS, *(f"{line}\n" for line in results + values), _RESULTS]
    )


def _shown(example: str) -> str:
    return f"`{example}`" if example.startswith("{") else example


def _flags(name: str) -> str:
    """How a shape says that the call failed."""
    found: dict[str, None] = {}
    for shape in result_shapes():
        if shape.name == name:
            found |= {
                f"`{member}: {str(value).lower()}`": None for member, values in shape.failed.items() for value in values
            }
            if shape.error:
                found[f"`{shape.error}`"] = None
            if "response" in shape.content:
                found["`error` in the response"] = None
            if shape.always:
                found["always"] = None
    return ", ".join(found) or "no"


if __name__ == "__main__":
    sys.stdout.write(render_shapes_page())
