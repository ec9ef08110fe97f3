"""What keeps a schema from being used, in a sentence for its author."""

from collections.abc import Mapping

from toolvet.rules.fault import at_pointer
from toolvet.rules.quote import quoted, shown
from toolvet.schema import SchemaProblem

_TYPES = "array, boolean, integer, null, number, object, string"


def sentence(schema: Mapping[str, object], problem: SchemaProblem) -> str:
    """The problem with its place; what a meta-schema says of its own branches is of no use to anybody."""
    words = quoted(problem.message).rstrip(".")
    if problem.kind == "invalid" and "'anyOf' keyword" in problem.message and problem.pointer:
        value = shown(at_pointer(schema, problem.pointer), 60)
        wanted = f"; the types are {_TYPES}" if problem.pointer.endswith("/type") else ""
        words = f"{value} is no legal value{wanted}"
    place = f" at {quoted(problem.pointer, 80)}" if problem.pointer else ""
    return f"{words}{place}."
