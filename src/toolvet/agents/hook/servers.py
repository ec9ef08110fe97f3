"""The MCP servers that a client's own files name, and which of them a tool belongs to."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from toolvet.agents.hook.dialect import Client, HookDialect, HookEvent
from toolvet.core.discover import decode_toml
from toolvet.core.json_value import members
from toolvet.errors import ToolvetError
from toolvet.mcp.transport import JsoncError, StdioTarget, Target, read_entry, read_jsonc

_MOST_BYTES: Final = 16 * 2**20
_MOST_PARENTS: Final = 12
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


def servers_of(client: Client, dialect: HookDialect, event: HookEvent) -> Mapping[str, Target]:
    """Return the servers that the client's files name. Files that cannot be read name none."""
    folder = event.folder
    places = [Path(folder), *Path(folder).parents][:_MOST_PARENTS] if folder and Path(folder).is_absolute() else []
    files = [place / name for place in places for name in dialect.tools.project if (place / name).is_file()]
    # A project's files take precedence over the user's own.
    files += [Path(path).expanduser() for path in dialect.tools.user]
    servers: dict[str, Target] = {}
    for file in files:
        for name, target in _read(client, file, folder).items():
            servers.setdefault(name, target)
    return servers


def server_of(client: Client, dialect: HookDialect, event: HookEvent) -> tuple[Target, str, str] | None:
    """The server that the tool of this call belongs to, the tool's own name, and the server's; None if unknown."""
    best: tuple[Target, str, str] | None = None
    longest = 0
    for name, target in servers_of(client, dialect, event).items():
        if event.server:
            if event.server == name:
                return target, event.server_tool or event.tool, name
            continue
        prefix = tool_prefix(dialect, name)
        if event.tool.startswith(prefix) and len(prefix) > longest:
            best, longest = (target, event.tool[len(prefix) :], name), len(prefix)
    return best


def tool_prefix(dialect: HookDialect, server: str) -> str:
    """Return the beginning of the name that a client gives each tool of this server, such as `mcp__books__`."""
    return dialect.tools.prefix.format(server=_NOT_IN_A_NAME.sub("_", server))


def _read(client: Client, file: Path, folder: str) -> dict[str, Target]:
    try:
        if file.stat().st_size > _MOST_BYTES:
            return {}
        text = file.read_text(encoding="utf-8")
        value = decode_toml(text, object) if file.suffix == ".toml" else read_jsonc(text).value
    except (OSError, ValueError, JsoncError, RecursionError):
        return {}
    tables = [members(value).get(key) for key in ("mcpServers", "servers", "mcp_servers")]
    if client == "claude":
        tables.insert(0, members(members(members(value).get("projects")).get(folder)).get("mcpServers"))
    entries = {name: members(entry) for table in reversed(tables) for name, entry in members(table).items()}
    found: dict[str, Target] = {}
    for name, entry in entries.items():
        target = _target(file, name, entry, folder)
        if target is not None:
            found[name] = target
    return found


def _target(file: Path, name: str, entry: Mapping[str, object], folder: str) -> Target | None:
    if entry.get("enabled") is False or entry.get("disabled") is True:
        return None
    plain = {key: value for key, value in entry.items() if key in _KNOWN}
    if isinstance(entry.get("httpUrl"), str):
        plain |= {"url": entry["httpUrl"], "type": "http"}
    if isinstance(entry.get("http_headers"), dict):
        plain["headers"] = entry["http_headers"]
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str) and token in os.environ:
        plain["headers"] = {**members(plain.get("headers")), "Authorization": f"Bearer {os.environ[token]}"}
    if plain.get("type") in ("local", "stdio"):
        plain["type"] = "stdio"
    try:
        target = read_entry(str(file), name, plain)
    except ToolvetError:
        return None
    if isinstance(target, StdioTarget):
        folder = target.cwd or folder
        return StdioTarget(target.command, target.args, target.env, folder or None)
    return target


_KNOWN: Final = ("command", "args", "env", "cwd", "url", "headers", "type")
