"""`Demands`: all that one place of an instance has to satisfy; references are followed, and `allOf` is joined."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from toolvet.core.json_value import elements, is_array, is_object, members, names, same, unique
from toolvet.core.schema.document import Scope, Subschema
from toolvet.core.schema.text import matches

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


class Unmeetable(Exception):  # noqa: N818 - a state of the search, never an error that leaves the room.
    """The demands at a place cannot be met with the choices made so far."""


class Located(msgspec.Struct, frozen=True):
    """A schema object, and the scope that its members' references are read in."""

    schema: Mapping[str, object]
    scope: Scope


class Option(msgspec.Struct, frozen=True):
    """One option of a choice: schemas to add, and optional members that would satisfy another option as well.

    `excluded` are schemas that the value must not satisfy.
    """

    parts: tuple[Subschema, ...]
    avoid: frozenset[str] = frozenset()
    excluded: tuple[Subschema, ...] = ()


class Demands:
    """The demands of all schemas that apply at one place; alternatives are `choices`, made one after the other.

    `schemas` are those that apply in any case, `avoid` the optional members to leave out, `entered` the ids of the
    schemas that references led to. `intricate` says that parts may contradict each other in ways that only validating
    shows.
    """

    __slots__ = (
        "_declared",
        "_required",
        "_seen",
        "avoid",
        "choices",
        "entered",
        "excluded_types",
        "excluded_values",
        "intricate",
        "schemas",
    )

    def __init__(self) -> None:
        self.schemas: list[Located] = []
        self.choices: list[tuple[Option, ...]] = []
        self.avoid: set[str] = set()
        self.excluded_values: list[object] = []
        self.excluded_types: set[str] = set()
        self.entered: list[int] = []
        self.intricate = False
        self._seen: set[int] = set()
        # Both are asked for with every call, and are kept with the schema; `add` forgets them.
        self._declared: tuple[str, ...] | None = None
        self._required: tuple[str, ...] | None = None

    def copy(self) -> "Demands":
        """Return a copy, on which choices can be tried."""
        other = Demands()
        other.schemas = [*self.schemas]
        other.choices = [*self.choices]
        other.avoid = {*self.avoid}
        other.excluded_values = [*self.excluded_values]
        other.excluded_types = {*self.excluded_types}
        other.entered = [*self.entered]
        other.intricate = self.intricate
        other._seen = {*self._seen}
        return other

    def take(self, option: Option) -> None:
        """Take one option of a choice. Raises `Unmeetable`."""
        for part in option.parts:
            self.add(part)
        self.avoid |= option.avoid
        for part in option.excluded:
            self._exclude(part)

    def add(self, part: Subschema) -> None:
        """Add the demands of this schema. Raises `Unmeetable` for `false`."""
        if part.schema is False:
            raise Unmeetable
        schema = members(part.schema)
        if not schema or id(schema) in self._seen:
            return
        self._seen.add(id(schema))
        self._declared = self._required = None
        scope = part.scope.inside(schema)
        alone = scope.dialect.refs_stand_alone and isinstance(schema.get("$ref"), str)
        if not alone:
            self.schemas.append(Located(schema, scope))
        for target in references(schema, scope):
            self.entered.append(id(target.schema))
            self.add(target)
        if alone or _BRANCHING.isdisjoint(schema):
            return
        for sub in elements(schema.get("allOf")):
            self.add(Subschema(sub, scope))
        for keyword in ("anyOf", "oneOf"):
            options = [Subschema(sub, scope) for sub in elements(schema.get(keyword))]
            if options:
                self.intricate = True
                self.choices.append(
                    tuple(_exclusive(options) if keyword == "oneOf" else (Option((o,)) for o in options))
                )
        if "not" in schema:
            self.intricate = True
            self._exclude(Subschema(schema["not"], scope))
        if "if" in schema and ("then" in schema or "else" in schema):
            self.intricate = True
            test, true, false = Subschema(schema["if"], scope), schema.get("then", True), schema.get("else", True)
            self.choices.append(
                (Option((test, Subschema(true, scope))), Option((Subschema(false, scope),), excluded=(test,))),
            )
        self.intricate = self.intricate or not _INTRICATE.isdisjoint(schema)

    def has_seen(self, schema: object) -> bool:
        """Whether this schema object is demanded already."""
        return id(schema) in self._seen

    def _exclude(self, part: Subschema) -> None:
        """Add what a negated schema excludes in its simplest forms; validating finds the rest."""
        if part.schema is True:
            raise Unmeetable
        schema = members(part.schema)
        if is_object(part.schema) and not schema:
            raise Unmeetable
        said = [key for key in schema if key in _SIMPLE]
        if any(key not in _SIMPLE and key not in _SILENT for key in schema):
            return
        wanted = names(schema.get("required"))
        if wanted and set(said) <= {"required", "type"}:
            self.avoid.add(wanted[-1])
        elif said == ["const"]:
            self.excluded_values.append(schema["const"])
        elif said == ["enum"]:
            self.excluded_values.extend(elements(schema["enum"])[:_LISTED])
        elif said == ["type"]:
            self.excluded_types |= type_names(schema["type"])
        elif said == ["anyOf"]:
            for sub in elements(schema["anyOf"]):
                self._exclude(Subschema(sub, part.scope))

    # The methods below read the demands, once the choices are made.

    def types(self) -> set[str]:
        """The JSON types that are left; `number` means numbers with a fraction."""
        left = set(TYPES)
        for located in self.schemas:
            if "type" in located.schema:
                left &= type_names(located.schema["type"])
        if "number" in self.excluded_types:
            left.discard("integer")
        return left - self.excluded_types

    def listed(self) -> list[object] | None:
        """The values that `const` and `enum` leave, or None if no schema lists any."""
        left: list[object] | None = None
        for located in self.schemas:
            schema = located.schema
            # The first values of an enormous list say as much as all of them.
            lists = [elements(schema["enum"])[:_LISTED]] if "enum" in schema else []
            if "const" in schema and located.scope.dialect.number != 4:
                lists.append([schema["const"]])
            for values in lists:
                left = list(values) if left is None else [v for v in left if any(same(v, other) for other in values)]
        return left

    def suggested(self) -> list[object]:
        """The values that the schemas' own `examples` and `default` suggest, each once."""
        found: list[object] = []
        for located in self.schemas:
            found.extend(elements(located.schema.get("examples")))
            if "example" in located.schema:
                found.append(located.schema["example"])
        found.extend(located.schema["default"] for located in self.schemas if "default" in located.schema)
        return unique(found) if len(found) > 1 else found

    def description(self) -> str:
        """The first description or title that is given."""
        for located in self.schemas:
            text = located.schema.get("description")
            if isinstance(text, str):
                return text
        return ""

    def plain(self) -> list[Mapping[str, object]]:
        """The schema objects alone."""
        return [located.schema for located in self.schemas]

    def required(self) -> list[str]:
        """The members that must be there, each once, in order."""
        if self._required is None:
            self._required = _each_once(names(located.schema.get("required")) for located in self.schemas)
        return [*self._required]

    def declared(self) -> list[str]:
        """The members that `properties` name, each once, in order."""
        if self._declared is None:
            self._declared = _each_once(members(located.schema.get("properties")) for located in self.schemas)
        return [*self._declared]

    def member(self, name: str) -> list[Subschema]:
        """The schemas that a member of this name has to satisfy."""
        parts: list[Subschema] = []
        evaluated = False
        for schema, scope in self._pairs():
            properties = members(schema.get("properties"))
            hit = name in properties
            if hit:
                parts.append(Subschema(properties[name], scope))
            for pattern, sub in members(schema.get("patternProperties")).items():
                if matches(pattern, name):
                    hit = True
                    parts.append(Subschema(sub, scope))
            if not hit and "additionalProperties" in schema:
                hit = True
                parts.append(Subschema(schema["additionalProperties"], scope))
            evaluated = evaluated or hit
        if not evaluated:
            parts.extend(
                Subschema(schema["unevaluatedProperties"], scope)
                for schema, scope in self._pairs()
                if "unevaluatedProperties" in schema
            )
        return parts

    def item(self, index: int, *, contained: bool = False) -> list[Subschema]:
        """The schemas that an array's item at `index` has to satisfy; what `contains` asks for is evaluated."""
        parts: list[Subschema] = []
        evaluated = contained
        for schema, scope in self._pairs():
            front = fixed_items(schema)
            if index < len(front):
                evaluated = True
                parts.append(Subschema(front[index], scope))
                continue
            rest = "additionalItems" if is_array(schema.get("items")) else "items"
            if rest in schema:
                evaluated = True
                parts.append(Subschema(schema[rest], scope))
        if not evaluated:
            parts.extend(
                Subschema(schema["unevaluatedItems"], scope)
                for schema, scope in self._pairs()
                if "unevaluatedItems" in schema
            )
        return parts

    def _pairs(self) -> Iterator[tuple[Mapping[str, object], Scope]]:
        return ((located.schema, located.scope) for located in self.schemas)


