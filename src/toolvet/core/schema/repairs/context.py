"""The context of a repair: the schema, its demands at each place, a budget, and the meanings of words."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final, Literal

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import (
    Path,
    at,
    elements,
    is_array,
    is_flat,
    is_object,
    members,
    names,
    pointer,
    replaced,
    same,
    type_name,
)
from toolvet.core.schema.compilation import Judge, Schema
from toolvet.core.schema.demands import Demands, Option, Unmeetable
from toolvet.core.schema.document import Scope, Subschema, subschemas
from toolvet.core.schema.naming import words_of
from toolvet.core.schema.violation import Violation, unexplained

Confidence = Literal["high", "medium", "low"]

_RANKS: Final[dict[Confidence, int]] = {"high": 0, "medium": 1, "low": 2}

# How sure it is that the only superfluous member is the only missing one under another name. First: the names mean the
# same ("town" for "city"), or the value is one of few allowed ones. Second: nothing else supports it.
SAME_MEANING: Final[Confidence] = "medium"
ONLY_ONE_LEFT: Final[Confidence] = "low"


class Guess(msgspec.Struct, frozen=True):
    """A value that may have been meant in place of another. Of two equally sure ones the lower `cost` is preferred."""

    value: object
    confidence: Confidence
    cost: int = 0


def rank(confidence: Confidence) -> int:
    """0 for high, 1 for medium, 2 for low."""
    return _RANKS[confidence]


def least(confidences: Iterable[Confidence]) -> Confidence:
    """The weakest of several: a chain of steps is as sure as its least sure step. Of none it is high."""
    weakest: Confidence = "high"
    for confidence in confidences:
        if _RANKS[confidence] > _RANKS[weakest]:
            weakest = confidence
    return weakest


Meaning = Literal["null", "true", "false", "wrapping", "value", "envelope", "remark"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One row: words, what they mean, and how sure that is. Its proof: `hits` and `misses`."""

    meaning: Meaning
    confidence: Confidence
    words: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@lru_cache(maxsize=1)
def rows() -> tuple[Word, ...]:
    """Every row, in the order of the file."""
    return read_toml("toolvet.core.schema.repairs", "words.toml", dict[str, tuple[Word, ...]])["word"]


@lru_cache(maxsize=1)
def _meanings() -> Mapping[tuple[Meaning, str], Confidence]:
    return {(row.meaning, word): row.confidence for row in rows() for word in map(_normalize, row.words)}


def meant(text: str, meaning: Meaning) -> Confidence | None:
    """Return how sure it is that `text` means this, or None if it does not."""
    return _meanings().get((meaning, _normalize(text))) if len(text) <= _LONGEST_WORD else None


_LONGEST_WORD = 40


def _normalize(text: str) -> str:
    return text.strip().casefold().replace("_", "").replace("-", "")


