"""The check of a target: a promise that does not hold raises."""

from toolvet.core.json_value import is_endless


class BrokenPromiseError(Exception):
    """An input for which something that we promise does not hold."""


def holds(promise: object, otherwise: str) -> None:
    """Raise where a promise does not hold. Unlike `assert` it is not lost under `python -O`."""
    if not promise:
        raise BrokenPromiseError(otherwise)


def shown(value: object) -> str:
    """Return the value as text, to compare it with another. A value that has no end is not written out."""
    return "endless" if is_endless(value) else repr(value)
