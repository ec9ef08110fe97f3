"""A real stdio MCP server that keeps tasks, and notes every call. Standard library only.

    python tasks.py LOG [WORD...]

LOG gets one line of JSON per call, with the answer. Words change how it behaves:

    flags        an absent task is an error with isError
    invents      an absent task is answered with a task
    forgets      tasks are not listed by any tool
    text         create_task answers with a sentence
    upserts      create_task returns a task that was there before, if one has the same title
    targets      more tools, which change things that the server names nowhere, or only compute
"""

import json
import sys
from pathlib import Path
from typing import Any

log, words = Path(sys.argv[1]), set(sys.argv[2:])
tasks: dict[int, str] = {1: "water the plants", 2: "call home", 17: "pay the rent"}

ID = {"type": "integer", "description": "The task."}
TITLE = {"type": "string", "description": "What is to be done."}


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TOOLS: list[dict[str, Any]] = [
    {"name": "delete_task", "description": "Delete a task.", "inputSchema": schema(task_id=ID)},
    {"name": "rename_task", "description": "Rename a task.", "inputSchema": schema(task_id=ID, title=TITLE)},
    {"name": "create_task", "description": "Create a task.", "inputSchema": schema(title=TITLE)},
    {"name": "get_task", "description": "Get a task.", "inputSchema": schema(task_id=ID)},
    {"name": "kill_process", "description": "Kill a process.", "inputSchema": schema(pid={"type": "integer"})},
    {"name": "run", "description": "Run a command.", "inputSchema": schema(command={"type": "string"})},
    {"name": "delete_all_of_host", "description": "Wipe it.", "inputSchema": schema(host={"type": "string"})},
]
if "forgets" not in words:
    TOOLS.append({"name": "list_tasks", "description": "List the tasks.", "inputSchema": schema()})


if "targets" in words:
    one = {"type": "string"}
    TOOLS += [
        {"name": "format_disk", "description": "Format a disk.", "inputSchema": schema(device=one)},
        {"name": "push_branch", "description": "Push.", "inputSchema": schema(branch=one, message=one)},
        {"name": "empty_bucket", "description": "Empty a bucket.", "inputSchema": schema(bucket_name=one)},
        {"name": "migrate", "description": "Migrate.", "inputSchema": schema(database=one)},
        {"name": "pay", "description": "Pay.", "inputSchema": schema(account=one, amount={"type": "number"})},
        {"name": "parse_cidr", "description": "Take a network apart.", "inputSchema": schema(cidr=one)},
        {"name": "generate_qr", "description": "A code for a text.", "inputSchema": schema(text=one)},
        {"name": "normalize_table", "description": "Put rows in order.", "inputSchema": schema(table=one)},
    ]


def text(answer: object, *, is_error: bool = False) -> dict[str, object]:
    said = answer if isinstance(answer, str) else json.dumps(answer)
    return {"content": [{"type": "text", "text": said}], **({"isError": True} if is_error else {})}


def task(number: int) -> dict[str, object]:
    return {"id": number, "title": tasks[number]}


def call(name: str, arguments: dict[str, Any]) -> dict[str, object]:
    number, title = arguments.get("task_id"), arguments.get("title")
    if name == "list_tasks":
        return text({"tasks": [task(one) for one in tasks]})
    if name == "create_task" and isinstance(title, str):
        known = [one for one, said in tasks.items() if said == title]
        new = known[0] if "upserts" in words and known else max(tasks) + 1
        tasks[new] = title
        return text(f"Created task {new} in project 2" if "text" in words else task(new))
    if name in {"get_task", "rename_task", "delete_task"} and isinstance(number, int):
        if number not in tasks:
            if "invents" in words:
                return text({"id": number, "title": "a task"})
            return text(f"Error: task {number} not found", is_error="flags" in words)
        if name == "delete_task":
            del tasks[number]
            return text("Deleted.")
        if name == "rename_task":
            tasks[number] = str(title)
        return text(task(number))
    if name in {"kill_process", "run", "delete_all_of_host"}:
        return text("Done.")
    if name in {"parse_cidr", "generate_qr"} and arguments:
        return text({"parsed": list(arguments.values())})
    return text("Invalid arguments: task_id and title are what it takes", is_error=True)


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    parameters = message.get("params", {})
    body: dict[str, object] = {"error": {"code": -32601, "message": "Method not found"}}
    if message["method"] == "initialize":
        body = {
            "result": {
                "protocolVersion": parameters["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tasks", "version": "1"},
            }
        }
    elif message["method"] == "tools/list":
        body = {"result": {"tools": TOOLS}}
    elif message["method"] == "ping":
        body = {"result": {}}
    elif message["method"] == "tools/call":
        answer = call(parameters["name"], parameters.get("arguments", {}))
        with log.open("a", encoding="utf-8") as notes:
            note = {"tool": parameters["name"], "arguments": parameters.get("arguments", {}), "answer": answer}
            notes.write(json.dumps(note) + "\n")
        body = {"result": answer}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
    sys.stdout.flush()
