"""Foreign JSON has any shape: these take from it what has the expected one, and an empty value for the rest."""

from collections.abc import Mapping
from typing import cast


def fields(value: object) -> Mapping[str, object]:
    """The members of an object; {} for anything else."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def mapping(source: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The object at `key`, or an empty one."""
    return fields(source.get(key))


def text(source: Mapping[str, object], key: str) -> str:
    """The string at `key`, or an empty one."""
    value = source.get(key)
    return value if isinstance(value, str) else ""


def strings(value: object) -> tuple[str, ...]:
    """The strings of an array; () for anything else."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))
