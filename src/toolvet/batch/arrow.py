"""pyarrow, which has no types, behind one door, and the Arrow types of our documents."""

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import Annotated, Any, Final, Literal, cast, get_args, get_origin

import msgspec

from toolvet.core.json_form import document_members, is_list, is_struct, plain_type, without_none

Array = Any
"""A `pyarrow.Array`."""
RecordBatch = Any
"""A `pyarrow.RecordBatch`."""
ArrowSchema = Any
"""A `pyarrow.Schema`."""
ArrowType = Any
"""A `pyarrow.DataType`."""


import_module("numpy")  # Its absence shows now, and not in the middle of a run.
pa: Any = import_module("pyarrow")
compute: Any = import_module("pyarrow.compute")

_SCALARS: Final = {bool: pa.bool_(), float: pa.float64(), int: pa.int64()}
_INT32: Final = 1 << 31


def arrow_fields(struct: type[msgspec.Struct], *, without: Sequence[str] = ()) -> list[tuple[str, ArrowType]]:
    """Return the names and the Arrow types of the members that a Struct's documents have, but those in `without`.

    Lists come last: a reader of a table sees what is short first.
    """
    found = [(each.name, arrow_type(each.type)) for each in document_members(struct) if each.name not in without]
    return sorted(found, key=lambda each: pa.types.is_nested(each[1]))


def arrow_type(type_: Any) -> ArrowType:
    """Return the Arrow type of a member: a whole number whose bounds 32 bits hold has 32; what has no type is JSON.

    >>> arrow_type(tuple[int, ...] | None)
    ListType(list<item: int64>)
    """
    there = without_none(type_)
    plain = plain_type(there)
    if plain is int and get_origin(there) is Annotated:
        metas = cast("tuple[msgspec.Meta, ...]", get_args(there)[1:])
        bounds = [each for meta in metas for each in (meta.ge, meta.le) if each is not None]
        return pa.int32() if len(bounds) == 2 and max(map(abs, bounds)) < _INT32 else pa.int64()
    if is_struct(plain):
        return pa.struct(arrow_fields(plain))
    if is_list(plain):
        return pa.list_(arrow_type(get_args(plain)[0]))
    if (isinstance(plain, type) and issubclass(plain, Enum)) or get_origin(plain) is Literal:
        return pa.string()
    return _SCALARS.get(cast("type", plain), pa.string())
