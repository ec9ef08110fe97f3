"""Read the input of `toolvet check answer`: a file or stdin → the answers in it, one after the other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final, NamedTuple

from toolvet.cli.commands.check.source import is_table, open_input, source_name
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.errors import UsageError

_TEXT_KEYS: Final = ("answer", "text", "response", "content")
# These are only kept: the check does not read them.
_STORED_KEYS: Final = ("model", "variant", "conversation")
_TURN_KEYS: Final = (
    "id",
    "question",
    "calls",
    "tool_calls",
    "finish_reason",
    "trace",
    "trace_id",
    "stop_reason",
    *_STORED_KEYS,
)
_MOST_SHOWN: Final = 20


class AnswerRecord(NamedTuple):
    """One answer, its place in the input, and what its record says about its turn."""

    place: str
    text: str | None
    identity: Mapping[str, object]
    question: str | None = None
    calls: Sequence[object] | None = None
    finish_reason: str | None = None
    trace: str | None = None
    model: str | None = None
    variant: str | None = None
    conversation: str | None = None

    @property
    def name(self) -> str:
        """The name of the answer in the output: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def read_answers(file: str, *, lines: bool, field: str | None = None) -> Iterator[AnswerRecord]:
    """Yield every answer of a file (`-` is stdin): a text, JSON, JSONL or a table. With `lines`, each line is one.

    `field` is the column of a table, or the key of an object, that has the answer.

    Raises UsageError, with the place, for input that cannot be read or does not contain an answer.
    """
    if is_table(file) and not lines:
        yield from _read_table(file, field)
        return
    name = source_name(file)
    with open_input(file) as stream:
        if lines:
            yield from _read_lines(stream, name)
            return
        first = _read_first_line(stream)
        value = _decode(first)
        if value is None:
            yield from _read_whole(first + stream.read(), name, field)
            return
        yield from _read_value(value, f"{name}, line 1", field)
        for number, line in enumerate(stream, start=2):
            if line.strip():
                value = _decode(line)
                if value is None:
                    raise UsageError(f"{name}, line {number}: not JSON, as line 1 is")
                yield from _read_value(value, f"{name}, line {number}", field)


def _read_table(file: str, field: str | None) -> Iterator[AnswerRecord]:
    """Read each row; what other columns say of its turn is read as from an object."""
    from toolvet.cli.commands.check.tables import open_table  # noqa: PLC0415 - only for tables

    with open_table(file) as table:
        column = table.column(field, _TEXT_KEYS)
        others = [each for each in table.columns if each in _TURN_KEYS and each != column]
        for row in table.rows([column, *others]):
            turn = {each: row.value(each) for each in others if row.cells.get(each) not in (None, "")}
            yield _read_object({**turn, column: row.cells.get(column)}, row.place, column)


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
    if line.lstrip(b" \t\r\n")[:1] not in (b"{", b"[", b'"'):
        return None
    # Loading it takes 6 ms, and a text needs none of it.
    import orjson  # noqa: PLC0415

    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if is_object(value) or is_array(value) or isinstance(value, str) else None


def _read_lines(stream: BinaryIO, name: str) -> Iterator[AnswerRecord]:
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield AnswerRecord(f"{name}, line {number}", line.decode("utf-8", "replace").rstrip("\r\n"), {})


def _read_whole(content: bytes, name: str, field: str | None) -> Iterator[AnswerRecord]:
    """Read JSON over several lines, or a text."""
    value = _decode(content)
    if value is not None:
        yield from _read_value(value, name, field)
    elif field is not None:
        raise UsageError(f"{name}: --field {field} needs a table (.csv, .tsv, .parquet) or JSON objects, not a text")
    else:
        # An empty file is an empty answer, and is reported as one.
        yield AnswerRecord(name, content.decode("utf-8", "replace"), {})


def _read_value(value: object, place: str, field: str | None) -> Iterator[AnswerRecord]:
    if is_array(value):
        for number, each in enumerate(elements(value), start=1):
            yield from _read_value(each, f"{place}, object {number}", field)
        return
    if isinstance(value, str):
        yield AnswerRecord(place, value, {})
        return
    yield _read_object(members(value), place, field)


def _read_object(record: Mapping[str, object], place: str, field: str | None) -> AnswerRecord:
    key = next((each for each in (_TEXT_KEYS if field is None else (field,)) if each in record), None)
    if key is None and field is not None:
        raise UsageError(f"{place}: no '{field}' in it; it has {', '.join(map(str, list(record)[:_MOST_SHOWN]))}")
    if key is None:
        raise UsageError(f"{place}: no answer in it; give it under {', '.join(_TEXT_KEYS[:-1])} or {_TEXT_KEYS[-1]}")
    calls = record.get("calls", record.get("tool_calls"))
    question = record.get("question")
    reason = record.get("finish_reason", record.get("stop_reason"))
    trace = record.get("trace", record.get("trace_id"))
    about = {name: value for name in _STORED_KEYS if isinstance(value := record.get(name), str) and value}
    return AnswerRecord(
        place,
        _read_text(record[key], f"{place}, {key}"),
        {"id": record["id"]} if "id" in record else {},
        question if isinstance(question, str) else None,
        elements(calls) if is_array(calls) else None,
        reason if isinstance(reason, str) else None,
        trace if isinstance(trace, str) and trace else None,
        **about,
    )


def _read_text(value: object, place: str) -> str | None:
    """Read a string, null, or the text blocks of a list, as the APIs of model vendors and MCP return them."""
    if value is None or isinstance(value, str):
        return value
    if is_array(value):
        blocks = [members(each).get("text") if is_object(each) else each for each in elements(value)]
        return "".join(block for block in blocks if isinstance(block, str))
    raise UsageError(f"{place}: must be a text, not {type(value).__name__}")
