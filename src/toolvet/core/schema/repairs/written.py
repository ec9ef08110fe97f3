"""`repair_text`: the valid value in a text that is not quite JSON, or that breaks its schema.

recover     JSON and what is nearly JSON: {'limit': "10"}          → {"limit": "10"}
lines       YAML, `name=value`, Markdown lists and tables, if the schema declares every name
tags        <limit>10</limit>, <parameter=limit>10</parameter>, <arg name="limit">10</arg>, likewise
guided      readings that a schema has to confirm: {limit: ten}    → {"limit": "ten"}
call        the arguments in {"name": "search", "arguments": {"limit": 10}}, if only they have declared names
dotted      names with a path in them: {"filter.name": "x"}        → {"filter": {"name": "x"}}
repair      the value against the schema: {"limit": "10"}          → {"limit": 10}
"""

import html
import re
import shlex
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
_MEMBER_TAGS: Final = ("parameter", "param", "argument", "arg")
_TAG: Final = re.compile(rf"<(?:(?:{'|'.join(_MEMBER_TAGS)})(?:[ ]+name)?=[\"']?)?({_NAME})[\"']?>")
_CLOSING_TAG: Final = re.compile(r"</([\w:.-]{1,100})>")
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
    # Without a schema nothing would confirm the reading.
    guided = found or (recover(text, is_guided=True) if members(ready.document) else None)
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
    if is_object(value):
        return value if declared.keys() >= value.keys() else _arguments_in(declared, value, 0) or value
    entries = [members(each) for each in elements(value)]
    pairs = {str(each["name"]): each["value"] for each in entries if set(each) == {"name", "value"}}
    if pairs and len(pairs) == len(entries) and declared.keys() >= pairs.keys():
        return pairs
    required = names(members(ready.document).get("required")) or tuple(declared)
    return {required[0]: value} if declared and len(required) == 1 and value not in (None, "", []) else value


def _arguments_in(declared: Mapping[str, object], value: Mapping[str, object], depth: int) -> Mapping[str, object]:
    """The one object with declared names in a member that wraps it, or an empty one; the others name the call."""
    found: list[Mapping[str, object]] = []
    for name, each in value.items():
        told = recover(each) if isinstance(each, str) and each.lstrip()[:1] == "{" and meant(name, "wrapping") else None
        inner = members(each if told is None else told.value)
        if not meant(name, "envelope") and (not meant(name, "wrapping") or name in declared):
            return {}
        if inner and meant(name, "wrapping") and declared.keys() >= inner.keys():
            found.append(inner)
        elif inner and depth < 3:
            found.append(_arguments_in(declared, inner, depth + 1))
    return found[0] if len(found) == 1 and (depth or len(value) > 1) else {}


def _named(schema: object, text: str) -> Iterator[tuple[Mapping[str, object], str]]:
    """The members that lines and tags name."""
    lines = [
        line for line in text.strip().splitlines() if line.strip() and not line.lstrip().startswith(("#", "---", "```"))
    ]
    parts = members(members(schema).get("properties"))
    for pairs, step in (
        (_query(text), "Decoded a query string."),
        (_flags(parts, text), "Read the flags of a command."),
        (_attributes(text), "Read the attributes of a tag."),
        (_objects(text), "Put the objects of all lines together."),
    ):
        if pairs:
            yield (
                {name: _told(parts.get(name), each) if isinstance(each, str) else each for name, each in pairs.items()},
                step,
            )
    if lines and len(lines) <= _MOST_LINES and not ("&" in text and _QUERY.fullmatch(text.strip())):
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
    told = _tags(parts, text)
    if told:
        yield {name: _told(parts[name], each) for name, each in told.items()}, "Read the names of tags."


