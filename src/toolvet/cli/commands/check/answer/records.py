"""Read the input of `toolvet check answer`: a file or stdin → the answers in it, one after the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import orjson

from toolvet.cli.commands.check.records import open_input, source_name
from toolvet.errors import UsageError
from toolvet.schema.json_value import elements, is_array, is_object, members

_TEXT_KEYS: Final = ("answer", "text", "response", "content")


@dataclass(frozen=True)
class AnswerRecord:
    """One answer, its place in the input, and what its record says about its turn."""

    place: str
    text: str | None
    identity: Mapping[str, object]
    question: str | None = None
    calls: Sequence[object] | None = None
    finish_reason: str | None = None
    trace: str | None = None

    @property
    def name(self) -> str:
        """The name of the answer in the output: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def read_answers(file: str, *, lines: bool) -> Iterator[AnswerRecord]:
    """Yield every answer of a file (`-` is stdin): a text, JSON, or JSONL. With `lines`, each line of a text is one.

    Raises UsageError, with the place, for input that cannot be read or does not contain an answer.
    """
    name = source_name(file)
    with open_input(file) as stream:
        if lines:
            yield from _read_lines(stream, name)
            return
        first = _read_first_line(stream)
        value = _decode(first)
        if value is None:
            yield from _read_whole(first + stream.read(), name)
            return
        yield from _read_value(value, f"{name}, line 1")
        for number, line in enumerate(stream, start=2):
            if line.strip():
                value = _decode(line)
                if value is None:
                    raise UsageError(f"{name}, line {number}: not JSON, as line 1 is")
                yield from _read_value(value, f"{name}, line {number}")


def _read_first_line(stream: BinaryIO) -> bytes:
    """Read up to the end of the first line that is not blank."""
    read = b""
    for line in stream:
        read += line
        if line.strip():
            break
    return read


def _decode(line: bytes) -> object | None:
    """Decode an object, a list or a string; None for all else, such as a text that is a number."""
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if is_object(value) or is_array(value) or isinstance(value, str) else None


def _read_lines(stream: BinaryIO, name: str) -> Iterator[AnswerRecord]:
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield AnswerRecord(f"{name}, line {number}", line.decode("utf-8", "replace").rstrip("\r\n"), {})


def _read_whole(content: bytes, name: str) -> Iterator[AnswerRecord]:
    """Read JSON over several lines, or a text."""
    value = _decode(content)
    if value is not None:
        yield from _read_value(value, name)
    else:
        # An empty file is an empty answer, and is reported as one.
        yield AnswerRecord(name, content.decode("utf-8", "replace"), {})


def _read_value(value: object, place: str) -> Iterator[AnswerRecord]:
    if is_array(value):
        for number, each in enumerate(elements(value), start=1):
            yield from _read_value(each, f"{place}, object {number}")
        return
    if isinstance(value, str):
        yield AnswerRecord(place, value, {})
        return
    yield _read_object(members(value), place)


def _read_object(record: Mapping[str, object], place: str) -> AnswerRecord:
    key = next((each for each in _TEXT_KEYS if each in record), None)
    if key is None:
        raise UsageError(f"{place}: no answer in it; give it under {', '.join(_TEXT_KEYS[:-1])} or {_TEXT_KEYS[-1]}")
    calls = record.get("calls", record.get("tool_calls"))
    question = record.get("question")
    reason = record.get("finish_reason", record.get("stop_reason"))
    trace = record.get("trace", record.get("trace_id"))
    return AnswerRecord(
        place,
        _read_text(record[key], f"{place}, {key}"),
        {"id": record["id"]} if "id" in record else {},
        question if isinstance(question, str) else None,
        elements(calls) if is_array(calls) else None,
        reason if isinstance(reason, str) else None,
        trace if isinstance(trace, str) and trace else None,
    )


def _read_text(value: object, place: str) -> str | None:
    """Read a string, null, or the text blocks of a list, as the APIs of model vendors and MCP return them."""
    if value is None or isinstance(value, str):
        return value
    if is_array(value):
        blocks = [members(each).get("text") if is_object(each) else each for each in elements(value)]
        return "".join(block for block in blocks if isinstance(block, str))
    raise UsageError(f"{place}: must be a text, not {type(value).__name__}")
