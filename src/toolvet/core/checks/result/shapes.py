"""Results in other shapes than MCP's: messages of model APIs, exceptions, HTTP responses, bare values → MCP's parts.

`shapes.toml` lists the messages. Nothing is imported from a framework and nothing is fetched: of an HTTP response only
the body that was read already is looked at.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final, cast

import msgspec

from toolvet.core.discover.toml import read_toml

TEXT: Final = "text"
PAYLOAD: Final = "payload"
NOTHING: Final = "nothing"
EXCEPTION: Final = "exception"
HTTP_RESPONSE: Final = "HTTP response"
JSON_RPC: Final = "JSON-RPC response"
_MCP_MEMBERS: Final = frozenset((
    "content", "structuredContent", "isError", "_meta", "resultType", "task", "jsonrpc", "id", "error", "toolResult",
    "inputRequests", "requestState", "ttlMs", "cacheScope",
))  # fmt: skip
_MCP_BLOCKS: Final = frozenset(("text", "image", "audio", "resource", "resource_link"))
_TEXT_BLOCKS: Final = frozenset(("input_text", "output_text"))
_IMAGES: Final = {"image": "source", "image_url": "image_url", "input_image": "image_url"}
_STATUS: Final = ("status_code", "statusCode", "status")
_BODY: Final = ("body", "text", "data", "content", "json")
# Where a response keeps what it has read: httpx and requests, aiohttp and urllib3, Starlette, and plain objects.
_READ_BODY: Final = ("_content", "_body", "body", "content", "text", "data")
_REASON: Final = ("reason_phrase", "reason", "statusText", "statusDescription")
_LONGEST_BODY: Final = 1_000_000
_FIRST_ERROR: Final = 400
_JSON_RPC_CODES: Final = range(-32_768, -31_999)
_ABSENT: Final = object()

Getter = Callable[[str], object]
Parts = Mapping[object, object]


class ResultShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of `shapes.toml`, whose head explains the members."""

    name: str
    example: str
    inside: str = ""
    when: dict[str, tuple[str, ...]] = {}
    needs: tuple[str, ...] = ()
    content: tuple[str, ...]
    failed: dict[str, tuple[str | bool, ...]] = {}
    error: str = ""
    always: bool = False
    fails: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    @property
    def has_flag(self) -> bool:
        """Whether a result of this shape can say apart from its words that the call failed."""
        return bool(self.failed or self.error or self.always) or "response" in self.content


class ForeignResult(msgspec.Struct, frozen=True):
    """The shape that a result was taken for, and its parts under MCP's names.

    `has_flag` is whether the shape can report that a call failed: if it cannot, a missing flag is not a fault.
    """

    taken_for: str
    parts: Parts
    has_flag: bool = False


class _ResultShapeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shape: tuple[ResultShape, ...]


@cache
def result_shapes() -> tuple[ResultShape, ...]:
    """All shapes of the table, in the order in which they are tried."""
    return read_toml("toolvet.core.checks.result", "shapes.toml", _ResultShapeTable).shape


def read_foreign(result: object) -> ForeignResult | None:
    """Read a result that is not plainly MCP's; None for one that is. Raises what foreign objects raise."""
    if result is None:
        return ForeignResult(NOTHING, {})
    if isinstance(result, str | bytes | bytearray | bool | int | float):
        return ForeignResult(TEXT, _parts_of(result))
    if isinstance(result, list | tuple):
        return ForeignResult(PAYLOAD, _parts_of(list(cast("list[object]", result))))
    if isinstance(result, BaseException):
        error = getattr(result, "error", None)
        code = getattr(error, "code", None)
        if isinstance(code, int) and isinstance(message := getattr(error, "message", None), str):
            words = f"MCP error {code}: {message}"
        else:
            # As the last line of a traceback.
            words = f"{type(result).__name__}: {result}".removesuffix(": ")
        return ForeignResult(EXCEPTION, _text(words, failed=True), has_flag=True)
    if isinstance(result, Mapping):
        parts = cast("Parts", result)
        return None if is_plainly_mcp(parts) else _read_mapping(parts)
    return _read_object(result)


def as_mcp(result: object) -> object:
    """Return a result of any shape as the parts of an MCP result. Total.

    What is MCP's already, as JSON or as an object of an SDK, and what cannot be read, comes back as it is.

    >>> as_mcp("Lisbon: 21 degrees")
    {'content': [{'type': 'text', 'text': 'Lisbon: 21 degrees'}]}
    """
    try:
        found = read_foreign(result)
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return result
    return result if found is None else found.parts


def is_plainly_mcp(parts: Parts) -> bool:
    """Whether nothing but MCP looks like this: most results, so it is asked first."""
    if "isError" in parts or "structuredContent" in parts or "resultType" in parts:
        return True
    return type(parts.get("content")) is list and (len(parts) == 1 or "_meta" in parts)


