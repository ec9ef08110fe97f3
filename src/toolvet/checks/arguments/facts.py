"""What one place of a call has to be, in words: from all schemas that apply there."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from toolvet.checks.arguments.wording_table import as_json, cut, listed, sized, wording
from toolvet.schema.json_value import elements, names, type_name
from toolvet.schema.numbers import interval, plain
from toolvet.schema.place import Demands, Unmeetable, fixed_items
from toolvet.schema.reference import Subschema

_DEEPEST = 4
_MOST_FORMS = 8
_MOST_NAMES = 30
_ARTICLES = {"object": "an object", "array": "an array", "integer": "an integer", "null": "null"}
_BY_KEYWORD = {
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
    """All that the schemas of a place say, references followed and `allOf` joined; `forms` are its alternatives."""

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
        """The types in the order in which the schema names them; what the keywords imply where it names none."""
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
        """The alternatives of the place's first choice (`anyOf`, `oneOf`), each with what holds for all of them."""
        for choice in self.demands.choices:
            if self.depth >= _DEEPEST or any(option.excluded for option in choice):
                continue
            return [Facts(option.parts, self.depth + 1) for option in choice]
        return []

    def member(self, name: str) -> "Facts":
        """The facts of a member."""
        return Facts(self.demands.member(name), self.depth + 1)

    def item(self, index: int) -> "Facts":
        """The facts of an item."""
        return Facts(self.demands.item(index), self.depth + 1)


def type_of_keyword(keyword: str) -> str:
    """The type that a keyword is about, or an empty text: `minLength` is about strings."""
    return _BY_KEYWORD.get(keyword, "")


def type_words(facts: Facts) -> str:
    """The types as the schema help names them: `string`, `string | null`; empty where anything goes."""
    if facts.types:
        return " | ".join(facts.types)
    kinds = [kind for form in facts.forms() for kind in (type_words(form) or "any").split(" | ")]
    return " | ".join(dict.fromkeys(kinds))


def short(facts: Facts) -> str:
    """What is expected, in a few words: the values or the types."""
    if facts.values is not None:
        return bars(facts.values)
    if facts.types:
        return " or ".join(facts.types)
    return " or ".join(dict.fromkeys(short(form) for form in facts.forms()[:_MOST_FORMS])) or "any value"


def bars(values: Sequence[object]) -> str:
    """Values as alternatives: `'admin' | 'user'`."""
    shown = [
        f"'{value}'" if isinstance(value, str) and value.isprintable() else as_json(value)
        for value in values[:_MOST_NAMES]
    ]
    return " | ".join([*(cut(text, 200) for text in shown), *(["…"] if len(values) > _MOST_NAMES else [])])


def provide(facts: Facts, name: str) -> str:
    """The sentence that says what to send at the place `name`."""
    if facts.values is not None and not facts.impossible:
        return f"Use {_values(facts.values)}" + ("." if len(facts.values) == 1 else "")
    if len(facts.types) > 1 and not any(map(list, (phrases(facts, kind) for kind in facts.types))):
        return f"Provide a valid {' or '.join(facts.types)} value for '{name}'."
    return f"Provide {noun(facts)}."


def noun(facts: Facts) -> str:
    """What the place demands, as a noun: `an integer >= 18 and <= 120`."""
    if facts.values is not None:
        return _values(facts.values)
    forms = facts.forms()
    if forms and not _says_more(facts):
        told = list(dict.fromkeys(map(noun, forms[:_MOST_FORMS])))
        more = len(forms) - _MOST_FORMS
        return " or ".join([*told, *([f"{more} other forms"] if more > 0 else [])])
    if not facts.types:
        return "any value"
    return " or ".join(_typed(facts, kind) for kind in facts.types)


def _says_more(facts: Facts) -> bool:
    """Whether the place itself says what it is, and the alternatives only what else has to hold."""
    return bool(facts.types) and all(not form.types or form.types == facts.types for form in facts.forms())


def _values(values: Sequence[object]) -> str:
    if len(values) == 1:
        return f"the value {as_json(values[0])}"
    return f"one of these values: {listed(values)}" if values else "no value at all"


def _typed(facts: Facts, kind: str) -> str:
    base = _ARTICLES.get(kind) or f"a {kind}"
    if kind == "boolean":
        return "a boolean (true or false)"
    if kind == "array":
        base += _item_words(facts)
    told = list(phrases(facts, kind))
    if kind == "object":
        fields = facts.demands.required() or facts.demands.declared()
        if fields:
            return f"{base} with the fields: {name_list(fields)}"
        return base
    if kind in ("integer", "number"):
        return f"{base} {' and '.join(told)}".strip()
    # The format and a lone pattern read best without "with".
    formats = [phrase for phrase in told if phrase.startswith("in ")]
    others = [phrase for phrase in told if not phrase.startswith("in ")]
    base = " ".join([base, " and ".join(formats)]).strip()
    if not others:
        return base
    joined = " and ".join(others)
    return f"{base} {joined}" if joined.startswith("matching") else f"{base} with {joined}"


def _item_words(facts: Facts) -> str:
    front = max((fixed_items(schema) for schema in facts.schemas), key=len, default=())
    if facts.depth >= _DEEPEST:
        return ""
    if front:
        places = [noun(facts.item(index)) for index in range(min(len(front), 10))]
        return f" of {', '.join(places)}"
    item = facts.item(0)
    kinds = " or ".join(item.types)
    if item.values is not None:
        return f" of {kinds} (each {_values(item.values)})"
    return f" of {kinds}" if kinds else ""


def phrases(facts: Facts, kind: str) -> Iterator[str]:
    """The limits that hold for a value of type `kind`, as a sentence says them; lower bounds first."""
    rows = wording().keyword
    for keyword, limit in limits(facts, kind):
        template = rows[keyword].phrase
        if template:
            yield _filled(template, limit)


def constraints(facts: Facts) -> list[str]:
    """The limits of the place as the schema help lists them."""
    rows = wording().keyword
    told: list[str] = []
    for kind in facts.types or ("object",):
        told.extend(_filled(rows[keyword].constraint, limit) for keyword, limit in limits(facts, kind))
    if facts.values is not None:
        told = [value_constraint(facts.values)]
    elif facts.forms() and not _says_more(facts) and len(set(map(noun, facts.forms()))) > 1:
        told.append(rows["anyOf"].constraint.format(noun=noun(facts)))
    return list(dict.fromkeys(told))


def value_constraint(values: Sequence[object]) -> str:
    """How the schema help lists the legal values."""
    return _filled(wording().keyword["const" if len(values) == 1 else "enum"].constraint, list(values))


def limits(facts: Facts, kind: str) -> Iterator[tuple[str, object]]:
    """Keyword and limit of what holds for a value of type `kind`, the strictest of each."""
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


def _filled(template: str, limit: object) -> str:
    return template.format(
        limit=as_json(limit),
        characters=sized(limit, "character"),
        items=sized(limit, "item"),
        fields=sized(limit, "field"),
        pattern=limit,
        format=limit,
        values=listed(elements(limit)) if not isinstance(limit, str) else "",
        value=as_json(elements(limit)[0]) if elements(limit) else "",
    )


def name_list(fields: Sequence[str]) -> str:
    """Names behind commas; the first of them, if there are many."""
    shown = ", ".join(islice(fields, _MOST_NAMES))
    return shown if len(fields) <= _MOST_NAMES else f"{shown}, … ({len(fields) - _MOST_NAMES} more)"
