"""The work and the memory of a validation, estimated beforehand, because a validation cannot be interrupted."""

import marshal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, cast

from toolvet.core.json_value import count_values, elements, is_array, is_object, members, names, type_name
from toolvet.core.schema.document import Dialect, Scope, Subschema, children, subschemas

# Above this count one validation may take half a second; the validator cannot be interrupted.
MOST_STEPS = 5_000_000
# Above this count explaining a failure may take a tenth of a second: each alternative repeats what lies below it.
MOST_ERRORS = 5_000
_SMALL = 1_000
# Where schemas are kept that nothing applies but a reference.
_SHELVES = ("$defs", "definitions")
# The keywords of references.
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_MANY = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_UNIONS = frozenset({"anyOf", "oneOf"})
_SHARING = frozenset({*_MANY, *_ONE, "dependentSchemas", "dependencies", "patternProperties", "contains"})
_PARTS = frozenset({"properties", "additionalProperties", "items", "prefixItems", "additionalItems"})


class Weigher:
    """Counts the evaluation steps that a value may cost under a document: in polynomial time."""

    def __init__(self, document: object, scope: Scope) -> None:
        self._start = Subschema(document, scope)

    def multiplies(self) -> bool:
        """Whether the document alone, whatever the value, multiplies beyond reason, by its references."""
        memo: dict[tuple[int, int], int] = {}
        scope = self._start.scope
        for _, found in subschemas(self._start.schema):
            if any(keyword in found for keyword in REFERENCES):
                try:
                    if _weight(Subschema(found, scope), None, memo) > MOST_STEPS:
                        return True
                except RecursionError:
                    return True
        return False

    def grows(self) -> bool:
        """Whether the work may grow faster than the value: the document is recursive, or unfolds to many schemas."""
        try:
            return _unfolded_size(self._start, {}, lambda _: 1) > _SMALL
        except RecursionError:
            return True

    def of(self, value: object) -> int:
        """The steps for `value`, at most; more than can be counted is `MOST_STEPS + 1`."""
        try:
            return _weight(self._start, value, {})
        except RecursionError:
            return MOST_STEPS + 1


def depth(value: object, limit: int) -> int:
    """How deeply `value` is nested, counted up to `limit`."""
    inner = value.values() if is_object(value) else value if is_array(value) else ()
    if limit <= 0 or not (is_object(value) or is_array(value)):
        return 0
    deepest = 0
    for item in inner:
        deepest = max(deepest, depth(item, limit - 1))
        if deepest >= limit - 1:
            break
    return 1 + deepest


def unfolded_size(document: object, dialect: Dialect) -> int:
    """Return how many schemas a document has with its references written out, except those that lead back.

    More than can be counted is `MOST_STEPS`.
    """
    try:
        return _unfolded_size(Subschema(document, Scope(document, dialect)), {}, lambda _: 1, again=1)
    except RecursionError:
        return MOST_STEPS


def _unfolded_size(
    part: Subschema, memo: dict[int, int], own: Callable[[Mapping[str, object]], int], again: int = MOST_STEPS
) -> int:
    """The sum of `own` over all schemas of a document, references written out; recursion counts as `again`."""
    schema = members(part.schema)
    key = id(schema)
    if not schema or key in memo:
        return memo.get(key, 1)
    memo[key] = again
    scope = part.scope.inside(schema)
    total = own(schema)
    for keyword in REFERENCES:
        reference = schema.get(keyword)
        target = scope.target(reference) if isinstance(reference, str) else None
        if target is not None:
            total += _unfolded_size(target, memo, own, again)
    for path, child in children(schema):
        if path[0] not in _SHELVES:
            total += _unfolded_size(Subschema(child, scope), memo, own, again)
    memo[key] = total
    return total


def _weight(part: Subschema, value: object, memo: dict[tuple[int, int], int]) -> int:
    schema = members(part.schema)
    if not schema:
        return 1
    key = (id(schema), id(value))
    known = memo.get(key)
    if known is not None:
        return known
    memo[key] = 1
    total = 1
    for inner, below in _evaluations(schema, part.scope.inside(schema), value):
        total += _weight(inner, below, memo)
        if total > MOST_STEPS:
            break
    memo[key] = total
    return total


