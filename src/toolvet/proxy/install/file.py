"""Install and uninstall on a file: read it, keep a backup, write it completely or not at all."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from toolvet.errors import ConfigError, UsageError
from toolvet.proxy.install.entries import InstallPlan, Wrapper, plan_install, plan_uninstall


def install(path: Path, wrapper: Wrapper, servers: Sequence[str] = ()) -> InstallPlan:
    """Put the servers of this file behind toolvet; the file as it was before is kept beside it (`backup_of`).

    Raises ConfigError as `plan_install` does, UsageError for a file that cannot be read or written.
    """
    with name_file(path):
        plan = plan_install(read_file(path), read_backup(path), wrapper, servers)
    if any(change.done == "wrapped" for change in plan.changes):
        # The backup first: nothing is lost if the second write fails.
        write_file(backup_of(path), plan.before, like=path)
        write_file(path, plan.text, like=path)
    return plan


def planned(path: Path, wrapper: Wrapper, servers: Sequence[str] = ()) -> tuple[str, InstallPlan]:
    """Return the text of the file, and the plan that `install` would carry out. Raises as `install` does."""
    with name_file(path):
        text = read_file(path)
        return text, plan_install(text, read_backup(path), wrapper, servers)


def uninstall(path: Path, servers: Sequence[str] = ()) -> InstallPlan:
    """Undo `install` and return the plan. The backup is removed when nothing differs from it any more.

    Raises as `install` does.
    """
    with name_file(path):
        before = read_backup(path)
        plan = plan_uninstall(read_file(path), before, servers)
    if any(change.done == "unwrapped" for change in plan.changes):
        write_file(path, plan.text, like=path)
    if before is not None and plan.text == before:
        backup_of(path).unlink(missing_ok=True)
    return plan


def backup_of(path: Path) -> Path:
    """Return where the file from before toolvet is kept: `mcp.json.before-toolvet`."""
    return path.with_name(path.name + ".before-toolvet")


def read_file(path: Path) -> str:
    """Return the text of a file with its own line ends. Raises ConfigError, UsageError."""
    try:
        # As bytes: text mode would change the line ends to those of this system.
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", file=str(path)) from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def read_backup(path: Path) -> str | None:
    """Return the text from before toolvet; None if none is kept."""
    file = backup_of(path)
    return read_file(file) if file.exists() else None


def write_file(path: Path, text: str, *, like: Path) -> None:
    """Write a temporary file and replace `path` by it, so that a full disk or a crash leaves the old one.

    Links stay links. A new file gets the permissions of `like`.
    """
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
            # It may hold tokens: the permissions stay as they were.
            temporary.chmod((target if target.exists() else like).stat().st_mode & 0o777)
            temporary.replace(target)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def name_file(path: Path) -> Generator[None]:
    """Add the name of the file to errors: the plans know only its text."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(error.problem, file=str(path), line=error.line, key=error.key) from error
