"""The work of `toolvet store send`."""

import sys
import time
from datetime import UTC, datetime
from typing import Literal

from rich.console import Console
from rich.status import Status

from toolvet.cli.options import note_action, store_url
from toolvet.errors import UsageError
from toolvet.server.scores import Sending, destination, send_scores
from toolvet.store import Store, VerdictFilter
from toolvet.store.retention import parse_age


def send_store(
    given: str | None,
    name: str,
    *,
    kind: Literal["call", "arguments", "result", "envelope", "answer"] | None,
    server: str | None,
    since: str | None,
    dry_run: bool,
) -> int:
    """Send what a platform lacks. Returns the exit code; what is wrong comes as a ToolvetError."""
    platform = destination(name)
    wanted = VerdictFilter(kind=kind, server=server, since=None if since is None else read_since(since, time.time()))
    last: Sending | None = None
    with Store(store_url(given), missing="refuse") as store:
        status = Status("opening the store", console=Console(stderr=True)) if sys.stderr.isatty() else None
        if not dry_run:
            note_action(store, "export", f"scores to {platform.title}")
        if status is not None:
            status.start()
        try:
            for last in send_scores(store, platform, wanted, only_look=dry_run):
                if status is not None:
                    status.update(f"{last.sent:,} of {last.total:,} verdicts sent to {platform.title}")
        finally:
            if status is not None:
                status.stop()
            if last is not None:
                title, to_send = platform.title, last.total - last.left_out
                lines = [f"{last.sent:,} verdicts sent to {title} ({last.place})"]
                if dry_run:
                    lines = [f"{to_send:,} verdicts would be sent to {title} ({last.place}); nothing was"]
                if last.left_out:
                    lines.append(f"{last.left_out:,} left out: {title} needs {platform.needs}")
                if last.waiting:
                    lines.append(
                        f"{last.waiting:,} wait: {title} does not have their traces yet, or refuses them; run it again"
                    )
                lines += [f"{title}: {words}" for words in last.complaints]
                sys.stderr.write("\n".join(lines) + "\n")
    return 0


def read_since(words: str, now: float) -> float:
    """Return the time that `7d`, `12h`, a date or a date with its time names. Raises UsageError for anything else.

    >>> read_since("1h", 10_000.0)
    6400.0
    >>> read_since("1970-01-02", 0.0)
    86400.0
    """
    try:
        found = datetime.fromisoformat(words)
    except ValueError:
        try:
            return now - parse_age(words)
        except UsageError as error:
            raise UsageError(f"--since {words}: write 7d, 12h, 2026-11-22 or 2026-11-22T10:00") from error
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
