"""`Weigher`: the work of a validation, estimated beforehand, because a validation cannot be interrupted."""

from collections.abc import Iterator, Mapping

from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.schema.document import Scope, Subschema, children, subschemas

# Above this count one validation may take half a second; the validator cannot be interrupted.
MOST_STEPS = 5_000_000
# Above this count explaining a failure may take a tenth of a second: each alternative repeats what lies below it.
MOST_ERRORS = 5_000
_SMALL = 1_000
# Where schemas are kept that nothing applies but a reference.
_SHELVES = ("$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MANY = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")


class Weigher:
    """Counts the evaluation steps that a value may cost under a document: in polynomial time."""

    def __init__(self, document: object, scope: Scope) -> None:
        self._start = Subschema(document, scope)

    def multiplies(self) -> bool:
        """Whether the document alone, whatever the value, multiplies beyond reason, by its references."""
        memo: dict[tuple[int, int], int] = {}
        scope = self._start.scope
        for _, found in subschemas(self._start.schema):
            if any(keyword in found for keyword in _REFERENCES):
                try:
                    if _weight(Subschema(found, scope), None, memo) > MOST_STEPS:
                        return True
                except RecursionError:
                    return True
        return False

    def grows(self) -> bool:
        """Whether the work may grow faster than the value: the document is recursive, or unfolds to many schemas."""
        try:
            return _unfolded_size(self._start, {}) > _SMALL
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


def _unfolded_size(part: Subschema, memo: dict[int, int]) -> int:
    """How many schemas a document contains with its references written out; recursion counts as `MOST_STEPS`."""
    schema = members(part.schema)
    key = id(schema)
    if not schema or key in memo:
        return memo.get(key, 1)
    memo[key] = MOST_STEPS
    scope = part.scope.inside(schema)
    total = 1
    for keyword in _REFERENCES:
        reference = schema.get(keyword)
        target = scope.target(reference) if isinstance(reference, str) else None
        if target is not None:
            total += _unfolded_size(target, memo)
    for path, child in children(schema):
        if path[0] not in _SHELVES:
            total += _unfolded_size(Subschema(child, scope), memo)
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


def _evaluations(schema: Mapping[str, object], scope: Scope, value: object) -> Iterator[tuple[Subschema, object]]:
    """The schemas that are evaluated next, each with its value: the same value first, then its members or items."""
    for keyword in _REFERENCES:
        reference = schema.get(keyword)
        target = scope.target(reference) if isinstance(reference, str) else None
        if target is not None:
            yield target, value
    for keyword in _MANY:
        for sub in elements(schema.get(keyword)):
            yield Subschema(sub, scope), value
    for keyword in _ONE:
        if keyword in schema:
            yield Subschema(schema[keyword], scope), value
    for sub in members(schema.get("dependentSchemas")).values():
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
