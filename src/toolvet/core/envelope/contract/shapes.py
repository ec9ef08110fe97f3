"""The shapes that the contract is written in. Each states twice what it allows: as JSON Schema and as a check.

`holds` answers quickly whether a value is allowed; `violations` lists what is wrong with a value that is not. Both are
total, and a test compares them with `schema`. Shapes look only as deep as the contract does, so depth and cycles do no
harm.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple, TypeGuard, cast

import msgspec

from toolvet.core.envelope.json_copy import is_blank
from toolvet.core.json_value import is_object, pointer as pointer_of, pointer_steps

JsonSchema = dict[str, object]
ABSENT: Final = object()
_HUGE: Final = 10**40


class ContractViolation(NamedTuple):
    """A value that the contract does not allow.

    `pointer` is its place as a JSON Pointer, `problem` what is wrong, `remedy` what to do about it. `value` is ABSENT
    where the value is missing.
    """

    pointer: str
    problem: str
    remedy: str
    value: object = ABSENT


class Text(msgspec.Struct, frozen=True):
    """A string: one of `choices`, or one that `pattern` matches as a whole, or any that is not blank."""

    choices: tuple[str, ...] = ()
    pattern: str = ""
    called: str = "a string with something in it"

    def holds(self, value: object) -> bool:
        """Whether `value` is such a string."""
        if not isinstance(value, str):
            return False
        if self.choices:
            return value in self.choices
        if self.pattern:
            return re.fullmatch(self.pattern, value) is not None
        # The same as the pattern \S that the schema has.
        return not is_blank(value)

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one violation."""
        if not self.holds(value):
            yield _mismatch(value, pointer, " or ".join(f'"{each}"' for each in self.choices) or self.called)

    def schema(self) -> JsonSchema:
        """`enum`, `pattern`, or a pattern that demands one visible character."""
        if self.choices:
            return {"enum": [str(each) for each in self.choices]}
        return {"type": "string", "pattern": f"^(?:{self.pattern})$" if self.pattern else r"\S"}


class Flag(msgspec.Struct, frozen=True):
    """A boolean."""

    def holds(self, value: object) -> bool:
        """Whether `value` is true or false."""
        return value is True or value is False

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one violation."""
        if not self.holds(value):
            yield _mismatch(value, pointer, "true or false")

    def schema(self) -> JsonSchema:
        """`type: boolean`."""
        return {"type": "boolean"}


class Null(msgspec.Struct, frozen=True):
    """The value null."""

    def holds(self, value: object) -> bool:
        """Whether `value` is null."""
        return value is None

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one violation."""
        if value is not None:
            yield _mismatch(value, pointer, "null")

    def schema(self) -> JsonSchema:
        """`type: null`."""
        return {"type": "null"}


class Number(msgspec.Struct, frozen=True):
    """A number of at least `least`; with `kind="integer"` one without a fraction (`3.0` is one)."""

    least: int = 0
    kind: str = "number"

    def holds(self, value: object) -> bool:
        """Whether `value` is such a number; a boolean is not."""
        if type(value) is int:
            return value >= self.least
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return value >= self.least and (self.kind == "number" or value == int(value))

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one violation."""
        if not self.holds(value):
            article = "an integer" if self.kind == "integer" else "a number"
            yield _mismatch(value, pointer, f"{article} of at least {self.least}")

    def schema(self) -> JsonSchema:
        """`type` and `minimum`."""
        return {"type": self.kind, "minimum": self.least}


class Either(msgspec.Struct, frozen=True):
    """A value that one of two shapes allows. `called` describes it in error messages."""

    first: "Shape"
    second: "Shape"
    called: str

    def holds(self, value: object) -> bool:
        """Whether one of the two shapes allows `value`."""
        return self.first.holds(value) or self.second.holds(value)

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one violation."""
        if not self.holds(value):
            yield _mismatch(value, pointer, self.called)

    def schema(self) -> JsonSchema:
        """`anyOf`."""
        return {"anyOf": [self.first.schema(), self.second.schema()]}


