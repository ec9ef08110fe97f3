"""The output schema of a tool, and its return values as JSON, both from the return annotation."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import pydantic_core
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema

from toolvet.core.envelope import Envelope, output_schema
from toolvet.core.json_value import elements, is_array, is_object, members

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
        self.schema = _combine(output, data)

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
    """The annotation without Envelope, tool results and questions back to the client; None where nothing is left."""
    if annotation in (None, type(None), Any) or annotation in _NO_PAYLOAD:
        return None
    if get_origin(annotation) in (Union, UnionType):
        arms = tuple(arm for arm in get_args(annotation) if arm not in _NO_PAYLOAD)
        if not arms or Any in arms:
            return None
        return Union[arms]  # noqa: UP007 - of as many as are left.
    return annotation


def _inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without references, which would be invalid after it is put into another schema.

    Where a type contains itself, the inner occurrence allows any value.
    """
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


def _combine(output: OutputSchemaChoice, data: dict[str, Any] | None) -> dict[str, Any] | None:
    if output == "none":
        return None
    if output == "data":
        return data
    envelope = output_schema()
    if data is None:
        return envelope
    conditions = [*elements(envelope["allOf"]), {"if": _WHOLE, "then": {"properties": {"data": data}}}]
    return {**envelope, "allOf": conditions}


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
