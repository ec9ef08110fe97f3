"""The work of `toolvet proxy install` and `uninstall`: a client's file → the file rewritten."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from toolvet.cli.options import checked_store, own_command
from toolvet.errors import UsageError
from toolvet.proxy.install import InstallPlan, Wrapper, backup_of, install, planned, uninstall

_WORDS: Final = {
    "wrapped": "now runs through toolvet",
    "unwrapped": "runs without toolvet again",
    "untouched": "left as it is",
    "remote": "left as it is: it is at a URL, and speaks the transport of 2024-11-05 or has an entry of unknown form",
    "sign_in": "left as it is: it is at a URL without credentials, so the client may have to sign in, which it cannot"
    " do for a command; `--server` with its name puts it behind toolvet anyway",
    "secret": "left as it is: its URL holds a secret or a variable, which would be visible on a command line",
    "unreadable": "left as it is: it has no command and arguments that could be put behind another",
}
_ALREADY: Final = {"install": "runs through toolvet already", "uninstall": "does not run through toolvet"}


def install_proxy(
    config: Path,
    servers: Sequence[str],
    *,
    settings: Path | None,
    store: str | None,
    write: Literal["always", "never"],
) -> int:
    """Rewrite the file, print what was done to each server, and return the exit code."""
    # Absolute paths, because clients start servers in folders of their own choice.
    options: list[str] = []
    if settings is not None:
        if not settings.is_file():
            raise UsageError(f"--settings {settings}: no such file")
        options += ["--settings", str(settings.absolute())]
    if store is not None:
        options += ["--store", checked_store(store)]
    wrapper = Wrapper(own_command(), tuple(options))
    if write == "never":
        old, plan = planned(config, wrapper, servers)
        sys.stdout.writelines(
            difflib.unified_diff(
                old.splitlines(keepends=True), plan.text.splitlines(keepends=True), str(config), str(config)
            )
        )
        return 0
    plan = install(config, wrapper, servers)
    _print_changes(plan, "install")
    if any(change.done == "wrapped" for change in plan.changes):
        sys.stderr.write(f"the file as it was: {backup_of(config)}\nrestart the client to use it\n")
    return 0


def uninstall_proxy(config: Path, servers: Sequence[str]) -> int:
    """Undo the rewriting, print what was done to each server, and return the exit code."""
    plan = uninstall(config, servers)
    _print_changes(plan, "uninstall")
    kept = backup_of(config)
    if kept.exists() and not any(change.done == "untouched" for change in plan.changes):
        sys.stderr.write(f"the file was edited since `install`; as it was before, it is kept as {kept}\n")
    return 0


def _print_changes(plan: InstallPlan, command: Literal["install", "uninstall"]) -> None:
    for change in plan.changes:
        done = _ALREADY[command] if change.done == "already" else _WORDS[change.done]
        sys.stderr.write(f"{change.server}: {done}\n")
