"""The opening messages of both protocol eras: what we send, and what the server's answers say. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from toolvet.core.json_value import is_object, members, names
from toolvet.core.meta import MCP_META_PREFIX, PROTOCOL_VERSION_KEY, SERVER_INFO_KEY
from toolvet.mcp.transport.peer import Era
from toolvet.version import __version__

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REQUESTED_LEGACY_VERSION: Final = LEGACY_VERSIONS[-1]
# HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion: only a modern server knows these.
MODERN_ERRORS: Final = frozenset({-32020, -32021, -32022})

_CLIENT: Final = {"name": "toolvet", "title": "toolvet", "version": __version__}


@dataclass(frozen=True)
class Introduction:
    """What a server said of itself. What it left out, or gave in another shape, is an empty string or mapping."""

    era: Era
    protocol_version: str
    server_name: str = ""
    server_version: str = ""
    capabilities: Mapping[str, object] = field(default_factory=dict[str, object])
    instructions: str = ""
    extensions: Mapping[str, object] = field(default_factory=dict[str, object])
    supported_versions: tuple[str, ...] = ()


def initialize_params(capabilities: Mapping[str, object]) -> dict[str, object]:
    """Return the params of a legacy `initialize` that announces `capabilities`."""
    return {"protocolVersion": REQUESTED_LEGACY_VERSION, "capabilities": dict(capabilities), "clientInfo": _CLIENT}


def request_meta(capabilities: Mapping[str, object]) -> dict[str, object]:
    """Return the `_meta` of every modern request of a client with these `capabilities`."""
    return {
        PROTOCOL_VERSION_KEY: MODERN_VERSION,
        f"{MCP_META_PREFIX}clientInfo": _CLIENT,
        f"{MCP_META_PREFIX}clientCapabilities": dict(capabilities),
    }


def from_initialize(result: object) -> Introduction | None:
    """Read an InitializeResult; None for a value that is not an object."""
    if not is_object(result):
        return None
    info, capabilities = members(result.get("serverInfo")), members(result.get("capabilities"))
    return Introduction(
        era="legacy",
        protocol_version=_string_at(result, "protocolVersion"),
        server_name=_string_at(info, "name"),
        server_version=_string_at(info, "version"),
        capabilities=capabilities,
        instructions=_string_at(result, "instructions"),
        extensions=members(capabilities.get("extensions")),
    )


def from_discover(result: object) -> Introduction | None:
    """Read a DiscoverResult; None for a value that is not an object with an array of strings `supportedVersions`."""
    if not is_object(result):
        return None
    versions = names(result.get("supportedVersions"))
    if not versions:
        return None
    info = members(members(result.get("_meta")).get(SERVER_INFO_KEY))
    capabilities = members(result.get("capabilities"))
    return Introduction(
        era="modern",
        protocol_version=MODERN_VERSION,
        server_name=_string_at(info, "name"),
        server_version=_string_at(info, "version"),
        capabilities=capabilities,
        instructions=_string_at(result, "instructions"),
        extensions=members(capabilities.get("extensions")),
        supported_versions=versions,
    )


def _string_at(source: Mapping[str, object], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""
