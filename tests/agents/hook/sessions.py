"""The sessions of `sessions.toml`, written as each client writes its transcripts."""

import json
import tomllib
from pathlib import Path
from typing import Any

SESSIONS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "sessions.toml").read_text())["session"]
_NAMES = {
    "claude": {"edit": "Edit", "run": "Bash", "read": "Read", "agent": "Task"},
    "codex": {"edit": "apply_patch", "run": "exec_command", "read": "exec_command", "agent": "spawn_agent"},
    "gemini": {"edit": "replace", "run": "run_shell_command", "read": "read_file", "agent": "codebase_investigator"},
    "copilot": {"edit": "edit", "run": "bash", "read": "view", "agent": "task"},
}


def transcript(client: str, session: dict[str, Any], *, before: tuple[dict[str, Any], ...] = ()) -> str:
    """The lines of a session, after those of other sessions."""
    lines = [line for each in (*before, session) for line in _lines(client, each)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def agent_transcript(client: str, session: dict[str, Any]) -> str:
    """The same session as that of a sub-agent, in a file of its own."""
    lines = [dict(line) for line in _lines(client, session)]
    if client == "claude":
        about = {"isSidechain": True, "agentId": "a84b7406ef53120af", "sessionId": "s", "userType": "external"}
        lines = [{"parentUuid": None, **about, **line} for line in lines]
    else:
        meta = {"id": "019a", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "0199"}}}}
        lines.insert(0, {"type": "session_meta", "payload": meta})
    return "".join(json.dumps(line) + "\n" for line in lines)


def stop_event(
    client: str, session: dict[str, Any], path: Path, folder: Path, *, again: bool = False
) -> dict[str, Any]:
    """The event that the client sends to its hook at the end."""
    if client == "copilot":
        return {
            "sessionId": "s",
            "timestamp": 1,
            "cwd": str(folder),
            "transcriptPath": str(path),
            "stopReason": "end_turn",
            "stop_hook_active": again,
        }
    common = {"session_id": "s", "transcript_path": str(path), "cwd": str(folder), "stop_hook_active": again}
    if client == "gemini":
        said = "".join([step[1] for step in session["steps"] if step[0] == "say"] + [session["final"]])
        return {**common, "hook_event_name": "AfterAgent", "prompt": session["question"], "prompt_response": said}
    extra = {"turn_id": "t", "model": "m", "permission_mode": "default"} if client == "codex" else {}
    return {**common, **extra, "hook_event_name": "Stop", "last_assistant_message": session["final"]}


def _lines(client: str, session: dict[str, Any]) -> list[dict[str, Any]]:
    found = [_user(client, session["question"])]
    for number, step in enumerate(session["steps"]):
        found += _step(client, step, f"{session['name']}-{number}")
    return [*found, _assistant(client, session["final"], f"{session['name']}-end")]


def _user(client: str, text: str) -> dict[str, Any]:
    forms: dict[str, dict[str, Any]] = {
        "claude": {"type": "user", "message": {"role": "user", "content": text}},
        "codex": {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        },
        "gemini": {"id": f"u-{text[:40]}", "type": "user", "content": [{"text": text}]},
        "copilot": {"type": "user.message", "data": {"content": text}},
    }
    return forms[client]


def _assistant(client: str, text: str, id_: str) -> dict[str, Any]:
    forms: dict[str, dict[str, Any]] = {
        "claude": {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}},
        "codex": {
            "type": "response_item",
            "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
        },
        "gemini": {"id": id_, "type": "gemini", "content": text},
        "copilot": {"type": "assistant.message", "data": {"content": text, "toolRequests": []}},
    }
    return forms[client]


