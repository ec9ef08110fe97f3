"""A result → its shape: which members it has, and of which types; never their values, their order or their number.

    {"structuredContent": {"total": 2, "items": [{"id": 7}, {"id": 8, "note": null}]}}

    /total          number
    /items          array
    /items[]        object, 2 of them
    /items[]/id     number, in 2 of 2
    /items[]/note   null, in 1 of 2

Shapes of several results of one tool add up, so that a member that some results lack is known to be optional. Times,
random ids and the order of lists change values, and so no shape; an object whose keys are ids is a map (`/*`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from toolvet.core.json_value import elements, is_array, is_object, members

_MOST_VALUES: Final = 20_000  # Of one result; what comes behind them has no shape.
_IDENTIFIER: Final = re.compile(r"\d.*|.*\d{3,}.*|(?=.*\d)[0-9A-Fa-f-]{8,}|(?=.*\d).{20,}")


@dataclass
class PlaceShape:
    """What was seen at one place: `kinds` are types of JSON or of content blocks, `seen` counts the values there."""

    kinds: set[str] = field(default_factory=set[str])
    seen: int = 0
    objects: int = 0


class ResultOutline:
    """The shape of one result, or of several of one tool: a `PlaceShape` for each place."""

    def __init__(self, results: Iterable[object] = ()) -> None:
        """Add up the shapes of `results`."""
        self.places: dict[str, PlaceShape] = {}
        for result in results:
            self._add(result)

    def differences(self, old: "ResultOutline", usual: "ResultOutline") -> tuple[str, ...]:
        """Say how this shape differs from `old`, the shape of the same call before; empty where it does not.

        Args:
            old: The shape of the recorded result of this call.
            usual: The shape of all recorded results of the tool: what it allows is no difference.
        """
        found = dict[str, str]()
        for place, now in self.places.items():
            before = usual.places.get(place)
            parent = _parent(place)
            if before is None:
                known = usual.places.get(parent)
                if parent not in found and known is not None and known.objects and not place.endswith("[]"):
                    found[place] = f"{place} is new"
                continue
            changed = now.kinds - before.kinds - {"null"}
            if changed and before.kinds - {"null"}:
                found[place] = f"{place} was {_listed(before.kinds - {'null'})}, and is {_listed(changed)}"
        for place in old.places:
            if place in self.places or place.endswith("[]") or _parent(place) in found:
                continue
            above, always = self.places.get(_parent(place)), usual.places[place]
            if above is not None and above.objects and always.seen == usual.places[_parent(place)].objects:
                found[place] = f"{place} is gone"
        return tuple(found[place] for place in sorted(found))

    def _add(self, result: object) -> None:
        whole = members(result)
        content = whole.get("structuredContent")
        pending: list[tuple[str, object]] = [("", content)]
        if content is None:
            pending = [("content[]", _payload(block)) for block in elements(whole.get("content"))]
        left = _MOST_VALUES
        while pending and left:
            place, value = pending.pop()
            left -= 1
            seen = self.places.setdefault(place, PlaceShape())
            seen.seen += 1
            if isinstance(value, _Block):
                seen.kinds.add(value.kind)
            elif is_object(value):
                seen.kinds.add("object")
                seen.objects += 1
                is_map = bool(value) and all(map(_IDENTIFIER.fullmatch, value))
                pending += [(f"{place}/*" if is_map else f"{place}/{key}", each) for key, each in value.items()]
            elif is_array(value):
                seen.kinds.add("array")
                pending += [(f"{place}[]", each) for each in value]
            else:
                seen.kinds.add(_kind(value))


class _Block(msgspec.Struct, frozen=True):
    """A content block that is no JSON."""

    kind: str


def _payload(block: object) -> object:
    """The JSON in a text block, or else the type of the block."""
    about: Mapping[str, object] = members(block)
    text = about.get("text")
    if isinstance(text, str) and text.lstrip().startswith(("{", "[")):
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return _Block(f"{about.get('type', 'unknown')} block")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _parent(place: str) -> str:
    if place.endswith("[]"):
        return place[:-2]
    return place.rpartition("/")[0]


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds))
