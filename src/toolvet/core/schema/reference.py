"""`Scope`: resolves a `$ref`, inside the document only."""

from collections.abc import Mapping
from typing import NoReturn, cast

import jsonschema_rs
import msgspec

from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.schema.dialect import Dialect

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
        """The scope for what is inside `schema`: another one if the schema has an `$id` of its own."""
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
                    here = items[int(key)] if key.isdecimal() and int(key) < len(items) else None
                else:
                    here = members(here).get(key)
                if is_object(here):
                    scope = scope.inside(members(here))
            return None if here is None else Subschema(here, scope)
        return self._resolve(reference)

    def _resolve(self, reference: str) -> Subschema | None:
        try:
            found = self._build_resolver().lookup(reference)
        except (jsonschema_rs.ReferencingError, ValueError):
            return None
        base = found.resolver.base_uri
        scope = self._scopes.get(base)
        if scope is None:
            root = found.resolver.lookup("#").contents
            scope = self._scopes[base] = Scope(root, self.dialect, found.resolver, self._scopes)
        return Subschema(found.contents, scope)

    def _build_resolver(self) -> jsonschema_rs.Resolver:
        if self._resolver is None:
            document = cast("dict[str, object]", self._root)
            own = members(document).get("id" if self.dialect.number == 4 else "$id")
            base = own if isinstance(own, str) and ":" in own else _BASE
            # A retriever that refuses: without one the registry would fetch.
            registry = jsonschema_rs.Registry([(base, document)], draft=self.dialect.number, retriever=_refuse)
            self._resolver = registry.resolver(base)
            self._scopes[self._resolver.base_uri] = self
        return self._resolver


def _refuse(uri: str, /) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")
