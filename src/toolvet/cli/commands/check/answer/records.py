"""A file or stdin → the answers in it, one after the other as they are read."""

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from toolvet.errors import UsageError
from toolvet.schema.json_value import elements, is_array, is_object, members

_TEXT_KEYS = ("answer", "text", "response", "content")


@dataclass(frozen=True)
class AnswerRecord:
    """One answer with what its record knows of its turn, and where it stands."""

    place: str
    text: str | None
    identity: Mapping[str, object]
    question: str | None = None
    calls: Sequence[object] | None = None
    finish_reason: str | None = None

    @property
    def name(self) -> str:
        """How a reader finds it again: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def answers(file: str, *, lines: bool) -> Iterator[AnswerRecord]:
    """Every answer of a file (`-` is stdin): a text, JSON, or JSONL. With `lines`, every line of a text is one.

    Raises UsageError, with the place, for what cannot be read or is no answer.
    """
    name = "stdin" if file == "-" else file
    with _opened(file) as stream:
        if lines:
            yield from _each_line(stream, name)
            return
        first = _first_line(stream)
        value = _json(first)
        if value is None:
            yield from _whole(first + stream.read(), name)
            return
        yield from _of_value(value, f"{name}, line 1")
        for number, line in enumerate(stream, start=2):
            if line.strip():
                value = _json(line)
                if value is None:
                    raise UsageError(f"{name}, line {number}: not JSON, as line 1 is")
                yield from _of_value(value, f"{name}, line {number}")


@contextmanager
def _opened(file: str) -> Generator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below; what opening it raises is another case
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    with stream:
        try:
            yield stream
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from error


def _first_line(stream: BinaryIO) -> bytes:
    """The first line with something on it, and what stands before it."""
    read = b""
    for line in stream:
        read += line
        if line.strip():
            break
    return read


def _json(line: bytes) -> object | None:
    """The object, list or string that a line is; None for all else, such as a text that is a number."""
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if is_object(value) or is_array(value) or isinstance(value, str) else None


def _each_line(stream: BinaryIO, name: str) -> Iterator[AnswerRecord]:
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield AnswerRecord(f"{name}, line {number}", line.decode("utf-8", "replace").rstrip("\r\n"), {})


def _whole(content: bytes, name: str) -> Iterator[AnswerRecord]:
    """JSON over several lines, or a text."""
    value = _json(content)
    if value is not None:
        yield from _of_value(value, name)
    else:
        # An empty file is an empty answer, and is told as one.
        yield AnswerRecord(name, content.decode("utf-8", "replace"), {})


def _of_value(value: object, place: str) -> Iterator[AnswerRecord]:
    if is_array(value):
        for number, each in enumerate(elements(value), start=1):
            yield from _of_value(each, f"{place}, object {number}")
        return
    if isinstance(value, str):
        yield AnswerRecord(place, value, {})
        return
    yield _of_object(members(value), place)


def _of_object(record: Mapping[str, object], place: str) -> AnswerRecord:
    key = next((each for each in _TEXT_KEYS if each in record), None)
    if key is None:
        raise UsageError(f"{place}: no answer in it; give it under {', '.join(_TEXT_KEYS[:-1])} or {_TEXT_KEYS[-1]}")
    calls = record.get("calls", record.get("tool_calls"))
    question = record.get("question")
    reason = record.get("finish_reason", record.get("stop_reason"))
    return AnswerRecord(
        place,
        _text(record[key], f"{place}, {key}"),
        {"id": record["id"]} if "id" in record else {},
        question if isinstance(question, str) else None,
        elements(calls) if is_array(calls) else None,
        reason if isinstance(reason, str) else None,
    )


def _text(value: object, place: str) -> str | None:
    """A string, null, or the text blocks of a list, as the APIs of model vendors and MCP give them."""
    if value is None or isinstance(value, str):
        return value
    if is_array(value):
        blocks = [members(each).get("text") if is_object(each) else each for each in elements(value)]
        return "".join(block for block in blocks if isinstance(block, str))
    raise UsageError(f"{place}: must be a text, not {type(value).__name__}")
