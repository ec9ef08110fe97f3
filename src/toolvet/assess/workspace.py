"""The folders of a server that a command starts: an empty working folder, home and temporary folder of its own.

    workspace = open_workspace(StdioTarget("uvx", ("mcp-server-time",)))
    workspace.target.cwd    # /tmp/toolvet-place-x1y2/work; HOME is …/home and TMPDIR …/tmp
    workspace.close()       # removes all three, once the server has ended

An assessment calls the server with generated arguments: relative paths and `~` then lead to none of the user's files.
Package runners keep their caches and settings (`runners.toml`). The user's settings win: a folder of the target
(`--cwd`), the real home (`--keep-home`) and variables (`--env HOME=…`).

`DiskWatch` ends a run whose server writes too much there. `Concealer` removes from a finished report what only this run
knows, so that two runs of the same server give the same report; the rules have seen the real words:

    SHOP_API_KEY=tk-4711-x given with --env          "bad key tk-4711-x"               → "bad key [redacted]"
    a workspace PLACE among the temporary files      "PLACE/a"                        → "./a"
"""

import asyncio
import operator
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, TypeVar, cast

import msgspec

from toolvet.assess.sandbox import Sandboxed, wrap_in_sandbox
from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_object
from toolvet.core.redact import REDACTED
from toolvet.errors import ToolvetError, UnreachableError, UsageError
from toolvet.mcp.transport import StdioTarget, Target, given_secrets

_PREFIX: Final = "toolvet-place-"
_LOCK: Final = "lock"
# A workspace is made and locked within this time; only an older one without a lock belongs to a run that was killed.
_YOUNG_SECONDS: Final = 60.0
# Windows has no lock that we can ask for without taking the file away from its owner.
_ABANDONED_SECONDS: Final = 86_400.0
_T = TypeVar("_T")
_LOOK_SECONDS: Final = 0.25
# A folder of a hundred thousand files takes long to measure: at most this share of the time goes into it.
_SHARE: Final = 0.1
_BLOCK: Final = 512  # Bytes, in which POSIX counts, whatever the file system has.
_PART: Final = 4  # Characters of a secret at which a quotation may have been cut.


@dataclass(frozen=True, repr=False)
class WorkspaceTarget(StdioTarget):
    """A target in a workspace of its own. It is shown as `given`, the user's words, without paths that exist only now.

    `flags` are the options of `toolvet assess` that lead to the same kind of workspace.
    """

    given: StdioTarget = field(kw_only=True)
    flags: tuple[str, ...] = field(default=(), kw_only=True)

    def describe(self) -> str:
        """Return the command line that the user gave, safe to print."""
        return self.given.describe()


class Workspace:
    """The folders of one server. `target` starts it there; `close` removes what was made for it."""

    def __init__(self, target: Target, folder: Path | None = None, lock: BinaryIO | None = None) -> None:
        self.target = target
        self.folder = folder
        self._lock = lock
        # Also when the interpreter ends without closing, as after a second Ctrl-C.
        self._finalizer = weakref.finalize(self, _remove, folder, lock)

    def explain(self, problem: str) -> str:
        """Return `problem` with a sentence about the workspace, for a server that started and then did not speak."""
        target = self.target
        if not isinstance(target, WorkspaceTarget) or problem.startswith("cannot start"):
            return problem
        own_folder, own_home = target.given.cwd is None, "--keep-home" not in target.flags
        if own_folder and own_home:
            place = "in an empty folder with an empty home"
            hint = f"It was started {place}: `--cwd .` and `--keep-home` start it in the real ones."
        elif own_folder:
            hint = "It was started in an empty folder: `--cwd .` starts it in this one."
        elif own_home:
            hint = "It was started with an empty home: `--keep-home` starts it with the real one."
        else:
            return problem
        return f"{problem}\n{hint}"

    def close(self) -> None:
        """Remove the folders. Call it when the server has ended."""
        self._finalizer()


