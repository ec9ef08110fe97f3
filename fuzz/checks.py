"""Coverage-guided fuzzing of what promises never to raise.

`make fuzz` runs it for a minute; more with arguments:

    python fuzz/checks.py -max_total_time=600

Needs atheris (Linux, CPython). Any exception ends it and leaves the input in a crash-… file.
"""

import sys
from collections.abc import Callable

import atheris

with atheris.instrument_imports(include=["toolvet"]):
    import toolvet
    from toolvet.checks.arguments import check_arguments
    from toolvet.checks.capability import announcement, parse_reply
    from toolvet.schema import recover
    from toolvet.wire import parse

KEYS = [
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "pattern",
    "anyOf",
    "$ref",
    "not",
    "minimum",
    "a",
    "id",
    "query",
]
WORDS = [
    "object",
    "string",
    "integer",
    "array",
    "#",
    "#/properties/a",
    "^(a+)+$",
    "date",
    "Error: not found",
    "10",
    "true",
]
KEYS += ["content", "text", "isError", "structuredContent", "error", "code", "const", "format", "additionalProperties"]


def value(data: atheris.FuzzedDataProvider, depth: int = 0) -> object:
    """Any JSON value, and some that JSON cannot hold, with words that mean something."""
    kind = data.ConsumeIntInRange(0, 9 if depth < 5 else 6)
    leaves: list[Callable[[], object]] = [
        lambda: None,
        data.ConsumeBool,
        lambda: data.ConsumeInt(9),
        data.ConsumeFloat,
        lambda: data.ConsumeUnicode(12),
        lambda: data.PickValueInList(WORDS),
        lambda: data.PickValueInList(KEYS),
    ]
    if kind < len(leaves):
        return leaves[kind]()
    count = data.ConsumeIntInRange(0, 4)
    if kind == 7:
        return [value(data, depth + 1) for _ in range(count)]
    return {data.PickValueInList(KEYS): value(data, depth + 1) for _ in range(count)}


def one(raw: bytes) -> None:
    """One input through every check."""
    parse(raw)
    recover(raw.decode("utf-8", "replace"))
    data = atheris.FuzzedDataProvider(raw)
    tool = {"name": "t", "inputSchema": value(data), "outputSchema": value(data)}
    arguments = value(data)
    report = check_arguments(tool, arguments)
    if bool(report.issues) is report.valid:
        raise AssertionError("a report is valid exactly when it has no issues")
    if not report.valid:
        report.to_text(max_chars=500)
        report.to_result("modern")
    verdict = toolvet.check_result(tool, arguments, value(data))
    verdict.to_dict()
    toolvet.extract_metadata(tool, value(data))
    announcement(value(data))
    parse_reply(value(data))


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *(sys.argv[1:] or ["-max_total_time=60"])], one)
    atheris.Fuzz()
