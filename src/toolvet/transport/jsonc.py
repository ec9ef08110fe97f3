"""JSON as editors write it: `//` and `/* */` comments, trailing commas; and where in the text everything stands."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, cast

Path: TypeAlias = tuple[str | int, ...]


class JsoncError(ValueError):
    """The text is no JSON; `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True)
class Document:
    """A decoded text, and where things stand in it, by the path of keys that leads to them.

    `lines` has the line (from 1) of every member and item, `spans` where the text of its value starts and ends (offsets
    in characters, behind a byte order mark), `keys` where a member's key starts.
    """

    value: object
    lines: dict[Path, int]
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """The line of `path`, or of the nearest of its ancestors that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_jsonc(text: str) -> Document:
    """Decode `text`. Raises JsoncError with the first thing that is wrong and its line."""
    reader = _JsoncReader(text.removeprefix("\ufeff"))
    value = reader.value(())
    reader.skip()
    if reader.at < len(reader.text):
        raise reader.error("there is more after the end of the document")
    return Document(value, reader.lines, reader.spans, reader.keys)


_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[^\s,\]}]{1,20}")
_DEPTH = 100


class _JsoncReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.spans: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, int] = {}
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def value(self, path: Path) -> object:
        self.skip()
        self.lines.setdefault(path, self._line())
        if len(path) > _DEPTH:
            raise self.error(f"nested deeper than {_DEPTH} levels")
        start = self.at
        value = self._value(path)
        self.spans[path] = (start, self.at)
        return value

    def _value(self, path: Path) -> object:
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(path)
            case "[":
                return self._array(path)
            case '"':
                return self._string()
            case _:
                return self._scalar()

    def skip(self) -> None:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self.error("a comment that starts with /* and never ends")

    def error(self, problem: str) -> JsoncError:
        return JsoncError(problem, self._line())

    def _object(self, path: Path) -> dict[str, object]:
        members: dict[str, object] = {}
        for _ in self._members("}"):
            if self.text[self.at] != '"':
                raise self.error(f"expected a key in double quotes, found {self._found()}")
            line, start = self._line(), self.at
            key = self._string()
            if key in members:
                raise JsoncError(f'the key "{key}" stands here a second time', line)
            self.skip()
            if not self.text.startswith(":", self.at):
                raise self.error(f'expected ":" after the key "{key}", found {self._found()}')
            self.at += 1
            self.lines[*path, key] = line
            self.keys[*path, key] = start
            members[key] = self.value((*path, key))
        return members

    def _array(self, path: Path) -> list[object]:
        items: list[object] = []
        for _ in self._members("]"):
            items.append(self.value((*path, len(items))))
        return items

    def _members(self, end: str) -> Iterable[None]:
        """Stand before each member in turn; the caller reads it. A comma before the end is allowed."""
        self.at += 1
        while True:
            self.skip()
            if self.text.startswith(end, self.at):
                break
            self._unfinished(end)
            yield
            self.skip()
            self._unfinished(end)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith(end, self.at):
                raise self.error(f'expected "," or "{end}", found {self._found()}')
        self.at += 1

    def _unfinished(self, end: str) -> None:
        if self.at >= len(self.text):
            raise self.error(f'the document ends before a closing "{end}"')

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("a string that does not end on its line")
        try:
            text = cast("str", json.loads(match[0]))
        except ValueError as error:
            raise self.error(f"a string with an illegal escape: {match[0][:40]}") from error
        self.at = match.end()
        return text

    def _scalar(self) -> object:
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise self.error(f"expected a value, found {self._found()}")
        self.at = match.end()
        return cast("object", json.loads(match[0]))

    def _found(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match[0] if match else (self.text[self.at : self.at + 1] or "the end of the document")

    def _line(self) -> int:
        return bisect_right(self._breaks, self.at - 1) + 1
