"""Small steps of a repair, as whole values and at their bounds."""

from collections.abc import Mapping

import pytest

from toolvet.core.schema.repairs.context import Nearest, Operation, nearest


@pytest.mark.parametrize(
    ("operation", "patch"),
    [
        (Operation(op="add", path=("a", 0), value=[1]), {"op": "add", "path": "/a/0", "value": [1]}),
        (Operation(op="replace", path=(), value=None, old=1), {"op": "replace", "path": "", "value": None}),
        (Operation(op="remove", path=("a~b/c",), why="it is null"), {"op": "remove", "path": "/a~0b~1c"}),
        (Operation(op="move", path=("b",), origin=("a", "c")), {"op": "move", "from": "/a/c", "path": "/b"}),
    ],
)
def test_an_operation_is_written_as_its_standard_says(operation: Operation, patch: Mapping[str, object]) -> None:
    assert operation.as_patch() == patch
    below = operation.below(("x", 1))
    assert below.path == ("x", 1, *operation.path)
    assert below.origin == ("x", 1, *operation.origin)
    assert (below.op, below.value, below.old, below.why) == (
        operation.op,
        operation.value,
        operation.old,
        operation.why,
    )


@pytest.mark.parametrize(
    ("text", "count", "length", "found"),
    [
        ("MODE", 2_000, 4, True),
        ("MODE", 2_001, 4, False),
        ("M" * 80, 1, 80, True),
        ("M" * 81, 1, 81, False),
    ],
)
def test_the_nearest_is_looked_for_among_two_thousand_names_of_eighty_letters(
    text: str, count: int, length: int, *, found: bool
) -> None:
    wanted = "mode" if length == 4 else "m" * length
    options = [wanted, *(f"{number:05}" for number in range(count - 1))]
    answer = nearest(text, options)
    assert (answer is not None) is found
    if answer is not None:
        assert answer == Nearest(wanted, "high")
