"""The placeholders of the wording, filled for one violation: each is worked out only if a template asks for it."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from toolvet.checks.arguments.facts import Facts, bars, name_list, noun, provide, short, type_of_keyword
from toolvet.checks.arguments.guide import Guide, KeywordText
from toolvet.checks.arguments.wording_table import KeywordWording, as_json, cut, listed, sized, wording
from toolvet.schema.json_value import count, elements, is_object, members, names, type_name
from toolvet.schema.place import fixed_items

# Stands for a name that only the call knows: words are kept, and no caller's data with them. Noncharacters, so that no
# schema holds it by accident.
NAME = "\ufdd0name\ufdd1"


class Subject(msgspec.Struct, frozen=True):
    """What the words are about: the row of the wording, the place of the schema, and what the validator demanded.

    `member` is the field that is missing, `received` the type that came instead, `extra` what else tells two violations
    of one keyword apart (which items are equal, what the field depends on), `values` the legal values where several
    schemas list them, `path` a place of the call where an example is looked for.
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


_MISSING = ("required", "dependentRequired", "dependencies")


class WordingPlaceholders:
    """Looks placeholders up by name, as `str.format_map` asks for them."""

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
        return sized(self._bound(), "character")

    def _items(self) -> str:
        return sized(self._bound(), "item")

    def _fields(self) -> str:
        return sized(self._bound(), "field")

    def _name(self) -> str:
        return self.subject.member or NAME

    def _types(self) -> str:
        return " or ".join(names(self.params.get("types"))) or short(self.target)

    def _received(self) -> str:
        return self.subject.received

    def _extra(self) -> str:
        return self.subject.extra

    _which = _because = _value_extra = _extra

    def _provide(self) -> str:
        if self.subject.values:
            told = f"Use one of these values: {listed(self.subject.values)}"
        else:
            told = provide(self.target, self.subject.member or NAME)
        # Behind "Add 'name':" the sentence goes on.
        return f"{told[0].lower()}{told[1:]}" if self.subject.row in _MISSING else told

    def _noun(self) -> str:
        if self.subject.values:
            return bars(self.subject.values)
        if self.subject.row in _MISSING:
            return short(self.target)
        return noun(self.target)

    def _values(self) -> str:
        return listed(self.subject.values or elements(self.params.get("options")))

    def _bars(self) -> str:
        return bars(self.subject.values or elements(self.params.get("options")))

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
        return noun(Facts([part])) if part is not None else "of that kind"

    def _known(self) -> str:
        declared = self.place.demands.declared()
        return f"; known fields: {name_list(declared)}" if declared else ""

    def _allowed(self) -> str:
        declared = self.place.demands.declared()
        patterns = [pattern for schema in self.place.schemas for pattern in members(schema.get("patternProperties"))]
        told = [name_list(declared)] if declared else []
        told.extend(f"names matching {pattern}" for pattern in patterns)
        return f"allowed fields: {', '.join(told)}" if told else "no fields are allowed"

    def _most(self) -> str:
        front = max((len(fixed_items(schema)) for schema in self.place.schemas), default=0)
        return f"at most {sized(front, 'item')}" if front else "none is allowed"

    def _named(self) -> str:
        part = self.guide.part(f"{self.home}/propertyNames")
        told = Facts([part]) if part is not None else self.place
        return noun(told) if told.types or told.values is not None else "an allowed one"

    def _excluded(self) -> str:
        part = self.guide.part(f"{self.home}/not")
        if part is None:
            return "ruled out by the schema"
        fields = names(members(part.schema).get("required"))
        if fields and not members(part.schema).get("properties"):
            return f"an object with {' and '.join(f'{name!r}' for name in fields)} together"
        return cut(noun(Facts([part])), 300)

    def _count(self) -> str:
        return str(len(elements(self.params.get("matched"))))

    def _choice(self) -> str:
        forms = [required_of(self.guide, f"{self.subject.schema_pointer}/{index}") for index in self._branches()]
        return choice(forms)

    def _branches(self) -> Sequence[int]:
        matched = [index for index in elements(self.params.get("matched")) if isinstance(index, int)]
        union = self.guide.part(self.subject.schema_pointer)
        return matched or range(len(elements(union.schema)) if union is not None else 0)


def choice(forms: Sequence[Sequence[str]]) -> str:
    """Groups of fields as alternatives: `'a', or 'b' and 'c'`."""
    told = [" and ".join(f"'{name}'" for name in form) for form in forms if form]
    return ", or ".join(dict.fromkeys(told))


def required_of(guide: Guide, pointer: str) -> list[str]:
    """The members that the schema at `pointer` requires."""
    return guide.facts(pointer).demands.required()


def words_for(guide: Guide, subject: Subject) -> KeywordText:
    """The words for a subject: from the guide, where it was asked for before."""
    key = (subject.row, subject.schema_pointer, subject.member, subject.received, subject.extra)
    known = guide.words.get(key)
    if known is not None and not subject.values:
        return known
    row = wording().of(subject.row)
    terms = WordingPlaceholders(guide, subject)
    problem = row.problem.format_map(terms) + condition(guide, subject.schema_pointer)
    expected, fix = cut(row.expected.format_map(terms), 2_000), cut(row.fix.format_map(terms), 4_000)
    found = KeywordText(row.kind, problem, expected, fix, _examples(terms, row), NAME in problem or NAME in fix)
    if not subject.values:
        if len(guide.words) >= _KEPT:
            guide.words.clear()
        guide.words[key] = found
    return found


def _examples(terms: WordingPlaceholders, row: KeywordWording) -> tuple[object, ...]:
    """A value that is valid at the place, where one helps: of the type that the keyword is about."""
    subject = terms.subject
    path = (*subject.path, *((subject.member,) if subject.member else ()))
    if row.kind in _WITHOUT_EXAMPLE or not terms.parts or not path:
        return ()
    found = terms.guide.sample(terms.target, terms.parts, path)
    about = type_of_keyword(subject.keyword)
    fitting = not about or subject.member or type_name(found[0] if found else None) in (about, *_NUMBERS.get(about, ()))
    return found if fitting else ()


_WITHOUT_EXAMPLE = frozenset({"unknown", "enum", "syntax", "excluded"})
_NUMBERS = {"number": ("integer",)}
_KEPT = 4_096


def condition(guide: Guide, schema_pointer: str) -> str:
    """` because kind is "metric"`, for what only holds because an `if` does (or does not)."""
    for word in ("then", "else"):
        before, found, _ = schema_pointer.rpartition(f"/{word}/")
        if not found:
            continue
        test = guide.part(f"{before}/if")
        if test is None or not is_object(test.schema):
            continue
        told = [
            f"{name} is {' or '.join(map(as_json, values))}"
            for name in members(members(test.schema).get("properties"))
            if (values := Facts(Facts([test]).demands.member(name)).values) is not None and len(values) <= 5
        ]
        if not told:
            told = [f"'{name}' is sent" for name in names(members(test.schema).get("required"))]
        if told:
            joined = " and ".join(told)
            return f" because {joined}" if word == "then" else f" unless {joined}"
    return ""
