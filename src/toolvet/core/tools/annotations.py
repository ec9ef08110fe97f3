"""Python's own types → JSON Schema: pydantic models, dataclasses, TypedDicts, annotated functions.

pydantic reads them where the program has it (its constraints are in the annotations, and only it knows them), else
msgspec does. Neither is imported here for the purpose: pydantic is used when it is loaded already.
"""

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Annotated, Final, Protocol, TypeGuard, cast

import msgspec

_MOST_KEPT: Final = 512
_REFERENCE: Final = "#/$defs/"
# What frameworks hand to a function themselves, known by the name of its type: no caller sends it.
_INJECTED: Final = frozenset((
    "Context", "RunContext", "RunContextWrapper", "ToolContext", "ToolRuntime", "ToolCallContext", "InvocationContext",
    "AgentContext", "FunctionInvocationContext",
))  # fmt: skip


class PythonTool(msgspec.Struct, frozen=True):
    """The tool definition that a class or a function gives."""

    name: str
    description: str
    schema: object


def is_python_tool(tool: object) -> bool:
    """Whether `tool` is a class whose members are arguments, or a function."""
    if _is_class(tool):
        # The class of a tool of LangChain or CrewAI is not the class of its arguments.
        if not _is_record(tool) or hasattr(tool, "args_schema"):
            return False
        fields = getattr(tool, "model_fields", None)
        return not (isinstance(fields, dict) and "args_schema" in fields)
    return inspect.isroutine(tool) or isinstance(tool, partial)


def read_python_tool(tool: object) -> PythonTool:
    """Read a class or a function. Raises TypeError for one whose arguments no schema can express."""
    try:
        return _read_kept(tool)
    except TypeError as problem:
        if "unhashable" not in str(problem):
            raise
        return _read(tool)


def schema_of_type(kind: type) -> object:
    """The JSON Schema of a class of records. Raises TypeError for any other class."""
    return read_python_tool(kind).schema


@lru_cache(_MOST_KEPT)
def _read_kept(tool: object) -> PythonTool:
    # Making a schema takes 100 µs and more, and classes and functions do not change.
    return _read(tool)


def _read(tool: object) -> PythonTool:
    if _is_class(tool):
        return PythonTool(tool.__name__, _words_of(tool, tool.__name__), _schema_of_record(tool))
    function = cast("Callable[..., object]", tool)
    named = function
    while isinstance(named, partial):
        named = named.func
    name = str(getattr(named, "__name__", ""))
    return PythonTool(name, _words_of(named, name), _schema_of_function(function, named))


def _words_of(of: object, name: str) -> str:
    """Return the docstring up to the first blank line, except one that a dataclass generated."""
    text = inspect.cleandoc(getattr(of, "__doc__", None) or "")
    return "" if text.startswith(f"{name}(") else text.partition("\n\n")[0]


def _is_record(kind: type[object]) -> bool:
    return (
        _has(kind, "model_json_schema")
        or _is_old_model(kind)
        or issubclass(kind, msgspec.Struct)
        # A TypedDict: those of typing_extensions are not known to `typing`.
        or (_has(kind, "__required_keys__") and issubclass(kind, dict))
        or _is_named_tuple(kind)
        or _has(kind, "__attrs_attrs__", "__dataclass_fields__")
    )


def _has(of: object, *names: str) -> bool:
    return any(hasattr(of, name) for name in names)


def _is_class(value: object) -> TypeGuard[type[object]]:
    return isinstance(value, type)


def _is_named_tuple(kind: type) -> bool:
    return _has(kind, "_fields") and issubclass(kind, tuple)


def _is_old_model(kind: type) -> bool:
    return _has(kind, "__fields__") and callable(getattr(kind, "schema", None))


def _schema_of_record(kind: type) -> object:
    # `schema` is another thing in version 2, and looking at `__fields__` warns there.
    make = getattr(kind, "model_json_schema", None) or (getattr(kind, "schema", None) if _is_old_model(kind) else None)
    if callable(make):
        return _opened(make())
    if not _is_record(kind):
        raise TypeError(f"{kind.__name__} is not a class of records")
    if _is_named_tuple(kind):
        # A named tuple is an array in JSON, and the arguments of a call are an object.
        fields = cast("Mapping[str, object]", typing.get_type_hints(kind, include_extras=True))
        defaults = cast("Mapping[str, object]", getattr(kind, "_field_defaults", {}))
        return _object_schema(fields, frozenset(fields) - frozenset(defaults))
    return _schema_of(kind)


