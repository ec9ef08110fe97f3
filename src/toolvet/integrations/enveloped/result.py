"""An envelope in a tool result, where it may stand.

Clients reject structured content that breaks the tool's `outputSchema`, so the envelope is structured content only
where that schema is the envelope's or admits it. It always is the text, and under `_meta` where it is not structured.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from mcp_types import CallToolResult

from toolvet.envelope import Envelope
from toolvet.schema import compiled
from toolvet.schema.json_value import elements, members

META_KEY = "dev.toolvet/envelope"
Text = Literal["json", "prose"] | Callable[[Envelope], str]
"""What the text of a result says: the envelope as JSON, the same for people, or what a function makes of it."""


def placed(
    envelope: Envelope,
    output_schema: Mapping[str, object] | None = None,
    *,
    text: Text = "json",
    era: Literal["legacy", "modern"] = "modern",
) -> dict[str, object]:
    """The tool result as it goes over the wire, for a tool with this `outputSchema` (None for none).

    A failure is `isError`. A success whose envelope the schema does not admit has the bare data as structured content.
    The text follows the surrounding `response_contract(...)`; structured content and `_meta` are always v2.
    """
    document = envelope.to_dict("v2")
    result: dict[str, object] = {
        "content": [{"type": "text", "text": written_text(envelope, text)}],
        "isError": not envelope.success,
    }
    if output_schema is not None and compiled(output_schema).is_valid(document):
        result["structuredContent"] = document
    else:
        result["_meta"] = {META_KEY: document}
        if output_schema is not None and envelope.success:
            result["structuredContent"] = document["data"]
    return {"resultType": "complete", **result} if era == "modern" else result


def to_result(
    envelope: Envelope, output_schema: Mapping[str, object] | None = None, *, text: Text = "json"
) -> CallToolResult:
    """The same for handlers of the SDK and for FastMCP's tools, which both take a CallToolResult."""
    return CallToolResult.model_validate(placed(envelope, output_schema, text=text))


def written_text(envelope: Envelope, text: Text) -> str:
    """What the text of the result says."""
    if text == "json":
        return envelope.to_json().decode()
    return prose(envelope) if text == "prose" else text(envelope)


def prose(envelope: Envelope) -> str:
    """For people and models: the data as JSON and the warnings in words, or what went wrong and what to do."""
    if envelope.success:
        lines = [envelope.to_json("v1").decode()]
        listed = [members(each).get("message") for each in elements(envelope.meta.get("warning_details"))]
        lines += [f"Warning: {each}" for each in [*elements(envelope.meta.get("warnings")), *listed]]
        return "\n".join(lines)
    lines = [f"{envelope.error}"]
    for each in elements(members(envelope.data.get("details")).get("errors")):
        fault = members(each)
        lines.append(f"- {fault.get('field', fault.get('pointer', ''))}: {fault.get('message')}")
    remediation = envelope.data.get("remediation")
    return "\n".join([*lines, remediation] if isinstance(remediation, str) else lines)
