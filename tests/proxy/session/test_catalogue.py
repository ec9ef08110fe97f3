"""The catalogue of a server, page by page; its bounds."""

from typing import Any

import pytest

from toolvet.core.meta import SERVER_INFO_KEY
from toolvet.proxy.session import Catalogue
from toolvet.proxy.session.catalogue import KnownTool


def page(*names: str, following: object = None, **more: object) -> dict[str, Any]:
    found: dict[str, Any] = {"tools": [{"name": name} for name in names], **more}
    return found if following is None else {**found, "nextCursor": following}


def test_pages_in_a_row_are_the_whole_list() -> None:
    known = Catalogue()
    assert not known.is_complete
    known.learn(None, page("old"))
    assert known.is_complete
    known.forget()
    assert (known.tools, known.generation, known.is_complete) == ({}, 1, False)
    assert known.learn(None, page("a", following="2")) == "2"
    assert (sorted(known.tools), known.is_complete) == (["a"], False)
    assert known.learn("2", page("b", following="")) == ""
    assert known.learn("", page("c")) is None
    assert (sorted(known.tools), known.is_complete) == (["a", "b", "c"], True)
    # Read again: what is on no page any more is removed with the last of them, and not before.
    known.learn(None, page("a", following="2"))
    assert sorted(known.tools) == ["a", "b", "c"]
    known.learn("2", page("d"))
    assert sorted(known.tools) == ["a", "d"]


def test_pages_out_of_order_are_added_and_complete_nothing() -> None:
    known = Catalogue()
    known.learn(None, page("a", following="2"))
    assert known.learn("3", page("c")) is None
    assert (sorted(known.tools), known.is_complete) == (["a", "c"], False)
    # The row was broken: its end does not end a list.
    known.learn("2", page("b"))
    assert (sorted(known.tools), known.is_complete) == (["a", "b", "c"], False)
    known.learn(None, page("a", following="2"))
    known.learn("9", page("x", following="2"))
    known.learn("2", page("b"))
    assert sorted(known.tools) == ["a", "b", "c", "x"]
    resumed = Catalogue()
    resumed.learn("9", page("y", following="10"))
    resumed.learn("10", page("z"))
    assert (sorted(resumed.tools), resumed.is_complete) == (["y", "z"], False)


def test_of_two_tools_of_one_name_the_first_counts_and_what_is_no_tool_is_left_out() -> None:
    known = Catalogue()
    known.learn(None, {"tools": [{"name": "a", "title": "1"}, {"name": "a", "title": "2"}, {"name": 5}, "b", {}]})
    assert {name: tool.definition["title"] for name, tool in known.tools.items()} == {"a": "1"}


def test_a_tool_that_was_missed_is_not_looked_for_until_the_list_changes() -> None:
    known = Catalogue()
    assert known.lacks("a")
    known.miss("a")
    assert not known.lacks("a")
    known.forget()
    assert known.lacks("a")
    known.miss("a")
    known.learn(None, page("b"))
    assert known.lacks("a")
    assert not known.lacks("b")
    for number in range(1_030):
        known.miss(f"tool{number}")
    assert [known.lacks(f"tool{number}") for number in (0, 1_023, 1_024)] == [False, False, True]


@pytest.mark.parametrize(
    ("lifetimes", "kept"),
    [
        ([60_000], 60_000),
        ([0], 30_000),
        ([-1], None),
        (["60000"], None),
        ([60_000, 40_000, 90_000], 40_000),
    ],
)
def test_the_shortest_lifetime_of_a_page_counts_but_not_one_that_is_too_short(
    lifetimes: list[object], kept: int | None
) -> None:
    known = Catalogue()
    for lifetime in lifetimes:
        known.learn(None, page("a", ttlMs=lifetime))
    assert known.lifetime_ms == kept
    known.forget()
    assert known.lifetime_ms is None


def test_the_servers_stamp_is_kept() -> None:
    known = Catalogue()
    known.learn(None, page("a", _meta={SERVER_INFO_KEY: {"name": "books"}, "x": 1}))
    known.learn(None, page("a", _meta={"x": 1}))
    assert known.stamp == {SERVER_INFO_KEY: {"name": "books"}}


@pytest.mark.parametrize(
    ("capabilities", "silent"),
    [
        ({"tools": {}}, True),
        ({}, False),
        ({"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}}, False),
    ],
)
def test_a_server_with_tools_that_announces_no_validation_is_silent(capabilities: object, silent: bool) -> None:  # noqa: FBT001 - a column.
    known = Catalogue()
    assert known.read_capabilities(capabilities) is silent


def test_a_tool_is_looked_at_for_envelopes_a_few_times() -> None:
    tool = KnownTool("a", {})
    for left in range(9, -1, -1):
        tool.note_form(None)
        assert tool.unread_form == left
    tool = KnownTool("a", {})
    tool.note_form("prose")
    assert (tool.envelopes, tool.unread_form) == ("prose", 0)


@pytest.mark.parametrize(
    ("definition", "promises", "read_only"),
    [
        ({"outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}, True, True),
        ({"outputSchema": {"type": 7}, "annotations": {"readOnlyHint": "yes"}}, False, False),
        ({}, False, False),
    ],
)
def test_what_a_definition_promises(definition: dict[str, object], promises: bool, read_only: bool) -> None:  # noqa: FBT001 - columns.
    tool = KnownTool("a", definition)
    assert [tool.promises_output for _ in range(2)] == [promises, promises]
    assert tool.read_only is read_only
    assert tool.problem is None
    assert KnownTool("a", {"inputSchema": {"type": 7}}).problem is not None


def test_an_argument_that_is_repeated_in_a_header_is_known() -> None:
    schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}}}
    tool = KnownTool("a", {"inputSchema": schema})
    assert tool.is_mirrored("region")
    assert not tool.is_mirrored("query")
    assert not tool.is_mirrored("other")
