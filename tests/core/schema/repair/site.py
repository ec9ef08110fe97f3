"""The places of a call, found by the plain keywords of its schema alone, and changes of one place."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from toolvet.core.json_value import replaced
from toolvet.core.schema import compiled


class Site(msgspec.Struct, frozen=True):
    """One place of a call: where, its value, its schema, and whether it may be left out."""

    path: tuple[str | int, ...]
    value: Any
    schema: Mapping[str, Any]
    optional: bool
    nullable: bool


def exists(call: Any, path: Sequence[str | int]) -> bool:
    for step in path:
        if isinstance(call, str):
            return False
        try:
            call = call[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def sites(schema: Any, call: Any) -> Iterator[Site]:
    """Every place of the call with what the schema says there, by the plain keywords alone."""
    yield from _sites(schema, schema, call, (), optional=False)


def _sites(root: Any, schema: Any, value: Any, path: tuple[str | int, ...], *, optional: bool) -> Iterator[Site]:
    nullable = any(way == {"type": "null"} for way in schema.get("anyOf", ())) if isinstance(schema, dict) else False
    schema = _resolved(root, schema, value)
    if path:
        yield Site(path, value, schema, optional, nullable)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, item in value.items():
            if name in properties:
                below = name not in schema.get("required", [])
                yield from _sites(root, properties[name], item, (*path, name), optional=below)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _sites(root, schema["items"], item, (*path, index), optional=False)


def _resolved(root: Any, schema: Any, value: Any) -> Mapping[str, Any]:
    for _ in range(8):
        if not isinstance(schema, dict):
            return {}
        if "$ref" in schema:
            schema = _at(root, schema["$ref"])
        elif "anyOf" in schema or "oneOf" in schema:
            ways = schema.get("anyOf") or schema.get("oneOf") or []
            defs = {name: root[name] for name in ("$defs", "definitions") if name in root}
            fitting = [way for way in ways if compiled({**defs, **way}).is_valid(value)]
            if not fitting:
                return schema
            schema = fitting[0]
        else:
            break
    return schema if isinstance(schema, dict) else {}


def _at(root: Any, reference: str) -> Any:
    for step in reference.removeprefix("#").split("/")[1:]:
        root = root.get(step, {}) if isinstance(root, dict) else {}
    return root


def without(call: Any, path: Sequence[str | int]) -> Any:
    if len(path) == 1:
        return {name: item for name, item in call.items() if name != path[0]}
    return replaced(call, path[:1], without(call[path[0]], path[1:]))


def renamed(call: Any, path: Sequence[str | int], name: str) -> Any:
    if len(path) == 1:
        return {name if key == path[0] else key: item for key, item in call.items()}
    return replaced(call, path[:1], renamed(call[path[0]], path[1:], name))


def shuffled(rng: random.Random, found: Sequence[Site]) -> list[Site]:
    return rng.sample(list(found), len(found))
