"""The keys of MCP's `_meta` that toolvet reads and writes.

toolvet's own keys begin with `META_PREFIX`; a room adds its word to it: `f"{META_PREFIX}verdict"`. Keys of MCP itself
begin with `MCP_META_PREFIX` (MCP 2026-07-28, basic).
"""

from typing import Final

META_PREFIX: Final = "dev.toolvet/"

MCP_META_PREFIX: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION_KEY: Final = f"{MCP_META_PREFIX}protocolVersion"
SERVER_INFO_KEY: Final = f"{MCP_META_PREFIX}serverInfo"
