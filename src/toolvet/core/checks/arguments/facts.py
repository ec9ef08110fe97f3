"""What the schemas demand at one place of a call (`Facts`), and the phrases that say so."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from toolvet.core.checks.arguments.wording_table import as_json, count_of, cut, join_values, phrase, wording
from toolvet.core.json_value import elements, names, type_name
from toolvet.core.schema.numbers import interval, plain
from toolvet.core.schema.place import Demands, Unmeetable, fixed_items
from toolvet.core.schema.reference import Subschema

_DEEPEST: Final = 4
_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_MOST_FORMS: Final = 8
_MOST_NAMES: Final = 30
_BY_KEYWORD: Final = {
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "string",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "items": "array",
    "prefixItems": "array",
    "contains": "array",
    "properties": "object",
    "required": "object",
    "minProperties": "object",
    "maxProperties": "object",
    "additionalProperties": "object",
}


class Facts:
    """The demands of all schemas at one place, with references followed and `allOf` joined.

    `impossible` is true where no value can meet them. `forms` are the alternatives of a union.
    """

    def __init__(self, parts: Sequence[Subschema], depth: int = 0) -> None:
        self.depth = depth
        demands = Demands()
        self.impossible = False
        try:
            for part in parts:
                demands.add(part)
        except (Unmeetable, RecursionError):
            self.impossible = True
        self.demands = demands
        self.schemas: Sequence[Mapping[str, object]] = demands.plain()
        self.values: Sequence[object] | None = demands.listed()
        self.types = self._types()

    def _types(self) -> tuple[str, ...]:
        """The types in the order of the schema, or else the type that its keywords imply."""
        found: list[str] | None = None
        for schema in self.schemas:
            if "type" in schema:
                own = schema["type"]
                here = [own] if isinstance(own, str) else list(names(own))
                if found is None:
                    found = here
                else:
                    # `integer` is the narrower of two.
                    found = [
                        "integer" if {name, other} == {"integer", "number"} else name
                        for name in found
                        for other in here
                        if name == other or {name, other} == {"integer", "number"}
                    ]
        if found is None and self.values is not None:
            found = [type_name(value) for value in self.values]
        if found is None and not self.demands.choices:
            found = [kind for schema in self.schemas for word, kind in _BY_KEYWORD.items() if word in schema][:1]
        return tuple(dict.fromkeys(found or ()))

    def forms(self) -> list["Facts"]:
        """The alternatives of the first union (`anyOf`, `oneOf`), each joined with the demands outside of the union."""
        for choice in self.demands.choices:
            if self.depth >= _DEEPEST or any(option.excluded for option in choice):
                continue
            return [Facts(option.parts, self.depth + 1) for option in choice]
        return []

    def member(self, name: str) -> "Facts":
        """The facts of the member `name`."""
        return Facts(self.demands.member(name), self.depth + 1)

    def item(self, index: int) -> "Facts":
        """The facts of the item at `index`."""
        return Facts(self.demands.item(index), self.depth + 1)


def type_of_keyword(keyword: str) -> str:
    """The type that a keyword applies to, such as `string` for `minLength`; empty for other keywords."""
    return _BY_KEYWORD.get(keyword, "")


def name_types(facts: Facts) -> str:
    """The types as the schema help names them: `string`, `string | null`; empty for any type."""
    if facts.types:
        return " | ".join(facts.types)
    kinds = [kind for form in facts.forms() for kind in (name_types(form) or "any").split(" | ")]
    return " | ".join(dict.fromkeys(kinds))


def describe_briefly(facts: Facts) -> str:
    """The valid values or types in a few words."""
    if facts.values is not None:
        return as_alternatives(facts.values)
    if facts.types:
        return phrase("or").join(facts.types)
    forms = dict.fromkeys(describe_briefly(form) for form in facts.forms()[:_MOST_FORMS])
    return phrase("or").join(forms) or phrase("any_value")


def as_alternatives(values: Sequence[object]) -> str:
    """Values as alternatives: `'admin' | 'user'`."""
    shown = [
        f"'{value}'" if isinstance(value, str) and value.isprintable() else as_json(value)
        for value in values[:_MOST_NAMES]
    ]
    return " | ".join([*(cut(text, 200) for text in shown), *(["…"] if len(values) > _MOST_NAMES else [])])


def describe_fix(facts: Facts, name: str) -> str:
    """The sentence about what to send at the place `name`, such as `Provide an integer >= 18.`."""
    if facts.values is not None and not facts.impossible:
        return phrase("use", what=_describe_values(facts.values)) + ("." if len(facts.values) == 1 else "")
    if len(facts.types) > 1 and not any(map(list, (describe_limits(facts, kind) for kind in facts.types))):
        return phrase("provide_type", types=phrase("or").join(facts.types), name=name)
    return phrase("provide", what=describe(facts))


def describe(facts: Facts) -> str:
    """What is valid at the place, as a noun phrase: `an integer >= 18 and <= 120`."""
    if facts.values is not None:
        return _describe_values(facts.values)
    forms = facts.forms()
    if forms and not _describes_itself(facts):
        phrases = list(dict.fromkeys(map(describe, forms[:_MOST_FORMS])))
        more = len(forms) - _MOST_FORMS
        return phrase("or").join([*phrases, *([phrase("other_forms", count=more)] if more > 0 else [])])
    if not facts.types:
        return phrase("any_value")
    return phrase("or").join(_describe_type(facts, kind) for kind in facts.types)


def _describes_itself(facts: Facts) -> bool:
    """Whether the place has types of its own, which the alternatives of its union only restrict."""
    return bool(facts.types) and all(not form.types or form.types == facts.types for form in facts.forms())


def _describe_values(values: Sequence[object]) -> str:
    if len(values) == 1:
        return phrase("one_value", value=as_json(values[0]))
    return phrase("values", values=join_values(values)) if values else phrase("no_value")


def _describe_type(facts: Facts, kind: str) -> str:
    base = phrase(kind) if kind in _TYPES else kind
    if kind == "boolean":
        return base
    if kind == "array":
        base += _describe_items(facts)
    limit_phrases = list(_name_limits(facts, kind))
    said = [words for _, words in limit_phrases]
    if kind == "object":
        fields = facts.demands.required() or facts.demands.declared()
        return phrase("with_fields", object=base, fields=join_names(fields)) if fields else base
    if kind in ("integer", "number"):
        return f"{base} {phrase('and').join(said)}".strip()
    # The format and a lone pattern read best without "with".
    formats = [words for keyword, words in limit_phrases if keyword == "format"]
    others = [words for keyword, words in limit_phrases if keyword != "format"]
    base = " ".join([base, phrase("and").join(formats)]).strip()
    if not others:
        return base
    joined = phrase("and").join(others)
    begins_with_pattern = next(keyword for keyword, _ in limit_phrases if keyword != "format") == "pattern"
    return f"{base} {joined}" if begins_with_pattern else phrase("with_limits", type=base, limits=joined)


def _describe_items(facts: Facts) -> str:
    front = max((fixed_items(schema) for schema in facts.schemas), key=len, default=())
    if facts.depth >= _DEEPEST:
        return ""
    if front:
        places = [describe(facts.item(index)) for index in range(min(len(front), 10))]
        return phrase("of_items", items=", ".join(places))
    item = facts.item(0)
    kinds = phrase("or").join(item.types)
    if item.values is not None:
        return phrase("each_item", items=kinds, values=_describe_values(item.values))
    return phrase("of_items", items=kinds) if kinds else ""


def describe_limits(facts: Facts, kind: str) -> Iterator[str]:
    """The limits of a value of type `kind` as phrases of a sentence, lower bounds first."""
    return (words for _, words in _name_limits(facts, kind))


def _name_limits(facts: Facts, kind: str) -> Iterator[tuple[str, str]]:
    """The same, each with its keyword."""
    rows = wording().keyword
    for keyword, limit in find_limits(facts, kind):
        template = rows[keyword].phrase
        if template:
            yield keyword, _fill(template, limit)


def list_constraints(facts: Facts) -> list[str]:
    """The limits of the place as the schema help lists them: `Minimum: 18`."""
    rows = wording().keyword
    found: list[str] = []
    for kind in facts.types or ("object",):
        found.extend(_fill(rows[keyword].constraint, limit) for keyword, limit in find_limits(facts, kind))
    if facts.values is not None:
        found = [describe_value_constraint(facts.values)]
    elif facts.forms() and not _describes_itself(facts) and len(set(map(describe, facts.forms()))) > 1:
        found.append(rows["anyOf"].constraint.format(noun=describe(facts)))
    return list(dict.fromkeys(found))


def describe_value_constraint(values: Sequence[object]) -> str:
    """The valid values as the schema help lists them: `Must be one of: "a", "b"`."""
    return _fill(wording().keyword["const" if len(values) == 1 else "enum"].constraint, list(values))


def find_limits(facts: Facts, kind: str) -> Iterator[tuple[str, object]]:
    """The keywords that limit a value of type `kind`, each with its strictest limit."""
    match kind:
        case "string":
            yield from _extremes(facts, "minLength", "maxLength")
            for keyword in ("pattern", "format"):
                found = (schema[keyword] for schema in facts.schemas if isinstance(schema.get(keyword), str))
                yield from ((keyword, value) for value in dict.fromkeys(map(str, found)))
        case "integer" | "number":
            span = interval(facts.schemas)
            if span.low is not None:
                yield "exclusiveMinimum" if span.low_open else "minimum", plain(span.low)
            if span.high is not None:
                yield "exclusiveMaximum" if span.high_open else "maximum", plain(span.high)
            if span.step is not None:
                yield "multipleOf", plain(span.step)
        case "array":
            yield from _extremes(facts, "minItems", "maxItems")
            if any(schema.get("uniqueItems") is True for schema in facts.schemas):
                yield "uniqueItems", True
        case "object":
            yield from _extremes(facts, "minProperties", "maxProperties")
        case _:
            return


def _extremes(facts: Facts, least: str, most: str) -> Iterator[tuple[str, object]]:
    for keyword, strictest in ((least, max), (most, min)):
        found = [limit for schema in facts.schemas if isinstance(limit := schema.get(keyword), int | float)]
        if found:
            yield keyword, strictest(found)


def _fill(template: str, limit: object) -> str:
    return template.format(
        limit=as_json(limit),
        characters=count_of(limit, "character"),
        items=count_of(limit, "item"),
        fields=count_of(limit, "field"),
        pattern=limit,
        format=limit,
        values=join_values(elements(limit)) if not isinstance(limit, str) else "",
        value=as_json(elements(limit)[0]) if elements(limit) else "",
    )


def join_names(fields: Sequence[str]) -> str:
    """Names separated by commas: the first 30, and how many more there are."""
    shown = ", ".join(islice(fields, _MOST_NAMES))
    more = len(fields) - _MOST_NAMES
    return shown if more <= 0 else f"{shown}, {phrase('more_values', count=more)}"
