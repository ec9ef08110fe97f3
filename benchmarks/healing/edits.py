"""Every call that is one small change away, with what speaks for it in a text of which no phrase is known.

A text gives names (what is quoted, what has the look of a name), values (what is quoted, numbers, objects of JSON) and
the names of types. Each is near the mention of some place of the call, or it is not.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from benchmarks.healing.values import (
    EXAMPLES,
    NOTHING,
    TYPES,
    Path,
    as_type,
    at,
    drop,
    kind,
    likeness,
    notations,
    places,
    put,
    read,
    rename,
    unpacked,
    written,
)

_LONGEST: Final = 4_000  # Characters of a text that are looked at.
_MOST_NAMES: Final = 30
_MOST: Final = 60  # Changes for which most speaks.
_WINDOW: Final = 180  # Characters after the mention of a place that are taken to be about it.


class Edit(NamedTuple):
    """A changed call: what was done where, and what speaks for it.

    `near`: the place is mentioned in the text. `alike`: how much the new name or value is like the old one, or for a
    copied call how much of the old one it keeps. `named`: the text has the type or value near the mention.
    """

    way: str
    path: Path
    call: Any
    near: bool
    alike: float
    named: bool
    window: str


def edits(call: Any, text: str) -> Sequence[Edit]:
    """Those for which something speaks, each call once."""
    return _edits(json.dumps(call), text[:_LONGEST])


@lru_cache(maxsize=50_000)
def _edits(sent: str, text: str) -> Sequence[Edit]:
    call = json.loads(sent)
    names = _names(text)
    found: dict[str, Edit] = {}
    for edit in [*_copies(call, text), *_changes(call, text, names), *_additions(call, text, names)]:
        key = written(edit.call)
        better = key not in found or _weight(edit) > _weight(found[key])
        if better and key != written(call) and isinstance(edit.call, dict):
            found[key] = edit
    return sorted(found.values(), key=_weight, reverse=True)[:_MOST]


def _weight(edit: Edit) -> float:
    return edit.near + edit.alike + edit.named


def _names(text: str) -> list[str]:
    """Words that are quoted, alone on a line, before a colon or in a path, in the order of the text."""
    pattern = r"""['"*`]([A-Za-z_][\w .-]{0,40})['"*`]|^\s*([A-Za-z_]\w*)\s*$|([A-Za-z_]\w*)(?=: )|[/.]([A-Za-z_]\w*)"""
    found = (next(filter(None, match.groups())) for match in re.finditer(pattern, text, re.MULTILINE))
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def mention(path: Path, text: str) -> int:
    """Where a text first mentions a place: by its whole path, or by its name; -1 where it does not."""
    joined = [mark.join(map(str, path)) for mark in ("/", ".")] if len(path) > 1 else []
    names = [step for step in path if isinstance(step, str)]
    for form in [*joined, *([names[-1]] if names and isinstance(path[-1], str) else [])]:
        match = re.search(rf"(?<![\w-]){re.escape(str(form))}(?![\w-])", text)
        if match:
            return match.start()
    return -1


def _copies(call: Any, text: str) -> Iterator[Edit]:
    """Objects that the text shows as JSON."""
    mine = {json.dumps(value) for _, value in places(call) if not isinstance(value, dict | list)}
    for match in re.finditer(r"^\{", text, re.MULTILINE):
        try:
            shown, _ = json.JSONDecoder().raw_decode(text[match.start() :])
        except ValueError:
            continue
        kept = {json.dumps(value) for _, value in places(shown)}
        alike = len(mine & kept) / max(1, len(mine))
        before = text[: match.start()][-_WINDOW:]
        yield Edit("copy", (), shown, near=True, alike=alike, named=True, window=before)


def _changes(call: Any, text: str, names: list[str]) -> Iterator[Edit]:
    for path, value in places(call):
        place = mention(path, text) if path else -1
        window = text[max(0, place - 60) : place + _WINDOW] if place >= 0 else text[:_WINDOW]
        near = place >= 0 or not path  # The whole is always at hand.

        edit = partial(_edit, path, window, near=near)
        if isinstance(value, dict | list) and len(value) == 1:
            inside = next(iter(value.values() if isinstance(value, dict) else value))
            yield edit("unwrap", put(call, path, inside), 0.5, named=False)
        if isinstance(value, dict):
            for item in value.values():
                inner = unpacked(item)
                if isinstance(inner, dict):
                    yield edit("unwrap", put(call, path, inner), 0.4, named=bool(set(inner) & set(names)))
        if not path:
            continue
        types = {TYPES[word] for word in re.findall(r"[a-z]+", window.lower()) if word in TYPES}
        for wanted in EXAMPLES:
            other = as_type(value, wanted)
            if other is not NOTHING and written(other) != written(value):
                yield edit(f"to {wanted}", put(call, path, other), 0.5, named=wanted in types)
        yield edit("drop", drop(call, path), 0.5 if value in (None, "", "null", "None") else 0.0, named=False)
        if isinstance(value, str):
            for other in notations(value):
                yield edit("rewrite", put(call, path, other), likeness(value, other), named=False)
        for word in re.findall(r"\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", window):
            other = read(word)
            if other is not NOTHING and kind(other) == kind(value) and other != path[-1]:
                yield edit("choose", put(call, path, other), likeness(value, other), named=True)
        if isinstance(path[-1], str):
            for name in names:
                if name not in (at(call, path[:-1]) or {}) and (likeness(path[-1], name) >= 0.5 or near):
                    yield edit("rename", rename(call, path, name), likeness(path[-1], name), named=True)


def _edit(path: Path, window: str, way: str, call: Any, alike: float, *, near: bool, named: bool) -> Edit:
    return Edit(way, path, call, near, alike, named, window)


def _additions(call: Any, text: str, names: list[str]) -> Iterator[Edit]:
    for parent, holder in places(call):
        if not isinstance(holder, dict):
            continue
        for name in names:
            if name in holder or " " in name:
                continue
            place = mention((*parent, name), text)
            window = text[max(0, place - 60) : place + _WINDOW] if place >= 0 else ""
            said = [TYPES[word] for word in re.findall(r"[a-z]+", window.lower()) if word in TYPES]
            for wanted in dict.fromkeys([*said[:2], "string"]):
                other = put(call, (*parent, name), EXAMPLES[wanted])
                yield _edit((*parent, name), window, f"add {wanted}", other, 0.0, near=place >= 0, named=bool(said))
            if holder and not parent:
                yield _edit((name,), window, "nest", {name: holder}, 0.0, near=place >= 0, named=False)
