"""The results folder: a report for each server, and a journal of finished servers, so that a run can be continued.

    RESULTS/servers/NAME.json     the report of a server, as `--report json` writes it
    RESULTS/assessed.jsonl        a line for each server, appended when its report is complete
    RESULTS/.lock                 held by the run that writes here

A report is written beside its place and renamed, and only then is its line appended: a run that is killed leaves no
half report that counts. The folder is private, as all reports are.
"""

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from toolvet.assess.many.job import AssessmentJob, AssessmentOutcome
from toolvet.assess.report.document import Report
from toolvet.errors import UsageError

JOURNAL: Final = "assessed.jsonl"
SERVERS: Final = "servers"
_LOCK: Final = ".lock"
_OWN_NAMES: Final = frozenset({SERVERS, JOURNAL, _LOCK})
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME: Final = 80


class ResultsFolder:
    """A folder of results. `done` has the outcomes that an earlier run left and that still hold."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError if the folder cannot be written, holds something else, or another run writes there."""
        self.path = path
        try:
            (path / SERVERS).mkdir(parents=True, exist_ok=True, mode=0o700)
            foreign = sorted(each.name for each in path.iterdir() if each.name not in _OWN_NAMES)
        except OSError as error:
            raise UsageError(f"--into {path}: {error.strerror or error}") from error
        if foreign and not (path / JOURNAL).exists():
            raise UsageError(f"--into {path}: holds {foreign[0]}, so it is not a folder of results; name an empty one")
        self._lock = _take_lock(path)
        self._journal = path / JOURNAL
        self.done: Mapping[str, AssessmentOutcome] = _read_journal(self._journal)

    def earlier(self, job: AssessmentJob, file: str) -> AssessmentOutcome | None:
        """Return an earlier run's outcome for this server, with the same options and the same toolvet; else None.

        Only a report counts: a server that could not be reached is tried again.
        """
        found = self.done.get(job.name)
        if found is None or found.key != job.key or found.file != file or found.ending != "assessed":
            return None
        return found if self.report_file(found).exists() else None

    def report_file(self, outcome: AssessmentOutcome) -> Path:
        """Where the report of a server is."""
        return self.path / SERVERS / f"{outcome.file}.json"

    def read_report(self, outcome: AssessmentOutcome) -> Report:
        """Return the report of a server. Raises UsageError if the file has changed since it was written."""
        file = self.report_file(outcome)
        try:
            return msgspec.json.decode(file.read_bytes(), type=Report)
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{file}: {error}; remove it, and the same command assesses that server again") from error

    def keep(self, outcome: AssessmentOutcome, report: bytes | None) -> None:
        """Write the report, and then the line that says it is there. Raises UsageError if the disk takes neither."""
        try:
            if report is not None:
                write_atomically(self.report_file(outcome), report)
            line = msgspec.json.encode(outcome) + b"\n"
            journal = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(journal, line)
            finally:
                os.close(journal)
        except OSError as error:
            raise UsageError(f"--into {self.path}: {error.strerror or error}") from error

    def close(self) -> None:
        """Let another run write here."""
        self._lock.close()


def file_names(names: Sequence[str]) -> tuple[str, ...]:
    """A file name for each server, different also where the file system knows no capital letters.

    >>> file_names(["io.github.me/Weather", "weather (new)", "io.github.me-weather"])
    ('io.github.me-Weather', 'weather-new', 'io.github.me-weather-2')
    """
    taken: set[str] = set()
    found: list[str] = []
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        base = _ODD.sub("-", plain).strip("-.")[:_LONGEST_NAME] or "server"
        candidate, number = base, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{base}-{number}"
        taken.add(candidate.lower())
        found.append(candidate)
    return tuple(found)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a private file that is there whole or not at all. Raises OSError."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


def _take_lock(path: Path) -> BinaryIO:
    file = os.fdopen(os.open(path / _LOCK, os.O_WRONLY | os.O_CREAT, 0o600), "wb")
    try:
        import fcntl  # noqa: PLC0415 - Windows does not have it, and lets no other process open a file that is being written.

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError as error:
        file.close()
        raise UsageError(f"--into {path}: another run writes there; wait for it, or give another folder") from error
    return file


def _read_journal(path: Path) -> Mapping[str, AssessmentOutcome]:
    """The last outcome of each server. A line that was cut off when a run was killed is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    found: dict[str, AssessmentOutcome] = {}
    for line in lines:
        with suppress(msgspec.DecodeError):
            outcome = msgspec.json.decode(line, type=AssessmentOutcome)
            found[outcome.name] = outcome
    return found
