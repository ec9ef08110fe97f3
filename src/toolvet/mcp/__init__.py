"""Speaks MCP: bytes in, messages out, and sessions with servers over pipes and HTTP.

    wire        bytes → messages, HTTP heads and events; total: any bytes are some message
    transport   a target (a command or a URL) → a session whose requests return replies and never raise
    client      asks a server whether it can validate a call, and falls back to the schema

The typed layer of the official SDK drops unknown fields. Here every message keeps its bytes: they are under test.

    target = StdioTarget(command="python", args=("server.py",))
    async with open_session(target) as session:
        reply = await session.request("tools/list", {})

Start reading at `transport/__init__.pyi`, then `transport/session.py`.
"""
