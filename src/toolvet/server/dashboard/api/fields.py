"""The types that several bodies and queries have in common, with their limits."""

from typing import Annotated, Any

import msgspec

Name = Annotated[str, msgspec.Meta(max_length=500, pattern="^[^\\x00]*$")]
"""A name: of a server, a tool, a model. No database takes NUL."""

# Where a union has a pattern beside a dict, msgspec 0.22 frees the pattern twice: `given` checks the name.
Tool = dict[str, Any] | Annotated[str, msgspec.Meta(max_length=500, extra_json_schema={"pattern": "^[^\\x00]*$"})]
"""The definition of a tool, or its name."""

TraceId = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern="^[!-~]+$")]
"""The id of a turn: visible ASCII."""

Timestamp = Annotated[float, msgspec.Meta(ge=0, le=10_000_000_000)]
"""Seconds since the epoch; up to the year 2286."""

Seconds = Annotated[float, msgspec.Meta(ge=0, le=1_000_000_000)]

RecordId = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]

Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
