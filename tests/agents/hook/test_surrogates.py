"""Half of a surrogate pair in what a client sent does not keep its hook from answering."""

import json

from toolvet.agents.hook.dialect import HookAnswer, dialect_of, read_event, write_answer


def test_an_answer_that_quotes_half_a_pair_is_json_in_one_line() -> None:
    dialect = dialect_of("claude")
    event = read_event(dialect, {"hook_event_name": "PreToolUse", "tool_name": "mcp__a__b", "tool_input": {}})
    written = write_answer(dialect, event, HookAnswer("deny", "no \ud800 here"))
    assert written.count(b"\n") == 1
    assert json.loads(written)["hookSpecificOutput"]["permissionDecisionReason"] == "no \ud800 here"
