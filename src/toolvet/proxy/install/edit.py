"""Changes to a configuration file, letter by letter: what stands where, what stood there, what is to stand there."""

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
    """Put `text` where the letters from `start` to `end` are."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """All of them done; none may overlap another."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def written(value: object) -> str:
    """As JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def marked(text: str) -> tuple[str, str]:
    """A byte order mark, as Windows writes it, and the rest."""
    rest = text.removeprefix("\ufeff")
    return text[: len(text) - len(rest)], rest


def renamed(text: str, document: Document, path: Path, token: str) -> Edit:
    """This member under another key, given as it is written, with its quotes."""
    start = document.keys[path]
    found = _STRING.match(text, start)
    return Edit(start, start if found is None else found.end(), token)


def indent(text: str, document: Document, path: Path) -> str:
    """What stands before a member that is written behind this one: as before this one, if that has a line."""
    key = document.keys[path]
    line = text.rfind("\n", 0, key)
    blank = text[line + 1 : key]
    if line < 0 or blank.strip():
        return " "
    return ("\r\n" if text[line - 1 : line] == "\r" else "\n") + blank


def without(text: str, document: Document, path: Path, behind: int, empty: str) -> Edit:
    """The member gone, with the comma between `behind` and it; `empty` as its value, where there is no such comma."""
    first, last = document.spans[path]
    earlier = text.rfind(",", behind, document.keys[path])
    return Edit(earlier, last, "") if earlier >= 0 else Edit(first, last, empty)


class Backup:
    """The text of before toolvet. One that is missing or broken costs formatting, and nothing else."""

    def __init__(self, text: str | None) -> None:
        self._text = marked(text)[1] if text is not None else ""
        try:
            self._document = read_jsonc(self._text) if text is not None else None
        except JsoncError:
            self._document = None

    def text_of(self, *path: str | int) -> str | None:
        """How the value at this path was written."""
        if self._document is None or path not in self._document.spans:
            return None
        start, end = self._document.spans[path]
        return self._text[start:end]

    def key_of(self, *path: str | int) -> str | None:
        """How the key of this member was written, with its quotes."""
        if self._document is None or path not in self._document.keys:
            return None
        found = _STRING.match(self._text, self._document.keys[path])
        return None if found is None else found[0]

    def value_of(self, *path: str | int) -> object:
        """What stood at this path; None when nothing did."""
        value: object = None if self._document is None else self._document.value
        for key in path:
            value = members(value).get(str(key))
        return value
