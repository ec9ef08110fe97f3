"""The table of alerts: `alert_states`."""

from typing import Final

from sqlalchemy import Boolean, Column, Double, Table, Text

from toolvet.store.tables import METADATA

ALERT_STATES: Final = Table(
    "alert_states",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("firing", Boolean, nullable=False),
    Column("since", Double),
    Column("beyond_since", Double),
    Column("value", Double),
    Column("checked", Double),
    Column("delivered", Boolean, nullable=False),
)
"""One row for each alert. `delivered`: its webhook knows the present state."""
