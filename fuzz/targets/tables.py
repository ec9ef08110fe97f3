"""Files of records for `toolvet check …`: JSON, lines of JSON, CSV. Whatever is wrong with them is a UsageError."""

import gzip
import tempfile
from pathlib import Path

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet import UsageError
from toolvet.cli.commands.check.input import is_table, read_lines, read_records
from toolvet.cli.commands.check.tables import read_table

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108 - memory.
PARTS = (
    *(b"text", b"answer", b",", b";", b"\t", b"\n", b"\r\n", b'"', b'""', b'{"a": 1}', b"[", b"calls", b"\xef\xbb\xbf"),
    *(b"\xff\xfe", b"\0", b"question", b"a", b" ", b"I cannot help.", b"[1, 2]", b"null", b"\r", b"\x1f\x8b", b"{}"),
)


def check(draw: Draw) -> None:
    """One file under one name."""
    name = draw.one(("a.csv", "a.tsv", "a.csv.gz", "a.json", "a.jsonl", "a.parquet", "a.csv"))
    data = draw.raw() if draw.byte() < 100 else b"".join(draw.one(PARTS) for _ in range(min(len(draw.data), 80)))
    path = Path(_FOLDER.name, name)
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") and data[:1] != b"\x1f" else data)
    if is_table(name):
        places = _read(path, lambda: read_table(str(path), None, "answer", ("calls", "question")))
        _read(path, lambda: read_table(str(path), "a", "answer", ("calls", "question")))
    else:
        places = _read(path, lambda: read_records(str(path)))
        _read(path, lambda: read_lines(str(path)))
    holds(len(set(places)) == len(places), "two records have one place")


def _read(path: Path, read: object) -> list[str]:
    try:
        records = list(read())  # type: ignore[operator]
    except UsageError as error:
        holds(path.name in str(error), "the message does not name the file")
        return []
    return [record.place for record in records]
