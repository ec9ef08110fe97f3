"""`repair` and `recover`: what they return is valid, and the patch leads there."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds, shown
from tests.core.schema.repair.patching import patched

from toolvet import ToolShapeError, recover, repair, repair_call, repair_json
from toolvet.core.schema import compiled


def check(draw: Draw) -> None:
    """A value and a schema, or a broken text."""
    if draw.byte() < 90:
        return _recover(draw)
    schema = draw.schema() if draw.byte() < 240 else draw.value()
    value = draw.json() if draw.flag() else _member(draw, schema) if draw.flag() else draw.value()
    before = shown(value)
    found = repair(schema, value)
    holds(shown(value) == before, "a repair changed what it was given")
    if found is None:
        return None
    ready = compiled(schema)
    holds(ready.is_valid(found.arguments), "what a repair gives is not valid")
    holds(not ready.is_valid(value), "a valid value was repaired")
    holds(0 <= found.certainty <= 1, "a certainty beyond 0 to 1")
    holds(found.steps and found.patch, "a repair without steps")
    json.dumps([found.arguments, found.patch, found.steps])
    holds(repr(repair(schema, value)) == repr(found), "the same value, another repair")
    same_again = patched(json.loads(json.dumps(value)), found.patch)
    holds(
        json.dumps(same_again) == json.dumps(found.arguments) or same_again == found.arguments,
        "the patch leads elsewhere",
    )
    return None


def _member(draw: Draw, schema: object) -> object:
    """An object whose members are those of the schema, written otherwise."""
    names = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(names, dict):
        return draw.json()
    return {
        draw.one((name, name, str(name).upper(), f"{name}s", str(name).replace("_", ""))): draw.json(3)
        for name in names
    }


def _recover(draw: Draw) -> None:
    text = draw.text() if draw.byte() < 60 else draw.raw().decode("utf-8", "surrogateescape")
    if draw.byte() > 60:
        text = json.dumps(draw.json())
        at = draw.byte() % (len(text) + 1)
        text = text[:at] + draw.one(("'", ",", "None", "//", "\n", "}", "", "```")) + text[at + draw.byte() % 3 :]
    schema = draw.schema()
    part = repair_json(text, partial=True)
    holds(part.ok is (part.error is None), "a value and an error")
    try:
        fixed = repair_json(text, schema)
        holds(repair_call({"name": "f", "inputSchema": schema}, text).ok or not fixed.ok, "one repairs, the other not")
        holds(not fixed.ok or compiled(schema).is_valid(fixed.value), "a repair that is not valid")
    except ToolShapeError:
        holds(compiled(schema).problem is not None or not isinstance(schema, dict), "a schema that can be used")
    guided = draw.byte() < 128
    found = recover(text, is_guided=guided)
    if found is not None:
        json.dumps(found.value)
        holds(found.confidence in ("high", "medium", "low"), "no confidence")
        holds(repr(recover(text, is_guided=guided)) == repr(found), "the same text, another value")
        holds(len(json.dumps(found.value)) <= 12 * len(text) + 20, "more was recovered than there was")