class Synonyms(msgspec.Struct, frozen=True, kw_only=True):
    """One group of words for the same thing. Its proof: `hits` and `misses`, pairs such as `town => city`."""

    words: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class Opposites(msgspec.Struct, frozen=True, kw_only=True):
    """Words that exclude the `others` in a name that is alike for the rest: `start_date` is not `end_date`."""

    words: tuple[str, ...]
    others: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class SynonymTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `synonyms.toml`."""

    synonym: tuple[Synonyms, ...]
    opposite: tuple[Opposites, ...]


@cache
def synonym_table() -> SynonymTable:
    """The table, read once."""
    return read_toml("toolvet.core.schema.repairs", "synonyms.toml", SynonymTable)


@lru_cache(maxsize=4096)
def mean_the_same(left: str, right: str) -> bool:
    """Whether two names name one thing: by the words at the end of the longer one, or by the table.

    >>> mean_the_same("id", "task_id"), mean_the_same("town", "city"), mean_the_same("user_id", "task_id")
    (True, True, False)
    """
    first, second = words_of(left), words_of(right)
    if not first or not second:
        return False
    if _same_whole(first, second):
        return True
    shorter, longer = sorted((first, second), key=len)
    tail = longer[-len(shorter) :]
    return all(one == other or _same_whole((one,), (other,)) for one, other in zip(shorter, tail, strict=True))


@lru_cache(maxsize=4096)
def are_opposite(left: str, right: str) -> bool:
    """Whether two names are about different things, although they look alike: `start_date` and `end_date`."""
    first, second = set(words_of(left)), set(words_of(right))
    return any((first & one and second & other) or (first & other and second & one) for one, other in _opposites())


def _same_whole(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    groups = _groups()
    return not groups.get(left, _NONE).isdisjoint(groups.get(right, _NONE))


_NONE: Final[frozenset[int]] = frozenset()


@cache
def _groups() -> Mapping[tuple[str, ...], frozenset[int]]:
    """The numbers of the groups that each phrase is in."""
    found: dict[tuple[str, ...], set[int]] = {}
    for number, row in enumerate(synonym_table().synonym):
        for phrase in row.words:
            found.setdefault(words_of(phrase), set()).add(number)
    return {phrase: frozenset(numbers) for phrase, numbers in found.items()}


@cache
def _opposites() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((_words(row.words), _words(row.others)) for row in synonym_table().opposite)


def _words(phrases: Sequence[str]) -> frozenset[str]:
    return frozenset(word for phrase in phrases for word in words_of(phrase))


class Nearest(msgspec.Struct, frozen=True):
    """The option that was meant, and how sure that is."""

    option: str
    confidence: Confidence


def nearest(text: str, options: Sequence[str]) -> Nearest | None:
    """Return the one option that `text` means, or None: each way of being alike is tried in turn, a tie ends it."""
    if len(text) > _LONGEST or len(options) > _MOST:
        return None
    for form, confidence in _FORMS:
        wanted = form(text)
        if not wanted:
            return None
        found = [option for option in options if len(option) <= _LONGEST and form(option) == wanted]
        if found:
            return Nearest(found[0], confidence) if len(found) == 1 else None
    wanted = bare(text)
    near: list[tuple[int, str]] = []
    for option in options:
        other = bare(option)
        longer = max(len(wanted), len(other))
        # How many letters of a word of this length may be wrong, so that it is still recognised.
        most = 0 if longer < 4 else 1 if longer < 8 else 2
        if (
            not most
            or abs(len(wanted) - len(other)) > most
            or len(option) > _LONGEST
            or _NUMBERS.findall(wanted) != _NUMBERS.findall(other)
        ):
            continue
        away = distance(wanted, other, most)
        if away <= most:
            near.append((away, option))
    if near:
        near.sort(key=lambda pair: pair[0])
        alone = len(near) == 1 or near[0][0] < near[1][0]
        return Nearest(near[0][1], "medium") if alone else None
    # One that begins with the word, or that the word begins with: `desc` for `descending`.
    shortened = [
        option
        for option in options
        if (other := bare(option))
        and min(len(other), len(wanted)) >= 3
        and (wanted.startswith(other) or other.startswith(wanted))
    ]
    return Nearest(shortened[0], "medium") if len(shortened) == 1 else None


_LONGEST = 80
_MOST = 2_000
_NUMBERS = re.compile(r"\d+")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"


def unquoted(text: str) -> str:
    """Return `text` without white space around it and without one pair of quotation marks."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        bare = bare[1:-1].strip()
    return bare


def _fold_case(text: str) -> str:
    return unquoted(text).casefold()


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Return the letters and digits alone, in lower case: the same for `user_name`, `userName` and `User name`."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


_FORMS: tuple[tuple[Callable[[str], str], Confidence], ...] = (
    (unquoted, "high"),
    (_fold_case, "high"),
    (bare, "high"),
)


def distance(left: str, right: str, most: int) -> int:
    """How many letters to add, drop, change or swap with a neighbour; counting stops at `most + 1`."""
    if left == right:
        return 0
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = 0 if letter == other else 1
            least = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + cost)
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                least = min(least, before[column - 2] + 1)
            here.append(least)
        if min(here) > most:
            return most + 1
        before, above = above, here
    return above[-1]


class BudgetSpent(Exception):  # noqa: N818 - a state of the search, never an error that leaves the room.
    """The repair has cost more than it may."""