def _step(client: str, step: list[Any], id_: str) -> list[dict[str, Any]]:
    kind, *rest = step
    if kind == "say":
        return [_assistant(client, rest[0], id_)]
    name = rest[0] if kind == "tool" else _NAMES[client][kind]
    arguments, result, failed = _call(client, kind, rest)
    if client == "codex" and kind == "agent":
        # The words of the other agent come with a call of their own.
        made = {"type": "function_call", "name": name, "call_id": id_, "arguments": json.dumps(arguments)}
        waits = {"type": "function_call", "name": "wait_agent", "call_id": f"{id_}-w", "arguments": '{"ids": ["019a"]}'}
        status = json.dumps({"status": {"019a": {"completed": result}}, "timed_out": False})
        given = [
            made,
            {"type": "function_call_output", "call_id": id_, "output": '{"agent_id": "019a"}'},
            waits,
            {"type": "function_call_output", "call_id": f"{id_}-w", "output": status},
        ]
        return [{"type": "response_item", "payload": each} for each in given]
    if client == "claude":
        name = f"mcp__tracker__{name}" if kind == "tool" else name
        use = {"type": "tool_use", "id": id_, "name": name, "input": arguments}
        content: Any = result
        if kind == "agent":
            content = [
                {"type": "text", "text": each} for each in (result, "agentId: a84b7406ef53120af\ntotal_tokens: 9")
            ]
        back = {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": failed}
        return [
            {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
            {"type": "user", "message": {"role": "user", "content": [back]}},
        ]
    if client == "codex":
        if kind == "edit":
            call = {"type": "custom_tool_call", "name": name, "call_id": id_, "input": arguments["patch"]}
            back = {"type": "custom_tool_call_output", "call_id": id_, "output": result}
        else:
            call = {"type": "function_call", "name": name, "call_id": id_, "arguments": json.dumps(arguments)}
            back = {"type": "function_call_output", "call_id": id_, "output": result}
        return [{"type": "response_item", "payload": each} for each in (call, back)]
    if client == "gemini":
        if kind == "tool":
            result = f"<untrusted_context>\n{result}\n</untrusted_context>"
        response = [{"functionResponse": {"id": id_, "name": name, "response": {"output": result}}}]
        call = {
            "id": id_,
            "name": name,
            "args": arguments,
            "result": response,
            "status": "error" if failed else "success",
        }
        # The line is written again when the result is there.
        first = {
            "id": f"m-{id_}",
            "type": "gemini",
            "content": "",
            "toolCalls": [{**call, "result": None, "status": "executing"}],
        }
        return [first, {**first, "toolCalls": [call]}, {"id": f"r-{id_}", "type": "user", "content": response[0]}]
    request = {"toolCallId": id_, "name": name, "arguments": arguments, "type": "function"}
    done: dict[str, Any] = {"toolCallId": id_, "success": not failed}
    done["error" if failed else "result"] = {"message": result} if failed else {"content": result}
    return [
        {"type": "assistant.message", "data": {"content": "", "toolRequests": [request]}},
        {"type": "tool.execution_complete", "data": done},
    ]


def _call(client: str, kind: str, rest: list[Any]) -> tuple[Any, str, bool]:
    if kind == "tool":
        return {"text": rest[1]}, rest[2], False
    if kind == "agent":
        return {"prompt": rest[0]}, rest[1] if len(rest) > 1 else "The other agent has finished.", False
    if kind == "edit":
        patch = f"*** Begin Patch\n*** Update File: {rest[0]}\n@@\n-a\n+b\n*** End Patch"
        named = {"claude": "file_path", "gemini": "file_path", "copilot": "path", "codex": "path"}[client]
        return (
            ({"patch": patch} if client == "codex" else {named: rest[0], "old_string": "a", "new_string": "b"}),
            "Done.",
            False,
        )
    if kind == "read":
        if client == "codex":
            return {"cmd": f"cat {rest[0]}"}, _codex_output(0, "text"), False
        return {"file_path": rest[0]}, "text", False
    command, code, output = rest
    if client == "codex":
        return {"cmd": command}, _codex_output(code, output), False
    if client == "gemini":
        return {"command": command}, f"Output: {output}\nExit Code: {code}\nProcess Group PGID: 77", False
    if client == "copilot":
        return {"command": command, "description": "run"}, f"{output}\n<exited with exit code {code}>", False
    return {"command": command}, f"Exit code {code}\n{output}" if code else output, code != 0


def _codex_output(code: int, output: str) -> str:
    return f"Chunk ID: 7f\nWall time: 0.2 seconds\nProcess exited with code {code}\nOutput:\n{output}"
