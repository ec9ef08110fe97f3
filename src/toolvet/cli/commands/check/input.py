"""Read the input of `toolvet check …`: a file or stdin → the records in it, one JSON value, a list, or one per line."""

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, Final, NamedTuple

from toolvet.core.json_value import elements, is_object
from toolvet.errors import UsageError


class Record(NamedTuple):
    """One value and its place. `malformed` says why the text is not JSON; `value` is then the text itself."""

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


def read_records(file: str) -> Iterator[Record]:
    """Yield every record of a file (`-` is stdin). Raises UsageError when the file cannot be read or is empty."""
    name = source_name(file)
    content = read_input(file)
    whole = _parse(content, f"{name}, object 1")
    if whole.malformed is None:
        for position, entry in enumerate(elements(whole.value) or [whole.value], start=1):
            yield Record(f"{name}, object {position}", entry)
        return
    lines = [_parse(line, f"{name}, line {n}") for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
    if not lines:
        raise UsageError(f"{name} is empty: give one JSON object, or one per line")
    # Where no line is an object, the lines belong together: one value that is malformed somewhere.
    yield from lines if any(is_object(line.value) for line in lines) or len(lines) == 1 else [whole]


def read_lines(file: str) -> Iterator[Record]:
    """Yield the one value of a file (`-` is stdin), or that of each line; a list is one value.

    Raises UsageError when the file cannot be read, is empty, or a line of several is not JSON.
    """
    name = source_name(file)
    content = read_input(file)
    whole = _parse(content, name)
    lines = [] if whole.malformed is None else [line for line in content.splitlines() if line.strip()]
    if len(lines) < 2 or _parse(lines[0], "").malformed is not None:
        if not content.strip():
            raise UsageError(f"{name} is empty")
        yield whole
        return
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            record = _parse(line, f"{name}, line {number}")
            if record.malformed is not None:
                raise UsageError(f"{record.place}: not JSON: {record.malformed}")
            yield record


def read_input(file: str) -> bytes:
    """Return the content of a file, or of stdin for `-`. Raises UsageError when it cannot be read."""
    with open_input(file) as stream:
        return stream.read()


def _parse(text: bytes, place: str) -> Record:
    # `check answer` loads this file, and a text needs none of it.
    import orjson  # noqa: PLC0415

    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Record(place, text.decode("utf-8", "replace"), malformed=str(error))
    return Record(place, value)


SEPARATED: Final = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET: Final = (".parquet", ".pq")


def is_table(file: str) -> bool:
    """Whether a file is a table, by its name."""
    return file.lower().endswith((*SEPARATED, *PARQUET))


def source_name(file: str) -> str:
    """Return the name of a file in messages: `stdin` for `-`."""
    return "stdin" if file == "-" else file


@contextmanager
def open_input(file: str) -> Generator[BinaryIO]:
    """Open a file, or stdin for `-`, for the length of the block. Raises UsageError when it cannot be read."""
    try:
        if file == "-":
            if sys.stdin.isatty():
                sys.stderr.write("toolvet: reading from stdin; Ctrl-D ends the input\n")
            yield sys.stdin.buffer
        else:
            # pathlib takes 4 ms to load.
            with open(file, "rb") as stream:  # noqa: PTH123
                yield stream
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
