"""A coding agent's http hook: the events of `toolvet.agents.hook`, with a session in memory in place of a transcript.

No transcript is read. What was called is known from the events themselves; the tools of servers from what was declared,
and for admins also from the lists that `toolvet hook` keeps on this machine.
"""

from collections.abc import Mapping
from typing import Final

from toolvet.agents.hook import HookAnswer, HookEvent, definition_of, dialect_of, read_event, server_of, tool_prefix
from toolvet.core.json_value import members
from toolvet.server.guardrails.dialect import filled
from toolvet.server.guardrails.judging import GuardrailJudge
from toolvet.server.guardrails.memory import GuardrailMemory

_PROMPT: Final = "UserPromptSubmit"


def hook_reply(
    given: object, who: str, memory: GuardrailMemory, judge: GuardrailJudge, *, may_read_lists: bool = False
) -> object:
    """Return what Claude Code is answered; an empty object lets it go on."""
    dialect = dialect_of("claude")
    event = read_event(dialect, given)
    key = (who, event.session)
    held = members(given)
    answer: HookAnswer | None = None
    if event.name == _PROMPT:
        memory.says(key, f"{held.get('prompt', '')}")
    elif event.moment == "before":
        definition = _definition(event, memory, may_read_lists=may_read_lists)
        answer = judge.call(event.tool, definition, event.arguments, repairs=True)
    elif event.moment == "after":
        answer = _after(event, held, key, memory, judge)
    elif event.moment == "end" and not event.continued:
        session = memory.session(key)
        answer = None if session is None else judge.end(event.message, session)
    if answer is None:
        return {}
    values = {"$event": event.name, "$text": answer.text, "$arguments": answer.arguments}
    return filled(dialect.output[answer.kind], values)


def _after(
    event: HookEvent, held: Mapping[str, object], key: tuple[str, str], memory: GuardrailMemory, judge: GuardrailJudge
) -> HookAnswer | None:
    # What a sub-agent calls is not in the transcript of its session either.
    if held.get("agent_id") is None:
        memory.calls(key, event.tool, event.arguments, event.result, failed=event.failed is True)
    if not event.tool.startswith("mcp__") or event.failed:
        return None
    return judge.result(event.tool, _definition(event, memory, may_read_lists=False), event.result, event.arguments)


def _definition(event: HookEvent, memory: GuardrailMemory, *, may_read_lists: bool) -> object:
    """The definition of a tool of an MCP server, `mcp__SERVER__TOOL`; None where it is not known."""
    if not event.tool.startswith("mcp__"):
        return None
    dialect = dialect_of("claude")
    prefixes = {tool_prefix(dialect, server): server for server in memory.servers()}
    prefix = max((each for each in prefixes if event.tool.startswith(each)), key=len, default=None)
    found = None if prefix is None else memory.definition(event.tool.removeprefix(prefix), prefixes[prefix])
    if found is None and may_read_lists:
        known = server_of("claude", dialect, event)
        # Nothing is started, and nobody waits.
        found = None if known is None else definition_of(known[0], known[1], wait=0, may_ask=False)
    return found
