"""Brings the tables of an earlier release up to date, in one transaction, and takes over what they hold."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from toolvet.store.inserting import insert_records
from toolvet.store.lines import event_of_row, verdict_of_answer, verdict_of_call
from toolvet.store.migrations import mark_revision
from toolvet.store.records import StoreRecord

# What migration 0002 calls the tables of the record of the first releases, and what their rows become.
_OLD: Final[Mapping[str, Callable[[Mapping[str, object]], StoreRecord]]] = {
    "old_calls": verdict_of_call,
    "old_events": event_of_row,
    "old_answers": verdict_of_answer,
}
_BATCH: Final = 1000


def upgrade(connection: Connection, revision: str, until: str = "head") -> None:
    """Run the migrations after `revision` on the caller's transaction, all of them or those up to `until`."""
    mark_revision(connection, revision)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    scripts = ScriptDirectory.from_config(config)

    def steps(current: object, _: object) -> Any:
        return scripts._upgrade_revs(until, cast("str", current))  # noqa: SLF001 - as Alembic's own command does  # pyright: ignore[reportPrivateUsage]

    with EnvironmentContext(config, scripts, fn=steps) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
    names = set(inspect(connection).get_table_names())
    for table, read in _OLD.items():
        if table not in names:
            continue
        query = text(f"SELECT rowid AS place, * FROM {table} WHERE rowid > :last ORDER BY rowid LIMIT :most")  # noqa: S608 - our own words
        last = 0
        while rows := [dict(row) for row in connection.execute(query, {"last": last, "most": _BATCH}).mappings()]:
            last = cast("int", rows[-1]["place"])
            insert_records(connection, [read({name: row[name] for name in row if name != "place"}) for row in rows])
        connection.execute(text(f"DROP TABLE {table}"))
