"""Answers for an object with the wrong members: the same values under the right names and in the right places.

`find_misnamed`: the one member that is too much is the one that is missing, under another name.

`{"town": "Paris"}` where `city` is required: nothing else is missing, nothing else is too much, the value is valid for
`city`, and no optional member has more in common with `town`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from toolvet.core.json_value import Path, is_object, members, names
from toolvet.core.redact import word_segments
from toolvet.core.schema.demands import Demands
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.naming import entries_for, words_of
from toolvet.core.schema.repairs.context import (
    ONLY_ONE_LEFT,
    SAME_MEANING,
    Confidence,
    Guess,
    Operation,
    PathPatch,
    View,
    are_opposite,
    as_parts,
    bare,
    declared_names,
    declares_type,
    least,
    mean_the_same,
    meant,
    nearest,
)
from toolvet.core.schema.repairs.leaf import convert
from toolvet.core.schema.text import matches
from toolvet.core.schema.violation import Violation

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


class MemberMismatch:
    """An object beside its schema: which members it lacks, and which it has that the schema does not name."""

    def __init__(self, view: View, path: Path, violations: Sequence[Violation]) -> None:
        self.view = view
        self.path = path
        self.value = members(view.at(path))
        place = view.place(path)
        self.demands = place.demands
        self.declared = place.declared
        self.missing = [
            name
            for violation in violations
            if isinstance(name := violation.params.get("property"), str) and violation.keyword != "propertyNames"
        ]
        self.forbidden = [name for violation in violations for name in names(violation.params.get("unexpected"))]
        self._absent: list[str] | None = None
        # An object with more is not a tool call.
        known = place.named
        self.unknown = [name for name in self.value if name not in known and name not in self.missing][:_MOST_NAMES]

    @property
    def absent(self) -> list[str]:
        """The members that it lacks, the required ones first."""
        if self._absent is None:
            wanted = dict.fromkeys((*self.missing, *self.declared))
            self._absent = [name for name in wanted if name not in self.value]
        return self._absent

    def answer(self, confidence: Confidence, *operations: Operation, cost: int = 0) -> PathPatch:
        """The operations as an answer for this object."""
        return PathPatch(path=self.path, operations=operations, confidence=confidence, cost=cost)


_MOST_NAMES = 200


def members_answer(view: View, path: Path, violations: Sequence[Violation]) -> PathPatch | None:
    """Return what answers the violations of an object as a whole, or None: the first strategy that finds something."""
    mismatch = MemberMismatch(view, path, violations)
    for strategy in _STRATEGIES if mismatch.unknown or mismatch.forbidden else _FOR_KNOWN_NAMES:
        found = strategy(mismatch)
        if found is not None:
            return found
    return None


def _rename_alike(mismatch: MemberMismatch) -> PathPatch | None:
    """Rename members whose name is right but for its case and separators."""
    if not mismatch.unknown:
        return None
    pairs: dict[str, str] = {}
    by_form: dict[str, list[str]] = {}
    for name in mismatch.absent:
        by_form.setdefault(bare(name), []).append(name)
    for name in mismatch.unknown:
        alike = by_form.get(bare(name), [])
        if len(alike) == 1 and alike[0] not in pairs.values():
            pairs[name] = alike[0]
    return _rename(mismatch, pairs, "high")


def _rename(mismatch: MemberMismatch, pairs: dict[str, str], confidence: Confidence) -> PathPatch | None:
    if not pairs:
        return None
    operations = [_move((*mismatch.path, old), (*mismatch.path, new)) for old, new in pairs.items()]
    return mismatch.answer(confidence, *operations, cost=len(operations))


def _unwrap(mismatch: MemberMismatch) -> PathPatch | None:
    """Take the arguments out of a member that only wraps them: `{"input": {…}}`."""
    if len(mismatch.value) > _MOST_BESIDE:
        return None
    found: list[PathPatch] = []
    for name in mismatch.unknown:
        held = mismatch.value[name]
        guesses: Iterable[Guess] = [Guess(held, "high")] if is_object(held) else ()
        if isinstance(held, str):
            guesses = convert(held, "object", "", ())
        read = next((guess for guess in guesses if is_object(guess.value)), None)
        if read is None:
            continue
        inner, confidence = members(read.value), read.confidence
        wrapping = meant(name, "wrapping")
        beside = [other for other in mismatch.value if other != name]
        # Members beside the wrapping name the call: they are not arguments, or the wrapped object has them.
        if beside and wrapping is None:
            continue
        if any(
            meant(other, "envelope") is None or (other in mismatch.declared and other not in inner) for other in beside
        ):
            continue
        shared = _count_shared(inner, mismatch.declared)
        if not shared and (wrapping is None or mismatch.missing):
            continue
        at = (*mismatch.path, name)
        operations = [] if inner is held else [Operation(op="replace", path=at, value=inner, old=held)]
        sure: Confidence = "high" if wrapping or shared == len(inner) else "medium"
        found.append(
            mismatch.answer(
                least((sure, confidence, "medium" if beside else "high")), *operations, _move(at, mismatch.path)
            )
        )
    return found[0] if len(found) == 1 else None


_MOST_BESIDE = 7


def _count_shared(inner: Mapping[str, object], declared_names: Sequence[str]) -> int:
    forms = set(map(bare, declared_names))
    return sum(bare(name) in forms for name in list(inner)[:_MOST_NAMES])


def _nest(mismatch: MemberMismatch) -> PathPatch | None:
    """Move members into the object among the declared ones that they belong to."""
    if not mismatch.unknown:
        return None
    moves: list[Operation] = []
    taken: set[str] = set()
    for name in mismatch.declared:
        present = mismatch.value.get(name)
        if name in mismatch.value and not is_object(present):
            continue
        inner = mismatch.view.of(mismatch.demands.member(name), present if name in mismatch.value else {})
        if not declares_type(inner, "object"):
            continue
        wanted = {bare(member): member for member in declared_names(inner) if member not in members(present)}
        fitting = {
            other: wanted[bare(other)] for other in mismatch.unknown if bare(other) in wanted and other not in taken
        }
        # A member that is required elsewhere is not taken away for an optional object.
        if not fitting or (name not in mismatch.value and not set(inner.required()) <= set(fitting.values())):
            continue
        if name not in mismatch.value:
            moves.append(_add((*mismatch.path, name), {}, "to hold what belongs there"))
        moves.extend(_move((*mismatch.path, old), (*mismatch.path, name, new)) for old, new in fitting.items())
        taken.update(fitting)
    return mismatch.answer("high" if len(taken) > 1 else "medium", *moves, cost=len(moves)) if moves else None


def _hoist(mismatch: MemberMismatch) -> PathPatch | None:
    """Move members up that belong here, from an object below; an object that is empty then is removed."""
    found: dict[str, Path] = {}
    emptied: list[Path] = []
    for holder, value in mismatch.value.items():
        held = value
        if not is_object(held):
            continue
        own = (
            set(declared_names(mismatch.view.of(mismatch.demands.member(holder), held)))
            if holder not in mismatch.unknown
            else set[str]()
        )
        wanted = {bare(name): name for name in mismatch.absent if name not in found}
        fitting = {
            name: wanted[bare(name)] for name in list(held)[:_MOST_NAMES] if name not in own and bare(name) in wanted
        }
        if holder in mismatch.unknown and len(fitting) < len(held):
            continue
        for old, new in fitting.items():
            found[new] = (*mismatch.path, holder, old)
        if fitting and holder in mismatch.unknown:
            emptied.append((*mismatch.path, holder))
    if not found:
        return None
    operations = [_move(origin, (*mismatch.path, name)) for name, origin in found.items()]
    operations.extend(_remove(path, "it is empty now") for path in emptied)
    return mismatch.answer("medium", *operations, cost=len(operations))


def _move_outwards(mismatch: MemberMismatch) -> PathPatch | None:
    """Move members that nothing allows here to an object further out, which declares and lacks them."""
    if not mismatch.forbidden:
        return None
    for length in range(len(mismatch.path) - 1, -1, -1):
        outer = mismatch.path[:length]
        holder = mismatch.view.at(outer)
        if not is_object(holder):
            continue
        demands = mismatch.view.demands(outer)
        wanted = {bare(name): name for name in declared_names(demands) if name not in holder}
        moves = [
            _move((*mismatch.path, name), (*outer, wanted[bare(name)]))
            for name in mismatch.forbidden[:_MOST_NAMES]
            if bare(name) in wanted
            and mismatch.view.context.accepts(demands.member(wanted[bare(name)]), mismatch.value.get(name))
        ]
        if moves:
            return PathPatch(path=outer, operations=tuple(moves), confidence="medium", cost=len(moves))
    return None


def _unwrap_same_name(mismatch: MemberMismatch) -> PathPatch | None:
    """Take the object out of a member of its own name: `{"user": {"user": {…}}}`."""
    if len(mismatch.value) != 1 or not mismatch.path:
        return None
    ((name, inner),) = mismatch.value.items()
    if not is_object(inner) or name in mismatch.declared or not _count_shared(inner, mismatch.declared):
        return None
    return mismatch.answer("high", _move((*mismatch.path, name), mismatch.path))


def _rename_misspelt(mismatch: MemberMismatch) -> PathPatch | None:
    """Rename members whose name is misspelt or shortened, if the value fits under the other name."""
    pairs: dict[str, str] = {}
    for name in mismatch.unknown:
        found = nearest(name, [other for other in mismatch.absent if other not in pairs.values()])
        if found is None or not _fits(mismatch, name, found.option):
            continue
        # Another member that means the same one makes both doubtful.
        rivals = [other for other in mismatch.unknown if other != name and nearest(other, [found.option]) is not None]
        if not rivals:
            pairs[name] = found.option
    return _rename(mismatch, pairs, "medium")


def _rename_by_shared_words(mismatch: MemberMismatch) -> PathPatch | None:
    """Rename the one member whose name shares words with the one that is missing: `file` for `file_path`."""
    pairs: dict[str, str] = {}
    for missing in mismatch.missing if mismatch.unknown else ():
        words = _significant_words(missing)
        alike = [
            name
            for name in mismatch.unknown
            if _significant_words(name) & words and not are_opposite(name, missing) and _fits(mismatch, name, missing)
        ]
        if len(alike) == 1 and alike[0] not in pairs:
            pairs[alike[0]] = missing
    return _rename(mismatch, pairs, "low")


def _significant_words(name: str) -> set[str]:
    return {word for word in word_segments(name) if len(word) > 1 and word not in ("id", "the")}


def _fits(mismatch: MemberMismatch, name: str, other: str) -> bool:
    """Whether the value of one member fits under another name, as it is or as another type."""
    parts = mismatch.demands.member(other)
    value = mismatch.value[name]
    context = mismatch.view.context
    if context.accepts(parts, value):
        return True
    demands = mismatch.view.of(parts, value)
    for kind in sorted(demands.types()):
        for guess in convert(value, kind, other, demands.plain()):
            if context.accepts(as_parts(demands), guess.value):
                return True
    return False


def _add_known(mismatch: MemberMismatch) -> PathPatch | None:
    """Add the missing members whose value is known: the only one that is allowed, or the schema's own default."""
    operations: list[Operation] = []
    sure: list[Confidence] = []
    for name in dict.fromkeys(mismatch.missing):
        known = mismatch.view.known_member(mismatch.path, name)
        if known is None:
            continue
        why = "the only value that is allowed" if known.single else "its default"
        operations.append(_add((*mismatch.path, name), known.value, why))
        sure.append("high" if known.single else "medium")
    return mismatch.answer(least(sure), *operations, cost=len(operations)) if operations else None


