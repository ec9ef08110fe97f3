"""Any answer of a tool, read into plain parts. Total: what cannot be read becomes an issue, never an exception."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, Literal, cast

import msgspec

from toolvet.core.causes import State, state_of_failure
from toolvet.core.checks.result.shapes import is_plainly_mcp, read_foreign
from toolvet.core.json_value import is_endless
from toolvet.core.tools import has_outputs

_NOTHING: tuple[str, ...] = ()
_ONLY_TEXT = ("text",)
# What counts as text, image, audio or resource; blocks of all other types are counted by their type.
_COUNTED = frozenset({"text", "image", "audio", "resource", "resource_link"})
_MOST_TYPES = 20
_NO_COUNTS: Mapping[str, int] = {}


class Content(Enum):
    """One block of `content`, as far as it was read."""

    ABSENT = "absent"
    EMPTY = "empty"
    BLOCKS = "blocks"
    OTHER = "other"


class ToolResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a tool's answer. `structured` is None if it is absent.

    `meta` is the `_meta` of the answer. `texts` holds the text of every well-formed text block, and of a `content` that
    is a bare string. `malformed` has a sentence for each block that is not what it claims to be. `taken_for` names the
    shape of a result that is not MCP's; `has_flag` is whether that shape can report that a call failed, and
    `has_outputs` whether it is a result of SEP-3279, a draft.
    """

    flagged: bool = False
    content: Content = Content.ABSENT
    structured: object = None
    meta: object = None
    awaits: str = ""
    texts: tuple[str, ...] = _NOTHING
    content_types: tuple[str, ...] = _NOTHING
    image_count: int = 0
    audio_count: int = 0
    resource_count: int = 0
    text_block_count: int = 0
    other_counts: Mapping[str, int] = {}
    malformed: tuple[str, ...] = _NOTHING
    unreadable: str = ""
    taken_for: str = ""
    has_flag: bool = True
    has_outputs: bool = False

    @property
    def is_blank(self) -> bool:
        """Nothing in it that a reader could use: no structured content, and no block but blank text.

        A wrapped nothing is nothing: `{"result": ""}`, `{"result": null}`.
        """
        for text in self.texts:
            if text and not text.isspace():
                return False
        if self.malformed:
            return False
        if self.structured is not None:
            body = object_of(self.structured)
            if body is None or len(body) != 1 or "result" not in body:
                return False
            inner = body["result"]
            if inner is not None and not (isinstance(inner, str) and not inner.strip()):
                return False
        return self.content is not Content.OTHER and all(name == "text" for name in self.content_types)


# The keys that make a block of this type readable: it needs one of them, as a string or an object.
_NEEDS: dict[str, tuple[str, ...]] = {
    "image": ("data",),
    "audio": ("data",),
    "resource": ("resource", "uri"),
    "resource_link": ("uri",),
}

_ENDLESS = "Response could not be read (it contains itself, or has no end in JSON)"


def read_response(result: object, shape: Literal["any", "mcp", "mcp_json"] = "any") -> ToolResponse:
    """Read a result of any shape (`shapes.toml`); one that is known to be MCP's (`shape`) is not taken for another."""
    is_mcp = shape != "any"
    given = result
    try:
        plain = _plain_text(given)
        if plain is not None:
            return plain
        # The walk takes 220 µs for 100 KB, a fifth of the proxy's whole work on them.
        if shape != "mcp_json" and is_endless(given):
            return ToolResponse(unreadable=_ENDLESS)
        if type(result) is dict:
            members = cast("Mapping[object, object]", result)
            if is_mcp or "isError" in members or is_plainly_mcp(members):
                return _read(members)
        foreign = None if is_mcp else read_foreign(given)
        if foreign is not None:
            read = _read(foreign.parts)
            return msgspec.structs.replace(read, taken_for=foreign.taken_for, has_flag=foreign.has_flag)
        parts = _parts(given)
        if is_endless(parts):
            return ToolResponse(unreadable=_ENDLESS)
        return ToolResponse() if parts is None else _read(parts)
    except Exception as problem:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return ToolResponse(unreadable=f"Response could not be read ({type(problem).__name__})")