class RepairContext:
    """One schema, and a budget of validations that all attempts share.

    `validations` counts whole validations, `looks` checks of one value against parts of the schema.
    """

    def __init__(self, ready: Schema, validations: int = 300, looks: int = 20_000) -> None:
        self.ready = ready
        tools = _tools_of(ready)
        self.judge, self.scope = tools.judge, tools.scope
        self.branches, self.patterns, self.unambiguous = tools.branches, tools.patterns, tools.unambiguous
        self.is_plain, self._holders = tools.is_plain, tools.holders
        self.validations = validations
        self.looks = looks

    def spend(self, value: object) -> None:
        """Take one validation of `value` from the budget. Raises `BudgetSpent`."""
        # Larger values cost more; a few rounds are affordable for any.
        entries = _entries(value, _MOST_ENTRIES)
        if entries >= _MOST_ENTRIES or entries * self.branches > _MOST_REPORTED:
            raise BudgetSpent
        self.validations -= 1 + min(entries * (1 + self.patterns // _MANY_PATTERNS) // _LARGE, _DEAREST)
        if self.validations < 0:
            raise BudgetSpent

    def errors(self, base: str, value: object) -> tuple[Violation, ...]:
        """Return what `value` breaks of the part of the schema at the pointer `base`. Raises `BudgetSpent`."""
        self.spend(value)
        if not base:
            return self.ready.violations(value)
        part = self.part(base)
        if part is None or self.ready.effort(value) > _MOST_EFFORT:
            return (unexplained(value, "this part of the schema cannot be checked by itself"),)
        return self.ready.explain_part(base, part, value)

    def absolute(self, base: str, schema_pointer: str) -> str:
        """The pointer from the root: a validator of a part reports pointers from that part, except after a `$ref`."""
        if not base or self.part(base + schema_pointer) is not None:
            return base + schema_pointer
        return schema_pointer

    def holder(self, base: str, schema_pointer: str) -> Subschema | None:
        """The part of the schema that has the keyword at this pointer; None for the whole."""
        if base:
            return self._find_holder(self.absolute(base, schema_pointer))
        if schema_pointer not in self._holders:
            self._holders[schema_pointer] = self._find_holder(schema_pointer)
        return self._holders[schema_pointer]

    def _find_holder(self, pointer: str) -> Subschema | None:
        holder = pointer.rpartition("/")[0]
        return self.part(holder) if holder else None

    def part(self, pointer: str) -> Subschema | None:
        """The part of the schema at a pointer, or None."""
        return self.scope.target(f"#{pointer}")

    def accepts(self, parts: list[Subschema], value: object) -> bool:
        """Whether `value` satisfies all parts. Raises `BudgetSpent`."""
        self.looks -= 1
        if self.looks < 0:
            raise BudgetSpent
        for part in parts:  # noqa: SIM110 - a generator would cost as much as the first validation.
            if not self.judge.accepts(part, value):
                return False
        return True


_MOST_EFFORT = 5_000
# A value of this size is not a tool call, and each entry may be wrong.
_MOST_ENTRIES = 20_000
# Every alternative reports its errors with the whole value: beyond this product that may take seconds.
_MOST_REPORTED = 500_000
_LARGE = 200
# Each entry is compared with every pattern.
_MANY_PATTERNS = 10
_DEAREST = 60


def _entries(value: object, most: int) -> int:
    """How many values `value` contains, counted up to a little more than `most`."""
    if is_flat(value):
        return len(value)
    pending = [value]
    found = 0
    while pending and found < most:
        here = pending.pop()
        if is_object(here):
            found += len(here)
            pending.extend(here.values())
        elif is_array(here):
            found += len(here)
            pending.extend(here)
    return found


class RepairLocation:
    """The demands of the schema at one place of a value, each part of it read once.

    `demands` follows the intended branch at each choice; `parts` are its schemas with their scopes, `schemas` without.
    `known` caches the findings of `known_member`.
    """

    def __init__(self, demands: Demands) -> None:
        self.demands = demands
        self.parts = as_parts(demands)
        self.schemas = demands.plain()
        self.known: dict[str, KnownMember | None] = {}

    @cached_property
    def required(self) -> frozenset[str]:
        """The members that must be there."""
        return frozenset(self.demands.required())

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """Every member that the schemas name, in `properties` or only in `required`."""
        return tuple(declared_names(self.demands))

    @cached_property
    def named(self) -> frozenset[str]:
        """The same, to look one up."""
        return frozenset(self.declared)


class KnownMember(msgspec.Struct, frozen=True, gc=False):
    """The value of a missing member that the schema knows: the only one that is allowed (`single`), or its default."""

    value: object
    single: bool


class _Tools(msgspec.Struct, frozen=True):
    """The data that all repairs of one schema share.

    `branches` counts its alternatives, `patterns` its patterns of names. `unambiguous` keeps the places without a
    choice, `holders` the parts that `RepairContext.holder` found. If the schema `is_plain`, no member of a value
    decides what another one must be.
    """

    judge: Judge
    scope: Scope
    branches: int
    patterns: int
    is_plain: bool
    unambiguous: dict[Path, RepairLocation]
    holders: dict[str, Subschema | None]


@lru_cache(maxsize=512)
def _tools_of(ready: Schema) -> _Tools:
    branches = sum(
        len(elements(found.get(word))) for _, found in subschemas(ready.usable) for word in ("anyOf", "oneOf")
    )
    return _Tools(
        judge=Judge(ready),
        scope=Scope(ready.usable, ready.dialect),
        branches=branches,
        patterns=sum(len(members(found.get("patternProperties"))) for _, found in subschemas(ready.usable)),
        is_plain=_DEPENDENT.isdisjoint(members(ready.usable)),
        unambiguous={},
        holders={},
    )


# The keywords of an object by which one member, or how many there are, says what another one must be.
_DEPENDENT = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "$ref",
        "allOf",
        "anyOf",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "if",
        "maxProperties",
        "minProperties",
        "not",
        "oneOf",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
    }
)


