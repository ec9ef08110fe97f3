"""Results that fit: one longer than its policy's `fit` is shortened, kept as a whole, and says how to get the rest.

The texts of the result share the room: short ones stay whole. Images and links are left alone. Structured content is
shortened too, unless it would break the tool's outputSchema then.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from toolvet.core.json_value import is_array, is_endless, is_object, members
from toolvet.core.meta import META_PREFIX
from toolvet.core.schema import compiled
from toolvet.core.shorten import shorten_text, shorten_value
from toolvet.mcp.wire import encode_members, encode_raw, split_member, split_members
from toolvet.proxy.session.catalogue import KnownTool, ResultCache
from toolvet.proxy.session.step import Change

FIT_KEY: Final = f"{META_PREFIX}fit"
# A token of English is about four bytes, of JSON, code and Chinese about three. Rather too little than too much.
BYTES_PER_TOKEN: Final = 3
# With less room no text says anything.
_LEAST_BYTES: Final = 600
_AMOUNT: Final = re.compile(r"(\d{1,12})(?: (tokens|characters))?")


class FitRoom(NamedTuple):
    """How long a result may be: in `bytes` of UTF-8 (from tokens), or in characters."""

    size: int
    in_bytes: bool

    @classmethod
    def of(cls, fit: int | str) -> "FitRoom":
        """Read the policy: a number of tokens, or text such as `40000 characters`; 0 means no limit."""
        found = _AMOUNT.fullmatch(str(fit))
        if found is None or found[1].strip("0") == "":
            return cls(0, in_bytes=False)
        if found[2] == "characters":
            return cls(max(int(found[1]), _LEAST_BYTES), in_bytes=False)
        return cls(max(int(found[1]) * BYTES_PER_TOKEN, _LEAST_BYTES), in_bytes=True)

    def characters(self, text: str) -> int:
        """This many characters of a text of this kind have room."""
        if not self.in_bytes or not text:
            return self.size
        # From the beginning of a long text: counting the bytes of all of it would copy it.
        sample = text[:100_000]
        return max(int(self.size * len(sample) / len(sample.encode("utf-8", "surrogatepass"))), 1)


def fit_result(
    data: bytes, room: FitRoom, tool: KnownTool | None, kept: ResultCache, retrieval: str
) -> tuple[bytes, tuple[Change, ...]]:
    """Shorten the result in this answer if it is too long. All other members stay byte for byte.

    Args:
        data: The answer, a JSON-RPC message with a `result`.
        room: How long its texts may be together, and its structured content.
        tool: The tool, whose outputSchema the structured content goes on to satisfy; None if it is not known.
        kept: Where the whole is kept.
        retrieval: The name of the tool that returns it.

    Returns:
        The answer, the very same object if nothing was done, and what was changed.
    """
    if not room.size or len(data) <= room.size:
        return data, ()
    try:
        reply = split_members(data)
        result = split_member(reply, "result")
        given: object = msgspec.json.decode(result["content"]) if "content" in result else []
        structured: object = msgspec.json.decode(result["structuredContent"]) if "structuredContent" in result else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return data, ()
    if not is_array(given) or is_endless(given):
        return data, ()
    changed: list[Change] = []
    content, notes = _fit_content(given, room, kept, retrieval)
    if notes:
        result["content"] = encode_raw(content)
        changed.append("content")
    found = _fit_structured(structured, result.get("structuredContent"), room, tool, kept)
    if found is not None:
        result["structuredContent"] = encode_raw(found[0])
        notes.append(found[1])
        changed.append("structured_content")
    if not changed:
        return data, ()
    result["_meta"] = encode_raw({**split_member(result, "_meta"), FIT_KEY: notes})
    reply["result"] = encode_raw(result)
    return encode_members(reply), tuple(changed)


def _fit_content(
    given: Sequence[object], room: FitRoom, kept: ResultCache, retrieval: str
) -> tuple[list[object], list[dict[str, object]]]:
    """Return the content with its long texts shortened, and a note for each of these."""
    content = list(given)
    notes: list[dict[str, object]] = []
    texts: dict[int, str] = {}
    for place, each in enumerate(content):
        # Of a block, or of a resource in it; images, links and others have none.
        held = members(each)
        found = held.get("text") if held.get("type") == "text" else members(held.get("resource")).get("text")
        if isinstance(found, str):
            texts[place] = found
    share = _share([len(text) for text in texts.values()], room.characters("".join(t[:2_000] for t in texts.values())))
    said: list[str] = []
    for place, text in texts.items():
        if len(text) <= share:
            continue
        id_ = kept.keep(text)
        if id_ is None:
            continue
        short = shorten_text(text, share).text
        block = members(content[place])
        if block.get("type") == "text":
            content[place] = {**block, "text": short}
        else:
            content[place] = {**block, "resource": {**members(block.get("resource")), "text": short}}
        notes.append({"id": id_, "characters": len(text), "shown": len(short)})
        said.append(_say(id_, text, short, retrieval))
    return [*content, *({"type": "text", "text": each} for each in said)], notes


def _fit_structured(
    value: object, encoded: msgspec.Raw | None, room: FitRoom, tool: KnownTool | None, kept: ResultCache
) -> tuple[object, dict[str, object]] | None:
    """Return shorter structured content with its note; None if it stays as it is."""
    if encoded is None or not is_object(value):
        return None
    whole = bytes(encoded).decode("utf-8", "replace")
    most = room.characters(whole)
    if len(whole) <= most:
        return None
    short = shorten_value(value, most, marks=False)
    schema = None if tool is None else tool.definition.get("outputSchema")
    if schema is not None and not compiled(schema).is_valid(short):
        return None
    id_ = kept.keep(whole)
    if id_ is None:
        return None
    return short, {
        "id": id_,
        "characters": len(whole),
        "shown": len(bytes(encode_raw(short))),
        "part": "structuredContent",
    }


def _share(sizes: Sequence[int], room: int) -> int:
    """How long each of several texts may be, so that together they have room: short ones leave theirs to the others."""
    left, share = room, room
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return max(room, share)


def _say(id_: str, whole: str, short: str, retrieval: str) -> str:
    return (
        f"[toolvet shortened this result from {len(whole):,} to {len(short):,} characters. Nothing is lost: call "
        f'{retrieval} with {{"id": "{id_}", "search": "WORDS"}} to find what you need in the whole, or with '
        f'"offset" to read on from there.]'
    )
