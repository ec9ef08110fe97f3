"""`--report FORMAT=FILE` of commands with documents of their own: checked before the work, and written after it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from toolvet.errors import UsageError
from toolvet.store.private_file import write_private

T = TypeVar("T")


def parse_reports(wanted: Sequence[str] | None, known: Sequence[str]) -> list[tuple[str, str]]:
    """Split each `FORMAT=FILE`. A missing folder is an error now, not after hours of work. Raises UsageError."""
    writers: list[tuple[str, str]] = []
    for text in wanted or ():
        name, equals, file = text.partition("=")
        if name not in known:
            raise UsageError(f"--report {text}: no report format is named '{name}'; use one of {', '.join(known)}")
        if not equals or not file:
            raise UsageError(f"--report {text}: write it as {name}=FILE, or {name}=- for stdout")
        if file != "-" and not Path(file).resolve().parent.is_dir():
            raise UsageError(f"--report {text}: there is no folder {Path(file).resolve().parent}")
        if file != "-" and Path(file).is_dir():
            raise UsageError(f"--report {text}: {file} is a folder")
        writers.append((name, file))
    return writers


def write_documents(
    document: T, writers: Sequence[tuple[str, str]], formats: Mapping[str, Callable[[T], str]], *, quiet: bool
) -> None:
    """Write all documents: those for stdout there, the others into files that only their owner can read."""
    for name, file in writers:
        text = formats[name](document)
        if file == "-":
            sys.stdout.write(text)
            continue
        try:
            private = write_private(Path(file), text)
        except OSError as error:
            raise UsageError(f"--report {name}={file}: {error.strerror}") from error
        if not private:
            sys.stderr.write(
                f"toolvet: --report {name}={file}: others can read it, and it is not ours to change that\n"
            )
        if not quiet:
            sys.stderr.write(f"{name} report: {file}\n")
