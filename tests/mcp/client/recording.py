"""A `call_tool` function for tests: gives the answers that it was made with, and records what it was asked."""

import json
from collections.abc import Callable, Mapping
from typing import Any

PATH = {
    "name": "read",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string", "minLength": 1}, "lines": {"type": "integer", "minimum": 1}},
        "required": ["path"],
        "additionalProperties": False,
    },
}
VALID: Mapping[str, Any] = {"valid": True, "errors": [], "warnings": [], "suggestions": []}
Answer = Callable[[Mapping[str, Any]], object]


def announced(**options: object) -> dict[str, Any]:
    return {"tools": {}, "experimental": {"toolValidation": {"supported": True, **options}}}


def text(body: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": body if isinstance(body, str) else json.dumps(body)}]}


class Recorded:
    """`call_tool`: an answer is a result, an exception to raise, or a function of the arguments that gives one."""

    def __init__(self, answer: object) -> None:
        self._answer = answer
        self.calls: list[tuple[str, Mapping[str, Any]]] = []

    async def __call__(self, name: str, arguments: Mapping[str, Any]) -> object:
        self.calls.append((name, arguments))
        answer = self._answer(arguments) if callable(self._answer) else self._answer
        if isinstance(answer, BaseException):
            raise answer
        return answer
