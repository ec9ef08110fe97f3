"""The commands that show a finding again are made from parts; the server's own words are never edited."""

import shlex

import pytest

from toolvet.assess.reproduce import reproduce_call, reproduce_definition, reproduce_server, reproduce_tool
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target

OWN_FLAG = StdioTarget(command="server", args=("--plan-only", "--tool", "x y"))
SERVER = "-- server --plan-only --tool 'x y'"


def test_each_command_says_no_more_than_it_needs() -> None:
    assert reproduce_server(OWN_FLAG) == f"toolvet assess {SERVER}"
    assert reproduce_tool(OWN_FLAG, "get") == f"toolvet assess --tool get {SERVER}"
    assert reproduce_definition(OWN_FLAG, "get") == f"toolvet assess --tool get --plan-only {SERVER}"
    assert reproduce_call(OWN_FLAG, "get", {"a": 1}) == f"toolvet assess --tool get --arguments '{{\"a\":1}}' {SERVER}"


@pytest.mark.parametrize("target", [OWN_FLAG, HttpTarget(url="http://127.0.0.1:1/mcp?x=--plan-only")])
def test_a_servers_own_plan_only_stays(target: Target) -> None:
    for command in (reproduce_server(target), reproduce_tool(target, "get"), reproduce_call(target, "get", {})):
        ours, _, theirs = command.partition(target.describe())
        assert "--plan-only" not in ours
        assert not theirs
    assert shlex.split(reproduce_tool(OWN_FLAG, "get"))[-3:] == ["--plan-only", "--tool", "x y"]


def test_a_tool_without_a_name_is_shown_by_its_server() -> None:
    assert reproduce_definition(OWN_FLAG, "") == reproduce_tool(OWN_FLAG, "") == reproduce_server(OWN_FLAG)


def test_arguments_that_nobody_would_paste_are_left_out() -> None:
    assert reproduce_call(OWN_FLAG, "get", {"a": "x" * 3_000}) == reproduce_tool(OWN_FLAG, "get")


def test_arguments_that_the_encoder_refuses_are_left_out() -> None:
    """A schema may demand an integer of 400 digits (`minimum`), and an enum may hold half a surrogate pair."""
    for value in (10**400, "\ud800"):
        assert reproduce_call(StdioTarget("shop"), "search", {"query": value}) == reproduce_tool(
            StdioTarget("shop"), "search"
        )