def _plain_text(result: object) -> ToolResponse | None:
    """The commonest result of all, one block of text, perhaps flagged: it cannot be endless, so nothing is walked."""
    parts = object_of(result)
    if parts is None or "content" not in parts or len(parts) != 1 + ("isError" in parts):
        return None
    blocks, flag = list_of(parts["content"]), parts.get("isError", False)
    block = object_of(blocks[0]) if blocks is not None and len(blocks) == 1 else None
    if block is None or len(block) != 2 or not (flag is True or flag is False):
        return None
    kind, text = block.get("type"), block.get("text")
    return _text_response(text, flagged=flag) if type(kind) is str and kind == "text" and type(text) is str else None


def is_only_text(response: ToolResponse) -> bool:
    """Whether a result of MCP is one block of text, and nothing else but perhaps its `_meta`."""
    return response.content_types is _ONLY_TEXT and not response.taken_for


def _text_response(text: str, *, flagged: bool, meta: object = None) -> ToolResponse:
    return ToolResponse(
        flagged=flagged, content=Content.BLOCKS, meta=meta, texts=(text,), content_types=_ONLY_TEXT, text_block_count=1
    )


def _parts(result: object) -> Mapping[object, object] | None:
    if isinstance(result, Mapping):
        return cast("Mapping[object, object]", result)
    dump = getattr(result, "model_dump", None)
    if callable(dump):
        dumped = dump(by_alias=True, exclude_none=True)
        return cast("Mapping[object, object]", dumped) if isinstance(dumped, Mapping) else None
    if not hasattr(result, "content"):
        return None
    content = getattr(result, "content", None)
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return {
        "content": [
            block_dump(by_alias=True, exclude_none=True)
            if callable(block_dump := getattr(block, "model_dump", None))
            else block
            for block in blocks
        ],
        "isError": getattr(result, "isError", getattr(result, "is_error", None)),
        "structuredContent": getattr(result, "structuredContent", getattr(result, "structured_content", None)),
        "_meta": getattr(result, "_meta", getattr(result, "meta", None)),
    }


def _read(parts: Mapping[object, object]) -> ToolResponse:
    get = parts.get
    content = get("content")
    structured = get("structuredContent")
    if structured is not None:
        structured = _plain_object(structured) or structured
    if content is None and structured is None:
        protocol_error = _protocol_error(parts)
        if protocol_error is not None:
            return protocol_error
        # A result that is not final: it waits for input of the user, or for a task (MCP 2025-11-25 and later).
        kind = get("resultType")
        if kind in ("input_required", "task"):
            return ToolResponse(awaits=str(kind))
        if isinstance(get("task"), Mapping):
            return ToolResponse(awaits="task")
        if has_outputs(parts):
            return ToolResponse(flagged=get("isError") is True, has_outputs=True)
    flag = get("isError")
    malformed: list[str] = []
    flagged = flag is True
    if flag is not None and flag is not True and flag is not False:
        malformed.append(f"isError is not a boolean: {_shown(flag)}")
        flagged = isinstance(flag, str) and flag.strip().lower() == "true"
    blocks = list_of(content)
    if structured is None and not malformed and blocks is not None and len(blocks) == 1:
        # The commonest content of all, one text block.
        only = object_of(blocks[0]) or {}
        text = only.get("text") if only.get("type") == "text" else None
        if isinstance(text, str):
            return _text_response(text, flagged=flagged, meta=get("_meta"))
    reading = _Blocks(malformed)
    where = Content.ABSENT if content is None else Content.OTHER
    if isinstance(content, list | tuple):
        where = Content.BLOCKS if content else Content.EMPTY
        for block in cast("list[object]", content):
            reading.add(block)
    elif isinstance(content, str):
        reading.texts.append(content)
    return ToolResponse(
        flagged=flagged,
        content=where,
        structured=structured,
        meta=get("_meta"),
        texts=tuple(reading.texts),
        content_types=tuple(reading.types),
        image_count=reading.images,
        audio_count=reading.audios,
        other_counts=reading.others or _NO_COUNTS,
        resource_count=reading.resources,
        text_block_count=reading.text_blocks,
        malformed=tuple(malformed),
    )


