"""`compare_locks`: the changes between two locks, each with a verdict, its reason and a counter-example.

Each difference between two schemas is applied alone to the old one. Then `covering` decides whether a caller can
notice: the server rejects an argument object that it accepted before, or allows a result that it did not allow before.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.contract.covering import NOTES, Effort, bare, covering, expanded
from toolvet.core.contract.lock import KINDS, Kind, Lock, name_of
from toolvet.core.json_value import (
    Path,
    at,
    elements,
    is_array,
    is_object,
    members,
    names,
    path_of,
    pointer,
    replaced,
    same,
    without,
)
from toolvet.core.schema import compiled, depth, words_of
from toolvet.core.schema.violation import describe_violation

Side: TypeAlias = Literal["input", "output", "definition"]
Verdict: TypeAlias = Literal["compatible", "breaking", "unknown"]


class ContractChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change of what a server promises.

    `tool` is the name of the tool, prompt, resource or template (`kind`), and `pointer` the place in its definition,
    with references followed. `unknown` is to be read: nothing proves that the change breaks a caller, or that it does
    not. `counter_example` is the arguments that the old input schema accepts and the new one refuses, or a result that
    the new output schema allows and the old one does not; None if there is none. `old` and `new` are what changed.
    """

    kind: Kind = "tool"
    tool: str
    pointer: str
    side: Side
    verdict: Verdict
    reason: str
    counter_example: object = None
    old: object = None
    new: object = None


class _SchemaEdit(msgspec.Struct, frozen=True):
    """One difference of two schemas, applied by itself to the one whose values count.

    `path` is its place, `said` the verdict and reason that hold unless it breaks a caller, `breaks` the words if it
    does. `pattern_at` is the place whose `pattern` differs, and `seen` what was there and what is there now.
    """

    path: Path
    applied: object
    said: tuple[Verdict, str] | None
    pattern_at: Path | None
    breaks: str | None
    seen: tuple[object, object]


_DEEPEST: Final = 100
_MOST_EDITS: Final = 100
_MOST_FILES: Final = 8
_TEXTS: Final = ("title", "description", "icons")
# Which keywords together say what kind of value a place has: they are compared as one.
_KIND_WORDS: Final = frozenset({"type", "$ref", "not", "if", "then", "else", "enum", "const"})
_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_INTO: Final = ("items", "additionalProperties", "$defs", "definitions")


def compare_locks(old: Lock, new: Lock) -> tuple[ContractChange, ...]:
    """Return the changes from `old` to `new`, in the order of kinds and names. Total; empty for equal definitions."""
    changes: list[ContractChange] = []
    for kind in KINDS:
        before = {name_of(kind, each): each for each in old.listed(kind)}
        after = {name_of(kind, each): each for each in new.listed(kind)}
        gone = [name for name in before if name not in after]
        come = [name for name in after if name not in before]
        for name in sorted({*before, *after}):
            if name in gone:
                changes.append(_removed(kind, name, before[name], {each: after[each] for each in come}))
            elif name in come:
                changes.append(_said(kind, name, "", "compatible", f"a new {_WORDS[kind]}"))
            elif max(depth(before[name], _DEEPEST), depth(after[name], _DEEPEST)) >= _DEEPEST:
                changes.append(_said(kind, name, "", "unknown", "not compared: nested too deeply"))
            else:
                changes.extend(_compare(kind, name, before[name], after[name]))
    return tuple(changes)


_WORDS: Final[Mapping[Kind, str]] = {
    "tool": "tool",
    "prompt": "prompt",
    "resource": "resource",
    "resource_template": "resource template",
    "skill": "skill",
}


def _said(
    kind: Kind, name: str, place: str, verdict: Verdict, reason: str, *, old: object = None, new: object = None
) -> ContractChange:
    return ContractChange(
        kind=kind, tool=name, pointer=place, side="definition", verdict=verdict, reason=reason, old=old, new=new
    )


def _removed(kind: Kind, name: str, old: object, come: Mapping[str, object]) -> ContractChange:
    schema = bare(members(old).get("inputSchema"))
    other = next((each for each, found in come.items() if _alike(name, each, schema, found)), None)
    renamed = f"; `{other}` takes the same arguments" if kind == "tool" and other is not None else ""
    # Which resources there are depends on data in many servers.
    verdict: Verdict = "unknown" if kind == "resource" else "breaking"
    return _said(kind, name, "", verdict, f"the {_WORDS[kind]} was removed{renamed}")


def _alike(name: str, other: str, schema: object, definition: object) -> bool:
    shared = set(words_of(name)) & set(words_of(other))
    return bool(shared) and same(schema, bare(members(definition).get("inputSchema")))


