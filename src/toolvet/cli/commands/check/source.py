"""Where `toolvet check …` reads from: a file or stdin, open for reading."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO, Final

from toolvet.errors import UsageError

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
            yield sys.stdin.buffer
        else:
            # pathlib takes 4 ms to load.
            with open(file, "rb") as stream:  # noqa: PTH123
                yield stream
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
