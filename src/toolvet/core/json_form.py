"""The members of our own documents, each said once: in the Struct. JSON, JSON Schema and types of replies follow.

A Struct that is a `JsonForm` has a member for each of its fields, under the field's name. Four tuples say what differs:

    _adds     properties that are members, too
    _hides    fields that are not members; fields whose name begins with an underscore are not members either
    _nulls    members that are null if they are None; any other member is absent then
    _sparse   members that are absent if they are empty or 0

Arrow types are derived in `toolvet.batch.arrow`, from the same `document_members`.
"""

import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TypeGuard, Union, cast, get_args, get_origin

import msgspec

Writer = Callable[[Any], dict[str, object]]


class JsonForm:
    """A base of Structs with a JSON form: `to_dict()`, with the Struct's own names for members."""

    # No Struct itself, because a frozen one has to have frozen bases only, and the others must not.
    __slots__ = ()

    _adds: ClassVar[tuple[str, ...]] = ()
    _hides: ClassVar[tuple[str, ...]] = ()
    _nulls: ClassVar[tuple[str, ...]] = ()
    _sparse: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # The writer that a base gets with its first document must not write those of this class.
        if "to_dict" not in vars(cls):
            setattr(cls, "to_dict", JsonForm.to_dict)  # noqa: B010 - for the type checkers it stays the method below.

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form; absent members are left out."""
        cls = cast("type[msgspec.Struct]", type(self))
        write = document_writer(cls)
        if type(self).to_dict is JsonForm.to_dict:
            # From now on the class has it: to look it up would cost more than to write a short verdict.
            setattr(cls, "to_dict", write)  # noqa: B010 - as above
        return write(self)


class Member(NamedTuple):
    """One member of a document. `absent` says when it is left out: never, if it is None, or if it is empty."""

    name: str
    type: Any
    absent: Literal["never", "none", "empty"]
    default: object = msgspec.NODEFAULT


@cache
def document_members(struct: type[msgspec.Struct]) -> tuple[Member, ...]:
    """Return the members of a Struct's documents: those it adds, then its fields."""
    adds, hides = _rule(struct, "_adds"), _rule(struct, "_hides")
    found = [
        _member(struct, name, typing.get_type_hints(getattr(struct, name).fget, include_extras=True)["return"])
        for name in adds
    ]
    for field in msgspec.structs.fields(struct):
        if not field.name.startswith("_") and field.name not in hides:
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            found.append(_member(struct, field.name, field.type, default))
    return tuple(found)


def _rule(struct: type[msgspec.Struct], name: str) -> tuple[str, ...]:
    return cast("tuple[str, ...]", getattr(struct, name, ()))


def _member(struct: type[msgspec.Struct], name: str, type_: Any, default: object = msgspec.NODEFAULT) -> Member:
    if name in _rule(struct, "_sparse"):
        return Member(name, type_, "empty", default)
    may_be_none = default is None or types.NoneType in get_args(plain_type(type_))
    return Member(name, type_, "none" if may_be_none and name not in _rule(struct, "_nulls") else "never", default)


def plain_type(type_: Any) -> Any:
    """Return a type without its annotations."""
    return get_args(type_)[0] if get_origin(type_) is Annotated else type_


def without_none(type_: Any) -> Any:
    """Return the type of a value that is not None."""
    plain = plain_type(type_)
    kinds = [each for each in get_args(plain) if each is not types.NoneType]
    if get_origin(plain) not in _UNIONS or len(kinds) == len(get_args(plain)):
        return type_
    return kinds[0] if len(kinds) == 1 else Union[tuple(kinds)]  # noqa: UP007 - made of a list.


_UNIONS: Final = (Union, types.UnionType)


def is_struct(type_: object) -> TypeGuard[type[msgspec.Struct]]:
    """Whether a type is a Struct."""
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def is_list(type_: Any) -> bool:
    """Whether a type is one of arrays: tuples of any length, lists, sequences."""
    origin = get_origin(type_)
    return isinstance(origin, type) and not issubclass(origin, Mapping) and len(get_args(type_)[:1]) == 1


def is_mapping(type_: Any) -> bool:
    """Whether a type is one of objects with any names."""
    origin = get_origin(type_)
    return isinstance(origin, type) and issubclass(origin, Mapping)


# Writing: one function for each class, made of source as `dataclasses` makes its own. A loop over the members of a
# signal takes three times as long, and the proxy writes a verdict for every call.


