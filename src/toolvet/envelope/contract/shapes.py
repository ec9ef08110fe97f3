"""The parts that the contract is written in. Each says what it allows twice, as JSON Schema and as a check.

`holds` answers quickly whether a value is allowed; `breaches` says what is wrong with one that is not. Both are total,
and a test holds them to `schema`. Shapes look only as deep as the contract does, so depth and cycles do no harm.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeGuard, cast

import msgspec

from toolvet.envelope.json_copy import step

JsonSchema = dict[str, object]


ABSENT = object()


class ContractViolation(NamedTuple):
    """A value that the contract does not allow: where (JSON Pointer), what is wrong, what to do, and the value.

    `value` is ABSENT where nothing stands.
    """

    pointer: str
    problem: str
    remedy: str
    value: object = ABSENT


class Text(msgspec.Struct, frozen=True):
    """A string: one of `choices`, one that `pattern` matches whole, or any with something in it."""

    choices: tuple[str, ...] = ()
    pattern: str = ""
    called: str = "a string with something in it"

    def holds(self, value: object) -> bool:
        """Whether it is such a string."""
        if not isinstance(value, str):
            return False
        if self.choices:
            return value in self.choices
        if self.pattern:
            return re.fullmatch(self.pattern, value) is not None
        # The same as the pattern \S that the schema has.
        return value != "" and not value.isspace()

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one."""
        if not self.holds(value):
            yield _wrong(value, pointer, " or ".join(f'"{each}"' for each in self.choices) or self.called)

    def schema(self) -> JsonSchema:
        """`enum`, `pattern`, or a pattern that wants one visible character."""
        if self.choices:
            return {"enum": [str(each) for each in self.choices]}
        return {"type": "string", "pattern": f"^(?:{self.pattern})$" if self.pattern else r"\S"}


class Flag(msgspec.Struct, frozen=True):
    """A boolean."""

    def holds(self, value: object) -> bool:
        """Whether it is one."""
        return value is True or value is False

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one."""
        if not self.holds(value):
            yield _wrong(value, pointer, "true or false")

    def schema(self) -> JsonSchema:
        """`type: boolean`."""
        return {"type": "boolean"}


class Null(msgspec.Struct, frozen=True):
    """Nothing."""

    def holds(self, value: object) -> bool:
        """Whether it is null."""
        return value is None

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one."""
        if value is not None:
            yield _wrong(value, pointer, "null")

    def schema(self) -> JsonSchema:
        """`type: null`."""
        return {"type": "null"}


class Number(msgspec.Struct, frozen=True):
    """A number from `least` up; with `kind="integer"` one without a fraction (`3.0` is one)."""

    least: int = 0
    kind: str = "number"

    def holds(self, value: object) -> bool:
        """Whether it is such a number; a boolean is none."""
        if type(value) is int:
            return value >= self.least
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return value >= self.least and (self.kind == "number" or value == int(value))

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one."""
        if not self.holds(value):
            article = "an integer" if self.kind == "integer" else "a number"
            yield _wrong(value, pointer, f"{article} of at least {self.least}")

    def schema(self) -> JsonSchema:
        """`type` and `minimum`."""
        return {"type": self.kind, "minimum": self.least}


class Either(msgspec.Struct, frozen=True):
    """What one of two shapes allows."""

    first: "Shape"
    second: "Shape"
    called: str

    def holds(self, value: object) -> bool:
        """Whether one of them does."""
        return self.first.holds(value) or self.second.holds(value)

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """At most one."""
        if not self.holds(value):
            yield _wrong(value, pointer, self.called)

    def schema(self) -> JsonSchema:
        """`anyOf`."""
        return {"anyOf": [self.first.schema(), self.second.schema()]}


class Array(msgspec.Struct, frozen=True):
    """A list of what `item` allows; Python's tuples count, since they are written as arrays."""

    item: "Shape"

    def holds(self, value: object) -> bool:
        """Whether it is a list of such items."""
        return is_array(value) and all(map(self.item.holds, value))

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """One for each item that is wrong."""
        if not is_array(value):
            yield _wrong(value, pointer, "an array")
            return
        for index, item in enumerate(value):
            yield from self.item.breaches(item, f"{pointer}/{index}")

    def schema(self) -> JsonSchema:
        """`type: array` with `items`."""
        return {"type": "array", "items": self.item.schema()}


