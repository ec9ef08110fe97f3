"""Manage the verdict store: export, import, prune, check."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from toolvet.core.discover import module_names

StoreOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        env_var="TOOLVET_STORE",
        help="The SQLite file or PostgreSQL URL. [default: `store` in toolvet.toml, else toolvet.db]",
    ),
]


def check(
    *, store: StoreOption = None, json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False
) -> int:
    """Upgrade a store, import what killed processes left in the spool, check it, and count its records.

    Exits with 1 when something is broken.
    """
    from toolvet.cli.commands.store.run import check_store  # noqa: PLC0415 - the heavy half, for this command only

    return check_store(store, as_json=json)


def export(
    file: Annotated[Path, Parameter(help="`….jsonl` for lines of JSON, `….parquet` for a table.")],
    /,
    *,
    store: StoreOption = None,
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    server: Annotated[str | None, Parameter(help="Only those of this server.")] = None,
    newer_than: Annotated[str | None, Parameter(help="Only those of the last `7d`, `12h`, …")] = None,
) -> int:
    """Write a store's records to a file, which `toolvet store import` reads into any other store.

    Verdicts come with their items in the review queue and their labels; without filters, events and
    assessments come as well.
    """
    from toolvet.cli.commands.store.run import export_store  # noqa: PLC0415 - the heavy half, for this command only

    return export_store(store, file, kind=kind, server=server, newer_than=newer_than)


def import_(
    file: Annotated[Path, Parameter(help="A file of `toolvet store export` or `toolvet proxy --store ….jsonl`.")],
    /,
    *,
    store: StoreOption = None,
) -> int:
    """Add the records of a file to a store. Records that it already has are skipped."""
    from toolvet.cli.commands.store.run import import_file  # noqa: PLC0415 - the heavy half, for this command only

    return import_file(store, file)


def prune(
    *,
    store: StoreOption = None,
    older_than: Annotated[
        str | None, Parameter(help="Delete everything older: `30d`, `12h`, `1y`. [default: `[store]` in toolvet.toml]")
    ] = None,
    max_size: Annotated[
        str | None,
        Parameter(help="Delete the oldest verdicts until the database is at most this large: `2GiB`, `500MB`."),
    ] = None,
    labelled: Annotated[bool, Parameter(negative="", help="Also delete labelled verdicts, with their labels.")] = False,
) -> int:
    """Delete old verdicts, events and assessments, and free their space.

    Hourly sums stay for the trends; labelled verdicts stay with their labels.
    """
    from toolvet.cli.commands.store.run import prune_store  # noqa: PLC0415 - the heavy half, for this command only

    return prune_store(store, older_than=older_than, max_size=max_size, labelled=labelled)


_NAMES = module_names("toolvet.server.scores.destinations")


def send(
    destination: Annotated[
        str,
        Parameter(
            help=f"Where to: {', '.join(_NAMES)}; address and keys come from the environment, by the names of its SDK."
        ),
    ],
    /,
    *,
    store: StoreOption = None,
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    server: Annotated[str | None, Parameter(help="Only those of this server.")] = None,
    since: Annotated[
        str | None, Parameter(help="Only those of the last `7d`, `12h`, …, or from `2026-11-22` on (UTC).")
    ] = None,
    dry_run: Annotated[
        bool, Parameter(negative="", help="Send nothing; print how many verdicts would be sent.")
    ] = False,
) -> int:
    """Send verdicts to Langfuse, Opik, Phoenix or an OpenTelemetry collector as scores, each of them once.

    The store remembers what was sent, so the next run sends only new verdicts.

    toolvet store send langfuse --since 7d
    """
    from toolvet.cli.commands.store.sending import send_store  # noqa: PLC0415 - the heavy half, for this command only

    return send_store(store, destination, kind=kind, server=server, since=since, dry_run=dry_run)
