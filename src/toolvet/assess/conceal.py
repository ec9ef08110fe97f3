"""Removes from a finished report what only this run knows: values of the user's variables, and the server's own place.

    SHOP_API_KEY=tk-4711-x given with --env     "bad key tk-4711-x"               → "bad key [redacted]"
    the place /tmp/toolvet-place-x1y2           "/tmp/toolvet-place-x1y2/folder/a"  → "./a"

The rules have seen the real words; two runs of the same server give the same report.
"""

import re
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from toolvet.assess.place import PlacedTarget
from toolvet.core.json_value import is_array, is_object
from toolvet.core.redact import REDACTED
from toolvet.mcp.transport import Target, given_secrets

_T = TypeVar("_T")


class Concealer:
    """Replaces the words of one target wherever they occur."""

    def __init__(self, target: Target, folder: Path | None = None) -> None:
        """Learn the words of `target`; `folder` is the place that was made for it, None for none."""
        given = target.given if isinstance(target, PlacedTarget) else target
        words = dict.fromkeys(given_secrets(given), REDACTED)
        if folder is not None:
            shown = {"work": ".", "home": "~", "tmp": "$TMPDIR"}
            words |= {str(folder): "…", **{str(folder / name): word for name, word in shown.items()}}
        # The longest first: one value may begin with another.
        self._words = dict(sorted(words.items(), key=lambda item: -len(item[0])))
        self._pattern = re.compile("|".join(map(re.escape, self._words))) if words else None

    def text(self, text: str) -> str:
        """Return `text` without the words."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._words[found[0]], text)

    def report(self, report: _T) -> _T:
        """Return `report`, or any part of one, without the words; what holds none of them is the very same object."""
        return report if self._pattern is None else cast("_T", self._walk(report))

    def _walk(self, value: object) -> object:
        if isinstance(value, str) and type(value) is str:
            return self.text(value)
        if isinstance(value, msgspec.Struct):
            fields = {
                name: (old, self._walk(old)) for name in value.__struct_fields__ for old in (getattr(value, name),)
            }
            changed = {name: new for name, (old, new) in fields.items() if new is not old}
            return msgspec.structs.replace(value, **changed) if changed else value
        if is_object(value):
            entries = [(key, old, self.text(key), self._walk(old)) for key, old in value.items()]
            same = all(old is new and key == name for key, old, name, new in entries)
            return value if same else {name: new for _, _, name, new in entries}
        if is_array(value):
            items = [self._walk(item) for item in value]
            return value if all(map(_is_same, items, value)) else items
        return value


def _is_same(first: object, second: object) -> bool:
    return first is second
