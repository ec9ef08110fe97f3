"""The envelopes in a tool result: as structured content, as JSON text, or under `_meta`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from toolvet.core.envelope.contract.shapes import is_sequence, string_members
from toolvet.core.json_value import is_object, pointer


class Sighting(NamedTuple):
    """An object in a tool result that may be an envelope, and the JSON Pointer of its place."""

    place: str
    envelope: Mapping[str, object]

    @property
    def claims(self) -> bool:
        """Whether its `meta.version` names a response contract, in any spelling."""
        meta = self.envelope.get("meta")
        version = meta.get("version") if is_object(meta) else None
        return isinstance(version, str) and version.casefold().replace("_", "-").startswith("response-v")

    @property
    def resembles(self) -> bool:
        """Whether it has the keys of an envelope: `success` and two of the others."""
        return "success" in self.envelope and sum(key in self.envelope for key in ("data", "error", "meta")) > 1


def find_sightings(result: object) -> tuple[Sighting, ...]:
    """The objects in a tool result that claim to be an envelope or resemble one, each once. Total.

    Plain JSON with a `success` key is not one. An object that only resembles an envelope may have another format: it
    counts where another answer of the same tool claims to be an envelope.
    """
    found: list[Sighting] = []
    for sighting in _candidates(result) if is_object(result) else ():
        # Servers send the same object as structured content and as text.
        if (sighting.claims or sighting.resembles) and not any(_are_equal(sighting, other) for other in found):
            found.append(sighting)
    return tuple(found)


def _candidates(result: Mapping[str, object]) -> Iterator[Sighting]:
    structured = result.get("structuredContent")
    if is_object(structured):
        wrapped = structured.get("result") if len(structured) == 1 else None
        # Frameworks wrap what a tool without a declared object returns.
        yield (
            Sighting("/structuredContent/result", wrapped)
            if is_object(wrapped)
            else Sighting("/structuredContent", structured)
        )
    content = result.get("content")
    for index, block in enumerate(content if is_sequence(content) else ()):
        text = block.get("text") if is_object(block) else None
        if isinstance(text, str) and text.lstrip()[:1] == "{" and '"success"' in text:
            value = _parse(text)
            if is_object(value):
                yield Sighting(f"/content/{index}/text", value)
    meta = result.get("_meta")
    for name, value in string_members(meta) if is_object(meta) else ():
        if is_object(value):
            yield Sighting(f"/_meta{pointer((name,))}", value)


def _are_equal(left: Sighting, right: Sighting) -> bool:
    try:
        return left.envelope == right.envelope
    except RecursionError:
        # Nested too deeply to be compared: then both are reported.
        return False


def _parse(text: str) -> object:
    try:
        value: object = orjson.loads(text)
    except ValueError:
        return None
    return value
