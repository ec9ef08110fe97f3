"""What a tool declares as its output, and its values in JSON: both from the return annotation."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic_core
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema

from toolvet.envelope import Envelope, output_schema
from toolvet.schema.json_value import elements, is_array, is_object, members

Output = Literal["envelope", "data", "none"]
"""Which schema a tool declares: that of the envelope, that of its return annotation, or none."""


class DeclaredOutput:
    """The output of a function with this return annotation (None where it has none)."""

    def __init__(self, annotation: Any, output: Output) -> None:
        self._adapter: TypeAdapter[Any] | None = None
        self._wraps = False
        data: dict[str, Any] | None = None
        kept = _payload_type(annotation)
        if kept is not None:
            try:
                adapter = TypeAdapter[Any](kept)
                data = _inlined(adapter.json_schema(mode="serialization"))
            except PydanticUserError:
                # A class that pydantic does not know: its values are tried as they come.
                pass
            else:
                self._adapter = adapter
                self._wraps = data.get("type") != "object"
        if data is not None and self._wraps:
            data = {"type": "object", "properties": {"result": data}, "required": ["result"]}
        self.schema = _declared(output, data)

    @property
    def annotation(self) -> Any:
        """What a framework has to find as the return annotation to declare that schema."""
        if self.schema is None:
            return CallToolResult
        return Annotated[CallToolResult, _model(self.schema)]

    def data(self, value: object) -> Mapping[str, Any]:
        """What a function returned, as the data of a response: objects as they are, all else under `result`.

        Raises what pydantic raises for a value that is not what the annotation says, or that JSON cannot hold.
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
    """The annotation without what is no payload: responses of our own, and questions back to the client."""
    if annotation in (None, type(None), Any) or annotation in _NO_PAYLOAD:
        return None
    if get_origin(annotation) in (Union, UnionType):
        arms = tuple(arm for arm in get_args(annotation) if arm not in _NO_PAYLOAD)
        if not arms or Any in arms:
            return None
        return Union[arms]  # noqa: UP007 - of as many as are left.
    return annotation


_NO_PAYLOAD = (Envelope, CallToolResult, InputRequiredResult)


def _inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references: those of a schema that is put into another would lead nowhere.

    Where a type contains itself, its inner values are left open.
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


def _declared(output: Output, data: dict[str, Any] | None) -> dict[str, Any] | None:
    if output == "none":
        return None
    if output == "data":
        return data
    envelope = output_schema()
    if data is None:
        return envelope
    conditions = [*elements(envelope["allOf"]), {"if": _WHOLE, "then": {"properties": {"data": data}}}]
    return {**envelope, "allOf": conditions}


# The data of a failure, or of a response that was shortened, has other shapes.
_WHOLE = {
    "properties": {"success": {"const": True}, "meta": {"not": {"required": ["content_fidelity"]}}},
    "required": ["success"],
}


def _model(schema: Mapping[str, Any]) -> type[BaseModel]:
    """A class whose JSON Schema is the given one, since frameworks take schemas only from types."""

    class ToolOutput(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            # As metadata of another type it says nothing about the values, which the decorator makes itself.
            return handler(source)

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: object, handler: object) -> dict[str, Any]:
            del core_schema, handler
            return dict(schema)

    return ToolOutput
