"""`repair_text`: the valid value in a text that is not quite JSON, or that breaks its schema.

recover     JSON and what is nearly JSON: {'limit': "10"}          → {"limit": "10"}
lines       YAML, `name=value`, Markdown lists and tables, if the schema declares every name
tags        <limit>10</limit>, <parameter=limit>10</parameter>, <arg name="limit">10</arg>, likewise
guided      readings that a schema has to confirm: {limit: ten}    → {"limit": "ten"}
call        the arguments in {"name": "search", "arguments": {"limit": 10}}, if only they have declared names
dotted      names with a path in them: {"filter.name": "x"}        → {"filter": {"name": "x"}}
repair      the value against the schema: {"limit": "10"}          → {"limit": 10}
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.core.json_value import elements, is_object, members, names, type_name
from toolvet.core.schema.compilation import Schema
from toolvet.core.schema.repairs.context import Confidence, least, meant
from toolvet.core.schema.repairs.recovery import AROUND, Recovered, Unreadable, recover
from toolvet.core.schema.repairs.search import Repair, StepKind, certainty_of, repair_by

_NAME: Final = r"[A-Za-z_][\w.-]{0,100}"
# In bold, as code or in quotation marks, with a colon or an equals sign.
_MEMBER: Final = re.compile(
    rf"[*_`\"']{{0,3}}({_NAME}?)[*_`\"']{{0,3}}[ \t]*(?::[*_`]{{0,3}}(?:[ \t]+(.*))?|=[ \t]*(.*))"
)
_BULLET: Final = re.compile(r"[ \t]{0,3}(?:[-*+\u2022]|\d{1,2}[.)])[ \t]+")
_RULE: Final = re.compile(r"[ \t|:-]*-[ \t|:-]*")
_ROW: Final = re.compile(rf"\|?[ \t]*[*`]{{0,2}}({_NAME})[*`]{{0,2}}[ \t]*\|(.*)")
_TAG: Final = re.compile(
    rf"<(?:(?:parameter|param|argument|arg)(?:[ ]+name)?=[\"']?)?({_NAME})[\"']?>(.*?)</{_NAME}>", re.DOTALL
)
_OUTER: Final = re.compile(rf"(?:<{_NAME}(?:[ =][^<>]{{0,200}})?>\s*){{1,3}}(?=<)")
_MOST_LINES: Final = 500
_DEEPEST: Final = 50


def repair_text(ready: Schema, text: str) -> Repair | None:
    """Return the valid value that `text` was meant to be, with the steps that lead to it; None if it is uncertain.

    For a text that is JSON and valid, there is nothing to repair: None, too.
    """
    return repair_read(ready, text, recover(text))


def repair_read(ready: Schema, text: str, found: Recovered | None) -> Repair | None:
    """The same for a text that `recover` has read."""
    if found is not None and not found.steps and ready.is_valid(found.value):
        return None
    declared = members(members(ready.document).get("properties"))
    if found is not None and AROUND not in found.steps:
        return _repaired(ready, found.value, found.steps, found.confidence)
    for value, step in _named(ready.document, text) if declared else ():
        if value and declared.keys() >= value.keys():
            return _repaired(ready, value, (step,), "medium")
    guided = found or recover(text, is_guided=True)
    return None if guided is None else _repaired(ready, guided.value, guided.steps, guided.confidence)


def _repaired(ready: Schema, value: object, steps: tuple[str, ...], confidence: Confidence) -> Repair | None:
    inner = _out_of_call(ready, value)
    if inner is not value:
        step = "Took the arguments out of the call." if is_object(value) else "Read a value as that of the only member."
        value, steps = inner, (*steps, step)
        confidence = least((confidence, "medium" if step[0] == "T" else "low"))
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


def _out_of_call(ready: Schema, value: object) -> object:
    """The arguments of a call that names its tool beside them, or the only member of the schema, if it is alone."""
    declared = members(members(ready.document).get("properties"))
    if not is_object(value):
        required = names(members(ready.document).get("required")) or tuple(declared)
        return {required[0]: value} if declared and len(required) == 1 and value not in (None, "", []) else value
    wrapped = [name for name in value if name not in declared and meant(name, "wrapping")]
    inner = members(value[wrapped[0]]) if len(wrapped) == 1 else {}
    is_call = len(value) > 1 and all(meant(name, "envelope") for name in value if name not in wrapped)
    return inner if inner and is_call and declared.keys() >= inner.keys() else value


def _named(schema: object, text: str) -> Iterator[tuple[Mapping[str, object], str]]:
    """The members that lines and tags name."""
    lines = [
        line for line in text.strip().splitlines() if line.strip() and not line.lstrip().startswith(("#", "---", "```"))
    ]
    parts = members(members(schema).get("properties"))
    if lines and len(lines) <= _MOST_LINES:
        if len(lines) > 2 and "|" in lines[0] and _RULE.fullmatch(lines[1]):
            rows = [_ROW.fullmatch(line) for line in lines[2:]]
            cells = {row[1]: row[2].strip().removesuffix("|").strip(" \t`") for row in rows if row is not None}
            if len(cells) == len(rows):
                yield (
                    {name: _told(parts.get(name), cell) for name, cell in cells.items()},
                    "Read a table of names and values.",
                )
            return
        plain = [_BULLET.sub("", line, count=1) for line in lines]
        has_bullets = all(map(_BULLET.match, lines)) and all(map(_MEMBER.fullmatch, plain))
        try:
            reader = _BlockReader(plain if has_bullets else lines)
            value = reader.read(schema, 0)
            if is_object(value) and reader.at == len(lines):
                yield value, "Read lines of names and values."
        except Unreadable:
            pass
    inner = _OUTER.sub("", text, count=1)
    for part in (text, inner) if inner != text else (text,):
        tags = _TAG.findall(part)
        if tags and len({name for name, _ in tags}) == len(tags):
            yield {name: _told(parts.get(name), told) for name, told in tags}, "Read the names of tags."


class _BlockReader:
    """The blocks of YAML, by their indentation; `schema` says which values are texts."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.rows = [(len(line) - len(line.lstrip()), line.strip()) for line in lines]
        self.at = 0

    def read(self, schema: object, depth: int) -> object:
        """The block at the next line. Raises `Unreadable`."""
        if depth > _DEEPEST:
            raise Unreadable
        indent, text = self.rows[self.at]
        return (
            self._read_list(indent, schema, depth) if text[:2] in ("-", "- ") else self._read_map(indent, schema, depth)
        )

    def _read_list(self, indent: int, schema: object, depth: int) -> list[object]:
        found: list[object] = []
        part = members(schema).get("items")
        while self._is_here(indent) and self.rows[self.at][1][:2] in ("-", "- "):
            rest = self.rows[self.at][1][1:].lstrip()
            if rest and _MEMBER.fullmatch(rest) is None:
                found.append(_told(part, rest))
                self.at += 1
            elif rest:
                self.rows[self.at] = (indent + len(self.rows[self.at][1]) - len(rest), rest)
                found.append(self.read(part, depth + 1))
            else:
                self.at += 1
                found.append(self._read_below(indent, part, depth))
        return found

    def _read_map(self, indent: int, schema: object, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while self._is_here(indent):
            member = _MEMBER.fullmatch(self.rows[self.at][1])
            if member is None or member[1] in found:
                raise Unreadable
            self.at += 1
            part = members(members(schema).get("properties")).get(member[1])
            value = (member[2] or member[3] or "").strip()
            if value in ("|", "|-", ">", ">-") and self.at < len(self.rows) and self.rows[self.at][0] > indent:
                start = self.at
                while self.at < len(self.rows) and self.rows[self.at][0] > indent:
                    self.at += 1
                found[member[1]] = ("\n" if value[0] == "|" else " ").join(
                    text for _, text in self.rows[start : self.at]
                )
            else:
                found[member[1]] = _told(part, value) if value else self._read_below(indent, part, depth)
        return found

    def _is_here(self, indent: int) -> bool:
        return self.at < len(self.rows) and self.rows[self.at][0] == indent

    def _read_below(self, indent: int, schema: object, depth: int) -> object:
        """The block of a name without a value; a list need not be indented."""
        if self.at < len(self.rows):
            below, text = self.rows[self.at]
            if below > indent or (below == indent and text[:2] in ("-", "- ")):
                return self.read(schema, depth + 1)
        return []


def _told(schema: object, text: str) -> object:
    """A value without quotation marks: a text if the schema allows one, else what JSON reads in it."""
    written = text.strip()
    is_quoted = len(written) > 1 and written[0] == written[-1] and written[0] in "\"'"
    read = recover(written)
    if is_quoted:
        return written[1:-1] if read is None else read.value
    branches = [schema, *elements(members(schema).get("anyOf")), *elements(members(schema).get("oneOf"))]
    said = [members(each).get("type") for each in branches]
    kinds = {kind for each in said for kind in (elements(each) or (each,))}
    if read is None or ("string" in kinds and type_name(read.value) not in kinds):
        return written
    return read.value