def open_workspace(
    target: Target, *, keep_home: bool = False, sandbox: bool = False, disk_mib: int | None = None
) -> Workspace:
    """Make the workspace of a server, and remove those that killed runs left behind.

    Args:
        target: The server. A URL is returned as it is, because a server elsewhere has its own folders.
        keep_home: Start it with the real home.
        sandbox: Start it where the rest of the file system is read-only and there is no network.
        disk_mib: How much, in MiB, the sandbox's own temporary folders hold, each; None: what the system allows.

    Raises:
        UsageError: `sandbox` is wanted for a URL, or if there is no program for it.
        UnreachableError: With `sandbox`, there is no such program to start, or no such folder.
    """
    if not isinstance(target, StdioTarget):
        if sandbox:
            raise UsageError("--sandbox is for a command; a URL leads to a server that runs already")
        return Workspace(target)
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX)))
    # Held as long as this run lives, so that no other run takes the workspace for an abandoned one.
    lock = (folder / _LOCK).open("wb")
    with suppress(OSError):  # A file system without locks: the workspace is young, and goes when we end.
        _lock(lock)
    try:
        placed = _in_workspace(target, folder, keep_home=keep_home)
        if sandbox:
            placed = _sandboxed(placed, folder, disk_mib)
    except BaseException:
        _remove(folder, lock)
        raise
    return Workspace(placed, folder, lock)


def _in_workspace(target: StdioTarget, folder: Path, *, keep_home: bool) -> WorkspaceTarget:
    for name in ("work", "tmp", "home"):
        (folder / name).mkdir()
    given = dict(target.env or {})
    env: dict[str, str] = {name: str(folder / "tmp") for name in ("TMPDIR", "TMP", "TEMP")}
    if not keep_home:
        env.update(_home_variables(folder / "home"))
        env.update(_runner_variables(target.command))
    flags = [*(["--cwd", target.cwd] if target.cwd is not None else []), *(["--keep-home"] if keep_home else [])]
    if target.cwd is not None:
        words = (target.command, *target.args)
    else:
        words = absolute_words((target.command, *target.args))
        # A value is a path only where it plainly is one of the current folder: `./shop.db`.
        given = {
            name: _absolute(value, names=False) if value.startswith(("./", "../")) else value
            for name, value in given.items()
        }
    return WorkspaceTarget(
        command=words[0],
        args=tuple(words[1:]),
        env={**env, **given},
        cwd=target.cwd if target.cwd is not None else str(folder / "work"),
        given=target,
        flags=tuple(flags),
    )


def _sandboxed(target: WorkspaceTarget, folder: Path, disk_mib: int | None) -> WorkspaceTarget:
    own = target.given.cwd is not None
    if own and not Path(target.cwd or "").is_dir():
        raise UnreachableError(f"cannot start `{target.describe()}`: there is no folder {target.cwd}")
    path = (target.env or {}).get("PATH", os.environ.get("PATH"))
    program = shutil.which(target.command, path=path)
    if program is None and os.sep not in target.command:
        raise UnreachableError(
            f"cannot start `{target.describe()}`: there is no program named {target.command}; is it installed?"
        )
    wrapped = wrap_in_sandbox(
        Sandboxed(
            command=program or target.command,
            args=target.args,
            cwd=os.path.abspath(target.cwd or folder),  # noqa: PTH100 - resolve() would follow links.
            writable=(str(folder), *([os.path.abspath(target.cwd or folder)] if own else [])),  # noqa: PTH100 - as above
            env=target.env or {},
            scratch_mib=disk_mib,
        )
    )
    return replace(target, command=wrapped[0], args=wrapped[1:], flags=(*target.flags, "--sandbox"))


def _home_variables(home: Path) -> dict[str, str]:
    if sys.platform == "win32":
        roaming, local = home / "AppData" / "Roaming", home / "AppData" / "Local"
        for path in (roaming, local):
            path.mkdir(parents=True)
        found = {"USERPROFILE": home, "APPDATA": roaming, "LOCALAPPDATA": local, "HOME": home}
        return {
            **{name: str(path) for name, path in found.items()},
            "HOMEDRIVE": home.drive,
            "HOMEPATH": str(home)[len(home.drive) :],
        }
    runtime = home / ".runtime"
    runtime.mkdir(mode=0o700)
    found = {
        "HOME": home,
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_RUNTIME_DIR": runtime,
    }
    return {name: str(path) for name, path in found.items()}


def _runner_variables(command: str) -> Iterator[tuple[str, str]]:
    """The variables by which package runners find their caches, programs and settings outside of the new home."""
    program = _program_name(command)
    try:
        home = Path.home()
    except RuntimeError:
        return  # No home at all: nothing to keep.
    folders = {
        "{cache}": os.environ.get("XDG_CACHE_HOME") or str(home / ".cache"),
        "{config}": os.environ.get("XDG_CONFIG_HOME") or str(home / ".config"),
        "{data}": os.environ.get("XDG_DATA_HOME") or str(home / ".local" / "share"),
        "~": str(home),
    }
    for name, kept in _load_runners().variables.items():
        own = os.environ.get(name)
        if own:
            yield name, own
            continue
        parts = (path.split("/") for path in kept.paths)
        paths = [str(Path(folders[head], *rest)) for head, *rest in parts]
        existing = next((path for path in paths if Path(path).exists()), None)
        if existing or program in kept.programs:
            yield name, existing or paths[0]


