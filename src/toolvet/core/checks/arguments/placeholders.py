"""The templates of `wording.toml`, filled for one violation.

`"Number must be at least {limit}"` asks `WordingPlaceholders` for `limit`, which is computed only then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from toolvet.core.checks.arguments.guide import (
    Facts,
    Guide,
    KeywordText,
    as_alternatives,
    describe,
    describe_briefly,
    describe_fix,
    join_names,
    type_of_keyword,
)
from toolvet.core.checks.arguments.wording import (
    KeywordWording,
    as_json,
    count_of,
    cut,
    join_values,
    phrase,
    wording,
)
from toolvet.core.json_value import count, elements, is_object, members, names, type_name
from toolvet.core.schema.demands import fixed_items

# The placeholder for a name in a call: texts are kept per schema, and must not contain data of a call. Noncharacters,
# so that no schema contains it by accident.
NAME: Final = "\ufdd0name\ufdd1"
_MISSING: Final = ("required", "dependentRequired", "dependencies")
_WITHOUT_EXAMPLE: Final = frozenset({"unknown", "enum", "syntax", "excluded"})
_NUMBERS: Final = {"number": ("integer",)}
_KEPT: Final = 4_096


class Subject(msgspec.Struct, frozen=True):
    """The subject of the texts: the row of `wording.toml`, the place of the schema, and the validator's demand.

    `member` is a missing field, `received` the type that was sent instead. `extra` is what else distinguishes two
    violations of one keyword (which items are equal, what the field depends on). `values` are the valid values if
    several schemas list them, `path` is the place of the call for an example.
    """

    row: str
    schema_pointer: str
    keyword: str
    params: Mapping[str, object]
    member: str = ""
    received: str = ""
    extra: str = ""
    values: tuple[object, ...] = ()
    path: tuple[str, ...] = ()


class WordingPlaceholders:
    """The values of the placeholders, computed when `str.format_map` asks for them: `{limit}` is `_limit()`."""

    def __init__(self, guide: Guide, subject: Subject) -> None:
        self.guide = guide
        self.subject = subject
        self.params = subject.params
        pointer = subject.schema_pointer
        self.home = pointer if subject.keyword == "falseSchema" else pointer.rpartition("/")[0]
        self.place = guide.facts(self.home)
        part = guide.part(self.home)
        self.parts = [part] if part is not None else []
        self.target = self.place
        if subject.member:
            self.parts = self.place.demands.member(subject.member)
            self.target = Facts(self.parts)
        self.own = members(part.schema if part is not None else None)

    def __getitem__(self, term: str) -> str:
        found: Callable[[], str] = getattr(self, f"_{term}")
        return found()

    def _limit(self) -> str:
        return as_json(self._bound())

    def _bound(self) -> object:
        for name in ("limit", "multiple_of"):
            if name in self.params:
                return self.params[name]
        found = count(self.own.get(self.subject.keyword))
        return 1 if found is None else found

    def _characters(self) -> str:
        return count_of(self._bound(), "character")

    def _items(self) -> str:
        return count_of(self._bound(), "item")

    def _fields(self) -> str:
        return count_of(self._bound(), "field")

    def _name(self) -> str:
        return self.subject.member or NAME

    def _types(self) -> str:
        return phrase("or").join(names(self.params.get("types"))) or describe_briefly(self.target)

    def _received(self) -> str:
        return self.subject.received

    def _extra(self) -> str:
        return self.subject.extra

    _which = _because = _value_extra = _extra

    def _provide(self) -> str:
        if self.subject.values:
            sentence = phrase("use", what=phrase("values", values=join_values(self.subject.values)))
        else:
            sentence = describe_fix(self.target, self.subject.member or NAME)
        # The sentence continues after "Add 'name':".
        return f"{sentence[0].lower()}{sentence[1:]}" if self.subject.row in _MISSING else sentence

    def _noun(self) -> str:
        if self.subject.values:
            return as_alternatives(self.subject.values)
        if self.subject.row in _MISSING:
            return describe_briefly(self.target)
        return describe(self.target)

    def _values(self) -> str:
        return join_values(self.subject.values or elements(self.params.get("options")))

    def _bars(self) -> str:
        return as_alternatives(self.subject.values or elements(self.params.get("options")))

    def _value(self) -> str:
        if self.subject.extra or self.subject.row in ("json", "unexplained"):
            return self.subject.extra
        if "expected_value" in self.params:
            return as_json(self.params["expected_value"])
        return self.subject.keyword

    def _pattern(self) -> str:
        return str(self.params.get("pattern"))

    def _format(self) -> str:
        named = (self.params.get(name) for name in ("format", "content_encoding", "content_media_type"))
        return next((str(name) for name in named if name is not None), "the right")

    def _contained(self) -> str:
        part = self.guide.part(f"{self.home}/contains")
        return describe(Facts([part])) if part is not None else phrase("of_that_kind")

    def _known(self) -> str:
        declared = self.place.demands.declared()
        return phrase("known_fields", fields=join_names(declared)) if declared else ""

    def _allowed(self) -> str:
        declared = self.place.demands.declared()
        patterns = [pattern for schema in self.place.schemas for pattern in members(schema.get("patternProperties"))]
        parts = [join_names(declared)] if declared else []
        parts.extend(phrase("allowed_pattern", pattern=pattern) for pattern in patterns)
        return phrase("allowed_fields", fields=", ".join(parts)) if parts else phrase("no_fields")

    def _most(self) -> str:
        front = max((len(fixed_items(schema)) for schema in self.place.schemas), default=0)
        return phrase("at_most", items=count_of(front, "item")) if front else phrase("none_allowed")

    def _named(self) -> str:
        part = self.guide.part(f"{self.home}/propertyNames")
        facts = Facts([part]) if part is not None else self.place
        return describe(facts) if facts.types or facts.values is not None else phrase("allowed_name")

    def _excluded(self) -> str:
        part = self.guide.part(f"{self.home}/not")
        if part is None:
            return phrase("ruled_out")
        fields = names(members(part.schema).get("required"))
        if fields and not members(part.schema).get("properties"):
            return phrase("together", fields=phrase("and").join(f"{name!r}" for name in fields))
        return cut(describe(Facts([part])), 300)

    def _count(self) -> str:
        return str(len(elements(self.params.get("matched"))))

    def _choice(self) -> str:
        matched = [index for index in elements(self.params.get("matched")) if isinstance(index, int)]
        union = self.guide.part(self.subject.schema_pointer)
        branches = matched or range(len(elements(union.schema)) if union is not None else 0)
        return join_choices([required_of(self.guide, f"{self.subject.schema_pointer}/{index}") for index in branches])


def join_choices(forms: Sequence[Sequence[str]]) -> str:
    """Groups of fields as alternatives: `'a', or 'b' and 'c'`."""
    groups = [phrase("and").join(f"'{name}'" for name in form) for form in forms if form]
    return phrase("or_fields").join(dict.fromkeys(groups))


def required_of(guide: Guide, pointer: str) -> list[str]:
    """The members that the schema at `pointer` requires."""
    return guide.facts(pointer).demands.required()


def texts_for(guide: Guide, subject: Subject) -> KeywordText:
    """Return the texts for a subject; those made before come from the guide."""
    key = (subject.row, subject.schema_pointer, subject.member, subject.received, subject.extra)
    known = guide.words.get(key)
    if known is not None and not subject.values:
        return known
    row = wording().of(subject.row)
    terms = WordingPlaceholders(guide, subject)
    problem = row.problem.format_map(terms) + describe_condition(guide, subject.schema_pointer)
    expected, fix = cut(row.expected.format_map(terms), 2_000), cut(row.fix.format_map(terms), 4_000)
    found = KeywordText(
        kind=row.kind,
        problem=problem,
        expected=expected,
        fix=fix,
        examples=_examples(terms, row),
        names=NAME in problem or NAME in fix,
    )
    if not subject.values:
        if len(guide.words) >= _KEPT:
            guide.words.clear()
        guide.words[key] = found
    return found


def _examples(terms: WordingPlaceholders, row: KeywordWording) -> tuple[object, ...]:
    """At most one value that is valid at the place and has the type that the keyword applies to."""
    subject = terms.subject
    path = (*subject.path, *((subject.member,) if subject.member else ()))
    if row.kind in _WITHOUT_EXAMPLE or not terms.parts or not path:
        return ()
    found = terms.guide.sample(terms.target, terms.parts, path)
    about = type_of_keyword(subject.keyword)
    fitting = not about or subject.member or type_name(found[0] if found else None) in (about, *_NUMBERS.get(about, ()))
    return found if fitting else ()


def describe_condition(guide: Guide, schema_pointer: str) -> str:
    """` because kind is "metric"`, for a demand in a `then` or an `else`; empty for others."""
    for word in ("then", "else"):
        before, found, _ = schema_pointer.rpartition(f"/{word}/")
        if not found:
            continue
        test = guide.part(f"{before}/if")
        if test is None or not is_object(test.schema):
            continue
        reasons = [
            phrase("is_value", name=name, values=phrase("or").join(map(as_json, values)))
            for name in members(members(test.schema).get("properties"))
            if (values := Facts(Facts([test]).demands.member(name)).values) is not None and len(values) <= 5
        ]
        if not reasons:
            reasons = [phrase("is_sent", name=name) for name in names(members(test.schema).get("required"))]
        if reasons:
            return phrase("because" if word == "then" else "unless", reason=phrase("and").join(reasons))
    return ""
