"""The official TypeScript client connects to servers that announce the capability, and calls their tools."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.live.servers import typescript_client, typescript_sdk

from toolvet.core.checks.capability import ValidationReply, announcement, parse_reply

pytestmark = pytest.mark.live
HERE = Path(__file__).parent
FLIGHTS = str(HERE.parent / "agents" / "integrations" / "flights.py")


FIRST = (typescript_sdk, "@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js")
SECOND = (typescript_client, "@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio")
CLIENTS = {"v1": (*FIRST, "legacy"), "v2, legacy": (*SECOND, "legacy"), "v2, modern": (*SECOND, "modern")}


@pytest.mark.parametrize("kind", ["fastmcp", "mcpserver", "lowlevel"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_typescript_client_connects_negotiates_and_calls(client: str, kind: str) -> None:
    install, *modules = CLIENTS[client]
    program = ("node", str(HERE / "typescript_client.mjs"), str(install()))
    command = (*program, *modules, sys.executable, FLIGHTS, kind, "stdio")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    found = announcement({"experimental": {"toolValidation": seen["announced"]}})
    assert found is not None
    assert (found.method, found.max_batch_size) == ("validate", 3)
    # Only results of the modern era carry the name of the server.
    assert ("io.modelcontextprotocol/serverInfo" in seen["bad"]["_meta"]) is client.endswith("modern")
    assert seen["good"]["content"][0]["text"] == "1 to Oslo"
    assert seen["bad"]["isError"]
    assert "No airline flies to Atlantis." in seen["bad"]["content"][0]["text"]
    reply = parse_reply(seen["validated"])
    assert isinstance(reply, ValidationReply)
    assert reply.errors == ("No airline flies to Atlantis.",)
