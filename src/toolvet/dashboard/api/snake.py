"""The library's documents, in snake_case: `shouldEscalate` → `should_escalate`.

`to_dict()` has the names of the documents that toolvet began with, some of them in camelCase; the API has one spelling.
Only our own names change. What a caller sent (arguments, values, property names) keeps its spelling.
"""

import re
from collections.abc import Mapping
from typing import Final

from toolvet.schema.json_value import is_object

_HUMP: Final = re.compile(r"(?<=[a-z0-9])[A-Z]")
# What stands under these is the caller's: values, and objects whose keys are names of parameters.
_FOREIGN: Final = frozenset(
    {"received", "expected", "examples", "properties", "arguments", "result", "details", "default", "enum", "data"}
)


def snake(document: object) -> object:
    """Return a verdict's document with its own names in snake_case.

    >>> snake({"shouldEscalate": True, "issues": [{"received": {"userId": 5}}]})
    {'should_escalate': True, 'issues': [{'received': {'userId': 5}}]}
    """
    if is_object(document):
        return _members(document)
    if isinstance(document, list | tuple):
        return [snake(item) for item in document]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return document


def _members(document: Mapping[str, object]) -> dict[str, object]:
    return {
        _HUMP.sub(lambda hump: f"_{hump.group().lower()}", key): value if key in _FOREIGN else snake(value)
        for key, value in document.items()
    }
