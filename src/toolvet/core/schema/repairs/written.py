"""`repair_text`: the valid value in a text that is not quite JSON, or that breaks its schema.

recover     JSON and what is nearly JSON: {'limit': "10"}          → {"limit": "10"}
lines       YAML, if every name is one of the schema: limit: 10   → {"limit": 10}
dotted      names with a path in them: {"filter.name": "x"}        → {"filter": {"name": "x"}}
repair      the value against the schema: {"limit": "10"}          → {"limit": 10}
"""

import re
from typing import Final

from toolvet.core.json_value import members
from toolvet.core.schema.compilation import Schema
from toolvet.core.schema.repairs.context import Confidence, least
from toolvet.core.schema.repairs.recovery import recover
from toolvet.core.schema.repairs.search import Repair, StepKind, certainty_of, repair_by

_LINE: Final = re.compile(r"([A-Za-z_][\w.-]{0,100}):(?:[ \t]+(.*))?")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)")
_MOST_LINES: Final = 500


def repair_text(ready: Schema, text: str) -> Repair | None:
    """Return the valid value that `text` was meant to be, with the steps that lead to it; None if it is uncertain.

    For a text that is JSON and valid, there is nothing to repair: None, too.
    """
    found = recover(text)
    if found is not None:
        if not found.steps and ready.is_valid(found.value):
            return None
        return _repaired(ready, found.value, found.steps, found.confidence)
    lines = _read_lines(ready, text)
    return None if lines is None else _repaired(ready, lines, ("Read lines of YAML.",), "medium")


def _repaired(ready: Schema, value: object, steps: tuple[str, ...], confidence: Confidence) -> Repair | None:
    certainty = certainty_of({StepKind.READ}, confidence) if steps else 1.0
    if not ready.is_valid(value):
        further = repair_by(ready, value)
        if further is None:
            return None
        value, steps = further.arguments, (*steps, *further.steps)
        confidence = least((confidence, further.confidence))
        certainty = min(certainty, further.certainty)
    patch = ({"op": "replace", "path": "", "value": value},)
    return Repair(arguments=value, patch=patch, confidence=confidence, steps=steps, certainty=certainty)


def _read_lines(ready: Schema, text: str) -> dict[str, object] | None:
    """The members of `name: value` lines and `- item` lists, if the schema declares every name."""
    declared = members(members(ready.document).get("properties"))
    lines = [line for line in text.strip().splitlines() if line.strip() and not line.lstrip().startswith(("#", "---"))]
    if not declared or not lines or len(lines) > _MOST_LINES:
        return None
    found: dict[str, object] = {}
    items: list[object] | None = None
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item is not None and items is not None:
            items.append(_scalar(item[1]))
            continue
        member = _LINE.fullmatch(line)
        if member is None or member[1] not in declared or member[1] in found:
            return None
        items = None
        if (member[2] or "").strip():
            found[member[1]] = _scalar(member[2])
        else:
            found[member[1]] = items = []
    return found


def _scalar(text: str) -> object:
    read = recover(text.strip())
    if read is not None:
        return read.value
    written = text.strip()
    return written[1:-1] if len(written) > 1 and written[0] == written[-1] and written[0] in "\"'" else written