def _read_mapping(parts: Parts) -> ForeignResult | None:
    # Twenty shapes cost 20 µs, one look 1 µs.
    kind = type(parts)
    is_plain = kind is dict and _telling().isdisjoint(parts)
    get = _getter(parts)
    found = _only_result_of_a_message(get) if is_plain else _by_table(get, 0)
    if found is not None:
        return found
    # An HTTP response as JSON: a status beside headers, or beside a body as AWS Lambda writes it.
    status = next((name for name in _STATUS if _is_status(parts.get(name))), None)
    if status is not None and (isinstance(parts.get("headers"), Mapping) or (status != "status" and "body" in parts)):
        body = next((parts[name] for name in _BODY if name in parts), None)
        return _http_parts(cast("int", parts[status]), _reason(get), body)
    if "jsonrpc" in parts and isinstance(parts.get("result"), Mapping):
        return ForeignResult(JSON_RPC, cast("Parts", parts["result"]), has_flag=True)
    return None if _is_mcp(parts) else ForeignResult(PAYLOAD, _parts_of(dict(parts)))


def _is_mcp(parts: Parts) -> bool:
    """Whether a mapping is a result of MCP, perhaps a broken one, and no payload."""
    if is_plainly_mcp(parts) or not parts or isinstance(parts.get("task"), Mapping):
        return True
    code = parts.get("code")
    if isinstance(code, int) and code in _JSON_RPC_CODES and isinstance(parts.get("message"), str):
        return True
    if "content" not in parts:
        return _MCP_MEMBERS.issuperset(parts) and ("jsonrpc" in parts or "toolResult" in parts or "_meta" in parts)
    content = parts["content"]
    if isinstance(content, list | tuple):
        blocks = cast("list[object]", content)
        return (
            not blocks
            or _MCP_MEMBERS.issuperset(parts)
            or any(_getter(block)("type") in _MCP_BLOCKS for block in blocks)
        )
    # An article has a text under `content`, too, beside members of its own.
    return _MCP_MEMBERS.issuperset(parts)


def _read_object(result: object) -> ForeignResult | None:
    """Read an object of a framework; None for a result of the official SDK or FastMCP."""
    # Of pydantic-ai's parts it is a method.
    structured = getattr(result, "structured_content", _ABSENT)
    if not callable(structured) and (structured is not _ABSENT or hasattr(result, "structuredContent")):
        return None
    found = _by_table(_getter(result), 0)
    if found is not None:
        return found
    status = getattr(result, "status_code", None) or getattr(result, "status", None)
    if _is_status(status) and _has(result, "headers"):
        # A property may read from the network, so only a stored body counts.
        stored = getattr(result, "__dict__", {})
        body = next((body for name in _READ_BODY if isinstance(body := stored.get(name), str | bytes | bytearray)), "")
        return _http_parts(cast("int", status), _reason(_getter(result)), body)
    if _has(result, "content") and _has(result, "is_error", "isError"):
        return None
    plain = _plain(result)
    if isinstance(plain, dict):
        return _read_mapping(cast("Parts", plain)) if plain else None
    return None if plain is result else ForeignResult(PAYLOAD, _parts_of(plain))


@cache
def _telling() -> frozenset[str]:
    """The members of which every shape of the table has at least one. Most payloads have none of them."""
    return frozenset(name for shape in result_shapes() for name in ((shape.inside,) if shape.inside else shape.needs))


def _by_table(get: Getter, depth: int) -> ForeignResult | None:
    for shape in result_shapes():
        found = _read_as(shape, get)
        if found is not None:
            return found
    return _only_result_of_a_message(get) if depth == 0 else None


def _read_as(shape: ResultShape, get: Getter) -> ForeignResult | None:
    if shape.inside:
        inner = get(shape.inside)
        if inner is _ABSENT or inner is None or isinstance(inner, str | int | float | list | tuple):
            return None
        get = _getter(inner)
    if any(get(name) not in values for name, values in shape.when.items()):
        return None
    needed = [get(name) for name in shape.needs]
    if all(value is _ABSENT or value is None for value in needed):
        return None
    content = next((value for name in shape.content if (value := get(name)) is not _ABSENT), None)
    failed = shape.always or any(get(name) in values for name, values in shape.failed.items())
    words = get(shape.error) if shape.error else None
    if words is _ABSENT:
        words = None
    if "response" in shape.content:
        # In Gemini's API `output` is what the function gave back, and `error` is why it failed.
        given = content
        response: Parts = cast("Parts", given) if isinstance(given, Mapping) else {}
        words = None if "output" in response else response.get("error")
        if len(response) == 1 and "output" in response:
            content = response["output"]
    if words:
        return ForeignResult(shape.name, {**_parts_of(words), "isError": True}, has_flag=True)
    parts = _parts_of(_validation_words(content) if shape.always else content)
    return ForeignResult(shape.name, {**parts, "isError": True} if failed else parts, shape.has_flag)