def _evaluations(
    schema: Mapping[str, object], scope: Scope, value: object, single: tuple[str, ...] = _ONE
) -> Iterator[tuple[Subschema, object]]:
    """The schemas that are evaluated next, each with its value: the same value first, then its members or items."""
    for keyword in REFERENCES:
        reference = schema.get(keyword)
        target = scope.target(reference) if isinstance(reference, str) else None
        if target is not None:
            yield target, value
    for keyword in _MANY:
        for sub in elements(schema.get(keyword)):
            yield Subschema(sub, scope), value
    for keyword in single:
        if keyword in schema:
            yield Subschema(schema[keyword], scope), value
    for keyword in ("dependentSchemas", "dependencies"):
        for sub in members(schema.get(keyword)).values():
            yield Subschema(sub, scope), value
    if is_object(value):
        properties = members(schema.get("properties"))
        others = [schema[keyword] for keyword in ("additionalProperties", "unevaluatedProperties") if keyword in schema]
        others.extend(members(schema.get("patternProperties")).values())
        for name, item in value.items():
            if name in properties:
                yield Subschema(properties[name], scope), item
            for sub in others:
                yield Subschema(sub, scope), item
    elif is_array(value):
        own = schema.get("items")
        front = elements(schema.get("prefixItems")) or elements(own)
        others = [schema[key] for key in ("contains", "additionalItems", "unevaluatedItems") if key in schema]
        if not is_array(own) and own is not None:
            others.append(own)
        for index, item in enumerate(value):
            if index < len(front):
                yield Subschema(front[index], scope), item
            for sub in others:
                yield Subschema(sub, scope), item


class CopyCounter:
    """Adds up the copies that the errors of a validation make: each has a copy of the value that it is about.

    The validator makes all of them before it returns the first one, so this is done beforehand.
    """

    def __init__(self, whole: Subschema) -> None:
        self._whole = whole
        try:
            self._width = _unfolded_size(whole, {}, _most_errors)
        except RecursionError:
            self._width = MOST_STEPS
        # Alternatives repeat what is below them, and so do references of a recursive schema.
        found = [each for _, each in subschemas(whole.schema)]
        has_unions = any(not _UNIONS.isdisjoint(each) for each in found)
        self._may_multiply = has_unions or self._width >= MOST_STEPS
        # Where nothing applies two schemas to one value, each value meets each schema once, however they recur.
        self._each = MOST_STEPS if any(map(_shares, found)) else sum(map(_most_errors, found))

    def affordable(self, value: object, part: Subschema | None = None) -> Literal["all", "first", "none"]:
        """Which errors of `value` may be asked for, under the whole document or a part of it."""
        values = count_values(value, _MOST_VALUES)
        few = values <= _MOST_VALUES
        try:
            # Nearly all calls: version 2 writes a part that is shared as often as it is reached.
            width = min(self._width, values * self._each)
            if few and (len(_marshalled(value, 2)) + values * _OF_ERROR) * width <= _MOST_COPIED // 3:
                return "all"
        except ValueError:
            pass
        walk = _CopyWalk()
        try:
            budget = _MOST_COPIED + walk.size(value)
            if few or self._may_multiply:
                total, visits = walk.copies(part or self._whole, value)
                if visits > _MOST_VISITS:
                    return "none"
                # One error may repeat all of its keyword: it is in memory once, anyway.
                if few and total <= budget + walk.repeated:
                    return "all"
        except (RecursionError, _TooManySteps):
            return "none" if self._may_multiply else "first"
        return "first" if walk.largest <= budget else "none"


class _TooManySteps(Exception):  # noqa: N818 - a state of the walk, never an error that leaves the room.
    """The walk took more steps than it may."""