def _plain_object(value: object) -> dict[object, object] | None:
    """A JSON object, also when it comes as an ordered dictionary or another mapping."""
    if type(value) is dict:
        return cast("dict[object, object]", value)
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else None


class _Blocks:
    """The counts that a walk over the blocks collects."""

    __slots__ = ("audios", "images", "malformed", "others", "resources", "text_blocks", "texts", "types")

    def __init__(self, malformed: list[str]) -> None:
        self.malformed = malformed
        self.texts: list[str] = []
        self.types: dict[str, None] = {}
        self.images = self.audios = self.resources = self.text_blocks = 0
        self.others: dict[str, int] = {}

    def add(self, block: object) -> None:
        parts = _plain_object(block) or {}
        kind = parts.get("type")
        if not isinstance(kind, str):
            self._reject(block)
            return
        self.types[kind] = None
        if kind == "text":
            text = parts.get("text")
            if isinstance(text, str):
                self.texts.append(text)
                self.text_blocks += 1
            else:
                self._reject(parts)
            return
        needs = _NEEDS.get(kind)
        if needs is not None and not any(isinstance(parts.get(key), str | dict) for key in needs):
            self._reject(parts)
        self.images += kind == "image"
        self.audios += kind == "audio"
        self.resources += kind in ("resource", "resource_link")
        if kind not in _COUNTED:
            name = kind if len(self.others) < _MOST_TYPES or kind in self.others else "other"
            self.others[name] = self.others.get(name, 0) + 1

    def _reject(self, block: object) -> None:
        self.malformed.append(f"Malformed content block: {_shown(block)}")


def _protocol_error(parts: Mapping[object, object]) -> ToolResponse | None:
    """A JSON-RPC error, whole or only its `error` object, is an error that says so."""
    error = parts.get("error") if "jsonrpc" in parts else parts
    if not isinstance(error, Mapping):
        return None
    members = cast("Mapping[object, object]", error)
    code, message = members.get("code"), members.get("message")
    if isinstance(code, bool) or not isinstance(code, int) or not isinstance(message, str):
        return None
    prefix = "" if f"MCP error {code}" in message else f"MCP error {code}: "
    return ToolResponse(flagged=True, content=Content.EMPTY, texts=(f"{prefix}{message}",))


def _shown(value: object) -> str:
    """Return a short, safe view of a foreign value: its type, and its JSON if that is small and plain."""
    if isinstance(value, dict):
        keys = [str(key)[:20] for key in list(cast("dict[object, object]", value))[:4] if isinstance(key, str)]
        return f"an object with {', '.join(keys)}" if keys else "an object"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)[:40]
    return type(value).__name__


def object_of(value: object) -> dict[object, object] | None:
    """A JSON object, or None."""
    return cast("dict[object, object]", value) if type(value) is dict else None


def list_of(value: object) -> list[object] | None:
    """A JSON array, or None."""
    return cast("list[object]", value) if type(value) is list else None


def readable(text: str) -> str:
    r"""JSON escapes would glue `\n` to the word after it: blank them, keeping every position."""
    if "\\" not in text:
        return text
    return text.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ").replace('\\"', ' "')


_MOST_BLOCKS: Final = 8
_MOST_META: Final = 50
_LONGEST_DECODED: Final = 4_000_000
_MOST_LISTED: Final = 1_000
_OPENINGS: Final = ("{", " ", "\n", "\t", "\r")
_CODES: Final = ("error_code", "errorCode")
_TYPES: Final = ("error_type", "errorType")


class ResultEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """The envelope of a result, as far as it is what the contract says. `error` is "" for a success.

    `state` is what its `error_type` and `error_code` say; None if they say nothing. `code` is its
    `error_code`, `named` that or else its `error_type`.
    """

    success: bool
    error: str = ""
    state: State | None = None
    named: str = ""
    code: str = ""
    warnings: tuple[str, ...] = ()
    pagination: dict[str, object] | None = None
    content_fidelity: str | None = None
    dropped_content_ids: tuple[str, ...] = ()
    request_id: str | None = None


def envelope_in(response: ToolResponse) -> ResultEnvelope | None:
    """The envelope of a result; None without one. As text and as structured content it counts once."""
    texts = response.texts
    if response.structured is None and response.meta is None and len(texts) == 1 and texts[0][:1] not in _OPENINGS:
        # The commonest result of all, a text in words.
        return None
    for members in _candidates(response):
        seen = _read_envelope(members)
        if seen is not None:
            return seen
    return None


def failure_sentence(result: object) -> str:
    """Return the failure that an envelope reports, in its own words; "" without an envelope."""
    envelope = envelope_in(read_response(result))
    return "" if envelope is None else envelope.error


def _candidates(response: ToolResponse) -> Iterator[dict[object, object]]:
    structured = object_of(response.structured)
    if structured is not None:
        wrapped = object_of(structured.get("result")) if len(structured) == 1 else None
        yield structured if wrapped is None else wrapped
    for text in response.texts[:_MOST_BLOCKS]:
        # Most texts are not objects, and most objects are not envelopes: those are not decoded.
        if text[:1] in _OPENINGS and len(text) <= _LONGEST_DECODED and '"success"' in text and text.lstrip()[:1] == "{":
            try:
                decoded = object_of(msgspec.json.decode(text))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                continue
            if decoded is not None:
                yield decoded
    meta = object_of(response.meta)
    for value in list(meta.values())[:_MOST_META] if meta else ():
        under = object_of(value)
        if under is not None:
            yield under


def _read_envelope(body: dict[object, object]) -> ResultEnvelope | None:
    success = body.get("success")
    if type(success) is not bool:
        return None
    data, meta = object_of(body.get("data")) or {}, object_of(body.get("meta")) or {}
    # Servers without a framework put the code beside the error.
    code, kind = _first(_CODES, data, body), _first(_TYPES, data, body)
    error = _text(body.get("error")) or _text(body.get("message"))
    # `meta.version` names a response contract, in any spelling.
    claims = _text(meta.get("version")).casefold().replace("_", "-").startswith("response-v")
    if not claims and (success or not error or not (code or kind)):
        return None
    said = tuple(_strings(meta.get("warnings")))
    warnings = list(said)
    # Of the warnings with details, the ones that are not said in words already.
    for each in (list_of(meta.get("warning_details")) or [])[:_MOST_LISTED]:
        detail = object_of(each) or {}
        message, detail_code = _text(detail.get("message")), _text(detail.get("code"))
        if message and message not in said:
            warnings.append(f"{detail_code}: {message}" if detail_code else message)
    return ResultEnvelope(
        success=success,
        error="" if success else error,
        state=None if success else state_of_failure(code, kind),
        named="" if success else code or kind,
        code="" if success else code,
        warnings=tuple(warnings),
        pagination=cast("dict[str, object] | None", object_of(meta.get("pagination"))),
        content_fidelity=_text(meta.get("content_fidelity")) or None,
        dropped_content_ids=tuple(_strings(meta.get("dropped_content_ids"))),
        request_id=_text(meta.get("request_id")) or None,
    )


def _strings(value: object) -> Iterator[str]:
    return (each for each in (list_of(value) or [])[:_MOST_LISTED] if isinstance(each, str))


def _first(names: tuple[str, ...], *places: dict[object, object]) -> str:
    return next((found for place in places for name in names if (found := _text(place.get(name)))), "")


def _text(value: object) -> str:
    return value if isinstance(value, str) and value.strip() else ""
