"""The outputSchema of a tool, and the structured content that it promises."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.ending import Ending, ending, is_empty_list
from toolvet.assess.rules.quote import list_names, quote, quote_problem, show, show_answer
from toolvet.assess.rules.rule import of_call, of_server, of_tool
from toolvet.core.json_value import elements, members
from toolvet.core.schema import compiled
from toolvet.core.tool_rules import ObservedCall, ObservedServer, ToolDefinition
from toolvet.findings import Card, Finding, Severity

OUTPUT_SCHEMA_INVALID = Card(
    id="output-schema-invalid",
    title="The outputSchema is not valid JSON Schema",
    severity=Severity.ERROR,
    looks_for="An outputSchema that does not compile; or, before protocol 2026-07-28, one whose root is not an object.",
    why=(
        "Clients check structured results against it. The official clients compile it when they first call the "
        "tool, or when they read the list, and fail there: the tool, or all tools, cannot be used."
    ),
    remedy=(
        "Fix the keyword at the place named, or drop the outputSchema. Derive it from a return type (FastMCP, "
        "pydantic) or from a Zod object. Where the result is a list or a scalar, old clients need it wrapped in an "
        "object."
    ),
)
_ANY_ROOT_SINCE: Final = "2026-07-28"


@of_tool(OUTPUT_SCHEMA_INVALID)
def check_output_schema_invalid(tool: ToolDefinition) -> Iterator[Finding]:
    """Report why the schema does not compile; `tool-illegal` reports a schema of the wrong JSON type."""
    if tool.result_schema is None:
        return
    problem = compiled(tool.result_schema).problem
    if problem is not None and problem.kind != "remote_ref":
        yield OUTPUT_SCHEMA_INVALID.finding(
            message=f"The outputSchema cannot be used: {quote_problem(tool.result_schema, problem)}",
            pointer=f"/outputSchema{problem.pointer}",
            evidence=quote(problem.message),
        )


@of_server(OUTPUT_SCHEMA_INVALID)
def check_output_schema_invalid_server(server: ObservedServer) -> Iterator[Finding]:
    """Report a root that does not describe an object, where the protocol of the session demands one."""
    if not server.protocol_version or server.protocol_version >= _ANY_ROOT_SINCE:
        return
    for tool in server.tools:
        schema = tool.result_schema
        if schema is not None and (kind := schema.get("type")) != "object":
            yield OUTPUT_SCHEMA_INVALID.finding(
                message=f'The outputSchema must have "type": "object" in protocol {server.protocol_version}.',
                pointer="/outputSchema/type",
                evidence=show(kind) if "type" in schema else show(schema, 160),
                tool=tool.name,
            )


OUTPUT_SCHEMA_BROKEN = Card(
    id="output-schema-broken",
    title="The structured content breaks the outputSchema",
    severity=Severity.ERROR,
    looks_for="A successful result whose `structuredContent` does not satisfy the tool's outputSchema.",
    why=(
        "The official clients validate structured content and raise an exception where it does not fit: the model "
        "gets nothing, although the tool did its work."
    ),
    remedy=(
        "Build the result from the type that the schema is made of (a pydantic model, a TypedDict, a Zod schema), "
        "or correct the schema: mark as optional what may be absent and as nullable what may be null. Errors need "
        "no structured content: raise them."
    ),
)
_MOST_PLACES: Final = 3  # Findings of one result.


@of_call(OUTPUT_SCHEMA_BROKEN)
def check_output_schema_broken(call: ObservedCall) -> Iterator[Finding]:
    """Report each place once, and at most three of them."""
    result = members(call.result)
    if ending(call) is not Ending.SUCCESS or call.tool.result_schema is None or "structuredContent" not in result:
        return
    content = result["structuredContent"]
    if content is None:
        # SDKs write null for "none": `structured-content-missing` reports it unless the schema allows null.
        return
    if call.excerpt is not None:
        # An excerpt may lack what the schema demands: the verdict is about the whole.
        seen = call.verdict.metadata.output_schema_validation if call.verdict is not None else None
        if seen is not None and not seen.is_valid:
            yield OUTPUT_SCHEMA_BROKEN.finding(
                message=f"The structured content breaks the outputSchema: {quote(seen.error or '', 160)}",
                pointer="/structuredContent",
                evidence=quote(seen.error or "", 300),
            )
        return
    for violation in compiled(call.tool.result_schema).violations(content)[:_MOST_PLACES]:
        place, words = quote(violation.pointer or "the root", 80), quote(violation.message, 120)
        yield OUTPUT_SCHEMA_BROKEN.finding(
            message=f"The structured content breaks the outputSchema at {place}: {words}",
            pointer=f"/structuredContent{violation.pointer}",
            evidence=f"{quote(violation.message, 160)}; structuredContent: {show(content, 160)}",
        )


STRUCTURED_CONTENT_MISSING = Card(
    id="structured-content-missing",
    title="The tool declares an outputSchema and sends no structured content",
    severity=Severity.ERROR,
    looks_for="A successful result without `structuredContent`, from a tool that has an outputSchema.",
    why=(
        "With an outputSchema, structured content is a must (protocol 2025-06-18 and later). The official clients "
        "raise an exception when it is missing, so the text does not reach the model either."
    ),
    remedy=(
        "Send `structuredContent` beside the text, or drop the outputSchema. In Python return the value and let the "
        "SDK make both from it; results built by hand need both. A JSON text alone does not count."
    ),
)


@of_call(STRUCTURED_CONTENT_MISSING)
def check_structured_content_missing(call: ObservedCall) -> Iterator[Finding]:
    """Report structured content that is absent, or null where the schema does not allow null."""
    result = members(call.result)
    if (
        ending(call) is not Ending.SUCCESS
        or call.tool.result_schema is None
        or result.get("structuredContent") is not None
    ):
        return
    schema = compiled(call.tool.result_schema)
    if "structuredContent" in result and schema.problem is None and schema.is_valid(None):
        return
    yield STRUCTURED_CONTENT_MISSING.finding(
        message="The result has no structuredContent, although the tool declares an outputSchema.",
        evidence=show_answer(call.result, 200),
    )


TEXT_MIRROR_MISSING = Card(
    id="text-mirror-missing",
    title="Structured content without a text block",
    severity=Severity.INFO,
    looks_for=(
        "A successful result with `structuredContent` and an empty `content` array. The Python SDKs send an empty list "
        "like this, with or without structured content: that is one note for the server."
    ),
    why=(
        "Clients from before protocol 2025-06-18, and many since, pass only `content` on to the model. To them the "
        "result is empty."
    ),
    remedy=(
        'Put the same data as JSON text into a text block: `content: [{type: "text", text: JSON.stringify(data)}]`. '
        "The Python SDKs do it by themselves when a tool returns its value."
    ),
    is_of_sdk=True,
)


@of_call(TEXT_MIRROR_MISSING)
def check_text_mirror_missing(call: ObservedCall) -> Iterator[Finding]:
    """Report an empty `content`; any block counts as text, because clients pass on media and links as well."""
    result = members(call.result)
    if (
        ending(call) is Ending.SUCCESS
        and result.get("structuredContent") is not None
        and not elements(result.get("content"))
        and not is_empty_list(call)
    ):
        yield TEXT_MIRROR_MISSING.finding(
            message="The result has structured content and no text for clients that read only text.",
            evidence=show_answer(call.result),
        )


@of_server(TEXT_MIRROR_MISSING)
def check_text_mirror_missing_server(server: ObservedServer) -> Iterator[Finding]:
    """One note for all tools that answer an empty list without a word, which is how their framework sends it."""
    empty = [call for call in server.calls if is_empty_list(call)]
    names = list(dict.fromkeys(call.tool.name for call in empty))
    if names:
        yield TEXT_MIRROR_MISSING.finding(
            message=f"An empty list has no text for clients that read only text: {list_names(names)}.",
            evidence=show_answer(empty[0].result),
            remedy='Nothing has to be done. A sentence ("No orders match") helps a model more than an empty list.',
        )
