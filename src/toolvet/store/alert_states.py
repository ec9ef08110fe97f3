"""Reads and writes the states of alerts."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, insert, select, update

from toolvet.store.alerts import AlertState
from toolvet.store.tables.alerts import ALERT_STATES


def read_states(connection: Connection) -> Mapping[str, AlertState]:
    """Return the states of all alerts by name; alerts that are no longer in the settings have theirs, too."""
    return {str(row["name"]): AlertState(**row) for row in connection.execute(select(ALERT_STATES)).mappings()}


def locked_state(connection: Connection, name: str) -> AlertState | None:
    """Return the state of an alert, which no other process changes before this transaction ends; None for a new one."""
    query = select(ALERT_STATES).where(ALERT_STATES.c.name == name).with_for_update()
    row = connection.execute(query).mappings().first()
    return None if row is None else AlertState(**row)


def write_state(connection: Connection, state: AlertState) -> None:
    """Keep a state."""
    fields = msgspec.structs.asdict(state)
    changed = connection.execute(update(ALERT_STATES).where(ALERT_STATES.c.name == state.name).values(**fields))
    if changed.rowcount == 0:
        connection.execute(insert(ALERT_STATES).values(**fields))
