"""How client and server introduce themselves in either era: what we send, and what their answers say. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from toolvet.transport.peer import Era
from toolvet.transport.shape import fields, mapping, strings, text
from toolvet.version import __version__

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REQUESTED_LEGACY_VERSION: Final = LEGACY_VERSIONS[-1]
# HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion: only a modern server knows these.
MODERN_ERRORS: Final = frozenset({-32020, -32021, -32022})

_CLIENT: Final = {"name": "toolvet", "title": "toolvet", "version": __version__}
_META: Final = "io.modelcontextprotocol/"


@dataclass(frozen=True)
class Introduction:
    """What a server said of itself; empty strings and mappings for what it left out or said in another shape."""

    era: Era
    protocol_version: str
    server_name: str = ""
    server_version: str = ""
    capabilities: Mapping[str, object] = field(default_factory=dict[str, object])
    instructions: str = ""
    extensions: Mapping[str, object] = field(default_factory=dict[str, object])
    supported_versions: tuple[str, ...] = ()


def initialize_params(capabilities: Mapping[str, object]) -> dict[str, object]:
    """The params of a legacy `initialize`."""
    return {"protocolVersion": REQUESTED_LEGACY_VERSION, "capabilities": dict(capabilities), "clientInfo": _CLIENT}


def request_meta(capabilities: Mapping[str, object]) -> dict[str, object]:
    """The `_meta` of every modern request."""
    return {
        f"{_META}protocolVersion": MODERN_VERSION,
        f"{_META}clientInfo": _CLIENT,
        f"{_META}clientCapabilities": dict(capabilities),
    }


def from_initialize(result: object) -> Introduction | None:
    """Read an InitializeResult; None for what is no object."""
    answer = fields(result)
    if not isinstance(result, Mapping):
        return None
    info, capabilities = mapping(answer, "serverInfo"), mapping(answer, "capabilities")
    return Introduction(
        era="legacy",
        protocol_version=text(answer, "protocolVersion"),
        server_name=text(info, "name"),
        server_version=text(info, "version"),
        capabilities=capabilities,
        instructions=text(answer, "instructions"),
        extensions=mapping(capabilities, "extensions"),
    )


def from_discover(result: object) -> Introduction | None:
    """Read a DiscoverResult; None for what is none (an object with a `supportedVersions` array of strings)."""
    answer = fields(result)
    if not isinstance(result, Mapping):
        return None
    versions = strings(answer.get("supportedVersions"))
    if not versions:
        return None
    info, capabilities = mapping(mapping(answer, "_meta"), f"{_META}serverInfo"), mapping(answer, "capabilities")
    return Introduction(
        era="modern",
        protocol_version=MODERN_VERSION,
        server_name=text(info, "name"),
        server_version=text(info, "version"),
        capabilities=capabilities,
        instructions=text(answer, "instructions"),
        extensions=mapping(capabilities, "extensions"),
        supported_versions=versions,
    )
