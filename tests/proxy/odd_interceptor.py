"""A program: an interceptor server that does with each payload what its first argument says."""

import json
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
KIND = "mutation" if MODE.startswith(("to-", "lies")) else "validation"
PHASE = "response" if MODE.endswith("-result") else "request"
# The older spelling of the draft, which the proxy reads as well.
LISTED = {
    "name": MODE,
    "type": KIND,
    "hook": {"events": ["tools/call", "resources/*"], "phase": PHASE},
    "mode": "enforce",
}


def invoked(payload: dict[str, Any]) -> object:
    params = payload.get("params", {})
    made = {
        "block": {"valid": False, "messages": [{"message": "not today", "severity": "error"}]},
        "block-result": {"valid": False, "severity": "error"},
        "warn": {"valid": False, "severity": "warn", "messages": [{"message": "hm", "severity": "warn"}]},
        "wrong-type": {"valid": "no"},
        "nothing": None,
        "messages": {"valid": False, "messages": "many"},
        "lies": {"modified": False, "payload": {"other": 1}},
        "to-text": {"modified": True, "payload": "text"},
        "to-method": {"modified": True, "payload": {"method": "tools/list", "params": {}}},
        "to-no-params": {"modified": True, "payload": {"method": payload.get("method")}},
        "to-invalid": {"modified": True, "payload": {**payload, "params": {**params, "arguments": {"id": []}}}},
        "to-note": {
            "modified": True,
            "payload": {**payload, "params": {**params, "arguments": {"id": 1, "note": "new"}}},
        },
        "to-other-result": {"modified": True, "payload": {"content": [{"type": "text", "text": "other"}]}},
        "huge": {"valid": False, "messages": [{"message": "x" * 3_000_000, "severity": "error"}]},
    }
    return made[MODE]


for line in sys.stdin:
    asked = json.loads(line)
    method, id_ = asked.get("method"), asked.get("id")
    if MODE == "hangs-later" and Path(sys.argv[2]).exists():
        time.sleep(600)
    if id_ is None:
        continue
    if method == "interceptor/invoke":
        if MODE.startswith("slow"):
            time.sleep(60)
        if MODE == "hangs-later":
            Path(sys.argv[2]).touch()
        if MODE in ("dies", "hangs-later"):
            sys.exit(3)
        if MODE == "garbage":
            sys.stdout.write("{ not json\n" * 100)
            sys.stdout.flush()
            continue
        answer: dict[str, object]
        if MODE == "refuses":
            answer = {"error": {"code": -32603, "message": "Interceptor execution failed"}}
        else:
            answer = {"result": invoked(asked["params"]["payload"])}
    elif method == "interceptors/list" and MODE != "lists-nothing":
        answer = {"result": {"interceptors": [LISTED, {"name": "s", "type": "sink"}, 7, {"name": "n", "type": []}]}}
    elif method == "initialize":
        server = {"name": "odd", "version": "1"}
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": server}}
    else:
        answer = {"error": {"code": -32601, "message": "no such method"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id_, **answer}) + "\n")
    sys.stdout.flush()
