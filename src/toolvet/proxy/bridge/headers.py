"""Which era a POST belongs to, and whether its headers say what its message says (MCP 2026-07-28, Streamable HTTP).

A pipe has no headers, so the bridge compares what a server over HTTP would. Pure and total.
"""

import re
from collections.abc import Mapping
from typing import Final

from toolvet.core.json_value import is_object, members
from toolvet.core.meta import MCP_META_PREFIX, PROTOCOL_VERSION_KEY
from toolvet.mcp.transport import LEGACY_VERSIONS
from toolvet.mcp.wire import ParameterHeaders, Request, decode_header, mirror, request_headers
from toolvet.proxy.http.message import RequestHead

PARAMETER: Final = b"mcp-param-"
_VERSION: Final = b"mcp-protocol-version"
_STANDARD: Final = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")
_CAPABILITIES_KEY: Final = f"{MCP_META_PREFIX}clientCapabilities"
_LEGACY: Final = frozenset(version.encode() for version in LEGACY_VERSIONS)
_DECIMAL: Final = re.compile(r"(-?[0-9]{1,20})(?:\.0{1,20})?")


def names_modern_era(head: RequestHead) -> bool:
    """Whether the version header names no revision with sessions; an unknown version is refused as a modern one."""
    version = head.get(_VERSION)
    return version is not None and version.strip() not in _LEGACY


def is_modern(head: RequestHead, request: Request) -> bool:
    """Whether a request is of the era without sessions: by its header, or by the version that it names itself.

    `initialize` belongs to the other era unless the header disagrees.
    """
    if names_modern_era(head):
        return True
    return request.method != "initialize" and PROTOCOL_VERSION_KEY in _meta(request)


def is_complete(request: Request) -> bool:
    """Whether a modern request has the members of `_meta` that every request must have."""
    meta = _meta(request)
    return isinstance(meta.get(PROTOCOL_VERSION_KEY), str) and _CAPABILITIES_KEY in meta


def find_mismatch(head: RequestHead, request: Request) -> str | None:
    """Return what is wrong with the headers that every modern request repeats; None for nothing."""
    version = str(_meta(request).get(PROTOCOL_VERSION_KEY))
    for name, value in request_headers(version, request.method, request.params).items():
        given = head.values(name.lower().encode())
        if not given:
            return f"The header {name} is missing; the message says {value}"
        if len(given) > 1:
            return f"The header {name} is there {len(given)} times"
        if decode_header(given[0].decode("latin-1")) != decode_header(value):
            return f"The header {name} says something else than the message, which says {value}"
    return None


def find_parameter_mismatch(head: RequestHead, declared: ParameterHeaders, arguments: object) -> str | None:
    """Return what is wrong with the `Mcp-Param-*` headers of a call; None for nothing.

    A tool with an illegal annotation declares nothing: clients drop it, and send no headers for it.
    """
    if declared.problems:
        return None
    expected = mirror(declared, arguments)
    for path, token in declared.headers:
        name = f"Mcp-Param-{token}"
        given = head.values(name.lower().encode())
        value = expected.get(name)
        argument = ".".join(path)
        if len(given) > 1:
            return f"The header {name} is there {len(given)} times"
        if not given and value is not None:
            return f"The header {name} is missing, and the call has an argument {argument}"
        if given and value is None:
            return f"The header {name} is there, and the call has no argument {argument} that a header can repeat"
        if given and value is not None:
            decoded = decode_header(given[0].decode("latin-1"))
            if decoded is None:
                return f"The header {name} cannot be read"
            if decoded != decode_header(value) and not _same_integer(decoded, value, _value_at(arguments, path)):
                return f"The header {name} says something else than the argument {argument}"
    return None


def _meta(request: Request) -> Mapping[str, object]:
    return members(members(request.params).get("_meta"))


def _same_integer(decoded: str, value: str, argument: object) -> bool:
    found = _DECIMAL.fullmatch(decoded)
    if found is None or isinstance(argument, bool) or not isinstance(argument, int):
        return False
    return int(found[1]) == int(value)


def _value_at(arguments: object, path: tuple[str, ...]) -> object:
    value = arguments
    for step in path:
        value = value.get(step) if is_object(value) else None
    return value
