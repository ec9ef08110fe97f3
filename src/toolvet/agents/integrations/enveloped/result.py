"""The output schema of a tool, its return values as JSON, and an envelope as a tool result.

Clients reject structured content that breaks the tool's `outputSchema`. So the envelope is structured content where
that schema allows it, and in `_meta` elsewhere.
"""

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import pydantic_core
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema

from toolvet.core.envelope import Envelope, output_schema
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.meta import META_PREFIX
from toolvet.core.schema import compiled

OutputSchemaChoice = Literal["envelope", "data", "none"]
"""The schema that a tool declares: that of the envelope, that of its return annotation, or none."""
_NO_PAYLOAD: Final = (Envelope, CallToolResult, InputRequiredResult)
# The data of a failure, or of a response that was shortened, has other shapes.
_WHOLE: Final = {
    "properties": {"success": {"const": True}, "meta": {"not": {"required": ["content_fidelity"]}}},
    "required": ["success"],
}


class DeclaredOutput:
    """The output of a function with this return annotation (None for a function without one)."""

    def __init__(self, annotation: Any, output: OutputSchemaChoice) -> None:
        self._adapter: TypeAdapter[Any] | None = None
        self._wraps = False
        data: dict[str, Any] | None = None
        payload_type = _payload_type(annotation)
        if payload_type is not None:
            try:
                adapter = TypeAdapter[Any](payload_type)
                data = _inline_references(adapter.json_schema(mode="serialization"))
            except PydanticUserError:
                # A class that pydantic does not know: each value is converted when it comes.
                pass
            else:
                self._adapter = adapter
                self._wraps = data.get("type") != "object"
        if data is not None and self._wraps:
            data = {"type": "object", "properties": {"result": data}, "required": ["result"]}
        self.schema: dict[str, Any] | None = None if output == "none" else data
        if output == "envelope":
            self.schema = output_schema()
            if data is not None:
                of_data = {"if": _WHOLE, "then": {"properties": {"data": data}}}
                self.schema = {**self.schema, "allOf": [*elements(self.schema["allOf"]), of_data]}

    @property
    def annotation(self) -> Any:
        """The return annotation from which a framework declares that schema."""
        if self.schema is None:
            return CallToolResult
        return Annotated[CallToolResult, _type_with_schema(self.schema)]

    def data(self, value: object) -> Mapping[str, Any]:
        """A return value as the data of a response: an object as it is, any other value as its member `result`.

        Raises pydantic's exceptions for a value that contradicts the annotation, or that JSON cannot hold.
        """
        if self._adapter is not None:
            valid = self._adapter.validate_python(value, by_alias=True, by_name=True)
            plain: object = self._adapter.dump_python(valid, mode="json", by_alias=True)
            return {"result": plain} if self._wraps or not is_object(plain) else plain
        if value is None:
            return {}
        plain = pydantic_core.to_jsonable_python(value, by_alias=True)
        return plain if is_object(plain) else {"result": plain}


def _payload_type(annotation: Any) -> Any:
    if annotation in (None, type(None), Any) or annotation in _NO_PAYLOAD:
        return None
    if get_origin(annotation) in (Union, UnionType):
        arms = tuple(arm for arm in get_args(annotation) if arm not in _NO_PAYLOAD)
        if not arms or Any in arms:
            return None
        return Union[arms]  # noqa: UP007 - of as many as are left.
    return annotation


def _inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """References are invalid inside another schema; where a type contains itself, the inner one allows anything."""
    definitions = members(schema.get("$defs"))

    def resolved(part: object, inside: tuple[str, ...]) -> object:
        if is_array(part):
            return [resolved(each, inside) for each in part]
        if not is_object(part):
            return part
        name = str(part.get("$ref", "")).removeprefix("#/$defs/")
        if name in inside:
            return {}
        if name in definitions:
            rest = {key: each for key, each in part.items() if key not in {"$ref", "$defs"}}
            return {**members(resolved(definitions[name], (*inside, name))), **rest}
        return {key: resolved(each, inside) for key, each in part.items() if key != "$defs"}

    return dict(members(resolved(schema, ())))


def _type_with_schema(schema: Mapping[str, Any]) -> type[BaseModel]:
    """A class with this JSON Schema, because frameworks take schemas only from types."""

    class ToolOutput(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            # Only metadata of CallToolResult: the decorator makes the values itself.
            return handler(source)

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: object, handler: object) -> dict[str, Any]:
            del core_schema, handler
            return dict(schema)

    return ToolOutput


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
    written = envelope.to_json() if text == "json" else prose(envelope) if text == "prose" else text(envelope)
    result: dict[str, object] = {
        "content": [{"type": "text", "text": written}],
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
