"""`portable`: a tool's definition for one provider, the way back to the tool's own arguments, and a proof of it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal, cast

import msgspec

from toolvet.core.contract.covering import bare, closed_form, covering, expanded
from toolvet.core.json_value import Path, at, elements, is_array, is_object, members, names, pointer, replaced, without
from toolvet.core.portability.rewriting import BACK, Loss, Rewriting, short_name, without_notes
from toolvet.core.portability.rules import ModelProvider, PortIssue, SchemaDocument, port_issues, provider
from toolvet.core.schema import boundary_examples, compiled, valid_example
from toolvet.core.schema.document import children
from toolvet.core.tools import view_of
from toolvet.errors import Unsatisfiable


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Whether every call that the rewritten schema allows becomes a call that the tool takes, but for the losses.

    `proven` is decided for all calls, `tested` for `tries` examples. `failed` has the arguments that came out wrong,
    and `untested` says that there was no example to try.
    """

    verdict: Literal["proven", "tested", "failed", "untested"]
    tries: int = 0
    counter_example: object = None


class Portable(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's definition for one provider: what to send, and `to_original` for what comes back.

    `remaining` is what the provider still refuses, because no fix is known. `losses` is what the rewritten schema no
    longer says. `lost_example` is a call that the provider may make now and the tool rejects, None if there is none.
    """

    provider: str
    name: str
    description: str
    input_schema: object
    losses: tuple[Loss, ...]
    proof: Proof
    remaining: tuple[PortIssue, ...]
    lost_example: object
    noted: object

    @property
    def is_portable(self) -> bool:
        """Whether the provider takes the definition, and its calls map back to calls of the tool."""
        return not self.remaining and self.proof.verdict in {"proven", "tested"}

    def to_original(self, arguments: object) -> object:
        """Return the arguments of a call as the tool declares them: what a model sent, in the tool's own form."""
        return _Way(self.noted).back(arguments, self.noted, 0)


def portable(tool: object, name: str) -> Portable:
    """Return the definition of `tool` as the provider `name` takes it, with its losses and a proof.

    `tool` is a definition in any shape. Raises UsageError if there is no such provider.
    """
    given, view = provider(name), view_of(tool)
    new_name, schema = _name_for(given, view.name), view.input_schema
    noted, sent, losses, lost_example, proof = schema, schema, list[Loss](), None, Proof(verdict="proven")
    if schema is not None and compiled(schema).problem is not None:
        proof = Proof(verdict="untested")
    elif schema is not None:
        rewriting = Rewriting(given, schema)
        noted = rewriting.run()
        relaxed = _relaxed(schema, [key for key, kind in rewriting.losses.items() if kind == "unchecked"])
        losses = [
            Loss(pointer="/inputSchema" + pointer(path), keyword=keyword, kind=kind)
            for (path, keyword), kind in sorted(rewriting.losses.items(), key=repr)
        ]
        if any(loss.kind == "unchecked" for loss in losses):
            lost = covering(bare(expanded(relaxed)), bare(expanded(schema)))
            lost_example = lost.value
            losses = [loss for loss in losses if loss.kind != "unchecked" or lost.verdict != "yes"]
        sent = without_notes(noted)
        proof = _prove(noted, relaxed)
    definition = {"name": new_name, "description": view.description, "inputSchema": sent}
    return Portable(
        provider=name,
        name=new_name,
        description=view.description,
        input_schema=sent,
        losses=tuple(losses),
        proof=proof,
        remaining=tuple(issue for issue in port_issues(definition, name) if issue.effect != "ignores"),
        lost_example=lost_example,
        noted=noted,
    )


def _name_for(given: ModelProvider, name: str) -> str:
    patterns = [rule.pattern for rule in given.rule if rule.shape == "tool-name"]
    fits = all(compiled({"pattern": pattern}).is_valid(name) for pattern in patterns)
    return name if fits or not name else short_name(name, patterns[0], set())


def _relaxed(schema: object, lost: Sequence[tuple[Path, str]]) -> object:
    """The original without the constraints that are lost: what the calls are held to."""
    for path, keyword in sorted(lost, key=lambda each: -len(each[0])):
        here = at(schema, path)
        if not is_object(here) or keyword not in here:
            continue
        rest = without(here, keyword)
        if keyword == "oneOf" and path and "anyOf" not in here:
            rest["anyOf"] = here["oneOf"]
        schema = replaced(schema, path, rest)
    return schema


_MOST_TRIES: Final = 60


def _prove(noted: object, relaxed: object) -> Proof:
    way, judge = _Way(noted), compiled(relaxed)
    tries = 0
    for example in islice(_examples(closed_form(without_notes(noted))[0], noted), _MOST_TRIES):
        tries += 1
        if not judge.is_valid(way.back(example, noted, 0)):
            return Proof(verdict="failed", tries=tries, counter_example=example)
    mapped = {**members(_mapped(noted)), **{key: value for key, value in members(relaxed).items() if key == "$schema"}}
    wide, narrow = bare(expanded(mapped)), bare(expanded(relaxed))
    decided = covering(wide, narrow)
    if decided.verdict == "no":
        return Proof(verdict="failed", tries=tries, counter_example=decided.value)
    return Proof(verdict="proven" if decided.verdict == "yes" else "tested" if tries else "untested", tries=tries)


def _examples(schema: object, noted: object) -> Iterator[object]:
    left = [elements(edit)[1] for edit in elements(members(noted).get(BACK)) if elements(edit)[0] == "left"]
    example: object = None
    for required_only in (False, True):
        try:
            example = valid_example(schema, required_only=required_only)
        except Unsatisfiable:
            continue
        yield example
        if left:
            yield {name: None if name in left else value for name, value in members(example).items()}
    if example is not None:
        yield from (found.instance for found in boundary_examples(schema))


class _Way:
    """From the arguments for a provider's schema to those of the tool, by the notes in the schema."""

    def __init__(self, noted: object) -> None:
        self._document = SchemaDocument(noted)
        self._shared = {
            key: value for key, value in members(noted).items() if key in ("$schema", "$defs", "definitions")
        }

    def back(self, value: object, schema: object, level: int) -> object:
        """Return `value` of `schema` as the original has it."""
        if not is_object(schema) or level > _DEEPEST:
            return value
        if "$ref" in schema:
            value = self.back(value, self._document.target(schema["$ref"]), level + 1)
        for keyword in ("anyOf", "oneOf"):
            branches = elements(schema.get(keyword))
            fitting = (each for each in branches if len(branches) == 1 or self._accepts(each, value))
            value = self.back(value, next(fitting, None), level + 1)
        for part in elements(schema.get("allOf")):
            value = self.back(value, part, level + 1)
        if is_object(value):
            properties, extra = members(schema.get("properties")), schema.get("additionalProperties")
            value = {name: self.back(each, properties.get(name, extra), level + 1) for name, each in value.items()}
        elif is_array(value):
            first = elements(schema.get("prefixItems"))
            kinds = [first[index] if index < len(first) else schema.get("items") for index in range(len(value))]
            value = [self.back(each, kind, level + 1) for each, kind in zip(value, kinds, strict=True)]
        for edit in reversed(elements(schema.get(BACK))):
            value = _undone(value, elements(edit))
        return value

    def _accepts(self, branch: object, value: object) -> bool:
        plain = cast("Mapping[str, object]", without_notes(branch)) if is_object(branch) else branch
        return compiled({**self._shared, **plain} if is_object(plain) else plain).is_valid(value)


_DEEPEST: Final = 200


def _undone(value: object, edit: Sequence[object]) -> object:
    match edit:
        case ["left", name, *_] if is_object(value) and value.get(str(name), "") is None:
            return without(value, str(name))
        case ["renamed", new, old] if is_object(value) and new in value:
            return {(str(old) if name == new else name): each for name, each in value.items()}
        case ["entries"] if is_array(value):
            return {str(members(pair).get("name")): members(pair).get("value") for pair in value}
        case ["text"] if isinstance(value, str):
            try:
                return cast("object", msgspec.json.decode(value))
            except (msgspec.DecodeError, RecursionError):
                # A plain text is a value as well.
                return value
        case ["choice", texts] if isinstance(value, str):
            return members(texts).get(value, value)
        case _:
            return value


def _mapped(schema: object) -> object:
    """The schema of the values that come back: `_undone`, for schemas."""
    if not is_object(schema):
        return schema
    found = without(schema, BACK)
    for step, child in children(schema):
        found = cast("dict[str, object]", replaced(found, step, _mapped(child)))
    for edit in reversed(elements(schema.get(BACK))):
        match elements(edit):
            case ["left", str(name), how]:
                properties = dict(members(found.get("properties")))
                properties[name] = _not_null(properties.get(name), how)
                required = [other for other in names(found.get("required")) if other != name]
                found = {**found, "properties": properties, "required": required}
            case ["renamed", str(new), str(old)]:
                renamed = {(old if key == new else key): each for key, each in members(found.get("properties")).items()}
                required = [old if key == new else key for key in names(found.get("required"))]
                found = {**found, "properties": renamed, "required": required}
            case ["entries"]:
                found = {"type": "object", "additionalProperties": at(found, ("items", "properties", "value"))}
            case ["text"]:
                found = {}
            case ["choice", texts]:
                found = {"enum": list(members(texts).values())}
            case _:
                pass
    return without_notes(found)


def _not_null(schema: object, how: object) -> object:
    found = members(schema)
    if how == "type":
        kinds = [kind for kind in names(found.get("type")) if kind != "null"]
        return {**found, "type": kinds[0] if len(kinds) == 1 else kinds}
    if how == "anyOf":
        kept = [each for each in elements(found.get("anyOf")) if members(each) != {"type": "null"}]
        return kept[0] if len(kept) == 1 else {**found, "anyOf": kept}
    return schema
