"""A document with a schema: its dialect, its parts, and the targets of its references."""

from collections.abc import Iterator, Mapping
from typing import NoReturn, cast

import jsonschema_rs
import msgspec

from toolvet.core.json_value import Path, elements, is_array, is_object, members, whole


class Dialect(msgspec.Struct, frozen=True):
    """A supported draft: its `$schema`, the validator for it, and the number by which the library knows it."""

    name: str
    uri: str
    validator: type[jsonschema_rs.Validator]
    number: int

    @property
    def schema_uri(self) -> str:
        """The `$schema` as the draft itself writes it."""
        return f"https://{self.uri}" if self.number > 7 else f"http://{self.uri}#"

    @property
    def refs_stand_alone(self) -> bool:
        """Up to draft 7, the siblings of `$ref` are ignored."""
        return self.number <= 7


DIALECTS = (
    Dialect("draft 4", "json-schema.org/draft-04/schema", jsonschema_rs.Draft4Validator, 4),
    Dialect("draft 6", "json-schema.org/draft-06/schema", jsonschema_rs.Draft6Validator, 6),
    Dialect("draft 7", "json-schema.org/draft-07/schema", jsonschema_rs.Draft7Validator, 7),
    Dialect("2019-09", "json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator, 19),
    Dialect("2020-12", "json-schema.org/draft/2020-12/schema", jsonschema_rs.Draft202012Validator, 20),
)

_BY_URI = {dialect.uri: dialect for dialect in DIALECTS}


def dialect_of(document: object) -> Dialect | str:
    """Return the dialect of a document, or a sentence that says why it has none.

    Without `$schema` it is 2020-12 (MCP 2026-07-28, basic).

    `http` or `https` and a trailing `#` do not make another dialect: people write all four forms.
    """
    uri = members(document).get("$schema")
    if uri is None:
        return DIALECTS[-1]
    if not isinstance(uri, str):
        return "`$schema` must be a string"
    bare = uri.removesuffix("#").removeprefix("https://").removeprefix("http://")
    return _BY_URI.get(bare) or f"the dialect {uri!r} is not supported: use draft 4, 6, 7, 2019-09 or 2020-12"


def older_dialects(document: object, pointer: str) -> tuple[Dialect, ...]:
    """Return the older drafts in which the value at `pointer` may be legal; none if all of them forbid it."""
    here, last = document, ""
    for step in pointer.split("/")[1:]:
        last = step.replace("~1", "/").replace("~0", "~")
        if is_array(here):
            items = elements(here)
            index = whole(last)
            here = items[index] if index is not None and index < len(items) else None
        else:
            here = members(here).get(last)
    if last == "items" and is_array(here):
        return DIALECTS[2], DIALECTS[0]
    return DIALECTS[:1] if last in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(here, bool) else ()


# keyword -> how it holds schemas: one, an array of them, or an object whose values are schemas.
ONE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"},
)


def children(schema: Mapping[str, object]) -> Iterator[tuple[Path, object]]:
    """The schemas directly inside `schema`, with the path to each; the value of `const` is not a schema."""
    for keyword, value in schema.items():
        if keyword in ONE:
            yield (keyword,), value
        elif keyword in MANY or (keyword == "items" and is_array(value)):
            for index, item in enumerate(elements(value)):
                yield (keyword, index), item
        elif keyword == "items":
            yield (keyword,), value
        elif keyword in NAMED:
            for name, item in members(value).items():
                # An array under `dependencies` names required properties.
                if not is_array(item):
                    yield (keyword, name), item


def subschemas(schema: object) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """`schema` and every object schema inside it, parents first, with the path to each; any depth."""
    pending: list[tuple[Path, object]] = [((), schema)]
    while pending:
        path, here = pending.pop()
        if not is_object(here):
            continue
        found = members(here)
        yield path, found
        pending.extend((path + step, child) for step, child in reversed(list(children(found))))


_BASE = "json-schema:///"


class Subschema(msgspec.Struct, frozen=True):
    """A schema, and the scope in which its references are read."""

    schema: object
    scope: "Scope"


class Scope:
    """The resource that references are relative to: the document, or a part of it with an `$id` of its own."""

    __slots__ = ("_known", "_resolver", "_root", "_scopes", "dialect")

    def __init__(
        self,
        root: object,
        dialect: Dialect,
        resolver: jsonschema_rs.Resolver | None = None,
        scopes: "dict[str, Scope] | None" = None,
    ) -> None:
        self._root = root
        self.dialect = dialect
        self._resolver = resolver
        self._scopes: dict[str, Scope] = {} if scopes is None else scopes
        self._known: dict[str, Subschema | None] = {}

    def target(self, reference: str) -> Subschema | None:
        """The schema that `reference` names, or None. Never leaves the document."""
        if reference not in self._known:
            self._known[reference] = self._find(reference)
        return self._known[reference]

    def inside(self, schema: Mapping[str, object]) -> "Scope":
        """Return the scope inside `schema`: another one if the schema has an `$id` of its own."""
        own = schema.get("id" if self.dialect.number == 4 else "$id")
        if schema is self._root or not isinstance(own, str) or own.startswith("#"):
            return self
        found = self._resolve(own)
        return self if found is None else found.scope

    def _find(self, reference: str) -> Subschema | None:
        if reference == "#":
            return Subschema(self._root, self)
        if reference.startswith("#/") and "%" not in reference:
            here: object = self._root
            scope = self
            for part in reference[2:].split("/"):
                key = part.replace("~1", "/").replace("~0", "~")
                if is_array(here):
                    items = elements(here)
                    index = whole(key)
                    here = items[index] if index is not None and index < len(items) else None
                else:
                    here = members(here).get(key)
                if is_object(here):
                    scope = scope.inside(members(here))
            return None if here is None else Subschema(here, scope)
        return self._resolve(reference)

    def _resolve(self, reference: str) -> Subschema | None:
        try:
            if self._resolver is None:
                document = cast("dict[str, object]", self._root)
                own = members(document).get("id" if self.dialect.number == 4 else "$id")
                base = own if isinstance(own, str) and ":" in own else _BASE
                # A retriever that refuses: without one the registry would fetch.
                registry = jsonschema_rs.Registry([(base, document)], draft=self.dialect.number, retriever=_refuse)
                self._resolver = registry.resolver(base)
                self._scopes[self._resolver.base_uri] = self
            found = self._resolver.lookup(reference)
            base = found.resolver.base_uri
            scope = self._scopes.get(base)
            if scope is None:
                # An `$id` that is only a fragment leads to a base that the registry does not know.
                root = found.resolver.lookup("#").contents
                scope = self._scopes[base] = Scope(root, self.dialect, found.resolver, self._scopes)
        except (jsonschema_rs.ReferencingError, ValueError):
            return None
        return Subschema(found.contents, scope)


def _refuse(uri: str, /) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")
