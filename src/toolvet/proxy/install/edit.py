"""Edits of a configuration file by position, so that comments, order and indentation stay.

text   {"url": "https://host/mcp"}
edits  Edit(1, 6, '"command"'), Edit(8, 26, '"toolvet"')
→ {"command": "toolvet"}
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolvet.schema.json_value import members
from toolvet.transport.jsonc import Document, JsoncError, read_jsonc

Path: TypeAlias = tuple[str | int, ...]

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


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


def rename_member(text: str, document: Document, path: Path, token: str) -> Edit:
    """Give the member at `path` another key; `token` is the key as it is written, with its quotes."""
    start = document.keys[path]
    found = _STRING.match(text, start)
    return Edit(start, start if found is None else found.end(), token)


def indent(text: str, document: Document, path: Path) -> str:
    """Return the white space for a new member after this one: the same as before this one if it has its own line."""
    key = document.keys[path]
    line = text.rfind("\n", 0, key)
    blank = text[line + 1 : key]
    if line < 0 or blank.strip():
        return " "
    return ("\r\n" if text[line - 1 : line] == "\r" else "\n") + blank


def remove_member(text: str, document: Document, path: Path, behind: int, empty: str) -> Edit:
    """Remove the member with the comma between `behind` and it; without such a comma its value becomes `empty`."""
    first, last = document.spans[path]
    earlier = text.rfind(",", behind, document.keys[path])
    return Edit(earlier, last, "") if earlier >= 0 else Edit(first, last, empty)


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