def _validation_words(content: object) -> object:
    """The errors of pydantic as pydantic writes them; anything else comes back itself."""
    if not isinstance(content, list | tuple):
        return content
    errors = list(cast("list[object]", content))
    lines: list[str] = []
    for error in errors:
        if not isinstance(error, Mapping) or not {"loc", "msg"} <= cast("Parts", error).keys():
            return errors
        parts = cast("Parts", error)
        place = parts["loc"]
        steps = cast("list[object]", place) if isinstance(place, list | tuple) else [place]
        lines += [".".join(map(str, steps)), f"  {parts['msg']} [type={parts.get('type')}]"]
    return "\n".join([f"{len(lines) // 2} validation errors", *lines])


def _only_result_of_a_message(get: Getter) -> ForeignResult | None:
    """Return the result in a message that holds exactly one, perhaps next to text."""
    if not isinstance(get("role"), str) and get("kind") != "request":
        return None
    found: list[ForeignResult] = []
    for name in ("content", "parts"):
        blocks = get(name)
        if isinstance(blocks, list | tuple):
            for block in cast("list[object]", blocks):
                read = None if isinstance(block, str) else _by_table(_getter(block), 1)
                if read is not None:
                    found.append(read)
    return found[0] if len(found) == 1 else None


def _http_parts(status: int, reason: str, body: object) -> ForeignResult:
    head = f"HTTP status {status} {reason}".rstrip()
    text = body if isinstance(body, str) else _as_text(body)
    if status >= _FIRST_ERROR:
        return ForeignResult(HTTP_RESPONSE, _text(f"{head}\n{text}".rstrip(), failed=True), has_flag=True)
    return ForeignResult(HTTP_RESPONSE, _text(text if text.strip() else head), has_flag=True)


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600


def _reason(get: Getter) -> str:
    return next((value for name in _REASON if isinstance(value := get(name), str)), "")


def _text(text: str, *, failed: bool = False) -> Parts:
    parts: Parts = {"content": [{"type": "text", "text": text}]}
    return {**parts, "isError": True} if failed else parts


def _parts_of(content: object) -> Parts:
    """Return what a tool returned as parts of an MCP result: texts as blocks, other values as structured content."""
    if isinstance(content, str):
        return _text(content)
    if isinstance(content, list | tuple):
        return _parts_of_list(list(cast("list[object]", content)))
    if isinstance(content, Mapping):
        parts = cast("Parts", content)
        return parts if is_plainly_mcp(parts) else {"content": [], "structuredContent": dict(parts)}
    if content is None or isinstance(content, bool | int | float | bytes | bytearray):
        return _text("" if content is None else _as_text(content))
    plain = _plain(content)
    return _text(_as_text(content)) if plain is content else _parts_of(plain)


def _parts_of_list(items: list[object]) -> Parts:
    """Blocks of any API as blocks of MCP; a list of anything else is a payload."""
    blocks: list[object] = []
    values: list[object] = []
    for item in items:
        block = _block(item)
        if block is None and isinstance(item, Mapping) and list(cast("Parts", item)) == ["json"]:
            values.append(cast("Parts", item)["json"])
        elif block is None:
            return {"content": [], "structuredContent": items}
        else:
            blocks.append(block)
    if not items or (not values and all(isinstance(item, str) for item in items)):
        return {"content": [], "structuredContent": items}
    return (
        {"content": blocks, "structuredContent": values[0] if len(values) == 1 else values}
        if values
        else {"content": blocks}
    )


def _block(item: object) -> object:
    """Return a block of content in MCP's form; None if the item is not a block."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    get = _getter(item)
    kind, text = get("type"), get("text")
    if not isinstance(kind, str):
        alone = isinstance(item, Mapping) and len(cast("Parts", item)) == 1
        return {"type": "text", "text": text} if isinstance(text, str) and alone else None
    if kind in _TEXT_BLOCKS:
        return {"type": "text", "text": text}
    if kind in _IMAGES and (image := get(_IMAGES[kind])) is not _ABSENT:
        return {"type": "image", "data": image}
    return _plain(item)


def _plain(value: object) -> object:
    """An object of records as JSON; any other value comes back itself."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(by_alias=True, exclude_none=True)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name, None) for each in fields(value)}
    if isinstance(value, msgspec.Struct):
        plain: object = msgspec.to_builtins(value)
        return plain
    return value


def _as_text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return bytes(value[:_LONGEST_BODY]).decode("utf-8", "replace")
    if isinstance(value, Mapping | list | tuple):
        return msgspec.json.encode(value, enc_hook=str).decode()
    return "" if value is None else str(value)[:_LONGEST_BODY]


def _has(of: object, *names: str) -> bool:
    return any(hasattr(of, name) for name in names)


def _getter(of: object) -> Getter:
    if isinstance(of, Mapping):
        parts = cast("Parts", of)
        return lambda name: parts.get(name, _ABSENT)
    return lambda name: getattr(of, name, _ABSENT)
