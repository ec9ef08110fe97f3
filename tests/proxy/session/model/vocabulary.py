"""The vocabulary of the model's conversations: tools, arguments, results. Each is small and has a name."""

from functools import cache
from typing import Any, Final, NamedTuple

from toolvet import check_result
from toolvet.core.causes import Retry
from toolvet.core.checks.result import Classification

LIMITS: Final = {"max_arguments_bytes": 1500, "max_result_bytes": 4000, "max_judged_bytes": 2500, "max_depth": 8}

_NEEDS_A: Final = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOLS: Final[dict[str, dict[str, Any]]] = {
    "get": {"name": "get", "inputSchema": _NEEDS_A, "annotations": {"readOnlyHint": True}},
    "put": {"name": "put", "inputSchema": {"type": "object"}},
    "odd": {"name": "odd", "inputSchema": {"type": "objekt"}},
    "out": {
        "name": "out",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "required": ["n"]},
        "annotations": {"readOnlyHint": True},
    },
    "check": {"name": "check", "inputSchema": {"type": "object"}},
}
# Listed by no server; the last one is the proxy's own, where it announces it.
UNLISTED: Final = ("ghost", "validate")

ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "good": {"a": 1},
    "other": {"a": 2},
    "good, turned round": {"b": 0, "a": 1},
    "missing": {},
    "repairable": {"a": "1"},
    "hopeless": {"a": []},
    "deep": {"a": 1, "x": [[[[[[[[[[]]]]]]]]]]},
    "large": {"a": 1, "x": "y" * 2000},
}
BAD: Final = ("missing", "repairable", "hopeless")
REPAIRED: Final = {"a": 1}

_PROSE: Final = "a record of some kind"


def _text(text: str, **further: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], **further}


RESULTS: Final[dict[str, object]] = {
    "done": _text(_PROSE),
    "structured": _text('{"n": 1}', structuredContent={"n": 1}),
    "breach": _text(_PROSE, structuredContent={"m": 1}),
    "failed": _text("There is no record 1", isError=True),
    "busy": _text("Rate limit exceeded, retry after 3 seconds", isError=True),
    "unflagged": _text("Error: no such table: books"),
    "broken": {},
    "odd content": {"content": 5},
    "no object": 5,
    "asks back": {"resultType": "input_required", "inputRequests": {}},
    "task": {"resultType": "task", "taskId": "7"},
    "legacy task": {"task": {"taskId": "7"}, "content": []},
    "hologram": {"resultType": "hologram"},
    "large": _text("y" * 3000),
    "huge": _text("y" * 5000),
}
ERRORS: Final[dict[str, dict[str, object]]] = {
    "invalid": {"code": -32602, "message": "id must be a uuid"},
    "timeout": {"code": -32000, "message": "connection timed out"},
}


class Facts(NamedTuple):
    """The verdict of `check_result` on an answer; the model takes that as given."""

    is_error: bool
    unflagged: bool
    is_broken: bool
    is_breach: bool
    waits: bool


def facts(result: object, tool: str, *, promised: bool) -> Facts:
    """The verdict on this result of a tool, judged against its outputSchema if it is `promised`."""
    return _facts(repr(result), tool, promised)


@cache
def _facts(written: str, tool: str, promised: bool) -> Facts:  # noqa: FBT001 - a key of the cache
    result = eval(written)  # noqa: S307 - our own values, which a cache cannot hold
    definition = {
        "name": tool,
        "inputSchema": {},
        **({"outputSchema": TOOLS["out"]["outputSchema"]} if promised else {}),
    }
    verdict = check_result(definition, {}, result, shape="mcp")
    promise = verdict.metadata.output_schema_validation
    return Facts(
        verdict.is_error,
        verdict.error_without_flag,
        verdict.classification is Classification.BROKEN,
        promise is not None and not promise.is_valid,
        verdict.retry is Retry.BACKOFF,
    )
