"""Edits of a configuration file by position, so that comments, order and indentation stay.

text   {"url": "https://host/mcp"}
edits  Edit(1, 6, '"command"'), Edit(8, 26, '"toolvet"')
→ {"command": "toolvet"}
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from toolvet.core.json_value import members
from toolvet.mcp.transport import Document, JsoncError, read_jsonc

Path: TypeAlias = tuple[str | int, ...]

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


class MemberRange(NamedTuple):
    """Where a member is: the text of the file, what was read of it, and the path to the member."""

    text: str
    document: Document
    path: Path

    def at(self, *names: str | int) -> "MemberRange":
        """Return the place of a member further down."""
        return MemberRange(self.text, self.document, (*self.path, *names))

    @property
    def exists(self) -> bool:
        """Whether the file has this member."""
        return self.path in self.document.spans

    @property
    def span(self) -> tuple[int, int]:
        """The positions where the member's value begins and ends. Raises KeyError if there is none."""
        return self.document.spans[self.path]


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with all edits made; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def write_json(value: object) -> str:
    """Return the value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def split_mark(text: str) -> tuple[str, str]:
    """Return the byte order mark, which Windows writes, or "", and the rest of the text."""
    rest = text.removeprefix("\ufeff")
    return text[: len(text) - len(rest)], rest


def rename_member(place: MemberRange, token: str) -> Edit:
    """Give a member another key; `token` is the key as it is written, with its quotes."""
    start = place.document.keys[place.path]
    found = _STRING.match(place.text, start)
    return Edit(start, start if found is None else found.end(), token)


def indent(place: MemberRange) -> str:
    """Return the white space for a new member after this one: the same as before this one if it has its own line."""
    text, key = place.text, place.document.keys[place.path]
    line = text.rfind("\n", 0, key)
    blank = text[line + 1 : key]
    if line < 0 or blank.strip():
        return " "
    return ("\r\n" if text[line - 1 : line] == "\r" else "\n") + blank


def remove_list(place: MemberRange, behind: int) -> Edit:
    """Remove the member with the comma between `behind` and it; without such a comma its value becomes `[]`."""
    first, last = place.span
    earlier = place.text.rfind(",", behind, place.document.keys[place.path])
    return Edit(earlier, last, "") if earlier >= 0 else Edit(first, last, "[]")


class Backup:
    """The text of the file before toolvet changed it. If it is missing or broken, only formatting is lost."""

    def __init__(self, text: str | None) -> None:
        self._text = split_mark(text)[1] if text is not None else ""
        try:
            self._document = read_jsonc(self._text) if text is not None else None
        except JsoncError:
            self._document = None

    def text_of(self, *path: str | int) -> str | None:
        """Return the value at this path as it was written; None if there was none."""
        if self._document is None or path not in self._document.spans:
            return None
        start, end = self._document.spans[path]
        return self._text[start:end]

    def key_of(self, *path: str | int) -> str | None:
        """Return the key of this member as it was written, with its quotes; None if there was none."""
        if self._document is None or path not in self._document.keys:
            return None
        found = _STRING.match(self._text, self._document.keys[path])
        return None if found is None else found[0]

    def value_of(self, *path: str | int) -> object:
        """Return the value at this path; None if there was none."""
        value: object = None if self._document is None else self._document.value
        for key in path:
            value = members(value).get(str(key))
        return value
