"""The lines of a transcript, of any of the clients → the session: its calls, and the turn at its end.

Claude Code   {"type": "assistant", "message": {"content": [{"type": "tool_use", …}]}}
Codex         {"type": "response_item", "payload": {"type": "function_call", …}}
Gemini CLI    {"id": …, "type": "gemini", "content": …, "toolCalls": […]}, or one document with all messages
Copilot CLI   {"type": "tool.execution_complete", "data": {…}}

Each line is read by its own members, because a client may run the hook of another. A line that is broken, or of an
unknown kind, is left out. `is_whole` is False if the beginning was cut off: then what was done there is not known.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from toolvet.agents.hook.dialect import dialect_of
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.messages import ToolCall, Turn, turns

# What clients put into the mouth of the user, and what is of another agent.
_NOT_THE_USER: Final = ("<environment_context", "<user_instructions", "# AGENTS.md", "<system-reminder", "<permissions")
_MOST_RESULT: Final = 100_000


class AgentSession(msgspec.Struct, frozen=True):
    """The content of a transcript: all calls of the session in order, its last turn, and whether it is complete.

    `is_ended` says that the agent had the last word, with nothing called in it.
    """

    calls: tuple[ToolCall, ...] = ()
    turn: Turn | None = None
    is_whole: bool = True
    is_ended: bool = False


def read_session(lines: Iterable[bytes], *, is_whole: bool = True, of_agent: bool | str = False) -> AgentSession:
    """Return the session that these lines are; an empty one where none of them can be read.

    `of_agent` says that they are the transcript of a sub-agent, or is the name that its lines have in the transcript of
    its parent. Otherwise the lines of one are left out: its work is known from what it handed back.
    """
    messages = _Messages(of_agent=of_agent)
    for line in lines:
        try:
            record: object = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if is_object(record):
            messages.take(record)
    found = messages.in_order()
    if not found:
        return AgentSession(is_whole=is_whole)
    try:
        last = turns(found)[-1]
    except (TypeError, IndexError):
        return AgentSession(is_whole=is_whole)
    before = tuple(each for each in last.context if isinstance(each, ToolCall))
    said = members(found[-1])
    blocks = [members(each).get("type") for each in elements(said.get("content"))]
    calls_nothing = "tool_use" not in blocks and not said.get("tool_calls")
    is_ended = bool(last.answer) and said.get("role") == "assistant" and calls_nothing
    return AgentSession((*before, *last.calls), last, is_whole, is_ended=is_ended)


class _Messages:
    """Messages in the form of Anthropic or of Responses; those of Gemini are written again when they grow."""

    def __init__(self, *, of_agent: bool | str) -> None:
        self._found: dict[str, list[object]] = {}
        self._of_agent = of_agent

    def take(self, record: Mapping[str, object]) -> None:
        kind = record.get("type")
        if isinstance(self._of_agent, str):
            if self._of_agent not in _agents_of(record):
                return
        elif not self._of_agent and _is_of_agent(record):
            return
        if is_array(record.get("messages")) and "sessionId" in record:
            self._all_again(record["messages"])
        elif "$rewindTo" in record:
            last = f"{record['$rewindTo']}"
            keys = list(self._found)
            for key in keys[keys.index(last) :] if last in self._found else keys:
                del self._found[key]
        elif "$set" in record:
            self._all_again(members(record["$set"]).get("messages"))
        elif is_object(record.get("message")):
            if record.get("isMeta") is not True:
                self._add(_without_reminders(members(record["message"])))
        elif kind == "response_item":
            self._add(_without_reminders(members(record.get("payload"))))
        elif kind in ("user", "gemini") and "content" in record:
            self._found[f"{record.get('id', len(self._found))}"] = _of_gemini(record)
        elif isinstance(kind, str) and is_object(record.get("data")):
            for message in _of_copilot(kind, members(record["data"])):
                self._add(message)

    def in_order(self) -> list[object]:
        return [message for group in self._found.values() for message in group]

    def _add(self, message: Mapping[str, object] | None) -> None:
        if message:
            self._found[f"#{len(self._found)}"] = [message]

    def _all_again(self, listed: object) -> None:
        if not is_array(listed):
            return
        self._found.clear()
        for each in listed:
            self.take(members(each))


def _is_of_agent(record: Mapping[str, object]) -> bool:
    """Whether a line is of a sub-agent: Claude Code marks its messages, Copilot names the agent or the call of it."""
    return any(_agents_of(record)) if "data" in record else record.get("isSidechain") is True


def _agents_of(record: Mapping[str, object]) -> tuple[object, object]:
    return record.get("agentId"), members(record.get("data")).get("parentToolCallId")


def _without_reminders(message: Mapping[str, object]) -> Mapping[str, object] | None:
    if message.get("type") in ("reasoning", "compaction", "agent_message"):
        return None
    if message.get("role") in ("developer", "system"):
        return None
    if message.get("role") != "user":
        return message
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [members(each).get("text") for each in elements(content)]
    said = [text for text in texts if isinstance(text, str)]
    return None if said and all(text.lstrip().startswith(_NOT_THE_USER) for text in said) else message


def _of_gemini(record: Mapping[str, object]) -> list[object]:
    text = _parts_text(record.get("content"))
    if record.get("type") == "user":
        content = record.get("content")
        if any("functionResponse" in members(part) for part in (content if is_array(content) else (content,))):
            return []  # A tool's result, which its call has as well.
        return [_says("user", text)] if text and not text.lstrip().startswith("<session_context") else []
    found: list[object] = []
    calls = [members(each) for each in elements(record.get("toolCalls"))]
    asked: list[object] = [_says("assistant", text)] if text else []
    for call in calls:
        found.append(_asks(call.get("id"), call.get("name"), call.get("args")))
        status = call.get("status")
        if status in ("success", "error", "cancelled"):
            result = _parts_text(call.get("result")) or call.get("resultDisplay")
            if isinstance(result, str):
                result = dialect_of("gemini").unframed(result)
            found.append(_brings(call.get("id"), result, failed=status != "success"))
    # Text and calls in one message: the text came first.
    return [*asked, *found]


def _of_copilot(kind: str, data: Mapping[str, object]) -> list[Mapping[str, object]]:
    if kind == "user.message":
        return [_says("user", data.get("content"))]
    if kind == "assistant.message":
        requests = [members(each) for each in elements(data.get("toolRequests"))]
        said = [_says("assistant", data["content"])] if data.get("content") else []
        return [*said, *(_asks(each.get("toolCallId"), each.get("name"), each.get("arguments")) for each in requests)]
    if kind == "tool.execution_complete":
        fine = data.get("success") is not False
        content = members(data.get("result")).get("content") if fine else data.get("error", data.get("result"))
        return [_brings(data.get("toolCallId"), members(content).get("message", content), failed=not fine)]
    return []


def _says(role: str, text: object) -> Mapping[str, object]:
    return {"role": role, "content": text if isinstance(text, str) else ""}


def _asks(id_: object, name: object, arguments: object) -> Mapping[str, object]:
    use = {"type": "tool_use", "id": f"{id_}", "name": f"{name}", "input": arguments}
    return {"role": "assistant", "content": [use]}


def _brings(id_: object, result: object, *, failed: bool) -> Mapping[str, object]:
    content = result if isinstance(result, str) else _written(result)
    block = {"type": "tool_result", "tool_use_id": f"{id_}", "content": content[-_MOST_RESULT:], "is_error": failed}
    return {"role": "user", "content": [block]}


def _parts_text(parts: object) -> str:
    if isinstance(parts, str):
        return parts
    if is_array(parts):
        return "".join(_parts_text(each) for each in parts)
    held = members(parts)
    response = members(members(held.get("functionResponse")).get("response"))
    if response:
        return _parts_text(response.get("output", response.get("error"))) or _written(response)
    text = held.get("text")
    return text if isinstance(text, str) else ""


def _written(value: object) -> str:
    return "" if value is None else msgspec.json.encode(value).decode("utf-8", "replace")
