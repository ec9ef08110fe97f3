"""What an export says of the review queue: `ItemRecord`, an item with its labels and their history, as a line of JSON.

    {"type":"item","id":"0193…","at":1795357000.0,"rule":"escalated","wanted":1,"labels":[{"reviewer":"ada",…}]}

It names its verdict by the id, so that it finds the verdict in any store.
"""

from collections.abc import Mapping

import msgspec


class ItemLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one reviewer says of one item, and when (in seconds since the epoch)."""

    reviewer: str
    value: str
    at: float
    note: str = ""
    signals: Mapping[str, str] = {}


class ItemChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change. `before` and `after` are labels as JSON; `undoes` is the number of the change that it takes back."""

    reviewer: str
    at: float
    action: str
    before: str = ""
    after: str = ""
    undoes: int | None = None


class ItemRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="item"):
    """One item of the review queue. `id` is that of its verdict, `wanted` how many reviewers it wants.

    `skips` are reviewers who do not want it, `changes` what was done with it, the oldest first.
    """

    id: str
    at: float
    rule: str
    priority: int = 0
    wanted: int = 1
    labels: tuple[ItemLabel, ...] = ()
    skips: tuple[str, ...] = ()
    changes: tuple[ItemChange, ...] = ()
