"""`find_misnamed`: the one member that is too much is the one that is missing, under another name.

`{"town": "Paris"}` where `city` is required: nothing else is missing, nothing else is too much, the value is valid for
`city`, and no optional member has more in common with `town`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from toolvet.core.json_value import members
from toolvet.core.schema.naming import entries_for, words_of
from toolvet.core.schema.place import Demands
from toolvet.core.schema.reference import Subschema
from toolvet.core.schema.repairs.confidence import ONLY_ONE_LEFT, SAME_MEANING, Confidence
from toolvet.core.schema.repairs.nearest import nearest
from toolvet.core.schema.repairs.synonyms import are_opposite, mean_the_same
from toolvet.core.schema.repairs.words import meant
from toolvet.core.schema.text import matches

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
    """Return the member of `value` that is the missing one under another name, or None where that is uncertain.

    Args:
        demands: what the object has to satisfy.
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
    if (
        are_opposite(sent, wanted)
        or _is_allowed_on_purpose(demands, sent)
        or not accepts(demands.member(wanted), item)
        or not _is_typed(demands.member(wanted), accepts)
    ):
        return None
    rivals = [name for name in declared if name not in value and name != wanted and accepts(demands.member(name), item)]
    chosen = isinstance(item, str) and not accepts(demands.member(wanted), f"{item}?")
    confidence = _judge(sent, wanted, rivals, is_plain=isinstance(item, _PLAIN), is_chosen=chosen)
    return None if confidence is None else Misnamed(sent, wanted, confidence)


def _judge(sent: str, wanted: str, rivals: Sequence[str], *, is_plain: bool, is_chosen: bool) -> Confidence | None:
    """How sure it is that `sent` is `wanted`; `rivals` are optional members that the value would fit as well.

    A value `is_chosen` if it is one of few texts that are valid: then it says itself which member it is for.
    """
    likeness = _likeness(sent, wanted)
    closest = max((_likeness(sent, name) for name in rivals), default=0)
    if closest > likeness:
        return None
    if likeness:
        return ONLY_ONE_LEFT if closest == likeness else SAME_MEANING
    if rivals or is_plain or _says_something_else(sent, wanted):
        return None
    return SAME_MEANING if is_chosen else ONLY_ONE_LEFT


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


def _is_allowed_on_purpose(demands: Demands, name: str) -> bool:
    """Whether the schema says that there may be members that it does not name."""
    return any(
        any(schema.get(keyword, False) is not False for keyword in ("additionalProperties", "unevaluatedProperties"))
        or any(matches(pattern, name) for pattern in members(schema.get("patternProperties")))
        for schema in demands.plain()
    )


def _is_typed(parts: list[Subschema], accepts: Accepts) -> bool:
    """Whether the schema says of which type the member is: one that may be anything proves nothing."""
    return not all(accepts(parts, probe) for probe in _PROBES)
