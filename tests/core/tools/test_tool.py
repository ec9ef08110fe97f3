"""Reading a tool definition of any origin."""

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict, cast

import msgspec
import pytest
from pydantic import BaseModel, Field

from toolvet import ToolShapeError, check_arguments
from toolvet.core.tools import read_tool, view_of
from toolvet.core.tools.shape import as_json_schema, readable_shapes, tool_shapes

SCHEMA = {"type": "object"}
WANTS_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class _OfAnSdk:
    name = "t"
    description = "d"
    input_schema = SCHEMA
    output_schema = None

    @property
    def outputSchema(self) -> object:  # noqa: N802 - the old spelling, which SDKs warn of
        raise DeprecationWarning("use output_schema")

    inputSchema = outputSchema  # noqa: N815


class _OfFastMCP:
    name = "t"
    parameters = SCHEMA


class _Hostile:
    @property
    def name(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "tool", [{"name": "t", "inputSchema": SCHEMA}, {"name": "t", "input_schema": SCHEMA}, _OfAnSdk(), _OfFastMCP()]
)
def test_the_input_schema_is_found_under_every_name_that_it_has(tool: object) -> None:
    assert view_of(tool).input_schema == SCHEMA
    assert view_of(tool).output_schema is None


@pytest.mark.parametrize("tool", [None, 5, [], _Hostile(), {"name": 5, "inputSchema": SCHEMA}])
def test_a_value_that_is_not_a_tool_definition_has_no_name(tool: object) -> None:
    assert view_of(tool).name == ""


def test_a_text_is_a_name_and_no_tool() -> None:
    assert view_of("get_user").name == "get_user"
    with pytest.raises(TypeError):
        read_tool("get_user")


@pytest.mark.parametrize(
    ("shape", "text"),
    [(shape.name, text) for shape in tool_shapes() for text in shape.hits],
    ids=lambda each: each[:60],
)
def test_each_definition_of_the_table_is_read_as_its_shape_and_checked(shape: str, text: str) -> None:
    tool = json.loads(text)
    assert view_of(tool).shape == shape
    assert check_arguments(tool, {"city": "Lisbon"}).valid
    (issue,) = check_arguments(tool, {}).issues
    assert (issue.kind, issue.field) == ("required", "city")


@pytest.mark.parametrize(
    ("shape", "text"),
    [(shape.name, text) for shape in tool_shapes() for text in shape.misses],
    ids=lambda each: each[:60],
)
def test_what_only_looks_like_a_shape_is_read_as_another(shape: str, text: str) -> None:
    view = view_of(json.loads(text))
    assert view.shape not in ("", shape)
    assert view.input_schema is not None


def test_each_shape_that_comes_as_json_has_an_example() -> None:
    assert [shape.name for shape in tool_shapes() if shape.example.startswith("{") and not shape.hits] == []


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "now"}},
        {"type": "function", "name": "now"},
        {"functionDeclarations": [{"name": "now"}]},
    ],
    ids=["chat", "responses", "gemini"],
)
def test_a_definition_that_may_leave_out_its_schema_takes_no_arguments(tool: object) -> None:
    assert check_arguments(tool, {}).valid
    assert check_arguments(tool, {}).is_checked


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "t"},
        {"name": "t", "inputSchema": None},
        {"name": "t", "description": "Sails."},
        {"type": "custom", "name": "write", "format": {"type": "text"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"toolSpec": {"name": "t"}},
        {"name": "t", "parameters": None},
    ],
    ids=str,
)
def test_a_definition_without_a_schema_is_never_valid(tool: object) -> None:
    report = check_arguments(tool, {})
    assert not report.valid
    assert not report.is_checked
    assert [issue.kind for issue in report.issues] == ["unchecked"]
    assert "not checked" in report.to_text()
    assert report.to_dict()["valid"] is False


def test_of_a_peer_a_definition_without_a_schema_lets_the_call_pass() -> None:
    for tool in ({"name": "t"}, None, 5, {}, _Hostile(), {"name": "t", "inputSchema": None}):
        report = check_arguments(tool, {"a": 1}, unchecked="pass")
        assert report.valid
        assert report.unchecked
        assert not report.is_checked


