"""An object whose members are not those that were asked for → the same values under the right names and places."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from toolvet.redact import word_segments
from toolvet.schema.json_value import Path, is_object, members, names
from toolvet.schema.place import Demands
from toolvet.schema.repairs.answer import PathPatch
from toolvet.schema.repairs.confidence import Confidence, least
from toolvet.schema.repairs.conversion import converted
from toolvet.schema.repairs.ground import View, declared, is_known, located, takes
from toolvet.schema.repairs.nearest import bare, nearest
from toolvet.schema.repairs.operation import Operation
from toolvet.schema.repairs.words import meant
from toolvet.schema.violation import Violation

# The keywords by which an object as a whole is wrong.
OF_OBJECTS = frozenset(
    {
        "additionalProperties",
        "dependencies",
        "dependentRequired",
        "minProperties",
        "propertyNames",
        "required",
        "unevaluatedProperties",
    }
)


class MissingMembers:
    """An object, what is missing in it, and what is there that was not asked for."""

    def __init__(self, view: View, path: Path, violations: Sequence[Violation]) -> None:
        self.view = view
        self.path = path
        self.value = members(view.at(path))
        self.demands = view.demands(path)
        self.declared = declared(self.demands)
        self.missing = [
            name
            for violation in violations
            if isinstance(name := violation.params.get("property"), str) and violation.keyword != "propertyNames"
        ]
        self.forbidden = [name for violation in violations for name in names(violation.params.get("unexpected"))]
        known = set(self.declared) | set(self.missing)
        self.absent = [name for name in dict.fromkeys((*self.missing, *self.declared)) if name not in self.value]
        # More than these are no call any more.
        self.unknown = [name for name in self.value if name not in known][:_MOST]

    def answer(self, confidence: Confidence, *operations: Operation, cost: int = 0) -> PathPatch:
        """The operations, told for the place of this object."""
        return PathPatch(path=self.path, operations=operations, confidence=confidence, cost=cost)


_MOST = 200


def members_answer(view: View, path: Path, violations: Sequence[Violation]) -> PathPatch | None:
    """What answers the violations of an object as a whole; one way at a time, the surest first."""
    lack = MissingMembers(view, path, violations)
    for way in _WAYS:
        found = way(lack)
        if found is not None:
            return found
    return None


def _renamed_alike(lack: MissingMembers) -> PathPatch | None:
    """Members whose name is right but for its case and separators."""
    pairs: dict[str, str] = {}
    by_form: dict[str, list[str]] = {}
    for name in lack.absent:
        by_form.setdefault(bare(name), []).append(name)
    for name in lack.unknown:
        alike = by_form.get(bare(name), [])
        if len(alike) == 1 and alike[0] not in pairs.values():
            pairs[name] = alike[0]
    return _renaming(lack, pairs, "high")


def _renaming(lack: MissingMembers, pairs: dict[str, str], confidence: Confidence) -> PathPatch | None:
    if not pairs:
        return None
    operations = [_moved((*lack.path, old), (*lack.path, new)) for old, new in pairs.items()]
    return lack.answer(confidence, *operations, cost=len(operations))


def _unwrapped(lack: MissingMembers) -> PathPatch | None:
    """The object inside a member that only wraps it."""
    if len(lack.value) > _MOST_BESIDE:
        return None
    found: list[PathPatch] = []
    for name in lack.unknown:
        read = _as_object(lack.value[name])
        if read is None:
            continue
        inner, confidence = read
        wrapping = meant(name, "wrapping")
        beside = [other for other in lack.value if other != name]
        if beside and (wrapping is None or not all(_is_envelope(other, lack, inner) for other in beside)):
            continue
        shared = _shared(inner, lack.declared)
        if not shared and (wrapping is None or lack.missing):
            continue
        at = (*lack.path, name)
        operations = (
            [] if inner is lack.value[name] else [Operation(op="replace", path=at, value=inner, old=lack.value[name])]
        )
        sure: Confidence = "high" if wrapping or shared == len(inner) else "medium"
        found.append(
            lack.answer(least((sure, confidence, "medium" if beside else "high")), *operations, _moved(at, lack.path))
        )
    return found[0] if len(found) == 1 else None


_MOST_BESIDE = 7


def _is_envelope(name: str, lack: MissingMembers, inner: Mapping[str, object]) -> bool:
    """Whether a member beside the wrapping names the call: it is no argument, or the wrapping holds that argument."""
    return meant(name, "envelope") is not None and (name not in lack.declared or name in inner)


def _as_object(value: object) -> tuple[Mapping[str, object], Confidence] | None:
    if is_object(value):
        return value, "high"
    if isinstance(value, str):
        for guess in converted(value, "object", "", ()):
            if is_object(guess.value):
                return guess.value, guess.confidence
    return None


def _shared(inner: Mapping[str, object], declared_names: Sequence[str]) -> int:
    forms = set(map(bare, declared_names))
    return sum(bare(name) in forms for name in list(inner)[:_MOST])


def _nested(lack: MissingMembers) -> PathPatch | None:
    """Members that belong into an object among the declared ones, and stand beside it."""
    moves: list[Operation] = []
    taken: set[str] = set()
    for name in lack.declared:
        present = lack.value.get(name)
        if name in lack.value and not is_object(present):
            continue
        inner = lack.view.of(lack.demands.member(name), present if name in lack.value else {})
        if not takes(inner, "object"):
            continue
        wanted = {bare(member): member for member in declared(inner) if member not in members(present)}
        fitting = {other: wanted[bare(other)] for other in lack.unknown if bare(other) in wanted and other not in taken}
        # A member that is required elsewhere is not taken away for an optional object.
        if not fitting or (name not in lack.value and not _completes(inner, fitting.values())):
            continue
        if name not in lack.value:
            moves.append(_added((*lack.path, name), {}, "to hold what belongs there"))
        moves.extend(_moved((*lack.path, old), (*lack.path, name, new)) for old, new in fitting.items())
        taken.update(fitting)
    return lack.answer("high" if len(taken) > 1 else "medium", *moves, cost=len(moves)) if moves else None


def _completes(inner: Demands, held: Iterable[str]) -> bool:
    return set(inner.required()) <= set(held)


def _hoisted(lack: MissingMembers) -> PathPatch | None:
    """Members that belong here, and stand in an object below; what only held them goes as well."""
    found: dict[str, Path] = {}
    emptied: list[Path] = []
    for holder, value in lack.value.items():
        held = value
        if not is_object(held):
            continue
        own = (
            set(declared(lack.view.of(lack.demands.member(holder), held))) if holder not in lack.unknown else set[str]()
        )
        wanted = {bare(name): name for name in lack.absent if name not in found}
        fitting = {name: wanted[bare(name)] for name in list(held)[:_MOST] if name not in own and bare(name) in wanted}
        if holder in lack.unknown and len(fitting) < len(held):
            continue
        for old, new in fitting.items():
            found[new] = (*lack.path, holder, old)
        if fitting and holder in lack.unknown:
            emptied.append((*lack.path, holder))
    if not found:
        return None
    operations = [_moved(origin, (*lack.path, name)) for name, origin in found.items()]
    operations.extend(_removed(path, "it is empty now") for path in emptied)
    return lack.answer("medium", *operations, cost=len(operations))


def _raised(lack: MissingMembers) -> PathPatch | None:
    """Members that nothing allows here, and that an object further out declares and lacks."""
    for length in range(len(lack.path) - 1, -1, -1):
        outer = lack.path[:length]
        holder = lack.view.at(outer)
        if not is_object(holder):
            continue
        demands = lack.view.demands(outer)
        wanted = {bare(name): name for name in declared(demands) if name not in holder}
        moves = [
            _moved((*lack.path, name), (*outer, wanted[bare(name)]))
            for name in lack.forbidden[:_MOST]
            if bare(name) in wanted
            and lack.view.ground.accepts(demands.member(wanted[bare(name)]), lack.value.get(name))
        ]
        if moves:
            return PathPatch(path=outer, operations=tuple(moves), confidence="medium", cost=len(moves))
    return None


def _deepened(lack: MissingMembers) -> PathPatch | None:
    """The object inside a member of its own name: `{"user": {"user": {…}}}`."""
    if len(lack.value) != 1 or not lack.path:
        return None
    ((name, inner),) = lack.value.items()
    if not is_object(inner) or name in lack.declared or not _shared(inner, lack.declared):
        return None
    return lack.answer("high", _moved((*lack.path, name), lack.path))


def _renamed_misspelt(lack: MissingMembers) -> PathPatch | None:
    """Members whose name is misspelt or shortened, and whose value fits where they go."""
    pairs: dict[str, str] = {}
    for name in lack.unknown:
        found = nearest(name, [other for other in lack.absent if other not in pairs.values()])
        if found is None or not _fits(lack, name, found.option):
            continue
        # Another member that means the same one makes both doubtful.
        rivals = [other for other in lack.unknown if other != name and nearest(other, [found.option]) is not None]
        if not rivals:
            pairs[name] = found.option
    return _renaming(lack, pairs, "medium")


def _renamed_in_part(lack: MissingMembers) -> PathPatch | None:
    """The one member whose name shares its words with the one that is missing: `file` for `file_path`."""
    pairs: dict[str, str] = {}
    for missing in lack.missing:
        words = _words(missing)
        alike = [name for name in lack.unknown if _words(name) & words and _fits(lack, name, missing)]
        if len(alike) == 1 and alike[0] not in pairs:
            pairs[alike[0]] = missing
    return _renaming(lack, pairs, "low")


def _words(name: str) -> set[str]:
    return {word for word in word_segments(name) if len(word) > 1 and word not in ("id", "the")}


def _fits(lack: MissingMembers, name: str, other: str) -> bool:
    """Whether the value of one member could stand under another name, as it is or as another type."""
    parts = lack.demands.member(other)
    value = lack.value[name]
    ground = lack.view.ground
    if ground.accepts(parts, value):
        return True
    demands = lack.view.of(parts, value)
    for kind in sorted(demands.types()):
        for guess in converted(value, kind, other, demands.plain()):
            if ground.accepts(located(demands), guess.value):
                return True
    return False


def _completed(lack: MissingMembers) -> PathPatch | None:
    """What is missing, and can be known: the only value there is, or the schema's own default."""
    operations: list[Operation] = []
    sure: list[Confidence] = []
    for name in dict.fromkeys(lack.missing):
        demands = lack.view.of(lack.demands.member(name), None)
        known, value = is_known(demands)
        if not known or not lack.view.ground.accepts(lack.demands.member(name), value):
            continue
        single = demands.listed() is not None
        why = "the only value that is allowed" if single else "its default"
        operations.append(_added((*lack.path, name), value, why))
        sure.append("high" if single else "medium")
    return lack.answer(least(sure), *operations, cost=len(operations)) if operations else None


