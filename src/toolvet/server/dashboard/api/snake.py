"""The library's documents, in snake_case: `shouldEscalate` → `should_escalate`.

`to_dict()` has the names of the documents that toolvet began with, some of them in camelCase; the API has one spelling.
Only our own names change. What a caller sent (arguments, values, property names) keeps its spelling.
"""

import re
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from toolvet.core.json_value import is_object, members

_HUMP: Final = re.compile(r"(?<=[a-z0-9])[A-Z]")
# What is under these is the caller's: values, and objects whose keys are names of parameters or types of blocks.
FOREIGN: Final = frozenset(
    {
        *("received", "expected", "examples", "properties", "arguments", "validExample", "did_you_mean", "didYouMean"),
        *("value", "pagination", "otherCounts"),
    }
)


def snake(document: object, foreign: Container[str] = FOREIGN) -> object:
    """Return a verdict's document with its own names in snake_case. `foreign` are the members that stay as they are.

    >>> snake({"shouldEscalate": True, "issues": [{"received": {"userId": 5}}]})
    {'should_escalate': True, 'issues': [{'received': {'userId': 5}}]}
    """
    if is_object(document):
        return {_name(key): value if key in foreign else snake(value, foreign) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [snake(item, foreign) for item in cast("Sequence[object]", document)]
    return document


def snake_conversation(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the document of a conversation in snake_case: there `arguments` and `result` are verdicts, too."""
    turns = [_turn(members(turn)) for turn in cast("Sequence[object]", document["turns"])]
    return {**document, "turns": turns}


def _turn(turn: Mapping[str, object]) -> dict[str, object]:
    calls = [members(call) for call in cast("Sequence[object]", turn["calls"])]
    return {
        **turn,
        "answer": snake(turn["answer"]),
        "calls": [
            {name: snake(value) if name in {"arguments", "result"} else value for name, value in call.items()}
            for call in calls
        ],
    }


@lru_cache(maxsize=1024)
def _name(key: str) -> str:
    return _HUMP.sub(lambda hump: f"_{hump.group().lower()}", key)