def test_a_schema_that_cannot_be_used_is_read_and_not_checked() -> None:
    unusable: list[object] = [{"type": "nonsense"}, 5, "x", []]
    for schema in unusable:
        report = check_arguments({"name": "t", "inputSchema": schema}, {})
        assert report.unchecked
        assert not report.is_checked
    assert check_arguments({"name": "t", "inputSchema": True}, {}).is_checked
    assert check_arguments({"name": "t", "inputSchema": {}}, {}).is_checked


@pytest.mark.parametrize(
    "tool",
    [
        None, 5, 2.5, True, "search", b"search", [], [{"name": "t", "inputSchema": SCHEMA}], {}, {"a": 1},
        {"type": "tool"}, {"function": "f"}, object(), int, object, SimpleNamespace(name="t"), Path("t"), _Hostile(),
        {"tools": [{"name": "t", "inputSchema": SCHEMA}]}, {"functionDeclarations": [{"name": "a"}, {"name": "b"}]},
        {"type": "function", "function": {"parameters": SCHEMA}}, SimpleNamespace(name="t", parameters=object()),
    ],
    ids=lambda tool: repr(tool)[:40].split(" at 0x")[0],
)  # fmt: skip
def test_what_is_no_tool_is_refused_with_the_shapes_that_are_read(tool: object) -> None:
    with pytest.raises(ToolShapeError) as refused:
        check_arguments(tool, {})
    assert isinstance(refused.value, TypeError)
    message = str(refused.value)
    for name, example in readable_shapes():
        assert name in message
        assert example in message


def test_a_list_of_tools_is_refused_with_advice() -> None:
    lists: list[object] = [[{"name": "t"}], {"tools": []}, {"functionDeclarations": [{"name": "a"}, {"name": "b"}]}]
    for several in lists:
        with pytest.raises(ToolShapeError, match="Pass one tool of the list"):
            read_tool(several)


