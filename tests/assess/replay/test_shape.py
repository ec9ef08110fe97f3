"""The shape of results: values, orders and numbers of things are none of it."""

import json

import pytest

from toolvet.assess.replay.compare import ResultOutline


def text(value: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


SAME: list[tuple[list[object], object]] = [
    ([{"a": 1}], {"a": 2.5}),
    ([{"a": "2026-01-01"}], {"a": "yesterday"}),
    ([{"a": [1, 2, 3]}], {"a": []}),
    ([{"a": []}], {"a": [{"b": 1}]}),
    ([{"a": None}], {"a": "now it has one"}),
    ([{"a": "x"}], {"a": None}),
    ([{"a": 1, "b": 2}, {"a": 1}], {"a": 1}),
    ([{"a": 1}, {"a": 1, "b": 2}], {"a": 1, "b": 3}),
    ([{"by": {"0b5e7f9a11": {"t": 1}}}], {"by": {"77aa90ffc2": {"t": 2}, "9": {"t": 3}}}),
    (["some words"], "other words"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_what_differs_in_values_only_has_one_shape(old: list[object], new: object) -> None:
    usual = ResultOutline(map(text, old))
    assert ResultOutline([text(new)]).differences(ResultOutline([text(old[0])]), usual) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"a": 1}, {"a": "1"}, "content[]/a was number, and is string"),
        ({"a": 1, "b": 2}, {"a": 1}, "content[]/b is gone"),
        ({"a": 1}, {"a": 1, "c": 3}, "content[]/c is new"),
        ({"a": {"b": 1}}, {"a": [1]}, "content[]/a was object, and is array"),
        ({"a": 1}, "plain words", "content[] was object, and is text block"),
    ],
)
def test_what_a_program_trips_over_is_another_shape(old: object, new: object, words: str) -> None:
    before = ResultOutline([text(old)])
    assert ResultOutline([text(new)]).differences(before, before) == (words,)
