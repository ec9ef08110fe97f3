"""`ModelProvider`: the rules of a model provider, read from its TOML file, and what they find in a definition."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.discover import data_files
from toolvet.core.discover.toml import decode_toml, read_toml
from toolvet.core.json_value import (
    Path,
    at,
    elements,
    is_array,
    is_object,
    members,
    names,
    pointer,
    pointer_steps,
    same,
)
from toolvet.core.schema import Schema, compiled, subschemas
from toolvet.core.schema.document import children
from toolvet.core.tools import ToolView, view_of
from toolvet.errors import UsageError

Effect: TypeAlias = Literal["refuses", "ignores", "changes"]
Measure: TypeAlias = Literal["", "properties", "depth", "enum-values", "characters", "optional", "unions", "tools"]


class ProviderRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of a provider.

    `effect` is what the provider does: it refuses the request, ignores the keyword, or the schema has to be changed,
    which the provider's SDKs do. A rule finds one of: `keywords`, all keywords but `only`, a `shape`, or a `measure`
    above `most`. Keywords count if their value is not among `allowed` and matches the regular expression `matching`;
    `within` root counts those of the root alone. `pattern` is what names must match, or the draft of a schema. `fix`
    names what `portable` does. `per_request` counts over all tools. `source` and `date` default to those of the file.
    """

    id: str
    effect: Effect
    says: str
    fix: str = ""
    shape: str = ""
    keywords: Sequence[str] = ()
    only: Sequence[str] = ()
    allowed: Sequence[str | int] = ()
    matching: str = ""
    within: Literal["", "root"] = ""
    pattern: str = ""
    measure: Measure = ""
    most: int = 0
    per_request: bool = False
    source: str = ""
    date: str = ""
    hits: Sequence[str] = ()
    misses: Sequence[str] = ()


class ModelProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider: its title, the part of its API that the rules are about, and the rules."""

    title: str
    surface: str
    source: str
    date: str
    rule: Sequence[ProviderRule]


class SchemaShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shape of schemas that rules name: a schema that satisfies the JSON Schema `like`. See shapes.toml."""

    like: str
    at: str = ""
    within: Literal["", "root", "below"] = ""