class View:
    """One value under one part of the schema: the demands at each of its places, looked up once."""

    def __init__(self, context: RepairContext, base: str, value: object) -> None:
        self.context = context
        self.base = base
        self.value = value
        self._places: dict[Path, RepairLocation] = {}

    def at(self, path: Path) -> object:
        """The value at a place."""
        return at(self.value, path)

    def place(self, path: Path) -> RepairLocation:
        """Return the demands at `path`, following the intended branch at each choice."""
        found = self._places.get(path)
        if found is None:
            # Where nothing has to be chosen, the demands are those of every value: they are kept with the schema.
            unambiguous = {} if self.base else self.context.unambiguous
            found = unambiguous.get(path)
            if found is None:
                if path:
                    above, step = self.demands(path[:-1]), path[-1]
                    parts = above.member(step) if isinstance(step, str) else above.item(step)
                else:
                    whole = Subschema(self.context.ready.usable, self.context.scope)
                    start = self.context.part(self.base) if self.base else whole
                    parts = [] if start is None else [start]
                demands, is_unambiguous = self._together(parts, self.at(path))
                found = RepairLocation(demands)
                if is_unambiguous and (not path or path[:-1] in unambiguous) and len(unambiguous) < _MOST_UNAMBIGUOUS:
                    unambiguous[path] = found
            self._places[path] = found
        return found

    def demands(self, path: Path) -> Demands:
        """The demands at `path`."""
        return self.place(path).demands

    def is_optional(self, path: Path) -> bool:
        """Whether the place is a member that its object may lack."""
        if not path or not isinstance(path[-1], str):
            return False
        return path[-1] not in self.place(path[:-1]).required

    def known_member(self, path: Path, name: str) -> KnownMember | None:
        """The value of the member `name` that the object at `path` lacks, if the schema determines it."""
        place = self.place(path)
        if name not in place.known:
            parts = place.demands.member(name)
            demands = self.of(parts, None)
            is_found, value = is_known(demands)
            is_valid = is_found and self.context.accepts(parts, value)
            place.known[name] = KnownMember(value, single=demands.listed() is not None) if is_valid else None
        return place.known[name]

    def of(self, parts: list[Subschema], value: object) -> Demands:
        """The demands of the parts together; at a choice, the branch that `value` takes."""
        return self._together(parts, value)[0]

    def _together(self, parts: list[Subschema], value: object) -> tuple[Demands, bool]:
        """The same, and whether there was nothing to choose."""
        demands = Demands()
        for part in parts:
            try:
                demands.add(part)
            except (Unmeetable, RecursionError):
                continue
        is_unambiguous = not demands.choices
        for _ in range(_MOST_CHOICES):
            if not demands.choices:
                break
            option = self._choose(demands.choices.pop(0), value)
            try:
                demands.take(option)
            except (Unmeetable, RecursionError):
                continue
        return demands, is_unambiguous

    def _choose(self, options: tuple[Option, ...], value: object) -> Option:
        """The option that the value satisfies, or else the one that it is most like."""
        for option in options:
            if self.context.accepts(list(option.parts), value) and not any(
                self.context.accepts([part], value) for part in option.excluded
            ):
                return option
        return max(options, key=lambda option: self._likeness(option, value))

    def _likeness(self, option: Option, value: object) -> tuple[int, int, int, int]:
        """How much `value` is like an option: its type, the constants that tell options apart, and its names."""
        demands = Demands()
        for part in option.parts:
            try:
                demands.add(part)
            except (Unmeetable, RecursionError):
                return (-1, 0, 0, 0)
        fits = type_name(value) in demands.types()
        constants = shared = 0
        held = {bare(name) for name in members(value)}
        for schema in demands.plain():
            for name, sub in members(schema.get("properties")).items():
                inner = members(sub)
                if "const" in inner and name in members(value):
                    constants += 1 if same(inner["const"], members(value)[name]) else -1
                shared += bare(name) in held
        return int(fits), constants, shared, -len([name for name in demands.required() if bare(name) not in held])


