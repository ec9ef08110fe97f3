"""The example of a refusal says nothing else than the call, wherever the call is right."""

from typing import Any

import pytest

from toolvet import check_arguments

TICKETS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ticket": {"type": "integer", "examples": [1]},
        "priority": {"enum": ["low", "high"]},
        "tags": {"type": "array", "items": {"type": "string"}, "examples": [["a tag"]]},
        "place": {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]},
        "password": {"type": "string"},
        "note": {"type": "string", "examples": ["a note"]},
    },
    "required": ["ticket", "priority"],
    "additionalProperties": False,
}


def example(arguments: object, schema: dict[str, Any] = TICKETS) -> Any:
    report = check_arguments({"name": "t", "inputSchema": schema}, arguments)
    assert not report.valid
    found = report.own_example
    error: Any = report.to_dict()["error"]
    assert error.get("valid_example") == found
    assert check_arguments({"name": "t", "inputSchema": schema}, found).valid
    return found


PLAIN: dict[str, Any] = example({})


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"ticket": 12, "priority": "very"}, {"ticket": 12}),
        ({"ticket": 12, "priority": 3, "tags": ["x", "y"], "else": 1}, {"ticket": 12, "tags": ["x", "y"]}),
        ({"ticket": 12, "tags": ["x", None]}, {"ticket": 12}),
        ({"priority": "high", "place": {"row": 4}}, {"priority": "high", "place": {"row": 4}}),
        ({"priority": "high", "place": {"row": []}}, {"priority": "high"}),
        ({"ticket": 12, "note": "x" * 201}, {"ticket": 12}),
        ({"ticket": 12, "note": "x" * 200}, {"ticket": 12, "note": "x" * 200}),
        ({"ticket": 12, "password": "FIXTUREPW1"}, {"ticket": 12}),
        ({"priority": "x"}, {}),
        ([1], {}),
        (None, {}),
    ],
)
def test_what_is_right_in_a_call_stands_in_the_example(arguments: object, kept: dict[str, Any]) -> None:
    assert example(arguments) == {**PLAIN, **kept}


def test_an_example_beside_a_corrected_call_says_the_same() -> None:
    report = check_arguments({"name": "t", "inputSchema": TICKETS}, {"ticket": "12", "Priority": "high"})
    assert report.repair is not None
    assert report.repair.arguments == {"ticket": 12, "priority": "high"}
    assert report.own_example == {**PLAIN, "ticket": 12, "priority": "high"}
    assert '"ticket": 12,' in report.to_text().rpartition("## Valid Example")[2]
    assert report.without_repair().own_example == PLAIN
    # That of the schema alone is always the same.
    assert report.valid_example == PLAIN


def test_values_that_do_not_fit_together_are_not_put_together() -> None:
    either = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "size": {"type": "integer"}},
        "oneOf": [{"required": ["id"], "maxProperties": 2}, {"required": ["name"], "maxProperties": 2}],
    }
    found = example({"id": 1, "name": "x", "size": 3}, either)
    assert ("id" in found) is not ("name" in found)


def test_members_that_a_schema_only_lets_pass_may_be_misnamed_and_are_left_out() -> None:
    open_schema = {**TICKETS, "additionalProperties": True}
    assert example({"free": [1], "ticket": "x", "priority": "high"}, open_schema) == {**PLAIN, "priority": "high"}


def test_an_example_does_not_grow_with_the_call() -> None:
    names = [f"m{number}" for number in range(65)]
    many = {"type": "object", "properties": {name: {"type": "integer", "examples": [1]} for name in names}}
    plain = example({"m0": "x"}, many)
    given = dict.fromkeys(names[:64], 7)
    assert example({**given, "m0": "x"}, many) == {**plain, **given, "m0": 1}
    assert example({**given, "m0": "x", "m64": 7}, many) == plain


def test_the_text_of_a_tool_is_made_anew_where_calls_differ() -> None:
    texts = [
        check_arguments({"name": "t", "inputSchema": TICKETS}, {"ticket": number, "priority": "?"}).to_text()
        for number in (12, 13)
    ]
    assert [f'"ticket": {number},' in text for number, text in zip((12, 13), texts, strict=True)] == [True, True]
