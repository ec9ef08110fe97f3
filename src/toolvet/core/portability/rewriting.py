"""`Rewriting`: an input schema → one that a provider takes. Each rule of the provider names its fix, a function here.

A fix changes one schema. It writes what it changes of the values into that schema as `BACK`, so that it moves along
when a later fix moves the schema, and `mapping` reads it. `AT` is where the schema was in the original.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias, cast

import msgspec

from toolvet.core.contract.covering import NOTES
from toolvet.core.json_value import (
    Path,
    at,
    elements,
    is_array,
    is_object,
    members,
    names,
    number,
    replaced,
    type_name,
    unique,
    without,
)
from toolvet.core.portability.rules import ModelProvider, SchemaDocument
from toolvet.core.schema.document import children, dialect_of

AT: Final = "x-toolvet-at"
BACK: Final = "x-toolvet-back"
Node: TypeAlias = dict[str, object]
# Keywords that a client may leave out without a loss.
_SILENT: Final = (NOTES - {"default"}) | {
    "$defs",
    "definitions",
    "$anchor",
    "$vocabulary",
    "contentMediaType",
    "contentEncoding",
    "example",
}
_ROUNDS: Final = 12
_DEEPEST: Final = 60
_UNROLLED: Final = 2
_MOST_INLINED: Final = 4_000  # Schemas, of all references together.
_LONGEST_NOTE: Final = 160
_NO_BRANCH: Final = object()


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """A loss of a rewritten schema, at a place of the original.

    `unchecked` is a constraint that the provider does not hold the model to: its calls may break it. `unreachable` are
    calls that the tool takes and the provider's model can no longer make.
    """

    pointer: str
    keyword: str
    kind: Literal["unchecked", "unreachable"]

    @property
    def message(self) -> str:
        """The loss in a sentence."""
        if self.kind == "unchecked":
            return f"`{self.keyword}` is not enforced"
        what = {"null": "null", "$ref": "deeper nesting"}.get(self.keyword, "members that are not declared")
        return f"{what} can no longer be sent"


class Rewriting:
    """One schema on its way to a provider; `losses` by place and keyword."""

    def __init__(self, given: ModelProvider, schema: object) -> None:
        self.given = given
        self.losses: dict[tuple[Path, str], Literal["unchecked", "unreachable"]] = {}
        self.schema = _marked(schema, ())
        self._document = SchemaDocument(self.schema)
        self._room = _MOST_INLINED
        dialect = dialect_of(schema)
        self.ignores_siblings = not isinstance(dialect, str) and dialect.refs_stand_alone

    def run(self) -> object:
        """Return the schema after all fixes, with its notes for the way back."""
        for _ in range(_ROUNDS):
            self._document = SchemaDocument(self.schema)
            found = {
                (path, rule.fix, str((*step, "")[0])): bool(step)
                for path, schema in self._document.places(self.given)
                for rule in self.given.rule
                for step in self._document.hits(rule, path, schema)
                if rule.fix in FIXES
            }
            before = self.schema
            # The innermost first: their paths stay true while the ones around them are changed.
            for (path, fix, keyword), has_keyword in sorted(found.items(), key=lambda each: -len(each[0][0])):
                here = at(self.schema, path)
                node = cast("Node", here) if is_object(here) else {} if here is True and fix == "text" else None
                if node is not None and (not has_keyword or keyword in node):
                    self.schema = replaced(self.schema, path, FIXES[fix](self, node, path, keyword))
            if self.schema == before:
                break
        return self.schema

    def lose(self, node: object, keyword: str, kind: Literal["unchecked", "unreachable"] = "unchecked") -> None:
        """Note a loss at the place of the original that `node` comes from."""
        place = members(node).get(AT)
        if place is None:
            return
        path = tuple(cast("list[str | int]", place))
        self.losses.setdefault((path, keyword), kind)
        for index, step in enumerate(path):
            if step == "oneOf" and kind == "unchecked":
                # Alternatives with fewer constraints may both match.
                self.losses.setdefault((path[:index], "oneOf"), kind)

    def inlined(self, reference: object, trail: tuple[str, ...] = ()) -> object:
        """Return the target of a reference with its own references replaced; None where only deeper nesting fits."""
        target = self._document.target(reference)
        if target is None or self._room < 0 or not isinstance(reference, str) or len(trail) > _DEEPEST:
            return {"$ref": reference}
        if trail.count(reference) > _UNROLLED:
            return None
        return self._opened(target, (*trail, reference))

    def _opened(self, schema: object, trail: tuple[str, ...]) -> object:
        self._room -= 1
        if not is_object(schema):
            return schema
        if "$ref" in schema:
            inner = self.inlined(schema["$ref"], trail)
            others = {key: value for key, value in schema.items() if key not in ("$ref", AT, "$defs", "definitions")}
            return _joined(inner, others) if is_object(inner) else inner
        changed_node: Node = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
        for path, child in children(changed_node):
            other = self._opened(child, trail)
            if other is child:
                continue
            if other is not None:
                changed_node = cast("Node", replaced(changed_node, path, other))
                continue
            # This place can only nest deeper: leave it out if the schema allows that.
            self.lose(schema, "$ref", "unreachable")
            if path[0] == "properties" and path[1] not in names(schema.get("required")):
                kept = without(changed_node["properties"], str(path[1]))
                changed_node = {**changed_node, "properties": kept}
            elif path[0] in ("anyOf", "oneOf"):
                changed_node = cast("Node", replaced(changed_node, path, _NO_BRANCH))
            elif path[0] == "additionalProperties":
                changed_node = {**changed_node, "additionalProperties": False}
            else:
                return None
        for keyword in ("anyOf", "oneOf"):
            if is_array(changed_node.get(keyword)):
                kept_branches = [branch for branch in elements(changed_node[keyword]) if branch is not _NO_BRANCH]
                if not kept_branches:
                    return None
                changed_node[keyword] = kept_branches
        return changed_node


def _marked(schema: object, path: Path) -> object:
    if not is_object(schema) or len(path) > 2 * _DEEPEST:
        return schema
    marked: Node = {key: value for key, value in schema.items() if key not in (AT, BACK)}
    for step, child in children(schema):
        marked = cast("Node", replaced(marked, step, _marked(child, path + step)))
    return marked if "$ref" in schema else {**marked, AT: list(path)}


def without_notes(schema: object) -> object:
    """Return the schema as it is sent: without what `Rewriting` noted in it."""
    if not is_object(schema):
        return schema
    plain: object = {key: value for key, value in schema.items() if key not in (AT, BACK)}
    for step, child in children(schema):
        plain = replaced(plain, step, without_notes(child))
    return plain


def _joined(schema: Mapping[str, object], others: Mapping[str, object]) -> object:
    if others.keys() <= NOTES:
        return {**schema, **others}
    return {"allOf": [dict(schema), dict(others)]}


def _described(node: Mapping[str, object], text: str) -> Node:
    known = node.get("description")
    text = text if len(text) <= _LONGEST_NOTE else text[: _LONGEST_NOTE - 1] + "…"
    return {**node, "description": f"{known} ({text})" if isinstance(known, str) and known else text}


def _noted(node: Node, edit: list[object]) -> Node:
    return {**node, BACK: [*elements(node.get(BACK)), edit]}


def _plain(value: object) -> str:
    return json.dumps(without_notes(value), ensure_ascii=False, default=str)


def _note(rewriting: Rewriting, node: Node, _path: Path, keyword: str) -> object:
    rest = without(node, keyword)
    if keyword in _SILENT or (keyword == "default" and node[keyword] is None):
        return rest
    if keyword != "default":
        rewriting.lose(node, keyword)
    kinds = unique(list(members(node[keyword]).values()))
    if keyword == "patternProperties" and kinds:
        # Names of a pattern become any names.
        rewriting.lose(node, "additionalProperties")
        rest["additionalProperties"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    # What follows an `if` says nothing without it.
    return rest if keyword in ("then", "else") else _described(rest, f"{keyword}: {_plain(node[keyword])}")


def _keep(rewriting: Rewriting, node: Node, _path: Path, keyword: str) -> object:
    rewriting.lose(node, keyword)
    return node


def _drop(_rewriting: Rewriting, node: Node, _path: Path, keyword: str) -> object:
    return {"properties": {}, **without(node, keyword)} if keyword == "additionalProperties" else without(node, keyword)


def _any_of(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    if "anyOf" in node:
        return node
    rewriting.lose(node, "oneOf")
    return {("anyOf" if key == "oneOf" else key): value for key, value in node.items()}


def _one_value(_rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    value = node["const"]
    return {"type": type_name(value), **without(node, "const"), "enum": [value]}


def _merge(rewriting: Rewriting, node: Node, path: Path, _keyword: str) -> object:
    """Join the parts of `allOf` where no keyword of theirs collides."""
    joined: Node = without(node, "allOf")
    for part in elements(node["allOf"]):
        opened = rewriting.inlined(part["$ref"]) if is_object(part) and part.keys() - {AT} == {"$ref"} else part
        if not is_object(opened) or "$ref" in opened:
            return _note(rewriting, node, path, "allOf")
        for key, value in opened.items():
            if key in (AT, BACK) or key not in joined or joined[key] == value:
                joined.setdefault(key, value)
            elif key == "properties" and not members(value).keys() & members(joined[key]).keys():
                joined[key] = {**members(joined[key]), **members(value)}
            elif key == "required":
                joined[key] = unique([*elements(joined[key]), *elements(value)])
            elif key not in NOTES:
                return _note(rewriting, node, path, "allOf")
    return joined


def _lift(rewriting: Rewriting, node: Node, path: Path, keyword: str) -> object:
    """Put the members of all alternatives of the root beside each other."""
    if keyword == "allOf":
        return _merge(rewriting, node, path, keyword)
    if keyword not in ("anyOf", "oneOf"):
        return _note(rewriting, node, path, keyword)
    branches = [
        members(rewriting.inlined(branch["$ref"]) if is_object(branch) and "$ref" in branch else branch)
        for branch in elements(node[keyword])
    ]
    rewriting.lose(node, keyword)
    rest = without(node, keyword)
    properties = dict(members(rest.get("properties")))
    if rest.get("additionalProperties") is not False:
        declared = [members(branch.get("properties")) for branch in branches]
        for name in {name: None for found in declared for name in found if name not in properties}:
            kinds = unique([without_notes(found[name]) for found in declared if name in found])
            properties[name] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    needed = [set(names(branch.get("required"))) for branch in branches]
    shared = needed[0].intersection(*needed[1:]) if needed else set[str]()
    required = unique([*names(rest.get("required")), *sorted(shared & properties.keys())])
    ways = " or ".join(", ".join(names(branch.get("required"))) or "none" for branch in branches)
    lifted: Node = {**rest, "type": "object", "properties": properties}
    if required:
        lifted["required"] = required
    return _described(lifted, f"give together: {ways}") if any(needed) else lifted


def _close(rewriting: Rewriting, node: Node, path: Path, _keyword: str) -> object:
    """Close an object; one that is a map of any names becomes a list of names and values."""
    extra = node.get("additionalProperties")
    properties = _declared(node)
    if extra is False:
        return node if "properties" in node else {**node, "properties": {}}
    branches = elements(node.get("anyOf"))
    if branches and path and not properties and all(is_object(branch) for branch in branches):
        # The members are those of the alternatives, so these are closed and not the whole.
        kept = {key: value for key, value in node.items() if key not in ("type", "additionalProperties")}
        typed = [branch if "$ref" in members(branch) else {"type": "object", **members(branch)} for branch in branches]
        return {**kept, "anyOf": typed}
    if {"allOf", "anyOf", "oneOf", "$ref"} & node.keys() and path:
        return node
    if properties or not path:
        if extra is not None:
            rewriting.lose(node, "additionalProperties", "unreachable")
        return {**node, "properties": properties, "additionalProperties": False}
    for keyword in ("minProperties", "maxProperties", "propertyNames", "patternProperties"):
        if node.get(keyword):
            rewriting.lose(node, keyword)
    parts = {"name": {"type": "string"}, "value": extra if is_object(extra) else {}}
    pair = {"type": "object", "properties": parts, "required": ["name", "value"], "additionalProperties": False}
    entries = _noted(
        _described({**_about(node), "type": "array", "items": pair}, "a list of names and values"), ["entries"]
    )
    return {"anyOf": [entries, {"type": "null"}]} if "null" in names(node.get("type")) else entries


def _about(node: Node) -> Node:
    return {key: node[key] for key in ("title", "description", AT) if key in node}


def _declared(node: Mapping[str, object]) -> dict[str, object]:
    """The members of an object, with those that are required and not declared."""
    known = members(node.get("properties"))
    return {**known, **{name: {} for name in names(node.get("required")) if name not in known}}


def _empty(rewriting: Rewriting, node: Node, path: Path, keyword: str) -> object:
    """An object without members: the one value that it has, or a list of names and values."""
    if node.get("additionalProperties") is not False:
        return _close(rewriting, node, path, keyword)
    return _noted({**_about(node), "type": "string", "enum": ["{}"]}, ["choice", {"{}": {}}])


def _require(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    """Require every member; null stands for one that is left out."""
    properties, needed = _declared(node), set(names(node.get("required")))
    left: list[object] = []
    for name in [each for each in properties if each not in needed]:
        how, nullable = _nullable(properties[name])
        if how == "none":
            rewriting.lose(properties[name], "null", "unreachable")
        properties[name] = nullable
        left.append(["left", name, how])
    edits = [*elements(node.get(BACK)), *left]
    return {**node, "properties": properties, "required": list(properties), BACK: edits}


def _nullable(schema: object) -> tuple[str, object]:
    found = members(schema)
    kind = found.get("type")
    choices = elements(found.get("anyOf"))
    listed = elements(found.get("enum"))
    if "null" in (kind, *names(kind)) or None in listed or any(members(each).get("type") == "null" for each in choices):
        return "none", schema
    if choices and found.keys() <= NOTES | {"anyOf", AT}:
        return "anyOf", {**found, "anyOf": [*choices, {"type": "null"}]}
    if kind is not None and not {"enum", "const", "$ref", "anyOf", "oneOf", "allOf", BACK} & found.keys():
        return "type", {**found, "type": [*(names(kind) or (kind,)), "null"]}
    about = {key: found[key] for key in ("title", "description") if key in found}
    inner = {key: value for key, value in found.items() if key not in about} if is_object(schema) else schema
    return "anyOf", {**about, "anyOf": [inner, {"type": "null"}]}


def _text(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    """A value of any kind is sent as JSON in a text."""
    for keyword in node.keys() - NOTES - {AT, BACK}:
        rewriting.lose(node, keyword)
    return _noted(_described({**_about(node), "type": "string"}, "as JSON text"), ["text"])


def _items(rewriting: Rewriting, node: Node, path: Path, _keyword: str) -> object:
    items = node.get("items", {})
    if items is False or BACK in members(items):
        return node
    return {**node, "items": _text(rewriting, dict(members(items)), path, "")}


def _wrap_ref(rewriting: Rewriting, node: Node, path: Path, keyword: str) -> object:
    if not path:
        return _inline(rewriting, node, path, keyword)
    return {**without(node, "$ref"), "anyOf": [{"$ref": node["$ref"]}]}


def _inline(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    inner = rewriting.inlined(node["$ref"])
    if not is_object(inner) or "$ref" in inner:
        return node
    if rewriting.ignores_siblings:
        kept = {key: value for key, value in node.items() if key in NOTES | {"$defs", "definitions"}}
        return {**inner, **kept}
    return _joined(inner, {key: value for key, value in node.items() if key != "$ref"})


def _tuple(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    more = node.get("items")
    kinds = unique([*elements(node["prefixItems"]), *([more] if is_object(more) else [])])
    rewriting.lose(node, "prefixItems")
    rewriting.lose(node, "items")
    fixed: Node = {**without(node, "prefixItems"), "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
    if more is False and "maxItems" not in node:
        fixed["maxItems"] = len(elements(node["prefixItems"]))
    return fixed


def _inclusive(rewriting: Rewriting, node: Node, path: Path, keyword: str) -> object:
    bound = node[keyword]
    if node.get("type") != "integer" or not isinstance(bound, int) or isinstance(bound, bool):
        return _note(rewriting, node, path, keyword)
    other, value = ("minimum", bound + 1) if keyword == "exclusiveMinimum" else ("maximum", bound - 1)
    known = number(node.get(other))
    closest = value if known is None else max(known, value) if other == "minimum" else min(known, value)
    return {**without(node, keyword), other: closest}


def _one_type(_rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    kinds = [kind for kind in names(node["type"]) if kind != "null"]
    about: Node = {"nullable": True} if len(kinds) < len(names(node["type"])) else {}
    if len(kinds) == 1:
        return {**node, "type": kinds[0], **about}
    outer: Node = {key: node[key] for key in ("title", "description", "default", AT, BACK) if key in node}
    inner: Node = {key: value for key, value in node.items() if key not in outer and key != "type"}
    branches: list[Node] = [{"type": kind, **inner} for kind in kinds]
    return {**outer, **about, "anyOf": branches} if branches else node


def _enum_text(rewriting: Rewriting, node: Node, path: Path, _keyword: str) -> object:
    values = [value for value in elements(node["enum"]) if value is not None]
    texts = {(value if isinstance(value, str) else _plain(value)): value for value in values}
    if len(texts) < len(values) or not texts:
        return _note(rewriting, node, path, "enum")
    about: Node = {"nullable": True} if len(values) < len(elements(node["enum"])) else {}
    fixed: Node = {**without(node, "format"), **about, "type": "string", "enum": list(texts)}
    return fixed if all(isinstance(value, str) for value in values) else _noted(fixed, ["choice", texts])


def _member_name(rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    rule = next((rule for rule in rewriting.given.rule if rule.shape == "member-name"), None)
    properties = members(node.get("properties"))
    if rule is None:
        return node
    fixed, taken = dict(node), set(properties)
    new_names: dict[str, str] = {}
    for name in properties:
        if re.search(rule.pattern, name) is None:
            new_names[name] = short_name(name, rule.pattern, taken)
            taken.add(new_names[name])
            fixed = _noted(fixed, ["renamed", new_names[name], name])
    fixed["properties"] = {new_names.get(name, name): schema for name, schema in properties.items()}
    if "required" in node:
        fixed["required"] = [new_names.get(name, name) for name in names(node["required"])]
    return fixed


def short_name(name: str, pattern: str, taken: set[str]) -> str:
    """Return a name that matches `pattern` and is not taken: other signs become _, what is too long ends in a hash."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    mark = f"_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"
    for other in (plain, f"_{plain}", plain[:50] + mark, f"_{plain[:49]}{mark}"):
        if re.search(pattern, other) is not None and other not in taken:
            return other
    return f"_{plain[:40]}{mark}_{len(taken)}"


def _root_object(_rewriting: Rewriting, node: Node, _path: Path, _keyword: str) -> object:
    kind = node.get("type")
    return {**node, "type": "object"} if kind is None or "object" in names(kind) else node


_Fix: TypeAlias = Callable[[Rewriting, Node, Path, str], object]
_ALL: Final[tuple[_Fix, ...]] = (
    *(_note, _keep, _drop, _any_of, _one_value, _merge, _lift, _close, _empty, _require, _text, _items, _wrap_ref),
    *(_inline, _tuple, _inclusive, _one_type, _enum_text, _member_name, _root_object),
)
# By the names that the rules of providers use: `any-of` is `_any_of`.
FIXES: Final[Mapping[str, _Fix]] = {each.__name__[1:].replace("_", "-"): each for each in _ALL}