def _compare(kind: Kind, name: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[ContractChange]:
    for key in _TEXTS:
        if not same(old.get(key), new.get(key)):
            yield _said(kind, name, f"/{key}", "compatible", f"the {key} changed", old=old.get(key), new=new.get(key))
    if kind == "tool":
        yield from _compare_hints(name, members(old.get("annotations")), members(new.get("annotations")))
        yield from _compare_side(name, "input", old.get("inputSchema", {}), new.get("inputSchema", {}))
        before, after = old.get("outputSchema"), new.get("outputSchema")
        if after is None and before is not None:
            yield _said(kind, name, "/outputSchema", "breaking", "results have no schema any more")
        elif before is None and after is not None:
            yield _said(kind, name, "/outputSchema", "compatible", "results have a schema now")
        elif before is not None:
            yield from _compare_side(name, "output", before, after)
    elif kind == "skill":
        front = old.get("frontmatter"), new.get("frontmatter")
        if not same(*front):
            yield _said(kind, name, "/frontmatter", "unknown", "the frontmatter changed", old=front[0], new=front[1])
        was, now = (
            {str(members(each).get("uri")): members(each).get("digest") for each in elements(side.get("resources"))}
            for side in (old, new)
        )
        changed = [uri for uri in sorted({*was, *now}) if was.get(uri) != now.get(uri)]
        if changed:
            yield _said(kind, name, "/resources", "unknown", f"other files: {', '.join(changed[:_MOST_FILES])}")
    elif kind == "prompt":
        sides = _arguments_as_schema(old), _arguments_as_schema(new)
        yield from _compare_side(name, "input", *sides, kind="prompt", place="/arguments")
    if not same(old.get("mimeType"), new.get("mimeType")):
        kinds = old.get("mimeType"), new.get("mimeType")
        yield _said(kind, name, "/mimeType", "unknown", "the type changed", old=kinds[0], new=kinds[1])
    before, after = (members(each.get("execution")).get("taskSupport") for each in (old, new))
    if after == "required" != before:
        yield _said(kind, name, "/execution/taskSupport", "breaking", "calls must ask for a task now")


def _arguments_as_schema(prompt: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a prompt, an array of `name` and `required`, as the schema of an object."""
    found = {str(members(each).get("name")): members(each) for each in elements(prompt.get("arguments"))}
    texts = {name: {"type": "string", "description": str(each.get("description", ""))} for name, each in found.items()}
    required = [name for name, each in found.items() if each.get("required") is True]
    return {"type": "object", "properties": texts, "required": required}


# What these promise a client: that it need not ask, may call again, or reaches nothing outside.
_PROMISES: Final = {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def _compare_hints(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[ContractChange]:
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if same(before, after):
            continue
        reason = f"`{key}` changed" if after is not None else f"`{key}` is gone"
        verdict: Verdict = "compatible"
        if before is True and (
            key == "readOnlyHint" or (key == "destructiveHint" and new.get("readOnlyHint") is not True)
        ):
            verdict, reason = "breaking", f"`{key}: true` is gone: clients no longer ask as they did"
        elif key in _PROMISES and before is _PROMISES[key]:
            verdict = "unknown"
        yield _said("tool", name, f"/annotations/{key}", verdict, reason, old=before, new=after)


def _compare_side(
    name: str, side: Side, old: object, new: object, *, kind: Kind = "tool", place: str = ""
) -> Iterator[ContractChange]:
    place = place or f"/{side}Schema"
    if same(old, new):
        return

    def change(
        path: Path, verdict: Verdict, reason: str, value: object = None, seen: tuple[object, object] = (None, None)
    ) -> ContractChange:
        return ContractChange(
            kind=kind,
            tool=name,
            pointer=place + pointer(path),
            side=side,
            verdict=verdict,
            reason=reason,
            counter_example=value,
            old=seen[0],
            new=seen[1],
        )

    problems = [problem for schema in (old, new) if (problem := compiled(schema).problem) is not None]
    if problems:
        yield change((), "unknown", f"not compared: {problems[0].message}")
        return
    # Arguments go to the server: the new schema must accept what the old one did. Results go the other way.
    wide, narrow = (expanded(old), expanded(new)) if side == "input" else (expanded(new), expanded(old))
    differences = _Differences(wide, side)
    edits = list(differences.between((), wide, narrow))
    for path, key, before, after in differences.texts:
        verdict: Verdict = "unknown" if key == "default" else "compatible"
        yield change((*path, key), verdict, f"the {key} changed", None, (before, after))
    plain, final = bare(wide), bare(narrow)
    alone = edits[0].pattern_at if len(edits) == 1 else None
    effort = Effort()
    whole = covering(plain, final, alone, effort=effort)
    has_broken, is_open = False, False
    for edit in edits[:_MOST_EDITS]:
        applied = final if len(edits) == 1 else bare(edit.applied)
        found = whole
        if whole.verdict != "yes" and len(edits) > 1:
            found = covering(plain, applied, edit.pattern_at, final, effort)
        verdict, reason = edit.said or ("compatible", _ACCEPTS[side])
        if found.verdict == "no":
            has_broken = True
            verdict, reason = "breaking", _explain(applied, found.value, edit.breaks)
        elif found.verdict == "unknown" and verdict == "compatible":
            is_open = True
            verdict, reason = "unknown", f"no counter-example in {found.tries} tries"
        yield change(edit.path, verdict, reason, found.value, edit.seen)
    for edit in edits[_MOST_EDITS:]:
        yield change(edit.path, "unknown", f"not compared: the schemas differ in more than {_MOST_EDITS} places")
    if whole.verdict == "no" and not has_broken:
        reason = _explain(final, whole.value, "the changes together")
        yield change((), "breaking", reason, whole.value)
    elif whole.verdict == "unknown" and not has_broken and not is_open and _may_join(edits):
        yield change((), "unknown", f"the changes together: no counter-example in {whole.tries} tries")


_ACCEPTS: Final[Mapping[Side, str]] = {
    "input": "all arguments that were accepted still are",
    "output": "all results that are allowed now were allowed before",
}


def _may_join(edits: Sequence[_SchemaEdit]) -> bool:
    """Whether edits that break nothing one by one may break a caller together: only alternatives allow that."""
    return len(edits) > 1 and any(step in _UNIONS or step in ("$defs", "if") for edit in edits for step in edit.path)


def _explain(narrow: object, value: object, breaks: str | None) -> str:
    """Say why `narrow` refuses the counter-example."""
    violation = compiled(narrow).violations(value)[0]
    said = describe_violation(violation, path_of(value, violation.pointer), value)
    return said if breaks is None else f"{breaks}: {said}"


class _Differences:
    """Walks two schemas side by side. `texts` has the parts that do not restrict values: descriptions, defaults."""

    def __init__(self, document: object, side: Side) -> None:
        self._document = document
        self._is_input = side == "input"
        self.texts: list[tuple[Path, str, object, object]] = []

    def between(self, path: Path, old: object, new: object) -> Iterator[_SchemaEdit]:
        """Yield the edits that lead from `old`, which is at `path` of the document, to `new`."""
        if same(old, new):
            return
        if not (is_object(old) and is_object(new)):
            yield self._edit(path, path, new, old=old, new=new)
            return
        for key in ("title", "description", "default"):
            if not same(old.get(key), new.get(key)):
                self.texts.append((path, key, *self._seen(old.get(key), new.get(key))))
        if same(bare(old), bare(new)) and not (old.keys() | new.keys()) & {"properties", "items", *_UNIONS}:
            return
        kinds = [{key: value for key, value in side.items() if key in _KIND_WORDS} for side in (old, new)]
        shapes = [{key for key in side if key in _UNIONS} for side in (old, new)]
        only_enum = all(kind.keys() <= {"type", "enum"} for kind in kinds) and same(old.get("type"), new.get("type"))
        if shapes[0] != shapes[1] or not (same(kinds[0], kinds[1]) or only_enum):
            yield self._edit(path, path, new, old=bare(old), new=bare(new))
            return
        yield from self._objects(path, old, new)
        for key in sorted(old.keys() | new.keys()):
            before, after = old.get(key), new.get(key)
            if key in NOTES or key in ("properties", "required") or same(before, after):
                continue
            inner = (*path, key)
            if key in _UNIONS and is_array(before) and is_array(after):
                yield from self._branches(inner, before, after)
            elif key in _INTO and is_object(before) and is_object(after):
                if key in ("$defs", "definitions"):
                    for name in before.keys() & after.keys():
                        yield from self.between((*inner, name), before[name], after[name])
                else:
                    yield from self.between(inner, before, after)
            elif key == "additionalProperties" and after is False and before in (None, True) and self._is_input:
                said: tuple[Verdict, str] = ("unknown", "members that are not declared are refused now")
                yield self._edit(inner, inner, after, said=said, old=before, new=after)
            else:
                yield self._edit(inner, inner, after, old=before, new=after)

    def _seen(self, old: object, new: object) -> tuple[object, object]:
        """The value before the change and after it: for results, the walk leads from the new schema to the old one."""
        return (old, new) if self._is_input else (new, old)

    def _edit(
        self,
        path: Path,
        place: Path,
        value: object,
        *,
        said: tuple[Verdict, str] | None = None,
        breaks: str | None = None,
        old: object = None,
        new: object = None,
    ) -> _SchemaEdit:
        """Return the edit at `path` that puts `value` at `place` of the document; None removes the member there."""
        if value is None and place:
            value, place = without(at(self._document, place[:-1]), str(place[-1])), place[:-1]
        applied = replaced(self._document, place, value)
        pattern_at = path[:-1] if path and path[-1] == "pattern" else None
        return _SchemaEdit(path, applied, said, pattern_at, breaks, self._seen(old, new))

    def _objects(self, path: Path, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[_SchemaEdit]:
        """The members: those that are there on one side only, those that are required, and what is inside them."""
        before, after = members(old.get("properties")), members(new.get("properties"))
        needed, now_needed = (set(names(side.get("required"))) for side in (old, new))
        gone = [name for name in before if name not in after]
        come = [name for name in after if name not in before]
        others = _renames({name: before[name] for name in gone}, {name: after[name] for name in come})

        def with_members(properties: Mapping[str, object], required: set[str]) -> dict[str, object]:
            changed = {**old, "properties": dict(properties), "required": sorted(required)}
            if "additionalProperties" in new:
                changed["additionalProperties"] = new["additionalProperties"]
            return changed

        for name in gone:
            other = others.get(name)
            changed = with_members(without(before, name), needed - {name})
            is_now = "is not declared any more" if other is None else f"is `{other}` now"
            said: tuple[Verdict, str] | None = ("unknown", f"`{name}` {is_now}; the old name is still accepted")
            breaks: str | None = f"`{name}` {is_now}"
            if other is not None:
                required = (needed - {name}) | ({other} & now_needed)
                changed = with_members({**without(before, name), other: after[other]}, required)
            if not self._is_input:
                said = None if other is None else ("unknown", f"`{other}` is `{name}` now")
                breaks = f"`{name}` is new" if other is None else f"`{other}` is `{name}` now"
            yield self._edit(
                (*path, "properties", name), path, changed, said=said, breaks=breaks, old=bare(before[name])
            )
        for name in come:
            if name in others.values():
                continue
            changed = with_members({**before, name: after[name]}, needed | ({name} & now_needed))
            if "additionalProperties" not in old:
                changed.pop("additionalProperties", None)
            said = None if self._is_input else ("unknown", f"`{name}` is not declared any more")
            breaks = self._now(name) if name in now_needed else None
            yield self._edit(
                (*path, "properties", name), path, changed, said=said, breaks=breaks, new=bare(after[name])
            )
        for name in sorted((needed ^ now_needed) - {*gone, *come}):
            wanted = sorted(needed | {name} if name in now_needed else needed - {name})
            yield self._edit((*path, "required"), (*path, "required"), wanted, breaks=self._now(name))
        for name in before:
            if name in after:
                yield from self.between((*path, "properties", name), before[name], after[name])

    def _now(self, name: str) -> str:
        return f"`{name}` is required now" if self._is_input else f"`{name}` may be missing now"

    def _branches(self, path: Path, old: Sequence[object], new: Sequence[object]) -> Iterator[_SchemaEdit]:
        """The alternatives: equal ones are left out, the others are paired by what they have in common."""
        left = [index for index, each in enumerate(old) if not any(same(bare(each), bare(other)) for other in new)]
        right = [index for index, each in enumerate(new) if not any(same(bare(each), bare(other)) for other in old)]
        pairs: list[tuple[int, int]] = []
        for index in left:
            mark = _mark(old[index])
            found = [other for other in right if _mark(new[other]) == mark and other not in dict(pairs).values()]
            if len(found) == 1:
                pairs.append((index, found[0]))
        if len(pairs) == len(left) == len(right):
            for index, other in pairs:
                yield from self.between((*path, index), old[index], new[other])
        elif left or right or len(old) != len(new):
            yield self._edit(path, path, list(new), old=len(old), new=len(new))


def _mark(branch: object) -> tuple[object, ...]:
    """What tells an alternative from the others: its type, and the constants of its members (the discriminator)."""
    found = members(branch)
    constants = [
        (name, repr(value.get("const", value.get("enum"))))
        for name, value in ((name, members(each)) for name, each in members(found.get("properties")).items())
        if "const" in value or (is_array(value.get("enum")) and len(elements(value.get("enum"))) == 1)
    ]
    return (repr(found.get("type")), *sorted(constants))


def _renames(gone: Mapping[str, object], come: Mapping[str, object]) -> dict[str, str]:
    """Which new member an old one became: of the same schema, and with a word in common or as the only pair."""
    found: dict[str, str] = {}
    for name, schema in gone.items():
        alike = [
            other for other, each in come.items() if other not in found.values() and same(bare(schema), bare(each))
        ]
        near = [other for other in alike if set(words_of(name)) & set(words_of(other))]
        near += [other for other in alike if other.startswith(name) or name.startswith(other)]
        near += alike if len(gone) == len(come) == 1 else []
        if near:
            found[name] = near[0]
    return found
