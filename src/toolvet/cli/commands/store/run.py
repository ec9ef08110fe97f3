"""The work of `toolvet store`: a store and what to do with it → what was done, in a sentence."""

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.status import Status

from toolvet.cli.options import note_action, store_url
from toolvet.core.settings import load_settings
from toolvet.core.visible import json_text
from toolvet.errors import UsageError
from toolvet.store import Store, VerdictFilter
from toolvet.store.queue_reading import ItemFilter, count_items
from toolvet.store.retention import parse_age, parse_retention
from toolvet.store.settings import StoreSettings


def export_store(
    given: str | None,
    file: Path,
    *,
    kind: Literal["call", "arguments", "result", "envelope", "answer"] | None,
    server: str | None,
    newer_than: str | None,
) -> int:
    """Write a file. Returns the exit code."""
    since = None if newer_than is None else time.time() - parse_age(newer_than)
    wanted = VerdictFilter(kind=kind, server=server, since=since)
    with Store(store_url(given), missing="refuse") as store:
        note_action(store, "export", f"verdicts to {file}")
        count = _shown(store.export(file, wanted), "written")
    sys.stderr.write(f"{count:,} records in {file}\n")
    return 0


def import_file(given: str | None, file: Path) -> int:
    """Add the records of a file. Returns the exit code."""
    with Store(store_url(given)) as store:
        before, items_before = store.count(), _items_of(store)
        note_action(store, "import", f"{file}")
        count = _shown(store.take_in(file), "read")
        added, items = store.count() - before, _items_of(store) - items_before
    more = f", {items:,} items of the review queue" if items else ""
    sys.stderr.write(f"{count:,} records read, {added:,} verdicts new{more}\n")
    return 0


def _items_of(store: Store) -> int:
    with store.reading() as connection:
        return count_items(connection, ItemFilter())


def prune_store(given: str | None, *, older_than: str | None, max_size: str | None, labelled: bool) -> int:
    """Delete what is too old or too much. Returns the exit code."""
    settings = load_settings(None)[StoreSettings]
    age, size = older_than or settings.older_than, max_size or settings.max_size
    if age is None and size is None:
        raise UsageError("what may go? Give --older-than 30d, --max-size 2GiB, or set them under [store]")
    retention = parse_retention(age, size, labelled=labelled)
    with Store(store_url(given), missing="refuse") as store, _status() as status:
        limits = [f"older than {age}"] * (age is not None) + [f"more than {size}"] * (size is not None)
        note_action(store, "delete", f"verdicts {', '.join(limits)}")
        pruned = store.prune(
            retention, progress=lambda count: None if status is None else status.update(f"{count:,} verdicts deleted")
        )
    sys.stderr.write(
        f"deleted {pruned.verdicts:,} verdicts, {pruned.events:,} events and {pruned.assessments:,} assessments;"
        f" {_size(pruned.bytes_before)} before, {_size(pruned.bytes_after)} after\n"
    )
    if pruned.kept:
        sys.stderr.write(
            f"kept {pruned.kept:,} verdicts because people labelled them; --labelled deletes them with their labels\n"
        )
    return 0


def check_store(given: str | None, *, as_json: bool) -> int:
    """Print what a store has, and what is broken. Returns 1 where something is."""
    url = store_url(given)
    with Store(url, missing="refuse") as store:
        health = store.health()
        shown = store.address.shown
    if as_json:
        sys.stdout.write(json_text(health))
        return int(bool(health.problems))
    counts = f"{health.verdicts:,} verdicts, {health.signals:,} signals, {health.events:,} events"
    lines = [
        f"{shown}  (revision {health.revision}, {_size(health.bytes)})",
        f"{counts}, {health.assessments:,} assessments",
    ]
    if health.first is not None and health.last is not None:
        lines.append(f"from {_time(health.first)} to {_time(health.last)}")
    if health.waiting:
        lines.append(f"{_size(health.waiting)} wait in the spool of processes that still run")
    lines += [f"dropped: {words}" for words in health.dropped]
    lines += [f"broken: {words}" for words in health.problems] or ["sound"]
    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(line, markup=False)
    return int(bool(health.problems))


def _shown(counts: Iterable[int], done: str) -> int:
    last = 0
    with _status() as status:
        for last in counts:
            if status is not None:
                status.update(f"{last:,} records {done}")
    return last


@contextmanager
def _status() -> Generator[Status | None]:
    if not sys.stderr.isatty():
        yield None
        return
    with Status("opening the store", console=Console(stderr=True)) as status:
        yield status


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
