"""An envelope as a tool result: in its text, and as structured content or in `_meta`.

Clients reject structured content that breaks the tool's `outputSchema`. So the envelope is structured content where
that schema allows it, and in `_meta` elsewhere.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from mcp_types import CallToolResult

from toolvet.core.envelope import Envelope
from toolvet.core.json_value import elements, members
from toolvet.core.meta import META_PREFIX
from toolvet.core.schema import compiled

META_KEY: Final = f"{META_PREFIX}envelope"
"""The key of the envelope in the `_meta` of a tool result."""
TextForm = Literal["json", "prose"] | Callable[[Envelope], str]
"""The text of a result: the envelope as JSON, the same in words, or the result of a function."""


def placed(
    envelope: Envelope,
    output_schema: Mapping[str, object] | None = None,
    *,
    text: TextForm = "json",
    era: Literal["legacy", "modern"] = "modern",
) -> dict[str, object]:
    """An envelope as a tool result, in the JSON form that is sent.

    A failure has `isError: true`. The text follows the surrounding `response_contract(...)`; structured content and
    `_meta` are always v2.

    Args:
        envelope: the response.
        output_schema: the `outputSchema` that the tool declares. Where it does not allow the envelope, a success has
            its bare data as structured content, and the envelope is in `_meta`.
        text: the text for people and models: "json", "prose", or a function of the envelope.
        era: "modern" (MCP 2026-07-28 and later) adds `resultType`.

    Example:
        >>> from toolvet import success_response
        >>> placed(success_response({"ship": "Aurora"}), text="prose")["content"]
        [{'type': 'text', 'text': '{"ship":"Aurora"}'}]
    """
    document = envelope.to_dict("v2")
    result: dict[str, object] = {
        "content": [{"type": "text", "text": _render_text(envelope, text)}],
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
    envelope: Envelope, output_schema: Mapping[str, object] | None = None, *, text: TextForm = "json"
) -> CallToolResult:
    """The same as a CallToolResult, for handlers of the SDK and for FastMCP's tools.

    Args:
        envelope: the response.
        output_schema: as for `placed`.
        text: as for `placed`.

    Example:
        >>> from toolvet import not_found_error
        >>> to_result(not_found_error("Ship", "Aurora")).is_error
        True
    """
    return CallToolResult.model_validate(placed(envelope, output_schema, text=text))


def _render_text(envelope: Envelope, text: TextForm) -> str:
    if text == "json":
        return envelope.to_json()
    return prose(envelope) if text == "prose" else text(envelope)


def prose(envelope: Envelope) -> str:
    """An envelope in words, for people and models.

    Args:
        envelope: the response.

    Returns:
        The data as JSON and a line for each warning, or what went wrong, the wrong fields, and what to do.

    Example:
        >>> from toolvet import not_found_error
        >>> print(prose(not_found_error("Ship", "Aurora")))
        Ship 'Aurora' not found
        Verify the ship ID exists.
    """
    if envelope.success:
        lines = [envelope.to_json("v1")]
        listed = [members(each).get("message") for each in elements(envelope.meta.get("warning_details"))]
        lines += [f"Warning: {each}" for each in [*elements(envelope.meta.get("warnings")), *listed]]
        return "\n".join(lines)
    lines = [f"{envelope.error}"]
    for each in elements(members(envelope.data.get("details")).get("errors")):
        fault = members(each)
        lines.append(f"- {fault.get('field', fault.get('pointer', ''))}: {fault.get('message')}")
    remediation = envelope.data.get("remediation")
    return "\n".join([*lines, remediation] if isinstance(remediation, str) else lines)
