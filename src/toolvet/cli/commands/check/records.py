"""A file or stdin → the records in it: one JSON value, a list of them, or one per line."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from toolvet.errors import UsageError
from toolvet.schema.json_value import elements, is_object


@dataclass(frozen=True)
class Record:
    """One value and where it stands. `malformed` says why the text is no JSON; `value` is then the text itself."""

    place: str
    value: object
    malformed: str | None = None

    def members(self) -> Mapping[str, object]:
        """The JSON object that the record is. Raises UsageError with the place for anything else."""
        if self.malformed is not None:
            raise UsageError(f"{self.place}: not JSON: {self.malformed}")
        if not is_object(self.value):
            raise UsageError(f"{self.place}: must be a JSON object, not {type(self.value).__name__}")
        return self.value


def records(file: str) -> Iterator[Record]:
    """Every record of a file (`-` is stdin). Raises UsageError when it cannot be read or is empty."""
    name = "stdin" if file == "-" else file
    content = read(file)
    whole = _parsed(content, f"{name}, object 1")
    if whole.malformed is None:
        for position, entry in enumerate(elements(whole.value) or [whole.value], start=1):
            yield Record(f"{name}, object {position}", entry)
        return
    lines = [_parsed(line, f"{name}, line {n}") for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
    if not lines:
        raise UsageError(f"{name} is empty: give one JSON object, or one per line")
    # Where no line is an object, the lines belong together: one value that is malformed somewhere.
    yield from lines if any(is_object(line.value) for line in lines) or len(lines) == 1 else [whole]


def read(file: str) -> bytes:
    """All of a file, or of stdin for `-`. Raises UsageError when that is not possible."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error


def _parsed(text: bytes, place: str) -> Record:
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Record(place, text.decode("utf-8", "replace"), malformed=str(error))
    return Record(place, value)
