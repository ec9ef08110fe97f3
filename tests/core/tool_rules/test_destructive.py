"""Which tools are not called without consent, and why."""

import pytest
from hypothesis import given, strategies as st

from toolvet.assess.rules import ToolDefinition, tool_definition
from toolvet.core.tool_rules.destructive import find_actions, read_destructive_source

SOURCE = read_destructive_source()


def tool(name: str = "", description: str = "", **annotations: object) -> ToolDefinition:
    return tool_definition({"name": name, "description": description, "annotations": annotations})


def why_not_called(definition: ToolDefinition) -> str | None:
    return next((action.reason for action in find_actions(definition) if action.force != "read"), None)


@pytest.mark.parametrize("row", SOURCE.hits)
def test_a_tool_that_says_it_does_harm_is_not_called_and_the_word_is_quoted(row: str) -> None:
    name, description, word = row.split("|")
    reason = why_not_called(tool(name, description))
    assert reason is not None
    assert word in reason


@pytest.mark.parametrize("row", SOURCE.misses)
def test_a_tool_that_only_mentions_a_deed_is_called(row: str) -> None:
    name, description = row.split("|")
    assert why_not_called(tool(name, description)) is None


@pytest.mark.parametrize(
    ("name", "before", "last_word", "limit"),
    [
        ("", "a" * 252 + "_", "del", 256),
        ("tool", "x " * 995, " HTTP POST", 2_000),
        ("tool", "Fetch " + "b" * 383 + " and ", "delete", 400),
    ],
)
def test_only_the_beginning_of_a_name_and_of_a_description_counts(
    name: str, before: str, last_word: str, limit: int
) -> None:
    for more, called in (("", False), ("a", True)):
        text = more + before + last_word
        assert len(text) == limit + len(more)
        given = tool(name, text) if name else tool(text)
        assert (why_not_called(given) is None) is called


def test_later_verbs_of_a_description_belong_to_something_else() -> None:
    assert why_not_called(tool("tool", "Retrieve one two three and delete")) == "its description says 'delete'"
    assert why_not_called(tool("tool", "Retrieve one two three four and delete")) is None
    assert why_not_called(tool("tool", "Delete one")) == "its description begins with 'Delete'"


def test_executing_is_strong_but_may_be_read_only_and_deleting_may_not() -> None:
    assert [(deed.changes, deed.destroys) for deed in find_actions(tool("execute_query"))] == [(False, False)]
    assert [(deed.changes, deed.destroys) for deed in find_actions(tool("send_mail"))] == [(True, False)]
    assert [(deed.changes, deed.destroys) for deed in find_actions(tool("delete_mail"))] == [(True, True)]


def test_what_changes_or_destroys_is_among_the_strong_words() -> None:
    assert SOURCE.destroys <= SOURCE.changes <= SOURCE.strong
    assert not SOURCE.strong & SOURCE.mild
    assert not SOURCE.read & (SOURCE.strong | SOURCE.mild)
    assert SOURCE.noun_unless_first <= SOURCE.noun


@given(st.text(), st.text())
def test_any_name_and_description_has_an_answer(name: str, description: str) -> None:
    definition = tool(name, description)
    assert why_not_called(definition) is None or why_not_called(definition)