class Field(msgspec.Struct, frozen=True):
    """One member: its shape, what it is for, and how to mend it where the shape does not say it all."""

    shape: "Shape"
    about: str
    remedy: str = ""


class Members(msgspec.Struct, frozen=True):
    """An object with these members. `others` says what further ones hold: None forbids them, `ANYTHING` does not."""

    fields: Mapping[str, Field]
    required: tuple[str, ...] = ()
    others: "Shape | None" = None

    def holds(self, value: object) -> bool:
        """Whether it is such an object."""
        if not is_members(value):
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

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """What is missing, then what is wrong or too much, in the order in which it stands."""
        if not is_members(value):
            yield _wrong(value, pointer, "an object")
            return
        for name in self.required:
            if name not in value:
                field = self.fields[name]
                yield ContractViolation(
                    f"{pointer}/{name}", f"{name} is missing", field.remedy or f"Add {name}. {field.about}"
                )
        named = dict(strings(value))
        if len(named) < len(value):
            yield ContractViolation(pointer, "a key is no string", "Use strings as keys; JSON knows no others.", value)
        for name, member in named.items():
            yield from self._member(name, member, pointer)

    def _member(self, name: str, member: object, pointer: str) -> Iterator[ContractViolation]:
        field, place = self.fields.get(name), f"{pointer}/{step(name)}"
        shape = self.others if field is None else field.shape
        if shape is None:
            yield ContractViolation(
                place, f"{name:.80} has no place here", f"Only {_listed(self.fields)} may stand here."
            )
            return
        for breach in shape.breaches(member, place):
            yield breach._replace(remedy=field.remedy) if field is not None and field.remedy else breach

    def schema(self) -> JsonSchema:
        """`properties`, `required`, and what else may stand there."""
        written: JsonSchema = {
            "type": "object",
            "properties": {
                name: {**field.shape.schema(), "description": field.about} for name, field in self.fields.items()
            },
        }
        if self.required:
            written["required"] = list(self.required)
        if self.others is not ANYTHING:
            written["additionalProperties"] = False if self.others is None else self.others.schema()
        return written if self.fields else {key: value for key, value in written.items() if key != "properties"}


class Anything(msgspec.Struct, frozen=True):
    """Any value."""

    none: ClassVar[tuple[ContractViolation, ...]] = ()

    def holds(self, value: object) -> bool:
        """Always."""
        return value is not self

    def breaches(self, value: object, pointer: str) -> Iterator[ContractViolation]:
        """Never one."""
        del value, pointer
        return iter(self.none)

    def schema(self) -> JsonSchema:
        """The empty schema."""
        return {}


Shape = Text | Flag | Null | Number | Either | Array | Members | Anything
ANYTHING = Anything()


def is_members(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it is a JSON object; keys that are no strings are a breach of their own."""
    return isinstance(value, dict)


def strings(value: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Its members under string keys: what comes from elsewhere may have others, whatever its type says."""
    for name, member in cast("Mapping[object, object]", value).items():
        if isinstance(name, str):
            yield name, member


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether it is an array, as JSON has it or as Python's encoders accept it."""
    return isinstance(value, list | tuple)


def _wrong(value: object, pointer: str, wanted: str) -> ContractViolation:
    name = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~") or "the envelope"
    return ContractViolation(
        pointer, f"{name:.80} must be {wanted}, not {told(value)}", f"Make {name:.80} {wanted}.", value
    )


def told(value: object) -> str:
    """A value in a few words: scalars as JSON, others by their type. Total."""
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


_HUGE = 10**40


def _listed(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
