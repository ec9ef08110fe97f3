"""The options `--store` and `--report`, as all commands read them, and the words that start toolvet again."""

import getpass
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolvet.core.settings import load_settings
from toolvet.errors import UsageError
from toolvet.store.address import StoreAddress
from toolvet.store.private_file import make_private, write_private
from toolvet.store.settings import StoreSettings

if TYPE_CHECKING:
    from toolvet.core.contract import Lock
    from toolvet.store import Store


DEFAULT_STORE = "toolvet.db"
"""The store of commands that need one, where neither an option nor the environment nor a settings file names it."""


def store_url(given: str | None) -> str:
    """Return the store that an option names, else the one of the settings file, else the default one."""
    return given or load_settings(None)[StoreSettings].url or DEFAULT_STORE


def note_action(store: "Store", action: str, target: str) -> None:
    """Write into the audit log what is about to be done. Raises StoreError, and then it should not be done."""
    from toolvet.store.audit import write_entry  # noqa: PLC0415 - SQLAlchemy, for a few commands

    if store.address.kind == "lines":
        # A file of lines has no log.
        return
    try:
        who = getpass.getuser()
    except (KeyError, OSError):
        who = ""
    write_entry(store, who, action, target)


def checked_store(given: str) -> str:
    """Return a path or URL for `Store`; a path is absolute. Raises UsageError where it cannot be one.

    Says on stderr where others can read the file and we may not change that.
    """
    address = StoreAddress.read(given)
    if address.path is None:
        return given
    if not address.path.parent.is_dir():
        raise UsageError(f"--store {given}: there is no folder {address.path.parent}")
    if not make_private(address.path):
        sys.stderr.write(f"toolvet: --store {given}: others can read it, and it is not ours to change that\n")
    return str(address.path)


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


def own_command() -> tuple[str, ...]:
    """Return the command that starts toolvet, with its full path: desktop programs have a short PATH."""
    import shutil  # noqa: PLC0415 - only for what writes into the settings of other programs

    program = Path(sys.argv[0])
    if program.stem == "toolvet":
        found = shutil.which(str(program))
        if found is not None:
            return (str(Path(found).absolute()),)
    return (sys.executable, "-m", "toolvet")


def load_lock(file: Path) -> "Lock":
    """Return the lock in a file. Raises UsageError if there is none."""
    from toolvet.core.contract import read_lock  # noqa: PLC0415 - most commands have no lock

    try:
        return read_lock(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; write one with toolvet lock --out {file} -- COMMAND") from error
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
