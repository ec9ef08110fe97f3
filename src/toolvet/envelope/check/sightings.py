"""Where envelopes stand in tool results: as structured content, as JSON text, or under `_meta`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from toolvet.envelope.json_copy import step
from toolvet.envelope.contract.shapes import is_array, is_members, strings


class Sighting(NamedTuple):
    """An object in a tool result that may be an envelope, and the JSON Pointer of its place in the result."""

    place: str
    envelope: Mapping[str, object]

    @property
    def claims(self) -> bool:
        """Whether it says itself that it is one, by `meta.version`, however it spells that."""
        meta = self.envelope.get("meta")
        version = meta.get("version") if is_members(meta) else None
        return isinstance(version, str) and version.casefold().replace("_", "-").startswith("response-v")

    @property
    def resembles(self) -> bool:
        """Whether it has the keys of one: `success` and two of the others."""
        return "success" in self.envelope and sum(key in self.envelope for key in ("data", "error", "meta")) > 1


def sightings(result: object) -> tuple[Sighting, ...]:
    """The objects in a tool result that claim or resemble an envelope, each once. Total.

    Plain JSON with a `success` key is none. What only resembles an envelope may be anybody's format: it counts where
    another answer of the same tool claims to be one.
    """
    found: list[Sighting] = []
    for sighting in _objects(result) if is_members(result) else ():
        # Servers send the same object as structured content and as text.
        if (sighting.claims or sighting.resembles) and not any(_same(sighting, other) for other in found):
            found.append(sighting)
    return tuple(found)


def _objects(result: Mapping[str, object]) -> Iterator[Sighting]:
    structured = result.get("structuredContent")
    if is_members(structured):
        wrapped = structured.get("result") if len(structured) == 1 else None
        # Frameworks wrap what a tool without a declared object returns.
        yield (
            Sighting("/structuredContent/result", wrapped)
            if is_members(wrapped)
            else Sighting("/structuredContent", structured)
        )
    content = result.get("content")
    for index, block in enumerate(content if is_array(content) else ()):
        text = block.get("text") if is_members(block) else None
        if isinstance(text, str) and text.lstrip()[:1] == "{" and '"success"' in text:
            value = _parsed(text)
            if is_members(value):
                yield Sighting(f"/content/{index}/text", value)
    about = result.get("_meta")
    for name, value in strings(about) if is_members(about) else ():
        if is_members(value):
            yield Sighting(f"/_meta/{step(name)}", value)


def _same(left: Sighting, right: Sighting) -> bool:
    try:
        return left.envelope == right.envelope
    except RecursionError:
        # Nested too deeply to be compared: then it is told twice.
        return False


def _parsed(text: str) -> object:
    try:
        value: object = orjson.loads(text)
    except ValueError:
        return None
    return value
