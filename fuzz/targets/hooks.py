"""Hooks: random events and transcripts of every client, for random tools and policies."""

import json
from typing import Any, get_args

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.targets.sessions import TOOL_SETTINGS

from toolvet import AnswerCheck, ResultCheck
from toolvet.agents.hook.calls import after, before
from toolvet.agents.hook.dialect import Client, HookAnswer, dialect_of, read_event, write_answer
from toolvet.agents.hook.done import missing
from toolvet.agents.hook.transcript import read_session
from toolvet.proxy.session import Policies, ProxySettings

CLIENTS: tuple[Client, ...] = get_args(Client)
ANSWERS = AnswerCheck(languages=["en"])
RESULTS = ResultCheck()
ROLES = ("user", "assistant", "model", "tool", "system", "developer", "gemini")
KINDS = (
    "user",
    "assistant",
    "message",
    "response_item",
    "function_call",
    "function_call_output",
    "tool.execution_start",
    "tool.execution_complete",
    "assistant.message",
    "user.message",
    "tool_result",
    "tool_use",
)
IDS = ("1", "call_1", "", None, 1)
SAID = ("All tests pass.", "I fixed src/a.py.", "I ran the tests and they failed.", "Done: wrote notes.txt", "ok")


def check(draw: Draw) -> None:
    """One event, its answers, and the end of a session."""
    client = draw.one(CLIENTS)
    dialect = dialect_of(client)
    event = read_event(dialect, _event(draw, dialect.input, tuple(dialect.events)))
    table = {name: (lambda draw, values=values: draw.one(values)) for name, values in TOOL_SETTINGS.items()}
    policy = Policies(ProxySettings(**draw.options(table))).of(event.tool)
    answers = [
        before(event, draw.tool(), policy, merges=draw.flag()),
        after(event, draw.tool(), policy, RESULTS),
        HookAnswer("deny", draw.text()),
    ]
    for answer in answers:
        written = write_answer(dialect, event, answer)
        holds(answer is None or written.count(b"\n") == 1, "an answer is not one line")
        json.loads(written or b"{}")
    session = read_session([_line(draw) for _ in range(draw.byte() % 12)], is_whole=draw.flag())
    message = draw.one((None, *SAID)) if draw.flag() else draw.answer()
    found = missing(message, session, check=ANSWERS, exists=lambda _: draw.flag())
    holds(found is None or bool(found.text().strip()), "missing work without words")


def _event(draw: Draw, places: Any, names: tuple[str, ...]) -> Any:
    if draw.byte() > 235:
        return draw.value()
    given: dict[str, Any] = {}
    for name, paths in places.items():
        if draw.byte() < 60 or not paths:
            continue
        value = draw.one(names) if name == "name" and draw.flag() else _told(draw, name)
        *outer, last = draw.one(tuple(paths)).split(".")
        holder = given
        for step in outer:
            inner = holder.setdefault(step, {})
            holder = inner if isinstance(inner, dict) else {}
        holder[last] = value
    return given


def _told(draw: Draw, name: str) -> Any:
    if name == "result":
        return draw.result()
    if name == "arguments":
        return draw.text() if draw.flag() else draw.members()
    return draw.text() if draw.byte() < 200 else draw.value()


def _line(draw: Draw) -> bytes:
    kind = draw.byte()
    if kind > 230:
        return draw.piece()
    content = draw.one(SAID) if draw.flag() else draw.several(draw.block, 3)
    call = {"id": draw.one(IDS), "name": draw.one(("Bash", "Edit", "write_file", "")), "input": draw.json()}
    blocks = [
        {"type": "tool_use", **call},
        {"type": "tool_result", "tool_use_id": draw.one(IDS), "content": content, "is_error": draw.flag()},
        {"functionCall": {"name": "run", "args": draw.json()}},
        {"functionResponse": {"name": "run", "response": draw.json()}},
    ]
    if draw.flag():
        content = draw.several(lambda: draw.one(blocks), 3)
    record: dict[str, Any] = {
        "type": draw.one(KINDS),
        "role": draw.one(ROLES),
        "content": content,
        "message": {"role": draw.one(ROLES), "content": content} if draw.flag() else draw.json(),
        "payload": {"type": draw.one(KINDS), "call_id": draw.one(IDS), "name": "shell", "output": content},
        "data": {"toolCallId": draw.one(IDS), "toolName": "edit", "arguments": draw.json(), "result": draw.json()},
        "parts": content,
        "toolCalls": [call],
        "id": draw.one(IDS),
        "isSidechain": draw.flag(),
    }
    kept = {name: value for name, value in record.items() if draw.byte() < 190}
    try:
        return json.dumps(kept, default=str).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError):
        return draw.piece()