def _rename_only_one(mismatch: MemberMismatch) -> PathPatch | None:
    """Rename the only member that is too much to the only one that is missing: `town` to `city`."""
    accepts = mismatch.view.context.accepts
    found = find_misnamed(mismatch.demands, mismatch.value, tuple(dict.fromkeys(mismatch.missing)), accepts)
    return None if found is None else _rename(mismatch, {found.sent: found.meant}, found.confidence)


def _remove_forbidden(mismatch: MemberMismatch) -> PathPatch | None:
    """Remove the members that nothing allows: the last strategy, because their values are lost."""
    if mismatch.missing or not mismatch.forbidden:
        return None
    present = [name for name in dict.fromkeys(mismatch.forbidden) if name in mismatch.value]
    operations = [_remove((*mismatch.path, name), "the schema allows no such member") for name in present]
    empty = all(mismatch.value[name] is None for name in present)
    few: Confidence = "medium" if len(present) < 2 or len(present) * 2 <= len(mismatch.value) else "low"
    if any(_significant_words(name) & _significant_words(other) for name in present for other in mismatch.absent):
        few = "low"  # `input_pages` beside `pages`: perhaps another name, whose value would be lost.
    return mismatch.answer("high" if empty else few, *operations, cost=10 * len(operations)) if operations else None


