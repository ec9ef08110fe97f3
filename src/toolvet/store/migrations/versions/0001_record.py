"""The record of the first releases: calls, events, answers. No store was ever marked with this revision."""

from alembic import op

revision = "0001"
down_revision = None

_TABLES = """
CREATE TABLE calls (
    at REAL NOT NULL, server TEXT NOT NULL, connection TEXT NOT NULL, id TEXT NOT NULL, tool TEXT NOT NULL,
    era TEXT NOT NULL, outcome TEXT NOT NULL, duration REAL, classification TEXT, state TEXT, blocked TEXT, trace TEXT,
    size INTEGER NOT NULL, detail TEXT NOT NULL
);
CREATE INDEX calls_by_time ON calls (at);
CREATE INDEX calls_by_tool ON calls (server, tool, at);
CREATE INDEX calls_by_trace ON calls (trace);
CREATE TABLE events (
    at REAL NOT NULL, server TEXT NOT NULL, connection TEXT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL,
    tool TEXT
);
CREATE INDEX events_by_time ON events (at);
CREATE TABLE answers (
    at REAL NOT NULL, trace TEXT NOT NULL, score REAL NOT NULL, escalate INTEGER NOT NULL, text TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX answers_by_trace ON answers (trace);
"""


def upgrade() -> None:
    """Make the tables as they were."""
    for statement in _TABLES.strip().split(";\n"):
        op.execute(statement.rstrip(";"))
