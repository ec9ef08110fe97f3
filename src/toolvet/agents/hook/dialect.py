"""The words of each client, as data: its events ↔ `HookEvent` and `HookAnswer`.

{"hook_event_name": "PreToolUse", "tool_name": "mcp__time__now", "tool_input": {…}}  → HookEvent("before", …)
HookAnswer("deny", text="…") → {"hookSpecificOutput": {"permissionDecision": "deny", …}}

A file of `dialects/` has what one client sends and reads, and from which version that was read.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_array, is_object, members

Client: TypeAlias = Literal["claude", "codex", "gemini", "copilot"]
CLIENTS: Final[tuple[Client, ...]] = ("claude", "codex", "gemini", "copilot")
Moment: TypeAlias = Literal["before", "after", "end", "hand_back", "other"]


class HookSettingsPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a client keeps its hooks, and in which form: `groups` of matchers, or a list of `commands`.

    `home` is the variable that moves the folder of the user's own, `home_default` is that folder. `matcher` says for
    which tools hooks are run: those of MCP servers, where their names tell them.
    """

    user: str
    project: str
    home: str
    home_default: str
    form: Literal["groups", "commands"]
    seconds: int
    matcher: str
    timeout_unit: int = 1


class ClientTools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a client calls the tools of its MCP servers, and in which files it names the servers."""

    prefix: str
    user: tuple[str, ...]
    project: tuple[str, ...]


class HookDialect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one client sends to a hook and what it reads, as a file of `dialects/` says.

    `input` has for each member of a `HookEvent` the paths where it may be, `output` the form of each kind of answer.
    `accepted` has all members that the client knows in an answer, by event, and `refused` those of them that make it
    refuse the answer. `result_frame` is what the client writes around the text of a result, before hooks see it.
    """

    client: str
    read_from: str
    block: str
    unknown_fields: str
    timeout: str
    notes: tuple[str, ...]
    events: dict[str, Moment]
    input: dict[str, tuple[str, ...]]
    output: dict[str, dict[str, object]]
    accepted: dict[str, tuple[str, ...]]
    refused: dict[str, tuple[str, ...]]
    tools: ClientTools
    settings: HookSettingsPlace
    result_frame: tuple[str, str] = ("", "")

    def unframed(self, text: str) -> str:
        """Return the text of a result without the client's own words around it."""
        begin, end = self.result_frame
        return text[len(begin) : -len(end)] if end and text.startswith(begin) and text.endswith(end) else text


class HookEvent(msgspec.Struct, frozen=True):
    """An event that a client sent to its hook: `moment` is toolvet's name for it, `name` the client's own.

    `continued` says that this very end was asked for by a hook: it must not be refused again. A `hand_back` is the end
    of a sub-agent, whose own transcript is `agent_transcript`, or those lines of `transcript` that name `agent`.
    """

    moment: Moment
    name: str
    tool: str = ""
    arguments: object = None
    result: object = None
    failed: bool | None = None
    message: str | None = None
    transcript: str | None = None
    agent_transcript: str | None = None
    agent: str = ""
    folder: str = ""
    session: str = ""
    continued: bool = False
    server: str = ""
    server_tool: str = ""


class HookAnswer(msgspec.Struct, frozen=True):
    """The client's next step: refuse a call, make it with other arguments, add a message, or go on working.

    A `notice` is for the user: the client shows it and goes on.
    """

    kind: Literal["deny", "update", "context", "block", "notice"]
    text: str = ""
    arguments: object = None


@cache
def dialect_of(client: Client) -> HookDialect:
    """Return the words of a client."""
    return read_toml("toolvet.agents.hook", f"dialects/{client}.toml", HookDialect)


def read_event(dialect: HookDialect, given: object) -> HookEvent:
    """Return the event with these members; of moment `other` if toolvet does not answer it."""
    found: dict[str, object] = {}
    for member, paths in dialect.input.items():
        found[member] = None
        for path in paths:
            value: object = given
            for key in path.split("."):
                value = members(value).get(key)
            if value is not None:
                found[member] = value
                break
    error = found.get("error")
    event = found.get("event")
    name = event if isinstance(event, str) else ""
    if not isinstance(event, str):
        of_moment = {moment: event for event, moment in reversed(dialect.events.items())}
        if found.get("tool") is None:
            name = of_moment["end"] if found.get("transcript") is not None else ""
            if name and found.get("agent") is not None:
                name = of_moment.get("hand_back", name)
        elif error is not None:
            failures = (each for each in dialect.events if each.lower().endswith("failure"))
            name = next(failures, of_moment["after"])
        else:
            name = of_moment["after"] if found.get("result") is not None else of_moment["before"]
    moment = dialect.events.get(name, "other")
    result = error if error is not None else _result(dialect, found.get("result"))
    arguments = found["arguments"]
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        # Some clients have the object as JSON in a text.
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            arguments = msgspec.json.decode(arguments)
    return HookEvent(
        moment,
        name,
        tool=_text(found["tool"]),
        arguments=arguments,
        result=result,
        failed=True if error is not None or name.lower().endswith("failure") else None,
        message=_text(found["message"]) if isinstance(found["message"], str) else None,
        transcript=_text(found["transcript"]) or None,
        agent_transcript=_text(found.get("agent_transcript")) or None,
        agent=_text(found.get("agent")),
        folder=_text(found["folder"]),
        session=_text(found["session"]),
        continued=found.get("continued") is True,
        server=_text(found.get("server")),
        server_tool=_text(found.get("server_tool")),
    )


def write_answer(dialect: HookDialect, event: HookEvent, answer: HookAnswer | None) -> bytes:
    """Return the output: one line of JSON, empty if there is nothing to answer."""
    if answer is None:
        return b""
    values = {"$event": event.name, "$text": answer.text, "$arguments": answer.arguments}
    filled = _filled(dialect.output[answer.kind], values)
    try:
        return msgspec.json.encode(filled) + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair, which a client may have sent: escaped, it is JSON.
        return json.dumps(filled, default=str, skipkeys=True).encode() + b"\n"


def _result(dialect: HookDialect, result: object) -> object:
    if isinstance(result, str):
        return dialect.unframed(result)
    if is_array(result):
        return [_result(dialect, each) if is_object(each) else each for each in result]
    if is_object(result) and isinstance(result.get("text"), str):
        return {"type": "text", **result, "text": dialect.unframed(f"{result['text']}")}
    return result


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _filled(form: object, values: Mapping[str, object]) -> object:
    if is_object(form):
        return {name: _filled(inner, values) for name, inner in form.items()}
    return values.get(form, form) if isinstance(form, str) else form