def _rename_by_rule(mismatch: MemberMismatch) -> PathPatch | None:
    """Rename members that `propertyNames` refuses: to another case, or without white space."""
    rules = [schema["propertyNames"] for schema in mismatch.demands.plain() if "propertyNames" in schema]
    if not rules:
        return None
    parts = [part for part in as_parts(mismatch.demands) if "propertyNames" in members(part.schema)]
    pairs: dict[str, str] = {}
    for name in mismatch.unknown:
        if mismatch.view.context.accepts(parts, {name: mismatch.value[name]}):
            continue
        for other in (name.strip(), name.strip().lower(), name.strip().upper()):
            if other not in mismatch.value and mismatch.view.context.accepts(parts, {other: mismatch.value[name]}):
                pairs[name] = other
                break
    return _rename(mismatch, pairs, "medium")


def _move(origin: Path, path: Path) -> Operation:
    return Operation(op="move", path=path, origin=origin)


def _remove(path: Path, why: str) -> Operation:
    return Operation(op="remove", path=path, why=why)


def _add(path: Path, value: object, why: str) -> Operation:
    return Operation(op="add", path=path, value=value, why=why)


_STRATEGIES: tuple[Callable[[MemberMismatch], PathPatch | None], ...] = (
    _rename_alike,
    _unwrap_same_name,
    _unwrap,
    _nest,
    _hoist,
    _move_outwards,
    _rename_misspelt,
    _rename_by_rule,
    _rename_by_shared_words,
    _add_known,
    _rename_only_one,
    _remove_forbidden,
)
# Those that can find something where every member has a name that the schema knows.
_FOR_KNOWN_NAMES = (_hoist, _add_known, _rename_only_one)


