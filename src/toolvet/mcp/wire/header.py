"""The HTTP headers in which MCP 2026-07-28 mirrors parts of a request (basic/transports, SEP-2243)."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_WRAPPED: Final = re.compile(r"=\?base64\?.*\?=")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ANNOTATION: Final = "x-mcp-header"
_MIRRORED_TYPES: Final = ("string", "integer", "boolean")  # A tuple: a server may send an unhashable `type`.
# Which member of `params` the header Mcp-Name repeats.
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# The keywords of JSON Schema 2020-12 besides `properties` that hold sub-schemas, where annotations are illegal.
_ONE: Final = (
    "items",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
)
_MANY: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED_MANY: Final = ("patternProperties", "dependentSchemas", "$defs", "definitions")


class ParameterHeaders(msgspec.Struct, frozen=True):
    """The `x-mcp-header` annotations of one input schema.

    `headers` are paths of property names, each with its header name; `problems` are sentences on illegal annotations.
    """

    headers: tuple[tuple[tuple[str, ...], str], ...] = ()
    problems: tuple[str, ...] = ()


def encode_header(value: str) -> str:
    """Return `value` as a header value: unchanged where HTTP transports it safely, else wrapped as `=?base64?…?=`.

    >>> encode_header("search"), encode_header("größe")
    ('search', '=?base64?Z3LDtsOfZQ==?=')
    """
    if _PLAIN.fullmatch(value) and value == value.strip() and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


def decode_header(value: str) -> str | None:
    """Return what a header value says: the opposite of `encode_header`, for every spelling; None for an illegal value.

    >>> decode_header(" search "), decode_header("=?base64?Z3LDtsOfZQ==?="), decode_header("größe")
    ('search', 'größe', None)
    """
    value = value.strip(" \t")
    if not _PLAIN.fullmatch(value):
        return None
    if not _WRAPPED.fullmatch(value):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def request_headers(version: str, method: str, params: object) -> dict[str, str]:
    """Return the headers of a modern request: version, method and, where the method has one, the name.

    >>> request_headers("2026-07-28", "tools/call", {"name": "search"})
    {'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'search'}
    """
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": encode_header(method)}
    if (member := _NAMED.get(method)) and isinstance(params, Mapping):
        name = cast("Mapping[str, object]", params).get(member)
        if isinstance(name, str):
            headers["Mcp-Name"] = encode_header(name)
    return headers


def parameter_headers(schema: object) -> ParameterHeaders:
    """Read the annotations of an input schema. Total.

    Legal ones are on string, integer or boolean properties that only `properties` lead to, and name a header token
    that no other property names (in any case).
    """
    headers: list[tuple[tuple[str, ...], str]] = []
    problems: list[str] = []
    seen: dict[str, str] = {}
    for path, node in _schemas(schema):
        if _ANNOTATION not in node:
            continue
        where = "/".join(path) if path else "a place that `properties` alone do not lead to"
        token = node[_ANNOTATION]
        if not path:
            problems.append(f"{_ANNOTATION} at {where}")
        elif not isinstance(token, str) or not _TOKEN.fullmatch(token):
            problems.append(f"{where}: {_ANNOTATION} is not a header name")
        elif node.get("type") not in _MIRRORED_TYPES:
            problems.append(f"{where}: {_ANNOTATION} needs the type string, integer or boolean")
        elif token.lower() in seen:
            problems.append(f"{where}: {_ANNOTATION} {token} is also on {seen[token.lower()]}")
        else:
            seen[token.lower()] = where
            headers.append((path, token))
    return ParameterHeaders(tuple(headers), tuple(problems))


def mirror(headers: ParameterHeaders, arguments: object) -> dict[str, str]:
    """Return the `Mcp-Param-*` headers of one call; parameters that are absent, null or not scalars have none."""
    out: dict[str, str] = {}
    for path, token in headers.headers:
        value = arguments
        for step in path:
            value = cast("Mapping[str, object]", value).get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            out[f"Mcp-Param-{token}"] = "true" if value else "false"
        # Beyond 64 bits an integer is spelled differently from language to language (and str() of a huge one raises).
        elif isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= 64):
            out[f"Mcp-Param-{token}"] = encode_header(str(value))
    return out


def _schemas(root: object) -> Iterator[tuple[tuple[str, ...], Mapping[str, object]]]:
    """The names are () for the root and below other keywords. A stack, because a hostile schema can have any depth."""
    stack: list[tuple[tuple[str, ...] | None, object]] = [((), root)]
    while stack:
        path, value = stack.pop()
        if not isinstance(value, Mapping):
            continue
        node = cast("Mapping[str, object]", value)
        yield path or (), node
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            for name, child in reversed(list(cast("Mapping[str, object]", properties).items())):
                stack.append((None if path is None else (*path, name), child))
        stack.extend((None, node[key]) for key in _ONE if key in node)
        for key in _MANY:
            if isinstance(items := node.get(key), list):
                stack.extend((None, item) for item in cast("list[object]", items))
        for key in _NAMED_MANY:
            if isinstance(items := node.get(key), Mapping):
                stack.extend((None, item) for item in cast("Mapping[str, object]", items).values())