@pytest.mark.parametrize(
    "schema",
    [
        WANTS_CITY,
        {"properties": {"city": {}}, "required": ["city"]},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "required": ["city"]},
        {"$ref": "#/$defs/a", "$defs": {"a": WANTS_CITY}},
        {"type": ["object", "null"], "required": ["city"]},
        {"type": "OBJECT", "required": ["city"]},
        {"title": "Forecast", "allOf": [WANTS_CITY]},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_a_bare_schema_is_a_tool_without_a_name(schema: Mapping[str, object]) -> None:
    assert view_of(schema).shape == "JSON Schema"
    assert not check_arguments(schema, {}).valid
    assert check_arguments(schema, {"city": "Lisbon"}).valid


def test_a_mapping_is_as_good_as_a_dict() -> None:
    tool = MappingProxyType({"name": "t", "inputSchema": MappingProxyType({**WANTS_CITY})})
    assert view_of(tool).name == "t"
    assert not check_arguments(tool, {}).valid


def test_a_schema_of_gemini_becomes_json_schema() -> None:
    schema = {
        "type": "OBJECT",
        "propertyOrdering": ["city"],
        "properties": {
            "city": {"type": "STRING", "nullable": True, "minLength": "2", "example": "Rome", "enum": ["Rome", "Pisa"]},
            "days": {"type": "ARRAY", "items": {"type": "INTEGER", "format": "int64"}, "max_items": 3},
            "unit": {"any_of": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": True},
            "type": {"type": "TYPE_UNSPECIFIED"},
            "nullable": {"type": "BOOLEAN"},
        },
    }
    assert as_json_schema(schema) == {
        "type": "object",
        "properties": {
            "city": {"type": ["string", "null"], "minLength": 2, "enum": ["Rome", "Pisa", None]},
            "days": {"type": "array", "items": {"type": "integer", "format": "int64"}, "maxItems": 3},
            "unit": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            "type": {},
            "nullable": {"type": "boolean"},
        },
    }
    tool = {"name": "forecast", "parameters": schema}
    assert check_arguments(tool, {"city": None, "days": [1], "unit": None}).valid
    assert not check_arguments(tool, {"city": "R"}).valid


def test_a_deep_schema_of_gemini_does_not_raise() -> None:
    schema: dict[str, object] = {"type": "STRING"}
    for _ in range(5_000):
        schema = {"type": "ARRAY", "items": schema}
    assert view_of({"name": "t", "parameters": schema}).name == "t"


class Model(BaseModel):
    """The forecast of a city."""

    city: str
    days: int = Field(default=1, ge=1, alias="dayCount")


class Leg(TypedDict):
    port: str


class Trip(TypedDict):
    city: str
    legs: NotRequired[list[Leg]]


class Tuple(NamedTuple):
    city: str
    days: int = 1


class Struct(msgspec.Struct):
    city: str
    days: Annotated[int, msgspec.Meta(ge=1)] = 1


@dataclass
class Record:
    """The forecast of a city."""

    city: str
    days: int = 1
    legs: list[Leg] = field(default_factory=list)


@dataclass
class Node:
    city: str
    below: "list[Node]" = field(default_factory=list)


def forecast(city: str, days: Annotated[int, Field(ge=1)] = 1, *, unit: Literal["c", "f"] = "c") -> str:
    """The forecast of a city.

    Only for Europe.
    """
    return f"{city} {days} {unit}"


class Station:
    def forecast(self, city: str) -> str:
        return city


class RunContext:
    """An argument that a framework itself hands to a function."""


def with_context(ctx: RunContext, city: str, note: "Unknown" = None, **more: int) -> None:  # type: ignore[name-defined] # noqa: F821
    """Annotations that cannot be resolved, and any further arguments."""


@pytest.mark.parametrize(
    ("tool", "name", "wrong"),
    [
        (Model, "Model", {"city": "Rome", "dayCount": 0}),
        (Trip, "Trip", {"city": "Rome", "legs": [{}]}),
        (Tuple, "Tuple", {"city": "Rome", "days": "x"}),
        (Struct, "Struct", {"city": "Rome", "days": 0}),
        (Record, "Record", {"city": "Rome", "legs": [{"port": 1}]}),
        (Node, "Node", {"city": "Rome", "below": [{"city": 1}]}),
        (forecast, "forecast", {"city": "Rome", "days": 0}),
        (functools.partial(forecast, days=2), "forecast", {"city": "Rome", "unit": "k"}),
        (Station().forecast, "forecast", {"city": "Rome", "town": "Rome"}),
        (Station.forecast, "forecast", {"city": 1}),
    ],
    ids=lambda each: getattr(each, "__name__", "") or str(each)[:20],
)
def test_types_and_functions_of_python_are_tools(tool: object, name: str, wrong: object) -> None:
    assert view_of(tool).name == name
    assert check_arguments(tool, {"city": "Rome"}).valid
    assert not check_arguments(tool, {}).valid
    assert not check_arguments(tool, wrong).valid
    assert view_of(tool).input_schema is view_of(tool).input_schema


def test_the_description_is_the_first_paragraph_of_the_docstring() -> None:
    assert view_of(forecast).description == "The forecast of a city."
    assert view_of(Record).description == "The forecast of a city."
    assert view_of(Node).description == ""


def test_what_frameworks_hand_over_is_no_argument() -> None:
    schema = cast("dict[str, Any]", view_of(with_context).input_schema)
    assert list(schema["properties"]) == ["city", "note"]
    assert schema["required"] == ["city"]
    assert check_arguments(with_context, {"city": "Rome", "other": 3}).valid


def test_an_argument_that_has_no_name_is_refused() -> None:
    with pytest.raises(ToolShapeError, match="only be given by position"):
        read_tool(lambda city, /: city)


def test_without_pydantic_msgspec_reads_the_types() -> None:
    code = """
import sys
from dataclasses import dataclass
from typing import Annotated, TypedDict
import msgspec
from toolvet import check_arguments
@dataclass
class Record:
    city: str
class Trip(TypedDict):
    city: str
def forecast(city: str, days: Annotated[int, msgspec.Meta(ge=1)] = 1): ...
for tool in (Record, Trip, forecast):
    assert check_arguments(tool, {"city": "Rome"}).valid, tool
    assert not check_arguments(tool, {}).valid, tool
assert not check_arguments(forecast, {"city": "Rome", "days": 0}).valid
assert "pydantic" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
