"""JSON with `//` and `/* */` comments and trailing commas, as editors write it, and the place of every value."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

Path: TypeAlias = tuple[str | int, ...]


class JsoncError(ValueError):
    """The text is not JSON with comments; `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True)
class Document:
    """A decoded text, and the places of its values, each by the path of keys that leads to it.

    `lines` has the line (from 1) of every member and item, `spans` the start and end of the text of its value (offsets
    in characters, after a byte order mark), `keys` the start of a member's key.
    """

    value: object
    lines: dict[Path, int]
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """Return the line of `path`, or of its nearest ancestor that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_jsonc(text: str) -> Document:
    """Decode `text`. Raises JsoncError with the first problem and its line.

    >>> document = read_jsonc('{"servers": {}, /* none yet */}')
    >>> document.value, document.line("servers")
    ({'servers': {}}, 1)
    """
    reader = _JsoncReader(text.removeprefix("\ufeff"))
    value = reader.value(())
    reader.skip()
    if reader.at < len(reader.text):
        raise reader.error("there is more after the end of the document")
    return Document(value, reader.lines, reader.spans, reader.keys)


_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD: Final = re.compile(r"[^\s,\]}]{1,20}")
_MAX_DEPTH: Final = 100


class _JsoncReader:
    """The text and the position in it; each method reads one kind of value and moves the position behind it."""

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
        if len(path) > _MAX_DEPTH:
            raise self.error(f"nested deeper than {_MAX_DEPTH} levels")
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
                raise self.error(f"expected a key in double quotes, found {self._describe_next()}")
            line, start = self._line(), self.at
            key = self._string()
            if key in members:
                raise JsoncError(f'the key "{key}" stands here a second time', line)
            self.skip()
            if not self.text.startswith(":", self.at):
                raise self.error(f'expected ":" after the key "{key}", found {self._describe_next()}')
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
        """Move to each member in turn and let the caller read it. A comma before the end is allowed."""
        self.at += 1
        while True:
            self.skip()
            if self.text.startswith(end, self.at):
                break
            self._check_unfinished(end)
            yield
            self.skip()
            self._check_unfinished(end)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith(end, self.at):
                raise self.error(f'expected "," or "{end}", found {self._describe_next()}')
        self.at += 1

    def _check_unfinished(self, end: str) -> None:
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
            raise self.error(f"expected a value, found {self._describe_next()}")
        self.at = match.end()
        return cast("object", json.loads(match[0]))

    def _describe_next(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match[0] if match else (self.text[self.at : self.at + 1] or "the end of the document")

    def _line(self) -> int:
        return bisect_right(self._breaks, self.at - 1) + 1