@cache
def document_writer(struct: type[msgspec.Struct]) -> Writer:
    """Return the function that makes the JSON form of such a Struct, also of one that is no `JsonForm`."""
    scope: dict[str, Any] = {}
    members = document_members(struct)
    always = [f"{each.name!r}: {_written(each.type, f'self.{each.name}', scope)}" for each in members if _stays(each)]
    lines = ["def to_dict(self):", f"    found = {{{', '.join(always)}}}"]
    for each in members:
        if not _stays(each):
            test = "value is not None" if each.absent == "none" else "value"
            value = _written(without_none(each.type), "value", scope)
            lines += [f"    value = self.{each.name}", f"    if {test}: found[{each.name!r}] = {value}"]
    lines.append("    return found")
    exec("\n".join(lines), scope)  # noqa: S102 - names of our own fields, and nothing else
    write = cast("Writer", scope["to_dict"])
    write.__doc__, write.__module__ = JsonForm.to_dict.__doc__, struct.__module__
    write.__qualname__ = f"{struct.__qualname__}.to_dict"
    return write


def _stays(member: Member) -> bool:
    return member.absent == "never"


def _written(type_: Any, value: str, scope: dict[str, Any], depth: int = 0) -> str:
    """Return the source of the JSON form of `value`; what it needs by name is put into `scope`."""
    plain, each = plain_type(type_), f"each{depth}"
    if (there := without_none(plain)) is not plain:
        inner = _written(there, value, scope, depth)
        return value if inner == value else f"(None if {value} is None else {inner})"
    if is_struct(plain):
        if hasattr(plain, "to_dict"):
            return f"{value}.to_dict()"
        name = f"write_{plain.__name__}"
        scope[name] = document_writer(plain)
        return f"{name}({value})"
    if isinstance(plain, type) and issubclass(plain, Enum):
        return f"{value}.value"
    if is_mapping(plain):
        key, item = get_args(plain)
        made = (_written(key, f"key{depth}", scope), _written(item, each, scope, depth + 1))
        if made == (f"key{depth}", each):
            return f"dict({value})"
        return f"{{{made[0]}: {made[1]} for key{depth}, {each} in {value}.items()}}"
    if is_list(plain):
        made_item = _written(get_args(plain)[0], each, scope, depth + 1)
        return f"list({value})" if made_item == each else f"[{made_item} for {each} in {value}]"
    return value


# Replies: Structs that say to OpenAPI and to JSON Schema what documents look like.


def reply_type(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the Struct that reads the JSON form of `struct`: a type for OpenAPI, `msgspec.convert` and clients."""
    return _made_type(struct, False)  # noqa: FBT003 - one key for the cache.


def given_type(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the Struct that reads a form which others made: of all members, it needs only `valid` and `keyword`."""
    return _made_type(struct, True)  # noqa: FBT003 - as above


@cache
def _made_type(struct: type[msgspec.Struct], partial: bool) -> type[msgspec.Struct]:  # noqa: FBT001 - as above
    fields: list[Any] = []
    for each in document_members(struct):
        type_, default = _replied(each.type, partial), each.default
        if partial and each.name not in _NEEDED:
            fields.append((each.name, type_ | msgspec.UnsetType, msgspec.UNSET))
        elif each.absent == "never":
            fields.append((each.name, type_))
        elif each.absent == "none" or default is msgspec.NODEFAULT:
            fields.append((each.name, type_, None))
        else:
            fields.append((each.name, type_, [] if default == () else default))
    about = (struct.__doc__ or "").partition("\n\n")[0]
    name = f"{'Given' if partial else ''}{struct.__name__}{'' if partial else 'Reply'}"
    space = {"__doc__": about, "__module__": struct.__module__}
    return msgspec.defstruct(name, fields, namespace=space, frozen=True, kw_only=True)


_NEEDED: Final = frozenset({"valid", "keyword"})


def json_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of the documents of a Struct."""
    return msgspec.json.schema(reply_type(struct))


def _replied(type_: Any, partial: bool) -> Any:  # noqa: FBT001 - as above
    plain = plain_type(type_)
    if get_origin(plain) in _UNIONS:
        return Union[tuple(_replied(each, partial) for each in get_args(plain))]  # noqa: UP007 - as above
    if is_struct(plain):
        return _made_type(plain, partial)
    if is_mapping(plain):
        key, item = get_args(plain)
        return types.GenericAlias(dict, (key, _replied(item, partial)))
    if is_list(plain):
        return types.GenericAlias(list, (_replied(get_args(plain)[0], partial),))
    return Any if plain is object else type_