class Array(msgspec.Struct, frozen=True):
    """A list of values that `item` allows; Python's tuples count, because they are encoded as arrays."""

    item: "Shape"

    def holds(self, value: object) -> bool:
        """Whether `value` is a list of such items."""
        return is_sequence(value) and all(map(self.item.holds, value))

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """The violations of each item."""
        if not is_sequence(value):
            yield _mismatch(value, pointer, "an array")
            return
        for index, item in enumerate(value):
            yield from self.item.violations(item, f"{pointer}/{index}")

    def schema(self) -> JsonSchema:
        """`type: array` with `items`."""
        return {"type": "array", "items": self.item.schema()}


class Field(msgspec.Struct, frozen=True):
    """One member of an object: its shape, its purpose, and the remedy if the shape does not say enough."""

    shape: "Shape"
    about: str
    remedy: str = ""


class Members(msgspec.Struct, frozen=True):
    """An object with these members. `others` is the shape of all further ones: None forbids them."""

    fields: Mapping[str, Field]
    required: tuple[str, ...] = ()
    others: "Shape | None" = None

    def holds(self, value: object) -> bool:
        """Whether `value` is such an object."""
        if not is_object(value):
            return False
        for name in self.required:
            if name not in value:
                return False
        for name, member in value.items():
            field = self.fields.get(name)
            shape = self.others if field is None else field.shape
            if shape is not ANYTHING and (shape is None or not shape.holds(member)):
                return False
        return True

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """Missing members first, then wrong or unknown ones in the order of the object."""
        if not is_object(value):
            yield _mismatch(value, pointer, "an object")
            return
        for name in self.required:
            if name not in value:
                wanted = self.fields[name]
                yield ContractViolation(
                    f"{pointer}/{name}", f"{name} is missing", wanted.remedy or f"Add {name}. {wanted.about}"
                )
        named = dict(string_members(value))
        if len(named) < len(value):
            yield ContractViolation(pointer, "a key is not a string", "Use strings as keys; JSON has no others.", value)
        for name, member in named.items():
            field, place = self.fields.get(name), pointer + pointer_of((name,))
            shape = self.others if field is None else field.shape
            if shape is None:
                *first, last = self.fields
                allowed = f"{', '.join(first)} and {last}" if first else last
                yield ContractViolation(place, f"{name:.80} has no place here", f"Only {allowed} may stand here.")
                continue
            for violation in shape.violations(member, place):
                yield violation._replace(remedy=field.remedy) if field is not None and field.remedy else violation

    def schema(self) -> JsonSchema:
        """`properties`, `required` and `additionalProperties`."""
        schema: JsonSchema = {
            "type": "object",
            "properties": {
                name: {**field.shape.schema(), "description": field.about} for name, field in self.fields.items()
            },
        }
        if self.required:
            schema["required"] = list(self.required)
        if self.others is not ANYTHING:
            schema["additionalProperties"] = False if self.others is None else self.others.schema()
        return schema if self.fields else {key: value for key, value in schema.items() if key != "properties"}


class Anything(msgspec.Struct, frozen=True):
    """Any value."""

    none: ClassVar[tuple[ContractViolation, ...]] = ()

    def holds(self, value: object) -> bool:
        """Always true."""
        return value is not self

    def violations(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """No violation."""
        del value, pointer
        return iter(self.none)

    def schema(self) -> JsonSchema:
        """The empty schema."""
        return {}


Shape = Text | Flag | Null | Number | Either | Array | Members | Anything
ANYTHING: Final = Anything()


def string_members(value: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The members under string keys: a dict that a caller made may have other keys, whatever its type says."""
    for name, member in cast("Mapping[object, object]", value).items():
        if isinstance(name, str):
            yield name, member


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether `value` is a list or a tuple: Python's encoders write both as arrays."""
    return isinstance(value, list | tuple)


def _mismatch(value: object, pointer: str, wanted: str) -> ContractViolation:
    name = (pointer_steps(pointer) or ("",))[-1] or "the envelope"
    return ContractViolation(
        pointer, f"{name:.80} must be {wanted}, not {describe_value(value)}", f"Make {name:.80} {wanted}.", value
    )


def describe_value(value: object) -> str:
    """A value in a few words: scalars as JSON, containers by their type. Total."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value[:60]}{"…" if len(value) > 60 else ""}"' if value else "an empty string"
        case int():
            return str(int(value)) if -_HUGE < value < _HUGE else "a huge integer"
        case float():
            return repr(float(value))
        case list() | tuple():
            return "an array"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