def _schema_of(annotation: object) -> object:
    """The schema of one annotation. Raises TypeError if no schema can express it."""
    # There only where pydantic is loaded.
    adapter = cast("Callable[[object], _Adapter] | None", getattr(sys.modules.get("pydantic"), "TypeAdapter", None))
    if _is_class(annotation):
        is_of_msgspec = issubclass(annotation, msgspec.Struct)
    else:
        # Of `Annotated[int, Meta(ge=1)]`.
        details = cast("tuple[object, ...]", typing.get_args(annotation))[1:]
        is_of_msgspec = any(isinstance(each, msgspec.Meta) for each in details)
    if adapter is None or is_of_msgspec:
        return _schema_by_msgspec(annotation, None)
    try:
        return _opened(adapter(annotation).json_schema())
    except Exception as problem:  # noqa: BLE001 - pydantic has many exceptions for a type that it does not know.
        return _schema_by_msgspec(annotation, problem)


def _schema_by_msgspec(annotation: object, cause: Exception | None) -> object:
    try:
        return _opened(msgspec.json.schema(annotation))
    except (TypeError, ValueError, NameError) as problem:
        raise TypeError(f"no schema for {annotation!r}: {problem}") from cause or problem


class _Adapter(Protocol):
    def json_schema(self) -> object: ...


def _opened(schema: object) -> object:
    """`{"$ref": "#/$defs/A", "$defs": {"A": {…}}}` as the schema of A itself, so that a reader sees its properties."""
    if not isinstance(schema, dict):
        return schema
    parts = cast("dict[str, object]", schema)
    reference, shared = parts.get("$ref"), parts.get("$defs")
    if not isinstance(reference, str) or not reference.startswith(_REFERENCE) or not isinstance(shared, dict):
        return parts
    definitions = cast("dict[str, object]", shared)
    name = reference.removeprefix(_REFERENCE)
    inner = definitions.get(name)
    if not isinstance(inner, dict):
        return parts
    others = {each: part for each, part in definitions.items() if each != name}
    if f"{_REFERENCE}{name}" in repr(definitions):
        others = definitions
    opened = cast("dict[str, object]", inner)
    return {**opened, "$defs": others} if others else opened


def _schema_of_function(function: Callable[..., object], named: object) -> object:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as problem:
        raise TypeError(str(problem)) from None
    hints: Mapping[str, object] = {}
    # An annotation as text may name anything, or nothing.
    with suppress(Exception):
        hints = typing.get_type_hints(inspect.unwrap(cast("Callable[..., object]", named)), include_extras=True)
    fields: dict[str, object] = {}
    required: set[str] = set()
    open_ended = False
    for parameter in parameters:
        if parameter.name in ("self", "cls") and parameter.annotation is parameter.empty:
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"{parameter.name} can only be given by position")
        annotation = hints.get(parameter.name, parameter.annotation)
        open_ended |= parameter.kind is parameter.VAR_KEYWORD
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        kind = typing.get_origin(annotation) or annotation
        if kind is Annotated:
            kind = cast("tuple[object, ...]", typing.get_args(annotation))[0]
        name = kind.split("[")[0].rpartition(".")[2] if isinstance(kind, str) else getattr(kind, "__name__", "")
        if name in _INJECTED:
            continue

        fields[parameter.name] = object if annotation is parameter.empty else annotation
        if parameter.default is parameter.empty:
            required.add(parameter.name)
    return _object_schema(fields, frozenset(required), open_ended=open_ended)


def _object_schema(fields: Mapping[str, object], required: frozenset[str], *, open_ended: bool = False) -> object:
    properties: dict[str, object] = {}
    shared: dict[str, object] = {}
    for name, annotation in fields.items():
        part: object = {}  # Lets everything pass: for a type that no schema expresses.
        if annotation is not object and not isinstance(annotation, str):
            with suppress(TypeError):
                part = _schema_of(annotation)
        if isinstance(part, dict):
            members = dict(cast("dict[str, object]", part))
            inner = members.pop("$defs", None)
            shared.update(cast("dict[str, object]", inner) if isinstance(inner, dict) else {})
            properties[name] = members
        else:
            properties[name] = part
    schema: dict[str, object] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = [name for name in fields if name in required]
    if not open_ended:
        schema["additionalProperties"] = False
    return {**schema, "$defs": shared} if shared else schema