def _each_once(several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for each in several:
        found.update(dict.fromkeys(each))
    return tuple(found)


def references(schema: Mapping[str, object], scope: Scope) -> Iterator[Subschema]:
    """Yield the targets of the references of `schema` itself. A dynamic one is followed as if it were static."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        reference = schema.get(keyword)
        if isinstance(reference, str):
            target = scope.target(reference)
            if target is not None:
                yield target


def fixed_items(schema: Mapping[str, object]) -> tuple[object, ...]:
    """The schemas of an array's first items."""
    own = schema.get("prefixItems")
    return tuple(elements(own if is_array(own) else schema.get("items")))


def type_names(value: object) -> set[str]:
    """Return the types that the keyword `type` names; a number may be an integer."""
    found = {value} if isinstance(value, str) else set(names(value))
    return found | {"integer"} if "number" in found else found


_BRANCHING = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "contains", "dependencies", "dependentSchemas", "$dynamicRef"}
    | {"propertyNames", "unevaluatedProperties", "unevaluatedItems", "$recursiveRef", "patternProperties"}
)
_INTRICATE = frozenset(
    {"contains", "dependencies", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "propertyNames"}
    | {"$dynamicRef", "$recursiveRef", "patternProperties"}
)
_LISTED = 500
_SIMPLE = frozenset({"required", "const", "enum", "type", "anyOf"})
_SILENT = frozenset({"$comment", "description", "title"})


def _exclusive(options: list[Subschema]) -> Iterator[Option]:
    """The options of a `oneOf`, each without the members that only another one requires: they would satisfy both."""
    required = [set(names(members(option.schema).get("required"))) for option in options]
    for index, option in enumerate(options):
        others: set[str] = set()
        for position, wanted in enumerate(required):
            if position != index and wanted - required[index]:
                others |= wanted
        yield Option((option,), avoid=frozenset(others - required[index]))