def _tags(parts: Mapping[str, object], text: str) -> dict[str, str]:
    """The members of `<query>tea</query>`, `<parameter=query>tea</parameter>` and the like, in any tags around them."""
    found: dict[str, str] = {}
    *pieces, _ = _CLOSING_TAG.split(text)
    for piece, closing in zip(pieces[::2], pieces[1::2], strict=False):
        opening = next((tag for tag in _TAG.finditer(piece) if tag[1] in parts), None)
        if opening is None and not piece.strip():
            continue
        if opening is None or opening[1] in found or closing not in (opening[1], *_MEMBER_TAGS):
            return {}
        found[opening[1]] = piece[opening.end() :]
    return found


def _query(text: str) -> dict[str, str]:
    """The members of `query=hello+world&limit=5`."""
    if not _QUERY.fullmatch(text.strip()) or not ("&" in text or "%" in text):
        return {}
    pairs = [pair.partition("=")[::2] for pair in text.strip().lstrip("?").split("&")]
    found = {name: _ESCAPED.sub(_unescaped, value.replace("+", " ")) for name, value in pairs}
    return found if len(found) == len(pairs) else {}


def _unescaped(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode(errors="replace")


def _flags(parts: Mapping[str, object], text: str) -> dict[str, str]:
    """The members of `run --query "hello world" --limit=5`."""
    if "--" not in text or len(text) > _LONGEST_COMMAND:
        return {}
    try:
        words = shlex.split(text)
    except ValueError:
        return {}
    found: dict[str, str] = {}
    at = next((place for place, word in enumerate(words) if word.startswith("--")), 0)
    while at < len(words) and words[at].startswith("--") and at <= _MOST_LINES:
        name, is_joined, value = words[at][2:].partition("=")
        name = name.replace("-", "_")
        at += 1
        if not is_joined:
            is_switch = at == len(words) or words[at].startswith("--")
            value = "true" if is_switch else words[at]
            at += not is_switch
            kind = members(parts.get(name)).get("type", "boolean")
            if is_switch and "boolean" not in (elements(kind) or (kind,)):
                # Its value is missing.
                return {}
        if name in found:
            return {}
        found[name] = value
    return found if at == len(words) else {}


def _attributes(text: str) -> dict[str, str]:
    """The members of `<search query="tea" limit="5"/>`."""
    tag = _EMPTY_TAG.fullmatch(text.strip())
    pairs = _ATTRIBUTE.findall(tag[1]) if tag is not None else []
    found = {name: html.unescape(double or single) for name, double, single in pairs}
    return found if len(found) == len(pairs) else {}


def _objects(text: str) -> dict[str, object]:
    """The members of objects on several lines, if no two have the same."""
    lines = text.strip().splitlines()
    if not 1 < len(lines) <= _MOST_LINES or not all(
        line.strip()[:1] == "{" and line.strip()[-1:] == "}" for line in lines
    ):
        return {}
    read = [recover(line) for line in lines]
    pairs = [pair for each in read for pair in (members(each.value).items() if each is not None else ())]
    return dict(pairs) if all(read) and len(dict(pairs)) == len(pairs) else {}


_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_QUERY: Final = re.compile(rf"\??{_NAME}=[^&\s]*(?:&{_NAME}=[^&\s]*)*")
_EMPTY_TAG: Final = re.compile(
    r"<[\w:.-]{1,60}((?:\s+[\w.-]{1,100}=(?:\"[^\"<>]*\"|'[^'<>]*'))+)\s*/?>(?:\s*</[\w:.-]{1,60}>)?"
)
_ATTRIBUTE: Final = re.compile(r"([\w.-]{1,100})=(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_LONGEST_COMMAND: Final = 20_000


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
    if is_quoted and (read is not None or written[0] not in written[1:-1]):
        return written[1:-1] if read is None else read.value
    branches = [schema, *elements(members(schema).get("anyOf")), *elements(members(schema).get("oneOf"))]
    said = [members(each).get("type") for each in branches]
    kinds = {kind for each in said for kind in (elements(each) or (each,))}
    if read is None or ("string" in kinds and type_name(read.value) not in kinds):
        return written
    return read.value