class PortIssue(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a provider refuses, ignores or changes, with its place in the definition and its source."""

    provider: str
    rule: str
    effect: Effect
    pointer: str
    message: str
    source: str
    date: str
    tool: str = ""


_PACKAGE: Final = "toolvet.core.portability"
_MOST_ISSUES: Final = 500


@cache
def _providers() -> Mapping[str, ModelProvider]:
    files = [(name.rpartition("/"), content) for name, content in data_files(_PACKAGE, ".toml")]
    return {
        name.removesuffix(".toml"): decode_toml(content, ModelProvider, name)
        for (folder, _, name), content in files
        if folder == "providers"
    }


@cache
def shapes() -> Mapping[str, SchemaShape]:
    """The shapes of shapes.toml, by their names."""
    return read_toml(_PACKAGE, "shapes.toml", dict[str, SchemaShape])


@cache
def _compiled_text(text: str) -> Schema:
    return compiled(msgspec.json.decode(text))


def provider_names() -> tuple[str, ...]:
    """The names of all providers, in the order of the alphabet."""
    return tuple(_providers())


def provider(name: str) -> ModelProvider:
    """Return the provider of this name. Raises UsageError, with the names that there are."""
    found = _providers().get(name)
    if found is None:
        raise UsageError(f"there is no provider {name!r}; there are {', '.join(_providers())}")
    return found


def port_issues(tool: object, name: str) -> tuple[PortIssue, ...]:
    """Return what the provider `name` refuses, ignores or changes of a tool's definition, at most 500.

    `tool` is a definition in any shape. Raises UsageError if there is no such provider.
    """
    given, view = provider(name), view_of(tool)
    found: list[PortIssue] = []
    for rule, path in islice(found_by(given, view), _MOST_ISSUES):
        place = "/name" if rule.shape == "tool-name" else "/inputSchema" + pointer(path)
        name_it = path and not rule.says.startswith(f"`{path[-1]}`")
        says = f"`{path[-1]}`: {rule.says}" if name_it else rule.says
        found.append(_issue(name, rule, place, says, view.name))
    return tuple(found)


def request_issues(tools: Sequence[object], name: str) -> tuple[PortIssue, ...]:
    """Return what the provider refuses about all `tools` together: limits that count over a whole request."""
    given = provider(name)
    views = [view_of(tool) for tool in tools]
    found: list[PortIssue] = []
    for rule in given.rule:
        if rule.per_request and rule.measure:
            count = len(views) if rule.measure == "tools" else sum(_measured(rule.measure, view) for view in views)
            if count > rule.most:
                found.append(_issue(name, rule, "", f"{rule.says}; these have {count}", ""))
    return tuple(found)


def _issue(name: str, rule: ProviderRule, place: str, says: str, tool: str) -> PortIssue:
    given = provider(name)
    return PortIssue(
        provider=name,
        rule=rule.id,
        effect=rule.effect,
        pointer=place,
        message=says,
        source=rule.source or given.source,
        date=rule.date or given.date,
        tool=tool,
    )


def found_by(given: ModelProvider, view: ToolView) -> Iterator[tuple[ProviderRule, Path]]:
    """Yield each rule that finds something with the path to it in the input schema, outermost first."""
    for rule in given.rule:
        is_misnamed = rule.shape == "tool-name" and view.name and re.search(rule.pattern, view.name) is None
        is_of_other_draft = rule.shape == "draft" and _breaks_draft(view.input_schema, rule.pattern)
        is_beyond = rule.measure and not rule.per_request and _measured(rule.measure, view) > rule.most
        if is_misnamed or is_of_other_draft or is_beyond:
            yield rule, ()
    if view.input_schema is None:
        return
    document = SchemaDocument(view.input_schema)
    for path, schema in document.places(given):
        for rule in given.rule:
            for step in document.hits(rule, path, schema):
                yield rule, path + step


def _breaks_draft(schema: object, draft: str) -> bool:
    if not is_object(schema) or compiled(schema).problem is not None:
        return False
    return compiled({**schema, "$schema": draft}).problem is not None


def _measured(measure: Measure, view: ToolView) -> int:
    """How much of this a schema has, with the targets of its references counted once."""
    schemas = [found for _, found in subschemas(view.input_schema)]
    match measure:
        case "properties":
            return sum(len(members(found.get("properties"))) for found in schemas)
        case "optional":
            return sum(len(members(found.get("properties")).keys() - names(found.get("required"))) for found in schemas)
        case "unions":
            parts = [part for found in schemas for part in members(found.get("properties")).values()]
            return sum("anyOf" in members(part) or is_array(members(part).get("type")) for part in parts)
        case "enum-values":
            return sum(len(elements(found.get("enum"))) for found in schemas)
        case "characters":
            listed = [[*elements(found.get("enum")), found.get("const")] for found in schemas]
            texts = [value for values in listed for value in values if isinstance(value, str)]
            named = [key for found in schemas for part in _NAMED for key in members(found.get(part))]
            return sum(map(len, [*texts, *named]))
        case "depth":
            objects = [path for path, found in subschemas(view.input_schema) if "properties" in found]
            return max((1 + path.count("properties") + path.count("items") for path in objects), default=0)
        case _:
            return 0


_NAMED: Final = ("properties", "$defs", "definitions")
_TYPED: Final = frozenset(
    {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items", "prefixItems"}
)
# Booleans under these keywords are a switch and not a schema of values.
_SWITCHES: Final = frozenset({"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"})
_MOST_PLACES: Final = 4_000


class SchemaDocument:
    """An input schema with the targets of its references."""

    def __init__(self, root: object) -> None:
        self.root = root

    def places(self, given: ModelProvider) -> Iterator[tuple[Path, object]]:
        """Yield the schemas of values, outermost first; not those inside keywords that the provider does not take."""
        gone = {
            keyword
            for rule in given.rule
            if rule.fix in ("note", "drop") and not rule.within and not rule.allowed and not rule.matching
            for keyword in rule.keywords
        }
        only = next((rule.only for rule in given.rule if rule.only), None)
        pending: list[tuple[Path, object]] = [((), self.root)]
        for _ in range(_MOST_PLACES):
            if not pending:
                return
            path, schema = pending.pop()
            yield path, schema
            if is_object(schema):
                inner = [
                    (path + step, child)
                    for step, child in children(schema)
                    if step[0] not in gone and not (isinstance(child, bool) and step[0] in _SWITCHES)
                    if only is None or step[0] in only
                ]
                pending.extend(reversed(inner))

    def hits(self, rule: ProviderRule, path: Path, schema: object) -> Iterator[Path]:
        """Yield the steps from `schema` to what the rule finds there: a keyword, or nothing for the schema itself."""
        if rule.within == "root" and path:
            return
        if rule.shape in SEARCHES:
            yield from SEARCHES[rule.shape](self, rule, path, schema)
        elif rule.shape in shapes():
            shape = shapes()[rule.shape]
            if shape.within in ("", "below" if path else "root") and _compiled_text(shape.like).is_valid(schema):
                yield (shape.at,) if shape.at else ()
        if not is_object(schema):
            return
        wanted = rule.keywords or [key for key in schema if rule.only and key not in rule.only]
        for keyword in wanted:
            if keyword not in schema or keyword.startswith("x-toolvet"):
                continue
            value = schema[keyword]
            if any(same(value, other) for other in rule.allowed):
                continue
            if rule.matching and not (isinstance(value, str) and re.search(rule.matching, value)):
                continue
            yield (keyword,)

    def target(self, reference: object) -> object:
        """The schema that a reference into this document leads to; None for any other."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        steps = [int(step) if step.isdecimal() else step for step in pointer_steps(reference[1:])]
        found = at(self.root, steps)
        return found if found is not None else at(self.root, pointer_steps(reference[1:]))

    def is_recursive(self, reference: str) -> bool:
        """Whether following the reference leads back to it."""
        seen: set[object] = set()
        pending: list[object] = [reference]
        while pending and len(seen) < _MOST_PLACES:
            for _, part in subschemas(self.target(pending.pop())):
                other = part.get("$ref")
                if other == reference:
                    return True
                if isinstance(other, str) and other not in seen:
                    seen.add(other)
                    pending.append(other)
        return False


def _optional(_document: SchemaDocument, _rule: ProviderRule, _path: Path, schema: object) -> Iterator[Path]:
    needed = set(names(members(schema).get("required")))
    yield from (("properties", name) for name in members(members(schema).get("properties")) if name not in needed)


def _member_name(_document: SchemaDocument, rule: ProviderRule, _path: Path, schema: object) -> Iterator[Path]:
    for name in members(members(schema).get("properties")):
        if re.search(rule.pattern, name) is None:
            yield ("properties", name)


def _untyped(_document: SchemaDocument, _rule: ProviderRule, path: Path, schema: object) -> Iterator[Path]:
    # A branch of a union may leave its type to the union; a condition describes no value.
    inside = "allOf" in path or path[-1:] in (
        ("not",),
        ("if",),
        ("then",),
        ("else",),
        ("contains",),
        ("propertyNames",),
    )
    beside = path[-2:-1] in (("anyOf",), ("oneOf",), ("dependentSchemas",), ("patternProperties",))
    if path and not inside and not beside and schema is not False and not _TYPED & members(schema).keys():
        yield ()


def _recursive(document: SchemaDocument, _rule: ProviderRule, _path: Path, schema: object) -> Iterator[Path]:
    reference = members(schema).get("$ref")
    if isinstance(reference, str) and document.is_recursive(reference):
        yield ("$ref",)


# Shapes that a schema by itself does not show.
SEARCHES: Final[Mapping[str, Callable[[SchemaDocument, ProviderRule, Path, object], Iterator[Path]]]] = {
    "member-name": _member_name,
    "optional": _optional,
    "recursive": _recursive,
    "untyped": _untyped,
}