def absolute_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command line whose relative paths lead to the same files from any folder.

        ("python", "examples/server.py")         ("python", "/project/examples/server.py")
        (".venv/bin/python", "-m", "shop")       ("/project/.venv/bin/python", "-m", "shop"), links not followed
        ("uvx", "mcp-server-time")               unchanged, also where a folder has that name

    Only what exists is a path. A bare name of a folder is one, except where names are packages: behind `-m`, and in the
    command line of a package runner.
    """
    command, *args = words
    runner = _program_name(command) in _load_runners().runners
    if any(separator in command for separator in _separators()):
        command = _absolute(command, names=True)
    else:
        # A folder of PATH may be relative, and is then no longer there.
        path = shutil.which(command)
        if path is not None and not Path(path).is_absolute():
            command = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow the link of a virtual environment.
    found = [command]
    before = ""
    for word in args:
        option, equals, value = word.partition("=")
        if word.startswith("-") and equals:
            changed = f"{option}={_absolute(value, names=False)}"
        elif word.startswith("-"):
            changed = word
        else:
            changed = _absolute(word, names=not runner and before != "-m")
        found.append(changed)
        before = word
    return tuple(found)


def _absolute(word: str, *, names: bool) -> str:
    path = Path(word)
    try:
        there = bool(word) and not path.is_absolute() and path.exists()
    except (OSError, ValueError):
        return word
    shown = word in {".", ".."} or any(separator in word for separator in _separators())
    if not there or not (shown or names):
        return word
    return os.path.abspath(word)  # noqa: PTH100 - resolve() would follow the link of a virtual environment.


def _separators() -> tuple[str, ...]:
    return tuple(separator for separator in (os.sep, os.altsep) if separator)


def _program_name(command: str) -> str:
    name = Path(command).name.lower()
    return name.removesuffix(".cmd").removesuffix(".exe")


def _lock(file: BinaryIO) -> None:
    """Take the lock of `file` without waiting. Raises OSError if another process has it."""
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415 - Windows does not have it.

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(parent: Path) -> None:
    """Remove the workspaces of runs that were killed. Nothing of other users, and nothing that is in use."""
    try:
        found = [entry for entry in os.scandir(parent) if entry.name.startswith(_PREFIX)]
    except OSError:
        return
    for entry in found:
        with suppress(OSError):
            facts = entry.stat(follow_symlinks=False)
            ours = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
            if stat.S_ISDIR(facts.st_mode) and ours and _is_abandoned(Path(entry.path), time.time() - facts.st_mtime):
                _remove(Path(entry.path), None)


def _is_abandoned(folder: Path, age: float) -> bool:
    if sys.platform == "win32":
        return age > _ABANDONED_SECONDS
    if age < _YOUNG_SECONDS:
        return False
    try:
        with (folder / _LOCK).open("rb") as file:
            _lock(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _remove(folder: Path | None, lock: BinaryIO | None) -> None:
    if folder is not None and sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=_make_writable)
    elif folder is not None:
        shutil.rmtree(folder, onerror=_make_writable)
    if lock is not None:
        lock.close()


def _make_writable(retry: Callable[[str], object], path: str, error: object) -> None:
    """Try again with write permission, which a cache of Go modules lacks. What then remains is left to the next run."""
    del error
    with suppress(OSError):
        for changed in (Path(path).parent, Path(path)):
            if not changed.is_symlink():
                changed.chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            retry(path)


class _StoredState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One variable of `runners.toml`."""

    paths: tuple[str, ...]
    programs: frozenset[str] = frozenset()


class RunnerTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`runners.toml` as written."""

    runners: frozenset[str]
    variables: dict[str, _StoredState]


@cache
def _load_runners() -> RunnerTable:
    return read_toml("toolvet.assess", "runners.toml", RunnerTable)


class Concealer:
    """Replaces the words of one target wherever they occur."""

    def __init__(self, target: Target, folder: Path | None = None) -> None:
        given = target.given if isinstance(target, WorkspaceTarget) else target
        self._secrets = tuple(given_secrets(given))
        words = dict.fromkeys(self._secrets, REDACTED)
        if folder is not None:
            shown = {"work": ".", "home": "~", "tmp": "$TMPDIR"}
            words |= {str(folder): "…", **{str(folder / name): word for name, word in shown.items()}}
        # The longest first: one value may begin with another.
        self._words = dict(sorted(words.items(), key=lambda item: -len(item[0])))
        self._pattern = re.compile("|".join(map(re.escape, self._words))) if words else None

    def text(self, text: str) -> str:
        """Return `text` without the words."""
        if self._pattern is None:
            return text
        safe = self._pattern.sub(lambda found: self._words[found[0]], text)
        for secret in self._secrets:
            # Most quotations are cut before they come here, and an ellipsis says where.
            if secret[:_PART] in safe or secret[-_PART:] in safe:
                *cut, last = safe.split("…")
                half = max(_PART, len(secret) // 2)
                parts = [_without_part(part, secret, _PART) for part in cut] + [_without_part(last, secret, half)]
                safe = "…".join(parts)
        return safe

    @contextmanager
    def errors(self, explain: Callable[[str], str]) -> Generator[None]:
        """Remove the words from a ToolvetError that the block raises; `explain` adds to an UnreachableError."""
        try:
            yield
        except UnreachableError as error:
            raise UnreachableError(self.text(explain(str(error)))) from error
        except ToolvetError as error:
            error.args = (self.text(str(error)),)
            raise

    def report(self, report: _T) -> _T:
        """Return `report`, or any part of one, without the words; what holds none of them is the very same object."""
        return report if self._pattern is None else cast("_T", self._walk(report))

    def _walk(self, value: object) -> object:
        if isinstance(value, str) and type(value) is str:
            return self.text(value)
        if isinstance(value, msgspec.Struct):
            fields = {
                name: (old, self._walk(old)) for name in value.__struct_fields__ for old in (getattr(value, name),)
            }
            changed = {name: new for name, (old, new) in fields.items() if new is not old}
            return msgspec.structs.replace(value, **changed) if changed else value
        if is_object(value):
            entries = [(key, old, self.text(key), self._walk(old)) for key, old in value.items()]
            same = all(old is new and key == name for key, old, name, new in entries)
            return value if same else {name: new for _, _, name, new in entries}
        if isinstance(value, list | tuple):
            old_items = cast("list[object] | tuple[object, ...]", value)
            items = [self._walk(item) for item in old_items]
            if all(map(operator.is_, items, old_items)):
                return old_items
            return items if isinstance(value, list) else tuple(items)
        return value


def _without_part(text: str, secret: str, fewest: int) -> str:
    """A text without the beginning of a secret at its end, or the end of one at its beginning."""
    half = max(_PART, len(secret) // 2)
    for size in range(min(len(secret) - 1, len(text)), fewest - 1, -1):
        if text.endswith(secret[:size]):
            text = text[:-size] + REDACTED
        elif size >= half and text.startswith(secret[-size:]):
            text = REDACTED + text[size:]
    return text


def disk_used(folder: Path) -> int:
    """How many bytes of disk all below `folder` takes; links are not followed, and holes in files are free."""
    found = 0
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):  # It was removed in the meantime.
                    facts = entry.stat(follow_symlinks=False)
                    found += getattr(facts, "st_blocks", -(-facts.st_size // _BLOCK)) * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return found


class DiskWatch:
    """Measures a folder while its body runs, and cancels the body if there is too much in it."""

    def __init__(self, folder: Path | None, most_mib: int | None) -> None:
        self.overfilled = ""
        self._folder = folder
        self._most_mib = most_mib
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        body = asyncio.current_task()
        if self._folder is not None and self._most_mib is not None and body is not None:
            self._watching = asyncio.create_task(self._watch(self._folder, self._most_mib, body))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self, folder: Path, most_mib: int, body: asyncio.Task[object]) -> None:
        while True:
            began = time.perf_counter()
            used = await asyncio.to_thread(disk_used, folder)
            if used > most_mib << 20:
                self.overfilled = (
                    f"wrote {used >> 20:,} MiB into its folders, of which at most {most_mib:,} are allowed"
                )
                body.cancel()
                return
            await asyncio.sleep(max(_LOOK_SECONDS, (time.perf_counter() - began) / _SHARE))
