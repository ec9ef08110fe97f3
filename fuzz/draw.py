"""Bytes → values: what the fuzzing draws from one input. Any bytes are some values, and small changes stay small.

    Draw(b"...").value()      any value of Python          .json()       one that JSON can hold
    .text() .words()          texts, mostly of our own proofs             .schema() .tool() .result() .call() .message()
    .options(table)           keywords: of each entry of the table mostly nothing, sometimes what its function draws

A choice takes one byte, a text its bytes. After the last byte every choice is 0, which is always the simplest thing.
`size` grows with what was drawn: what may take time in proportion to it is measured by it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fuzz import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")
_DEEPEST: Final = 6
_MOST_PARTS: Final = 60
_LONGEST: Final = 6_000


class Draw:
    """Draws values from `data`, from its first byte on."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.size = len(data)
        self._parts = 0

    # Choices

    def byte(self) -> int:
        """Return the next byte, 0 after the last one."""
        at = self.at
        if at >= len(self.data):
            return 0
        self.at = at + 1
        return self.data[at]

    def one(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        count = len(options)
        return options[(self.byte() if count <= 256 else self.byte() << 8 | self.byte()) % count]

    def flag(self) -> bool:
        """Return False or True."""
        return self.byte() % 2 == 1

    def several(self, make: Callable[[], T], most: int = 4) -> list[T]:
        """Return a list of up to `most` values."""
        return [make() for _ in range(self.byte() % (most + 1))]

    def options(self, table: Mapping[str, Callable[[Draw], Any]]) -> dict[str, Any]:
        """Return keywords for a function: each entry of the table with a chance of a quarter."""
        names = list(table)
        chosen: dict[str, Any] = {}
        for start in range(0, len(names), 8):
            mask = self.byte() & self.byte()
            chosen |= {name: table[name](self) for bit, name in enumerate(names[start : start + 8]) if mask >> bit & 1}
        return chosen

    def raw(self) -> bytes:
        """Return all bytes that are left."""
        rest = self.data[self.at :]
        self.at = len(self.data)
        return rest

    def piece(self, most: int = 255) -> bytes:
        """Return some of the bytes that are left."""
        length = self.byte() % (most + 1)
        found = self.data[self.at : self.at + length]
        self.at += len(found)
        return found

    def cuts(self, data: bytes) -> list[bytes]:
        """Return the data in pieces, which may be empty."""
        pieces: list[bytes] = []
        for _ in range(self.byte() % 6):
            size = self.byte() % 40
            pieces.append(data[:size])
            data = data[size:]
        return [*pieces, data]

    # Texts and numbers

    def text(self) -> str:
        """Return a text: words of protocols, sentences of our proofs, the bytes themselves, or several of them."""
        kind = self.byte()
        if kind < 90:
            text = self.one(words.KEYS)
        elif kind < 130:
            text = self.one(words.sentences())
        elif kind < 150:
            text = self.odd()
        elif kind < 200:
            text = _decoded(self.piece(40))
        elif kind < 245:
            text = self.one((" ", "", "\n", ". ", ", ", "\n\n", "=", '"')).join(
                self.several(lambda: self.text() if self._room() else "")
            )
        elif kind < 252:
            text = json.dumps(self.json()) if self._room() else ""
        else:
            text = self.text() if self._room() else "a"
            # One text in an input may be long, not each of many.
            most = 0 if self.size > _LONGEST else _LONGEST // max(1, len(text))
            text *= max(1, min(most, 4 ** (self.byte() % 8)))
        text = text[:_LONGEST]
        self.size += len(text)
        return text

    def odd(self) -> str:
        """Return a few characters: each category of Unicode as often as any other, and what is beside numbers."""
        return "".join(
            self.several(lambda: self.one("19-.") if self.flag() else self.one(self.one(words.characters())), 5)
        )

    def answer(self) -> str:
        """Return a text as a model writes it: sentences with numbers, names and dates."""
        return self.one((" ", "\n", "\n\n", "; ")).join(self.several(self.clause, 8))

    def clause(self) -> str:
        """Return a sentence, or something that sentences hold."""
        kind = self.byte()
        if kind < 110:
            text = self.one(words.sentences())
        elif kind < 150:
            text = self.one(words.CLAIMS)
        elif kind < 200:
            number = self.odd() if kind >= 180 else f"{self.number()!r:.30}"
            text = f"{self.one(words.SUBJECTS)} {number} {self.one(words.UNITS)}"
        else:
            return self.text()
        self.size += len(text)
        return text

    def words(self) -> list[str]:
        """Return a few texts to look for."""
        return self.several(lambda: self.one(words.PATTERNS) if self.flag() else self.text())

    def number(self) -> int | float:
        """Return a number of any size."""
        kind = self.byte()
        if kind < 128:
            return kind - 8
        if kind < 200:
            return self.one(words.NUMBERS)
        if kind < 230:
            return int.from_bytes(self.piece(9), "big", signed=True)
        return (self.byte() << 8 | self.byte()) / self.one((1, 10, 100, 1_000, 10_000))

    def share(self) -> float:
        """Return a number from 0 to 1."""
        return (self.byte() % 21) / 20

    def scalar(self) -> object:
        """Return a value without parts that JSON can hold (and some odd numbers)."""
        match self.byte() % 8:
            case 0:
                return None
            case 1:
                return self.flag()
            case 2 | 3:
                return self.number()
            case _:
                return self.text()

    # Values

    def _room(self) -> bool:
        self._parts += 1
        return self._parts < _MOST_PARTS and self.at < len(self.data)

    def json(self, depth: int = 0) -> Any:
        """Return a value as JSON holds it."""
        kind = self.byte() % 8 if depth < _DEEPEST and self._room() else 0
        if kind < 4:
            return self.scalar()
        if kind < 6:
            return {self.text(): self.json(depth + 1) for _ in range(self.byte() % 4)}
        items = [self.json(depth + 1) for _ in range(self.byte() % 4)]
        if kind == 7 and self.byte() > 200 and not any(isinstance(item, dict | list) for item in items):
            items *= 2 ** (self.byte() % 8)
            self.size += sum(len(item) if isinstance(item, str) else 8 for item in items)
        return items

    def members(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {self.text(): self.json(1) for _ in range(self.byte() % 5)}

    def value(self, depth: int = 0) -> Any:
        """Return any value of Python: also what JSON does not hold, and values that share their parts."""
        kind = self.byte() % 16 if depth < _DEEPEST and self._room() else 0
        match kind:
            case 0 | 1 | 2:
                return self.scalar()
            case 3 | 4 | 5:
                return self.json(depth)
            case 6 | 7:
                return {self._odd_key(): self.value(depth + 1) for _ in range(self.byte() % 4)}
            case 8 | 9:
                return [self.value(depth + 1) for _ in range(self.byte() % 4)]
            case 10:
                return tuple(self.value(depth + 1) for _ in range(self.byte() % 3))
            case 11:
                shared = self.value(depth + 1)
                return [shared, shared]
            case 12:
                return self.one((b"", b"\xff", object(), ..., {1}, frozenset(), range(3), 1j, int, len, Exception("x")))
            case 13:
                return self._shared()
            case 14:
                return json.dumps(self.json(depth))
            case _:
                return self.schema(depth)

    def _odd_key(self) -> object:
        kind = self.byte()
        return self.text() if kind < 220 else self.one((None, 0, 1.5, True, (1,), b"a", -(10**30), float("nan")))

    def _shared(self) -> object:
        # Values without an end are for tests/test_endless.py: each would take the time of a thousand others.
        inner: Any = self.scalar()
        for _ in range(self.byte() % 8):
            inner = [inner, inner] if self.flag() else {"a": inner, "b": inner}
        return inner

    def keyed(self, table: Mapping[str, Callable[[], object]]) -> dict[str, Any]:
        """Return an object with some of the members of the table, and sometimes with one more."""
        chosen = self.options({name: _ignoring_draw(make) for name, make in table.items()})
        if self.byte() > 230:
            chosen[self.text()] = self.value(3)
        return chosen

    def schema(self, depth: int = 0) -> Any:
        """Return a JSON Schema, mostly a legal one."""
        if depth >= _DEEPEST or not self._room():
            return True
        kind = self.byte()
        if kind < 24:
            return self.one((True, False, {}, None, 5, "x", []))
        if kind < 40:
            return self.json(depth)
        inner = depth + 1
        found: dict[str, Any] = {"type": self.one(words.TYPES)}
        if kind > 240:
            found["type"] = [self.one(words.TYPES), self.one(words.TYPES)]
        elif kind > 225:
            del found["type"]
        for _ in range(self.byte() % 5):
            name = self.one(words.KEYWORDS)
            found[name] = self._keyword(name, inner)
        if found.get("type") == "object" and "properties" not in found and kind < 200:
            found["properties"] = self._named(inner)
            found["required"] = [self.one(words.NAMES) for _ in range(self.byte() % 3)]
        return found

    def _named(self, depth: int) -> dict[str, object]:
        return {self.one(words.NAMES): self.schema(depth) for _ in range(self.byte() % 4)}

    def _keyword(self, name: str, depth: int) -> object:
        if self.byte() > 245:
            return self.value(depth)
        if name in words.HOLD_NAMED:
            return self._named(depth)
        if name in words.HOLD_MANY:
            return [self.schema(depth) for _ in range(self.byte() % 3)]
        if name in words.HOLD_ONE:
            return self.schema(depth)
        if name in words.HOLD_COUNT:
            return self.byte() % 8
        if name in words.HOLD_NUMBER:
            return self.number()
        match name:
            case "enum" | "examples":
                return [self.json(depth) for _ in range(self.byte() % 4)]
            case "required":
                return [self.one(words.NAMES) for _ in range(self.byte() % 4)]
            case "dependentRequired":
                return {self.one(words.NAMES): [self.one(words.NAMES)]}
            case "pattern":
                return self.one(words.PATTERNS) if self.flag() else self.text()
            case "format":
                return self.one(words.FORMATS)
            case "$ref" | "$dynamicRef":
                return self.one(words.REFERENCES)
            case "$schema":
                return self.one(words.DIALECTS)
            case "uniqueItems" | "nullable":
                return self.flag()
            case _:
                return self.json(depth)

    # Messages of the protocols

    def tool(self) -> Any:
        """Return a tool, mostly as MCP has it."""
        kind = self.byte()
        if kind > 240:
            return self.value()
        tool: dict[str, Any] = {"name": self.one(words.TOOLS) if kind < 200 else self.value(3)}
        tool |= self.keyed(
            {
                "inputSchema": self.schema,
                "outputSchema": self.schema,
                "description": self.text,
                "annotations": self.json,
                "parameters": self.schema,
                "input_schema": self.schema,
                "function": self.json,
            }
        )
        return tool

    def block(self) -> Any:
        """Return a content block of a result or a message."""
        kind = self.byte()
        if kind < 200:
            return {"type": "text", "text": self.text() if kind < 180 else self.value(3)}
        if kind < 240:
            return {"type": self.one(words.BLOCKS), **self.members()}
        return self.value()

    def result(self) -> Any:
        """Return a result of a tool, mostly as MCP has it."""
        kind = self.byte()
        if kind > 200:
            return self.value()
        if kind > 180:
            return self.text()
        result: dict[str, Any] = {"content": self.several(self.block, 3)}
        table: dict[str, Callable[[], object]] = {
            "structuredContent": self.json,
            "isError": lambda: True if self.byte() < 230 else self.value(3),
            "_meta": self.json,
            "error": self.json,
            "success": self.flag,
            "data": self.json,
            "message": self.text,
        }
        return result | self.keyed(table)

    def call(self) -> Any:
        """Return a call as users of the library give it."""
        from toolvet import ToolCall  # noqa: PLC0415 - the fuzzer instruments what it imports first.

        kind = self.byte()
        if kind > 240:
            return self.value()
        name = self.one(words.TOOLS) if kind < 220 else self.text()
        if kind > 120:
            failed = self.one((None, None, True, False))
            return ToolCall(name, self.value(2), self.result(), failed, self.one((None, "1", "2")))
        call = {"name": name, "arguments": self.json(2), "result": self.result()}
        return call | self.keyed({"failed": self.flag, "id": lambda: self.one(("1", "2", 3)), "error": self.text})

    # What options hold

    def warning(self) -> Any:
        """Return a warning for a response."""
        from toolvet import WarningDetail  # noqa: PLC0415 - as above.

        if self.flag():
            return self.keyed({"message": self.text, "code": self.text, "severity": self.text, "context": self.json})
        return WarningDetail(self.text(), self.one((None, "CONTENT_TRUNCATED", "own")), self.one((None, "info", "own")))

    def field_error(self) -> Any:
        """Return what is wrong with one field."""
        from toolvet import FieldError  # noqa: PLC0415 - as above.

        if self.flag():
            return self.keyed({"message": self.text, "field": self.text, "pointer": self.text, "reason": self.text})
        return FieldError(self.text(), self.one((None, "a")), self.one((None, "/a", "a")), self.one((None, "type")))

    def archive(self) -> Any:
        """Return an archive, often one that is small."""
        from toolvet import ContentArchive  # noqa: PLC0415 - as above.

        return ContentArchive(max_bytes=self.one((None, 20, 200, 10_000)))

    def wording(self) -> Any:
        """Return a wording of argument reports."""
        from toolvet import read_wording  # noqa: PLC0415 - as above.

        own = self.one(("", "text.summary_invalid = '{count} {tool}'", "keyword.minimum.problem = '\\u00e9 {limit}'"))
        return read_wording(f"inherit = true\n{own}")

    def message(self) -> Any:
        """Return a message of a conversation in one of the formats, or in none."""
        kind = self.byte()
        if kind > 235:
            return self.value()
        identifier = self.one(("1", "2", None, 3))
        message: dict[str, Any] = {
            self.one(("role", "role", "role", "from", "type", "kind")): self.one(words.ROLES),
            self.one(("content", "content", "content", "parts", "value", "output")): (
                self.answer() if kind < 120 else self.several(self.block, 3)
            ),
        }
        if kind % 4 == 1:
            message["tool_calls"] = self.several(lambda: self._requested(identifier), 2)
        if kind % 4 == 2:
            message |= {"tool_call_id": identifier, "call_id": identifier, "tool_use_id": identifier}
        if kind % 16 == 3:
            message |= self._requested(identifier)
        return message | self.keyed(
            {"finish_reason": lambda: self.one(words.REASONS), "name": self.text, "result": self.result}
        )

    def _requested(self, identifier: object) -> dict[str, Any]:
        name, arguments = self.one(words.TOOLS), self.json(3)
        form = self.byte() % 4
        if form == 0:
            return {"id": identifier, "function": {"name": name, "arguments": json.dumps(arguments)}}
        if form == 1:
            return {"type": "tool_use", "id": identifier, "name": name, "input": arguments}
        if form == 2:
            return {"type": "function_call", "call_id": identifier, "name": name, "arguments": self.text()}
        return {"functionCall": {"name": name, "args": arguments}, "id": identifier}

    def bytes_of_json(self) -> bytes:
        """Return JSON text, now and then with a flaw."""
        text = json.dumps(self.json()).encode()
        if self.byte() < 230:
            return text
        at = self.byte() % (len(text) + 1)
        return text[:at] + self.piece(4) + text[at:]


def _ignoring_draw(make: Callable[[], object]) -> Callable[[Draw], object]:
    return lambda _: make()


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")
