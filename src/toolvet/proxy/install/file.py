"""`proxy.install` on a file: read, back up, written whole or not at all."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from toolvet.errors import ConfigError, UsageError
from toolvet.proxy.install.entries import InstallPlan, Wrapper, installed, uninstalled


def install(path: Path, wrapper: Wrapper, servers: Sequence[str] = ()) -> InstallPlan:
    """Put the servers of this file behind toolvet; the file as it was before is kept beside it (`backup_of`).

    Raises ConfigError as `installed` does, UsageError for a file that cannot be read or written.
    """
    with _naming(path):
        plan = installed(_read(path), _backup(path), wrapper, servers)
    if any(change.done == "wrapped" for change in plan.changes):
        # The backup first: whatever happens next, nothing is lost.
        _write(backup_of(path), plan.before, like=path)
        _write(path, plan.text, like=path)
    return plan


def planned(path: Path, wrapper: Wrapper, servers: Sequence[str] = ()) -> tuple[str, InstallPlan]:
    """The text of the file, and what `install` would make of it."""
    with _naming(path):
        text = _read(path)
        return text, installed(text, _backup(path), wrapper, servers)


def uninstall(path: Path, servers: Sequence[str] = ()) -> InstallPlan:
    """The way back. The backup goes when nothing differs from it any more."""
    with _naming(path):
        before = _backup(path)
        plan = uninstalled(_read(path), before, servers)
    if any(change.done == "unwrapped" for change in plan.changes):
        _write(path, plan.text, like=path)
    if before is not None and plan.text == before:
        backup_of(path).unlink(missing_ok=True)
    return plan


def backup_of(path: Path) -> Path:
    """Where the file of before toolvet is kept: `mcp.json.before-toolvet`."""
    return path.with_name(path.name + ".before-toolvet")


def _read(path: Path) -> str:
    try:
        # Not read as text: that would turn every line end into the one of this system.
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", file=str(path)) from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _backup(path: Path) -> str | None:
    file = backup_of(path)
    return _read(file) if file.exists() else None


def _write(path: Path, text: str, *, like: Path) -> None:
    """Beside the file and then over it, so that a full disk or a crash leaves the old one. Links stay links."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
            # It may hold tokens: readable for whom it was.
            temporary.chmod((target if target.exists() else like).stat().st_mode & 0o777)
            temporary.replace(target)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Errors name the file: what plans a change knows only a text."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(error.problem, file=str(path), line=error.line, key=error.key) from error
