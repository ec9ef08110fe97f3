"""The work of `toolvet hook install` and `uninstall`: a client's settings → the settings with and without our hooks."""

import difflib
import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from toolvet.agents.hook import (
    Client,
    HookCommand,
    HookDialect,
    command_in,
    dialect_of,
    has_hooks,
    is_only_hooks,
    with_hooks,
    without_hooks,
)
from toolvet.cli.options import own_command
from toolvet.errors import UsageError
from toolvet.proxy.install import backup_of, name_file, read_backup, read_file, write_file

_NEXT: Final = {
    "claude": "new sessions of Claude Code use it; /hooks shows it",
    "codex": "start Codex and trust the hooks there (/hooks): until then it does not run them",
    "gemini": "new sessions of Gemini CLI use it; /hooks panel shows it",
    "copilot": "new sessions of Copilot CLI use it",
}


def change_settings(
    client: Client,
    what: Literal["install", "uninstall"],
    *,
    project: bool,
    resident: bool = False,
    dry_run: bool = False,
) -> int:
    """Change the settings, say what was done, and return the exit code."""
    dialect = dialect_of(client)
    path = settings_path(dialect, project=project)
    with name_file(path):
        old = read_file(path) if path.exists() else None
        before = read_backup(path)
        if what == "install":
            words = [*own_command(), "hook", client]
            prefix = "TOOLVET_RESIDENT=on " if resident and sys.platform == "linux" else ""
            windows = subprocess.list2cmdline(words)
            posix = windows if sys.platform == "win32" else prefix + shlex.join(words)
            new: str | None = with_hooks(old, dialect, HookCommand(posix, f"& {windows}"))
        elif old is None or not has_hooks(old):
            new = old
        else:
            new = without_hooks(old, before)
            command = command_in(old)
            if before is None and is_only_hooks(new, dialect):
                # The file was made for our hooks, and goes with them.
                new = None
            elif before is not None and command is not None and with_hooks(before, dialect, command) == old:
                # Settings that were not edited since are restored to the byte.
                new = before
    if dry_run:
        lines, changed = ((each or "").splitlines(keepends=True) for each in (old, new))
        sys.stdout.writelines(difflib.unified_diff(lines, changed, str(path), str(path)))
        return 0
    if new == old:
        state = "has the hooks already" if what == "install" else "has no hooks of toolvet"
        sys.stderr.write(f"{path}: {state}\n")
        return 0
    _write(path, old, new, before, what)
    done = f"{dialect.client} now asks toolvet" if what == "install" else f"{dialect.client} no longer asks toolvet"
    sys.stderr.write(f"{path}: {done}\n{_NEXT[client] if what == 'install' else ''}".rstrip() + "\n")
    return 0


def settings_path(dialect: HookDialect, *, project: bool) -> Path:
    """Return the file with the hooks of this folder or of the user."""
    place = dialect.settings
    if project:
        return Path.cwd() / place.project
    moved = os.environ.get(place.home)
    if moved:
        return Path(moved) / place.user.removeprefix(f"{place.home_default}/")
    return Path(place.user).expanduser()


def _write(path: Path, old: str | None, new: str | None, before: str | None, what: str) -> None:
    backup = backup_of(path)
    if new is None:
        try:
            path.unlink()
        except OSError as error:
            raise UsageError(f"{path} cannot be removed: {error.strerror}") from error
        return
    if old is None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        with os.fdopen(handle, "wb") as stream:
            stream.write(new.encode())
        return
    if what == "install" and not has_hooks(old):
        # The backup first: nothing is lost if the second write fails.
        write_file(backup, old, like=path)
    write_file(path, new, like=path)
    if what == "uninstall" and before is not None and new == before:
        with suppress(OSError):
            backup.unlink()