def _dropped(lack: MissingMembers) -> PathPatch | None:
    """Without the members that nothing allows: the last way, for what they said is lost."""
    if lack.missing or not lack.forbidden:
        return None
    present = [name for name in dict.fromkeys(lack.forbidden) if name in lack.value]
    operations = [_removed((*lack.path, name), "the schema allows no such member") for name in present]
    empty = all(lack.value[name] is None for name in present)
    few: Confidence = "medium" if len(present) < 2 or len(present) * 2 <= len(lack.value) else "low"
    return lack.answer("high" if empty else few, *operations, cost=10 * len(operations)) if operations else None


def _renamed_by_rule(lack: MissingMembers) -> PathPatch | None:
    """Member names that `propertyNames` refuses, in another case or without white space."""
    rules = [schema["propertyNames"] for schema in lack.demands.plain() if "propertyNames" in schema]
    if not rules:
        return None
    parts = [part for part in located(lack.demands) if "propertyNames" in members(part.schema)]
    pairs: dict[str, str] = {}
    for name in lack.unknown:
        if lack.view.ground.accepts(parts, {name: lack.value[name]}):
            continue
        for other in (name.strip(), name.strip().lower(), name.strip().upper()):
            if other not in lack.value and lack.view.ground.accepts(parts, {other: lack.value[name]}):
                pairs[name] = other
                break
    return _renaming(lack, pairs, "medium")


def _moved(origin: Path, path: Path) -> Operation:
    return Operation(op="move", path=path, origin=origin)


def _removed(path: Path, why: str) -> Operation:
    return Operation(op="remove", path=path, why=why)


def _added(path: Path, value: object, why: str) -> Operation:
    return Operation(op="add", path=path, value=value, why=why)


_WAYS: tuple[Callable[[MissingMembers], PathPatch | None], ...] = (
    _renamed_alike,
    _deepened,
    _unwrapped,
    _nested,
    _hoisted,
    _raised,
    _renamed_misspelt,
    _renamed_by_rule,
    _renamed_in_part,
    _completed,
    _dropped,
)
