"""The templates of `wording.toml`, filled for one violation.

`"Number must be at least {limit}"` asks `WordingPlaceholders` for `limit`, which is computed only then.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Final, cast

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
from toolvet.core.redact import REDACTED, is_secret_key, redact, redact_text
from toolvet.core.schema.place import fixed_items

# The placeholder for a name in a call: texts are kept per schema, and must not contain data of a call. Noncharacters,
# so that no schema contains it by accident.
NAME: Final = "\ufdd0name\ufdd1"
_MISSING: Final = ("required", "dependentRequired", "dependencies")
_WITHOUT_EXAMPLE: Final = frozenset({"unknown", "enum", "syntax", "excluded"})
_NUMBERS: Final = {"number": ("integer",)}
_KEPT: Final = 4_096


class Subject(msgspec.Struct, frozen=True):
    """What the texts are about: the row of `wording.toml`, the place of the schema, and what the validator demanded.

    `member` is a missing field, `received` the type that was sent instead. `extra` is what else distinguishes two
    violations of one keyword (which items are equal, what the field depends on). `values` are the valid values where
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
        # The sentence continues behind "Add 'name':".
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
        forms = [required_of(self.guide, f"{self.subject.schema_pointer}/{index}") for index in self._branches()]
        return join_choices(forms)

    def _branches(self) -> Sequence[int]:
        matched = [index for index in elements(self.params.get("matched")) if isinstance(index, int)]
        union = self.guide.part(self.subject.schema_pointer)
        return matched or range(len(elements(union.schema)) if union is not None else 0)


def join_choices(forms: Sequence[Sequence[str]]) -> str:
    """Groups of fields as alternatives: `'a', or 'b' and 'c'`."""
    groups = [phrase("and").join(f"'{name}'" for name in form) for form in forms if form]
    return phrase("or_fields").join(dict.fromkeys(groups))


def required_of(guide: Guide, pointer: str) -> list[str]:
    """The members that the schema at `pointer` requires."""
    return guide.facts(pointer).demands.required()


def texts_for(guide: Guide, subject: Subject) -> KeywordText:
    """The texts for a subject, from the guide where they were made before."""
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


MISSING: Final = "(missing)"
_LONGEST_TEXT: Final = 200
_SHOWN_TEXT: Final = 80
_MOST_NODES: Final = 40
_LONGEST_NAME: Final = 80
_SHORTEST_SECRET: Final = 12
# A tuple: `int | float` would make a union anew for each value.
_NUMBER_TYPES: Final = (int, float)


def show_value(value: object, *, secret: bool) -> tuple[object, str]:
    """The value for the JSON form and for the text. A `secret` is masked, long values are cut or described."""
    if value is None or isinstance(value, bool):
        return value, "null" if value is None else str(value).lower()
    if secret:
        return REDACTED, REDACTED
    if isinstance(value, str):
        return _show_text(value)
    if isinstance(value, _NUMBER_TYPES):
        return _show_number(value)
    size = _measure(value)
    if size is not _Size.LARGE:
        safe = value if size is _Size.HARMLESS else redact(value)
        written = as_json(safe)
        if len(written) <= _LONGEST_TEXT and written.isprintable():
            return safe, written
    described = _describe(value)
    return described, described


def _show_text(value: str) -> tuple[object, str]:
    if len(value) > _LONGEST_TEXT:
        value = f"{redact_text(value[:_LONGEST_TEXT])[:_SHOWN_TEXT]}… ({len(value)} characters)"
    elif len(value) >= _SHORTEST_SECRET:
        value = redact_text(value)
    value = escape_surrogates(value)
    return value, as_json(value)


def _show_number(value: float) -> tuple[object, str]:
    if isinstance(value, int):
        if -(10**30) < value < 10**30:
            return value, str(value)
        description = f"a whole number of about {value.bit_length() * 3 // 10} digits"
        return description, description
    if math.isfinite(value):
        return value, as_json(value)
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return name, name


class _Size(Enum):
    """Whether a container can be shown: not at all, without secrets, or unchanged (no names, no long texts)."""

    LARGE = 0
    SMALL = 1
    HARMLESS = 2


def _measure(value: object) -> _Size:
    """The size of a container: JSON of a few members and items is small, a cycle is large."""
    pending, seen, size = [value], 0, _Size.HARMLESS
    while pending:
        seen += 1
        if seen > _MOST_NODES:
            return _Size.LARGE
        here = pending.pop()
        if isinstance(here, dict):
            found = cast("dict[object, object]", here)
            if len(found) > _MOST_NODES or not all(isinstance(key, str) for key in found):
                return _Size.LARGE
            size = _Size.SMALL
            pending.extend(found.values())
        elif isinstance(here, list):
            items = cast("list[object]", here)
            if len(items) > _MOST_NODES:
                return _Size.LARGE
            pending.extend(items)
        elif isinstance(here, str):
            if len(here) > _LONGEST_TEXT:
                return _Size.LARGE
            if len(here) >= _SHORTEST_SECRET:
                size = _Size.SMALL
        elif not (here is None or isinstance(here, bool | int | float)):
            return _Size.LARGE
    return size


def _describe(value: object) -> str:
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        keys = [show_name(key) for key in islice(found, 10) if isinstance(key, str)]
        more = f", … ({len(found)} fields)" if len(found) > len(keys) else ""
        return cut(f"an object with the fields {', '.join(keys)}", _LONGEST_TEXT) + more
    if isinstance(value, list):
        return f"an array of {len(cast('list[object]', value))} items"
    return f"a Python {type(value).__name__}"


def show_name(name: str) -> str:
    """The name of a field in a call: cut, on one line, and without secrets."""
    if len(name) < _SHORTEST_SECRET and name.isascii() and name.isprintable():
        return name
    # The names of tools and fields come again with every call; to look for secrets in one takes a microsecond.
    return _show_cut(f"{name[:_LONGEST_NAME]}…" if len(name) > _LONGEST_NAME else name)


@lru_cache(maxsize=4096)
def _show_cut(name: str) -> str:
    name = redact_text(name)
    return escape_surrogates(name if name.isprintable() else "".join(c if c.isprintable() else " " for c in name))


def escape_surrogates(text: str) -> str:
    """`text` with lone surrogates written as escapes, so that it can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def holds_secret(path: tuple[str | int, ...]) -> bool:
    """Whether a name in the path, such as `password`, says that the value is secret."""
    for step in path:  # noqa: SIM110 - a generator would cost three times as much, for each issue.
        if isinstance(step, str) and is_secret_key(step):
            return True
    return False
