"""The tables of sums, so that an overview of millions of verdicts reads a few thousand rows."""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, Double, Integer, PrimaryKeyConstraint, Table, Text

from toolvet.store.tables import METADATA

WIDTHS: Final = (60, 3600, 86_400)
"""The lengths of the buckets, in seconds."""

DURATION_BOUNDS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Durations are counted up to and including each of these seconds; longer ones have a column of their own."""

DURATION_COLUMNS: Final = tuple(f"took_{number}" for number in range(len(DURATION_BOUNDS) + 1))

KEYS: Final = ("width", "bucket", "kind", "server", "tool", "model", "variant")
"""The key of a sum; `bucket` is when it begins, in seconds since the epoch. Unknown values are empty."""

SUMS: Final = (
    "verdicts",
    "failed",
    "escalated",
    "blocked",
    "score_sum",
    "score_count",
    "duration_sum",
    "duration_count",
    *DURATION_COLUMNS,
)
"""Columns that are added up; `duration_max` is the greatest instead."""


def _key_columns() -> list[Column[Any]]:
    texts = [Column(name, Text, nullable=False) for name in KEYS[2:]]
    return [Column("width", Integer, nullable=False), Column("bucket", BigInteger, nullable=False), *texts]


ROLLUPS: Final = Table(
    "rollups",
    METADATA,
    *_key_columns(),
    *(Column(name, Double if name.endswith("_sum") else BigInteger, nullable=False) for name in SUMS),
    Column("duration_max", Double, nullable=False),
    PrimaryKeyConstraint(*KEYS),
)

ROLLUP_SIGNALS: Final = Table(
    "rollup_signals",
    METADATA,
    *_key_columns(),
    Column("type", Text, nullable=False),
    Column("signals", BigInteger, nullable=False),
    PrimaryKeyConstraint(*KEYS, "type"),
)