class _CopyWalk:
    """One value: the bytes that its errors copy, never too few.

    `largest` is the most that the error of a union has, `repeated` the most that an error repeats of the schema.
    """

    def __init__(self) -> None:
        self.largest = self.repeated = 0
        self._steps = _MOST_LOOKED_AT
        self._sizes: dict[int, int] = {}
        self._copies: dict[tuple[int, int], tuple[int, int]] = {}

    def size(self, value: object) -> int:
        """Return the bytes of a value with everything in it."""
        found = self._sizes.get(id(value))
        if found is None:
            found = sys.getsizeof(value)
            if isinstance(value, dict | list | tuple):
                inner = cast("Iterable[object]", value)
                found += sum(map(self.size, inner)) + sum(map(self.size, members(cast("object", value)).values()))
                self._sizes[id(inner)] = found
        return found

    def copies(self, part: Subschema, value: object) -> tuple[int, int]:
        """The bytes that the errors of `value` under `part` copy, and how often a schema meets a value."""
        self._spend(1)
        key = (id(part.schema), id(value))
        known = self._copies.get(key)
        if known is not None:
            return known
        self._copies[key] = (0, 1)
        schema = members(part.schema)
        errors, extra = self._own(schema, value) if schema else (int(part.schema is False), 0)
        size = self.size(value)
        total, visits = errors * (size + _OF_ERROR) + extra, 1
        for inner, below in _evaluations(schema, part.scope.inside(schema), value, ("then", "else")):
            more, again = self.copies(inner, below)
            total, visits = total + more, visits + again
        self.repeated = max(self.repeated, extra)
        if not _UNIONS.isdisjoint(schema):
            self.largest = max(self.largest, total)
        self._copies[key] = total, visits
        return total, visits

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise _TooManySteps

    def _own(self, schema: Mapping[str, object], value: object) -> tuple[int, int]:
        """How many errors the keywords of this schema may give, and the bytes of the keywords that these repeat."""
        self._spend(_demanded(schema) // 20)
        errors = len(schema.keys() & _ASSERTING) + (schema.get("items") is False)
        extra = 0
        for keyword in schema.keys() & _REPEATED:
            wanted = schema[keyword]
            if not (isinstance(value, str) and value in elements(wanted)):
                errors += 1
                extra += self.size(wanted)
        if "type" in schema:
            wanted = schema["type"]
            kinds = (wanted,) if isinstance(wanted, str) else names(wanted)
            kind = type_name(value)
            errors += kind not in kinds and not (kind == "integer" and "number" in kinds)
        if not is_object(value):
            return errors, extra
        errors += sum(name not in value for name in names(schema.get("required")))
        for keyword in ("dependentRequired", "dependencies"):
            errors += sum(len(elements(each)) for name, each in members(schema.get(keyword)).items() if name in value)
        errors += len(value) if "propertyNames" in schema else 0
        if not value.keys() <= members(schema.get("properties")).keys():
            # The message has the names, too.
            errors += 2 * len(schema.keys() & _OF_OTHERS)
        return errors, extra


def _shares(schema: Mapping[str, object]) -> bool:
    """Whether a schema may apply two schemas to one value, or one of another document."""
    referred = [f"{schema[keyword]}" for keyword in REFERENCES if keyword in schema]
    applied = len(referred) + bool(referred and schema.keys() & _PARTS)
    return applied > 1 or not _SHARING.isdisjoint(schema) or not all(each.startswith("#") for each in referred)


def _demanded(schema: Mapping[str, object]) -> int:
    """How many names the schema requires."""
    lists = [*members(schema.get("dependentRequired")).values(), *members(schema.get("dependencies")).values()]
    return len(elements(schema.get("required"))) + sum(len(elements(each)) for each in lists)


def _most_errors(schema: Mapping[str, object]) -> int:
    """How often, at most, the errors of this schema alone copy a value of any size."""
    repeated = sum(_CopyWalk().size(schema[keyword]) for keyword in schema.keys() & _REPEATED)
    for_each_name = MOST_STEPS if "propertyNames" in schema else 0
    return 2 * len(schema) + _demanded(schema) + repeated // _LEAST_SIZE + for_each_name


_marshalled = cast("Callable[[object, int], bytes]", marshal.dumps)
# Bytes, as Python counts them. The validator and its errors take up to three times as many.
_MOST_COPIED = 12_000_000
_MOST_LOOKED_AT = 100_000
_MOST_VISITS = 1_000_000
# An error without its value.
_OF_ERROR = 400
# A larger value may break a schema in countless ways, and listing them takes minutes.
_MOST_VALUES = 50_000
# No value takes less than this.
_LEAST_SIZE = sys.getsizeof(None)
# Keywords whose errors repeat what the keyword says.
_REPEATED = frozenset({"const", "enum", "not", "pattern"})
_OF_OTHERS = frozenset({"additionalProperties", "unevaluatedProperties"})
# `minimum` and its like are left out: a number is small.
_ASSERTING = _UNIONS.union(
    ("additionalItems", "contains", "contentEncoding", "contentMediaType", "format", "maxItems", "maxLength"),
    ("maxProperties", "minItems", "minLength", "minProperties", "unevaluatedItems", "uniqueItems"),
)