Accepts = Callable[[list[Subschema], object], bool]

_MOST_MEMBERS: Final = 200
_LONGEST_NAME: Final = 80
# Values that are common enough to be valid under any name of their type.
_PLAIN: Final = (bool, type(None))
_PROBES: Final[tuple[object, ...]] = ("example", 1, [], {})


class Misnamed(msgspec.Struct, frozen=True):
    """A member that was sent, the member that was meant, and how sure that is."""

    sent: str
    meant: str
    confidence: Confidence


def find_misnamed(
    demands: Demands, value: Mapping[str, object], missing: Sequence[str], accepts: Accepts
) -> Misnamed | None:
    """Return the member of `value` that is the missing one under another name, or None if that is uncertain.

    Args:
        demands: the demands on the object.
        value: the object.
        missing: the members that it must have and lacks.
        accepts: whether a value satisfies some parts of the schema.
    """
    if len(missing) != 1 or len(value) > _MOST_MEMBERS:
        return None
    wanted = missing[0]
    declared = demands.declared()
    unknown = [name for name in value if name not in declared and name != wanted]
    if len(unknown) != 1 or max(len(unknown[0]), len(wanted)) > _LONGEST_NAME:
        return None
    sent = unknown[0]
    item = value[sent]
    if are_opposite(sent, wanted):
        return None
    for schema in demands.plain():
        others = (schema.get(keyword, False) for keyword in ("additionalProperties", "unevaluatedProperties"))
        patterns = members(schema.get("patternProperties"))
        if any(other is not False for other in others) or any(matches(pattern, sent) for pattern in patterns):
            # The schema says that there may be members that it does not name.
            return None
    parts = demands.member(wanted)
    if not accepts(parts, item):
        return None
    if all(accepts(parts, probe) for probe in _PROBES):
        # A member that may be anything proves nothing.
        return None
    # Optional members that the value would fit as well.
    rivals = [name for name in declared if name not in value and name != wanted and accepts(demands.member(name), item)]
    # One of few texts that are valid says itself which member it is for.
    is_chosen = isinstance(item, str) and not accepts(parts, f"{item}?")
    likeness = _likeness(sent, wanted)
    closest = max((_likeness(sent, name) for name in rivals), default=0)
    if closest > likeness:
        return None
    if likeness:
        return Misnamed(sent, wanted, ONLY_ONE_LEFT if closest == likeness else SAME_MEANING)
    if rivals or isinstance(item, _PLAIN) or _says_something_else(sent, wanted):
        return None
    return Misnamed(sent, wanted, SAME_MEANING if is_chosen else ONLY_ONE_LEFT)


def _likeness(sent: str, name: str) -> int:
    """How alike two names are: 2 by a word or the spelling, 1 by what they mean, 0 otherwise."""
    if nearest(sent, [name]) is not None:
        return 2
    shared = not set(words_of(sent)).isdisjoint(words_of(name))
    return (2 if shared else 1) if mean_the_same(sent, name) else 0


def _says_something_else(sent: str, wanted: str) -> bool:
    """Whether the name of a member says what it is, and that is not what is missing."""
    if meant(sent, "envelope") or meant(sent, "wrapping") or meant(sent, "remark"):
        return True
    own, other = words_of(sent), words_of(wanted)
    if len(own) > 1 and len(other) > 1 and own[-1] == other[-1]:
        # `user_id` is not `task_id`: both say which one.
        return True
    first, second = next(entries_for(sent), None), next(entries_for(wanted), None)
    return first is not None and second is not None and first is not second
