"""`propose_schema`: the good results of a tool → the JSON Schema that they keep, as tight as their number allows.

A constraint that n results keep, and none breaks, is broken by at most 3/n of all results (at 95 %, the rule of three).
So each kind of constraint needs a number of results, of which those count that have a value at its place:

    type       3     a value is of one of the types that were seen; `null` too, unless 10 results never have it
    required  10     a member is always there
    format    10     all strings are dates, times, URIs, UUIDs or email addresses, at least 10 of them different
    integer   30     numbers are whole, at least 10 of them different: a price of 20 may be 19.5 next time
    enum      30     strings are up to 8 words: each was seen in 3 results, and there are 10 results for each
    oneOf     10     for each word of a member, such as `type`, which says what other members there are

Left open on purpose: members that were not seen (a server may add some), the bounds of numbers, lengths and arrays (the
next of n values is the largest with a chance of 1 in n+1, so an extreme is not a bound), and single words (a member
that always was "USD" may be a default). Members that are data, such as ids and dates, make a map
(`additionalProperties`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from toolvet.core.json_value import Path, elements, is_array, is_object, members, pointer, type_name
from toolvet.core.redact import REDACTED, is_secret_key, redact
from toolvet.core.schema import compiled

LEAST: Final = {
    "type": 3,
    "required": 10,
    "not_null": 10,
    "format": 10,
    "integer": 30,
    "enum": 30,
    "oneOf": 10,
}
"""How many results each kind of constraint needs."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FORMATS: Final = ("date-time", "date", "uuid", "email", "uri")
_DIFFERENT: Final = 10  # Values for a format or for `integer`.
_OF_EACH_WORD: Final = 3
_FOR_EACH_WORD: Final = 10
_MOST_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W\d][\w.:/-]{0,39}")
# Of the members that are not always there, the share that came in one result only: from then on they are data.
_NEW_NAMES: Final = 0.2
# Members that one result alone has, or lacks, for each result: with more, the next result may lack any other one.
_ONCE: Final = 0.05
_DATA_NAME: Final = re.compile(r"\d.*|.*\d{3,}.*|(?=.*\d)[0-9A-Fa-f-]{8,}|(?=.*\d).{20,}", re.DOTALL)
_MOST_RESULTS: Final = 2_000
_MOST_VALUES: Final = 500_000
_MOST_ARGUMENTS: Final = 1_000
_MOST_PLACES: Final = 500
_DEEPEST: Final = 16
_MOST_COMPARED: Final = 40  # Members that may say which others there are, and such others.
_KINDS: Final = {"integer": "number"}

# A result's number, and a value that it has at some place.
_Seen: TypeAlias = Sequence[tuple[int, object]]


class SchemaProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON Schema for the results of a tool, and what speaks for it. `propose_schema` makes one.

    `results` counts the results that the schema was made from. `evidence` says for each constraint, by its pointer in
    the schema, how many results have a value there. `undecided` says by pointer what was left open, and why.
    """

    schema: Mapping[str, object]
    results: int
    evidence: Mapping[str, int] = {}
    undecided: Mapping[str, str] = {}


def propose_schema(results: Iterable[object], arguments: Iterable[object] = ()) -> SchemaProposal:
    """Return the schema that these results keep. Total; the first 2,000 results count.

    Args:
        results: The results as JSON, without errors: the structured content, or the text parsed.
        arguments: The arguments of each call, in the same order: what a result repeats of them is not its own.

    Example:
        >>> propose_schema([{"id": number, "name": "Ada"} for number in range(12)]).schema["required"]
        ['id', 'name']
    """
    seen = [(number, value) for number, value in zip(range(_MOST_RESULTS), results, strict=False)]
    return propose_for_parts(seen, arguments)


def propose_for_parts(seen: _Seen, arguments: Iterable[object] = ()) -> SchemaProposal:
    """The same for results that come in several parts, each with the number of its result, counted from 0."""
    seen = [(number, value) for number, value in seen if number < _MOST_RESULTS]
    count = _count(seen)
    draft = _SchemaDraft(arguments)
    schema = draft.describe(seen, (), count)
    if schema:
        schema = {"$schema": DIALECT, "$comment": f"From {count} results, by toolvet.", **schema}
    return SchemaProposal(schema=schema, results=count, evidence=draft.evidence, undecided=draft.undecided)


class _SchemaDraft:
    """The schema under way. `path` is where the described place is in the schema."""

    def __init__(self, arguments: Iterable[object]) -> None:
        self.evidence: dict[str, int] = {}
        self.undecided: dict[str, str] = {}
        self._given = [_strings(each) for each, _ in zip(arguments, range(_MOST_RESULTS), strict=False)]
        self._values_left = _MOST_VALUES
        self._places_left = _MOST_PLACES

    def describe(self, seen: _Seen, path: Path, around: int, name: str = "") -> dict[str, object]:
        """Describe the values at one place.

        `around` results have what is around it. `name` is that of the member, or of one around it that holds secrets.
        """
        self._values_left -= len(seen)
        self._places_left -= 1
        kinds: defaultdict[str, list[tuple[int, object]]] = defaultdict(list)
        for number, value in seen:
            kinds[_KINDS.get(found := type_name(value), found)].append((number, value))
        known = [each for kind, some in kinds.items() if kind != "null" for each in some]
        count = _count(known)
        why = ""
        if len(path) > 2 * _DEEPEST or self._values_left < 0 or self._places_left < 0:
            why = "the results are too large"
        elif any(isinstance(value, str) and REDACTED in value for _, value in kinds.get("string", ())):
            why = "redacted in the record"
        elif count < LEAST["type"]:
            why = f"{count} results have a value"
        elif len(kinds.keys() - {"null"}) > 2:
            why = "values of many types"
        if why:
            self.undecided[pointer(path)] = why
            return {}
        with_null = bool(kinds.pop("null", None)) or count < LEAST["not_null"]
        types = sorted(kinds)
        schema: dict[str, object] = {}
        if "number" in kinds and self._are_whole(kinds["number"]):
            types[types.index("number")] = "integer"
        types += ["null"] if with_null else []
        schema.update(_comment(_count(seen), around))
        schema["type"] = types[0] if len(types) == 1 else types
        self.evidence[pointer((*path, "type"))] = count
        if "string" in kinds and types == ["string"]:
            schema.update(self._strings(kinds["string"], path, name))
        if "array" in kinds:
            inner = [(number, each) for number, value in kinds["array"] for each in elements(value)]
            items = self.describe(inner, (*path, "items"), _count(seen), name) if inner else {}
            schema.update({"items": items} if items else {})
        if "object" in kinds:
            schema.update(self._objects([(number, members(value)) for number, value in kinds["object"]], path, name))
        return schema

    @staticmethod
    def _are_whole(seen: _Seen) -> bool:
        whole = {value for _, value in seen if isinstance(value, int)}
        return (
            len(whole) >= _DIFFERENT and _count(seen) >= LEAST["integer"] and all(isinstance(v, int) for _, v in seen)
        )

    def _strings(self, seen: _Seen, path: Path, name: str) -> dict[str, object]:
        words = self._words(seen, name)
        if words:
            self.evidence[pointer((*path, "enum"))] = _count(seen)
            return {"enum": words}
        values = {str(value) for _, value in seen}
        if len(values) < _DIFFERENT or _count(seen) < LEAST["format"]:
            return {}
        for form in _FORMATS:
            check = compiled({"type": "string", "format": form})
            if all(map(check.is_valid, values)):
                self.evidence[pointer((*path, "format"))] = _count(seen)
                return {"format": form}
        return {}

    def _words(self, seen: _Seen, name: str) -> list[str]:
        """The few words that a member has; none if more may come, or if one of them must not be shown."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for number, value in seen:
            found[str(value)].add(number)
            if len(found) > _MOST_WORDS:
                return []
        count = _count(seen)
        is_known = (
            len(found) > 1
            and count >= max(LEAST["enum"], _FOR_EACH_WORD * len(found))
            and all(len(numbers) >= _OF_EACH_WORD for numbers in found.values())
            and all(_WORD.fullmatch(word) and not _DATA_NAME.fullmatch(word) for word in found)
        )
        # Another caller may write other words.
        echoes = sum(
            word in self._given[number] for word, ns in found.items() for number in ns if number < len(self._given)
        )
        if not is_known or 2 * echoes > count or any(redact({name: word}) != {name: word} for word in found):
            return []
        return sorted(found)

    def _objects(self, seen: Sequence[tuple[int, Mapping[str, object]]], path: Path, name: str) -> dict[str, object]:
        branches = None if is_secret_key(name) else self._branches(seen)
        if not branches:
            return self._members(seen, path, name)
        word, groups = branches
        described: list[object] = []
        for index, (value, some) in enumerate(sorted(groups.items())):
            inner = (*path, "oneOf", index)
            branch = self._members(some, inner, name)
            own = {**members(branch.get("properties")), word: {"const": value}}
            described.append({**_comment(_count(some), _count(seen)), **branch, "properties": own})
            self.evidence[pointer((*inner, "properties", word, "const"))] = _count(some)
        return {"oneOf": described}

    def _members(self, seen: Sequence[tuple[int, Mapping[str, object]]], path: Path, above: str) -> dict[str, object]:
        """The members of objects: those that are fields by name, the others as a map if they are data."""
        values: defaultdict[str, list[tuple[int, object]]] = defaultdict(list)
        for number, each in seen:
            for name, value in each.items():
                if isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a program's own values
                    values[name].append((number, value))
        numbers = {name: {number for number, _ in some} for name, some in values.items()}
        # A name that the caller gave is data, as in `{"EUR": 1.08}`.
        given = self._given
        data = {
            name for name, some in numbers.items() if all(each < len(given) and name in given[each] for each in some)
        }
        if len(values) > 1 and all(map(_DATA_NAME.fullmatch, values)):
            data = set(values)
        often = [name for name in values if name not in data and len(values[name]) < len(seen)]
        single = [name for name in often if len(numbers[name]) == 1]
        if len(single) > 3 and len(single) > _NEW_NAMES * sum(len(numbers[name]) for name in often):
            data |= set(often)
        count = _count(seen)
        schema: dict[str, object] = {}
        properties: dict[str, object] = {}
        for name, some in values.items():
            if name in data or redact({name: ""}) != {name: ""}:
                continue
            inner = (*path, "properties", name)
            if len(numbers[name]) < LEAST["type"]:
                self.undecided[pointer(inner)] = f"{len(numbers[name])} results have it"
                continue
            properties[name] = self.describe(some, inner, count, above if is_secret_key(above) else name)
        required = [name for name in properties if len(values[name]) == len(seen)]
        if properties:
            schema["properties"] = properties
        # Good and Turing: what was seen once says how often the next result brings what was never seen.
        once = sum(1 in (len(numbers[name]), count - len(numbers[name])) for name in values if name not in data)
        if required and count >= LEAST["required"] and once <= _ONCE * count:
            schema["required"] = required
            self.evidence[pointer((*path, "required"))] = count
        # Beside fields, a new member may be another field.
        if data and not properties:
            entries = [each for name in data for each in values[name]]
            others = self.describe(entries, (*path, "additionalProperties"), count, above)
            schema.update({"additionalProperties": others} if others else {})
        return schema

    def _branches(
        self, seen: Sequence[tuple[int, Mapping[str, object]]]
    ) -> tuple[str, dict[str, list[tuple[int, Mapping[str, object]]]]] | None:
        """The member whose word says which others there are, and the objects with each word; None without one."""
        counts: defaultdict[str, int] = defaultdict(int)
        for _, each in seen:
            for name in each:
                counts[name] += 1
        optional = [name for name, count in counts.items() if count < len(seen)][:_MOST_COMPARED]
        constant = [
            name
            for name, count in counts.items()
            if count == len(seen)
            and all(isinstance(each[name], str) for _, each in seen)
            and self._words([(number, each[name]) for number, each in seen], name)
        ]
        best: tuple[int, str, dict[str, list[tuple[int, Mapping[str, object]]]]] | None = None
        for name in constant[:_MOST_COMPARED] if optional else ():
            groups: defaultdict[str, list[tuple[int, Mapping[str, object]]]] = defaultdict(list)
            for number, each in seen:
                groups[str(each[name])].append((number, each))
            settled = sum(
                all(sum(other in each for _, each in some) in (0, len(some)) for some in groups.values())
                for other in optional
            )
            is_clear = min(map(_count, groups.values())) >= LEAST["oneOf"] and 2 * settled > len(optional)
            if is_clear and (best is None or settled > best[0]):
                best = settled, name, groups
        return None if best is None else best[1:]


def _count(seen: Sequence[tuple[int, object]]) -> int:
    return len({number for number, _ in seen})


def _comment(results: int, around: int) -> dict[str, object]:
    """The number of results at a place, unless it is that of the place around it."""
    return {} if results == around else {"$comment": f"From {results} results."}


def _strings(arguments: object) -> frozenset[str]:
    """The strings of some arguments, which a result may repeat."""
    found: set[str] = set()
    pending = [arguments]
    for _ in range(_MOST_ARGUMENTS):
        if not pending:
            break
        here = pending.pop()
        if isinstance(here, str):
            found.add(here)
        elif is_object(here):
            pending += [*here.values()]
        elif is_array(here):
            pending += here
    return frozenset(found)
