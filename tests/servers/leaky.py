"""A stdio server that says the secrets of its JSON file (argv[1]) in every place that MCP has. Standard library only.

It repeats its arguments, its environment variable SHOP_API_KEY and the word behind --token on its command line.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

secrets: list[str] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
ALL = "login failed: " + " and ".join(secrets)
OWN = f"bad key {os.environ.get('SHOP_API_KEY', '')} {' '.join(sys.argv[3:])}"
SCHEMA = {
    "type": "object",
    "properties": {"user": {"type": "string", "description": ALL}, "password": {"type": "string"}},
    "required": ["user"],
}
NAMES = ("get_fails", "get_hides", "get_structured", "get_error", "get_crash", "get_good", "get_echo")
READS = {"readOnlyHint": True}
TOOLS = [
    {"name": name, "description": f"Get. {ALL} {OWN}", "inputSchema": SCHEMA, "annotations": READS} for name in NAMES
]
TOOLS.append({**TOOLS[0], "name": f"get {OWN}", "title": ALL, "annotations": {**READS, "title": ALL}})
# Where an address may have a secret: after `://`, and in a query.
KEYED = "https://bob:Kq81Kq81@x.example/?api_key=Kq81Kq81&access_token=Kq81Kq81"
ICONS = [{"src": KEYED, "mimeType": "image/png"}]
URI = f"shop://bob:Kq81Kq81@a/?access_token=Kq81Kq81&own={os.environ.get('SHOP_API_KEY', '')}"
META = {"note": ALL, "api_key": "Kq81Kq81"}


def text(words: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "_meta": META, **more}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    echo = f"{arguments.get('password', '')} is invalid test data"
    if name == "get_error":
        data = {"token": "Kq81Kq81", "note": ALL}
        return {"error": {"code": -32603, "message": f"{OWN} {echo} {ALL}", "data": data}}
    results = {
        "get_fails": text(f"{OWN} {echo}: {ALL}", isError=True),
        "get_hides": text(f"Error: {OWN} {echo} {ALL}"),
        "get_structured": text(
            "ok", structuredContent={"note": ALL, "token": "Kq81Kq81", "was": echo, OWN: OWN, ALL: 1, secrets[3]: 2}
        ),
        "get_crash": text(
            f'Traceback (most recent call last):\n  File "/srv/a.py", line 1\nE: {OWN} {ALL}', isError=True
        ),
        "get_good": text(f"{OWN} {ALL}"),
        "get_echo": text(echo, isError=True),
    }
    return {"result": results.get(name, results["get_fails"])}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        able: dict[str, object] = {"tools": {}, "resources": {}, "prompts": {}}
        said = f"{ALL} {OWN}"
        info = {"name": f"leaky {said}", "title": said, "version": f"1 {said}", "websiteUrl": KEYED, "icons": ICONS}
        opened = {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}
        return {"result": {**opened, "instructions": ALL, "_meta": META}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS, "_meta": META}}
    if method == "tools/call":
        return called(params["name"], params.get("arguments", {}))
    if method == "resources/list":
        listed = {"uri": URI, "name": f"a {ALL}", "title": OWN, "description": f"{ALL} {OWN}", "mimeType": "text/plain"}
        return {
            "result": {"resources": [listed, {**listed, "uri": "shop://b"}, {**listed, "uri": f"{KEYED}&c"}, listed]}
        }
    if method == "resources/templates/list":
        return {"result": {"resourceTemplates": [{"uriTemplate": f"{URI}&id={{id}}", "name": f"{ALL} {OWN}"}]}}
    if method == "resources/read" and params.get("uri") == URI:
        return {"result": {"contents": [{"uri": f"{URI}&x", "mimeType": "text/plain", "text": f"{ALL} {OWN}"}]}}
    if method == "prompts/list":
        said = f"{ALL} {OWN}"
        asks = [{"name": "token", "description": said}, {"name": said, "required": True}]
        prompt = {"name": "p", "title": said, "description": said, "arguments": []}
        return {"result": {"prompts": [prompt, {**prompt, "name": said, "arguments": asks, "icons": ICONS}]}}
    if method == "prompts/get" and params.get("name") == "p":
        saying = {"role": "user", "content": {"type": "text", "text": f"{ALL} {OWN}"}}
        return {"result": {"description": ALL, "messages": [saying]}}
    return {"error": {"code": -32602, "message": f"{OWN} {ALL}"}}


def send(reply: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


sys.stderr.write(f"{ALL}\n{OWN}\n")
sys.stderr.flush()
if os.environ.get("REFUSES"):
    opening = json.loads(sys.stdin.readline())
    refused = {"code": -32600, "message": f"{OWN} {ALL}"}
    send({"jsonrpc": "2.0", "id": opening["id"], "error": refused})
    raise SystemExit(1)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], message.get("params") or {})}
        send(reply)