_MOST_CHOICES = 24
# Places of one schema whose demands are kept.
_MOST_UNAMBIGUOUS = 1_000


def as_parts(demands: Demands) -> list[Subschema]:
    """The schemas of the demands, each with its scope."""
    return [Subschema(found.schema, found.scope) for found in demands.schemas]


def declared_names(demands: Demands) -> list[str]:
    """Every member that the schemas name, in `properties` or only in `required`."""
    return list(dict.fromkeys((*demands.declared(), *demands.required())))


def declares_type(demands: Demands, kind: str) -> bool:
    """Whether the schemas say that the value is of this type, rather than only allow it."""
    said = [schema for schema in demands.plain() if "type" in schema]
    return kind in demands.types() and (bool(said) or (kind == "object" and bool(demands.declared())))


def wanted_types(violation: Violation) -> tuple[str, ...]:
    """The types that a broken `type` asks for, a fraction last."""
    found = names(violation.params.get("types"))
    return tuple(sorted(found, key="number".__eq__)) if len(found) > 1 else found


def is_known(demands: Demands) -> tuple[bool, object]:
    """Whether only one value is possible, or one is the default; and that value."""
    listed = demands.listed()
    if listed is not None and len(listed) == 1:
        return True, listed[0]
    for schema in demands.plain():
        if "default" in schema:
            return True, schema["default"]
    return False, None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One change at `path`; `origin` is where `move` takes its value from, `old` the value that `replace` overwrites.

    `why` is the reason of an `add` or a `remove` in a few words.
    """

    op: Literal["add", "remove", "replace", "move"]
    path: Path
    origin: Path = ()
    value: object = None
    old: object = None
    why: str = ""

    def as_patch(self) -> Mapping[str, object]:
        """The operation as RFC 6902 writes it."""
        if self.op == "move":
            return {"op": "move", "from": pointer(self.origin), "path": pointer(self.path)}
        if self.op == "remove":
            return {"op": "remove", "path": pointer(self.path)}
        return {"op": self.op, "path": pointer(self.path), "value": self.value}

    def below(self, place: Path) -> "Operation":
        """The same operation on a larger value, which holds this one at `place`."""
        return msgspec.structs.replace(self, path=(*place, *self.path), origin=(*place, *self.origin))


class PathPatch(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that answer a violation, in their order, and how sure they are; outside `path` they change nothing.

    Of two patches that are equally sure, the one with the lower `cost` changes less.
    """

    path: Path
    operations: tuple[Operation, ...]
    confidence: Confidence
    cost: int = 0


def apply(value: object, operation: Operation) -> object:
    """Return a copy of `value` with the operation done; all other parts are shared."""
    if operation.op == "replace":
        return replaced(value, operation.path, operation.value)
    if operation.op == "remove":
        return _remove_at(value, operation.path)
    if operation.op == "add":
        return _add_at(value, operation.path, operation.value)
    return _add_at(_remove_at(value, operation.origin), operation.path, at(value, operation.origin))


def _remove_at(value: object, path: Path) -> object:
    if not path:
        return None
    container, step = at(value, path[:-1]), path[-1]
    if is_array(container):
        return replaced(value, path[:-1], [item for index, item in enumerate(container) if index != step])
    return replaced(value, path[:-1], {name: item for name, item in members(container).items() if name != step})


def _add_at(value: object, path: Path, other: object) -> object:
    if not path:
        return other
    container, step = at(value, path[:-1]), path[-1]
    if isinstance(step, int):
        items = elements(container)
        return replaced(value, path[:-1], [*items[:step], other, *items[step:]])
    return replaced(value, path[:-1], {**members(container), step: other})
