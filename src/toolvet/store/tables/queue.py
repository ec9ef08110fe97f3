"""The tables of the review queue: items, the places in them that reviewers take, labels, and every change.

An item has one place for each reviewer that it wants, so that the keys of this table are the rules of the queue: no
more reviewers than places, and no reviewer twice. A label hangs on a place that its reviewer has.
"""

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from toolvet.store.tables import METADATA
from toolvet.store.tables.verdicts import SEQUENCE

QUEUE_ITEMS: Final = Table(
    "queue_items",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("verdict", SEQUENCE, ForeignKey("verdicts.seq", ondelete="CASCADE"), nullable=False, unique=True),
    Column("id", Text, nullable=False, unique=True),
    Column("at", Double, nullable=False),
    Column("rule", Text, nullable=False),
    Column("priority", Integer, nullable=False),
)
"""One row for each verdict that people should see; `id` is the verdict's, `rule` says why it is here."""

Index("queue_items_by_priority", QUEUE_ITEMS.c.priority.desc(), QUEUE_ITEMS.c.seq)

QUEUE_PLACES: Final = Table(
    "queue_places",
    METADATA,
    Column("item", SEQUENCE, ForeignKey("queue_items.seq", ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("reviewer", Text),
    Column("until", Double),
    Column("assigned", Text),
    PrimaryKeyConstraint("item", "place"),
    UniqueConstraint("item", "reviewer"),
    CheckConstraint("state IN ('free', 'leased', 'labelled')", name="queue_places_state"),
    CheckConstraint("(state = 'free') = (reviewer IS NULL)", name="queue_places_reviewer"),
    CheckConstraint("(state = 'leased') = (until IS NOT NULL)", name="queue_places_until"),
)
"""`until` is when a lease ends, in seconds since the epoch; `rank` is the priority with its sign turned.

A place that is `assigned` to a person goes to no other person.
"""

Index(
    "queue_places_open",
    QUEUE_PLACES.c.rank,
    QUEUE_PLACES.c.item,
    QUEUE_PLACES.c.place,
    sqlite_where=QUEUE_PLACES.c.state != "labelled",
    postgresql_where=QUEUE_PLACES.c.state != "labelled",
)
Index("queue_places_by_reviewer", QUEUE_PLACES.c.reviewer, QUEUE_PLACES.c.state)
Index(
    "queue_places_by_assigned",
    QUEUE_PLACES.c.assigned,
    sqlite_where=QUEUE_PLACES.c.assigned.is_not(None),
    postgresql_where=QUEUE_PLACES.c.assigned.is_not(None),
)

QUEUE_LABELS: Final = Table(
    "queue_labels",
    METADATA,
    Column("item", SEQUENCE, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("signal", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("item", "reviewer", "signal"),
    ForeignKeyConstraint(["item", "reviewer"], ["queue_places.item", "queue_places.reviewer"], ondelete="CASCADE"),
)
"""What reviewers say now. `signal` is empty for the verdict itself, or the key of one of its signals.

For a fault that toolvet missed it is `missed:` and the type, and `value` has the words of the answer.
"""

QUEUE_FINALS: Final = Table(
    "queue_finals",
    METADATA,
    Column("item", SEQUENCE, ForeignKey("queue_items.seq", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("label", Text, nullable=False),
)
"""The label that decides where reviewers differ, as JSON; its `reviewer` is the adjudicator."""

QUEUE_SKIPS: Final = Table(
    "queue_skips",
    METADATA,
    Column("item", SEQUENCE, ForeignKey("queue_items.seq", ondelete="CASCADE"), nullable=False),
    Column("reviewer", Text, nullable=False),
    PrimaryKeyConstraint("item", "reviewer"),
)
"""Items that a reviewer does not want to be given."""

QUEUE_CHANGES: Final = Table(
    "queue_changes",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("item", SEQUENCE, ForeignKey("queue_items.seq", ondelete="CASCADE"), nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("action", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
    Column("undoes", SEQUENCE, ForeignKey("queue_changes.seq", ondelete="CASCADE"), unique=True),
)
"""Every change of a label, in order; `before` and `after` are JSON. Nothing is undone twice."""

Index("queue_changes_by_item", QUEUE_CHANGES.c.item, QUEUE_CHANGES.c.seq)
Index("queue_changes_by_reviewer", QUEUE_CHANGES.c.reviewer, QUEUE_CHANGES.c.seq)

QUEUE_MARKS: Final = Table(
    "queue_marks",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("safe", SEQUENCE, nullable=False),
)
"""How far the queue was filled: all verdicts up to the place `safe` were looked at."""
