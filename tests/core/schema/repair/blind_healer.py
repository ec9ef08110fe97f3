"""A stand-in for a model: it reads the messages about the arguments, never the schema, and follows them.

It works from the issues alone: `Tool Schema`, `Suggestions` and `Valid Example` are not looked at (copying the example
would always be valid, and never what was asked for). `Corrected call` is used if it is left in the text.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

ROUNDS = 3
Missing = object()


class Issue(msgspec.Struct, frozen=True):
    """One numbered issue: the field, the problem, and the lines below it by their first word."""

    field: str
    problem: str
    lines: Mapping[str, str]

    def said(self, name: str) -> str:
        return self.lines.get(name, "")


def heal(arguments: Any, report_of: Callable[[Any], str | None]) -> tuple[Any, int] | None:
    """The arguments that were accepted and the number of rounds; `report_of` is the tool: the text, or None if fine."""
    for turn in range(ROUNDS + 1):
        text = report_of(arguments)
        if text is None:
            return arguments, turn
        arguments = healed(text, arguments)
    return None


def healed(text: str, arguments: Any) -> Any:
    """The arguments after one reading; a call that was sent as a text is read as JSON first."""
    if isinstance(arguments, str) and isinstance(_json(arguments), dict):
        arguments = _json(arguments)
    corrected = re.search(r"^## Correct\w* [^\n]*\n(?:.*?\n)??```json\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
    if corrected:
        return json.loads(corrected[1])
    found = issues(text)
    for issue in sorted(found, key=_order):
        arguments = _applied(issue, arguments)
    return arguments


def without_correction(text: str) -> str:
    """The text without the section that holds the repaired call."""
    return re.sub(r"^## Correct.*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def without_examples(text: str) -> str:
    """The text without the corrected call and without the example that an issue may carry."""
    return re.sub(r"^   - Example: .*\n?", "", without_correction(text), flags=re.MULTILINE)


def issues(text: str) -> list[Issue]:
    """The issues of the text."""
    section = re.search(r"^## Issues Found:\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    found = []
    for block in re.split(r"\n(?=\d+\. \*\*)", "\n" + (section[1] if section else "")):
        head = re.match(r"\s*\d+\. \*\*(.+?)\*\*: ([^\n]*)", block)
        if head:
            lines = dict(re.findall(r"^   - ([A-Z][\w ]*?): (.*)$", block, re.MULTILINE))
            found.append(Issue(head[1], head[2], lines))
    return found


def _order(issue: Issue) -> int:
    """An unknown name may be the missing one: first the unknown, then the wrong, then the missing."""
    return 0 if "nknown" in issue.problem else 2 if issue.problem.startswith("Required") else 1


def _applied(issue: Issue, arguments: Any) -> Any:
    path = _path(issue.field, arguments)
    if "nknown" in issue.problem:
        return _unknown(issue, path, arguments)
    value = _at(arguments, path)
    if issue.problem.startswith("Required"):
        return arguments if value is not Missing else _put(arguments, path, _invented(issue, None))
    if value is Missing:
        return arguments
    new = _mended(issue, value)
    return _dropped(arguments, path) if new is Missing else _put(arguments, path, new)


def _unknown(issue: Issue, path: Sequence[str | int], arguments: Any) -> Any:
    value = _at(arguments, path)
    if value is Missing:
        return arguments
    rest = _dropped(arguments, path)
    holder = _at(rest, path[:-1])
    meant = _json(issue.said("Did you mean")) or _renaming(issue.said("Fix"))
    if isinstance(meant, str) and isinstance(holder, dict) and meant not in holder:
        return _put(rest, (*path[:-1], meant), value)
    allowed = re.findall(r"[\w$-]+", issue.said("Expected").partition("fields: ")[2])
    inner = _json(value) if isinstance(value, str) else value
    if isinstance(inner, dict) and set(inner) & set(allowed):
        for name in inner:
            if name in allowed:
                rest = _put(rest, (*path[:-1], name), inner[name])
    return rest


def _renaming(fix: str) -> str | None:
    found = re.search(r"[Rr]ename '[^']*' to '([^']*)'", fix) or re.search(r"[Uu]se '([^']*)' instead", fix)
    return found[1] if found else None


def _mended(issue: Issue, value: Any) -> Any:
    """The value as it was asked for: the same one in another form if that fits the message, else another one."""
    meant = _json(issue.said("Did you mean"))
    if meant is not None:
        return meant
    fix = f"{issue.said('Fix')} {issue.said('Expected')}"
    for other in _forms(value, _kinds(issue.said("Expected"), fix)):
        if other is not value and _fits(other, fix):
            return other
    if "emove" in issue.said("Fix") and value in (None, "", []):
        return Missing
    return _invented(issue, value)


Kind = Literal["integer", "number", "boolean", "string", "array", "object", "null"]


def _kinds(expected: str, fix: str) -> list[str]:
    said = re.findall(r"\b(integer|number|boolean|string|array|object|null)\b", expected)
    return said or re.findall(r"\b(integer|number|boolean|string|array|object|null)\b", fix)[:1]


def _forms(value: Any, kinds: Sequence[str]) -> list[Any]:
    found: list[Any] = []
    if isinstance(value, list) and len(value) == 1:
        found += [value[0], *_forms(value[0], kinds)]
    if isinstance(value, dict) and len(value) == 1:
        found += list(value.values())
    if isinstance(value, str):
        read = _json(value.strip().strip("'"))
        found += [value.strip(), read, value.strip().strip("'\"")]
        found += [_json(value.strip().lower())]
        found += [
            {"yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}.get(value.strip().lower())
        ]
    if isinstance(value, int | float) and not isinstance(value, bool):
        found += [json.dumps(value)]
        if value in (0, 1):
            found += [bool(value)]
    if isinstance(value, bool):
        found += [json.dumps(value)]
    if isinstance(value, dict) and list(value) == [str(index) for index in range(len(value))]:
        found += [list(value.values())]
    if isinstance(value, str) and re.search("[,;]", value):
        found += [[piece.strip() for piece in re.split("[,;]", value)]]
    found += [[value]]
    return [other for other in found if other is not None and _kind(other) & set(kinds)]


def _kind(value: Any) -> set[str]:
    match value:
        case None:
            return {"null"}
        case bool():
            return {"boolean"}
        case int():
            return {"integer", "number"}
        case float():
            return {"number", *(["integer"] if value.is_integer() else [])}
        case str():
            return {"string"}
        case list():
            return {"array"}
        case _:
            return {"object"}


def _fits(value: Any, fix: str) -> bool:
    """Whether the value keeps to the limits in the message."""
    choices = _choices(fix)
    if choices and not isinstance(value, list):
        return value in choices
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = _bounds(fix)
        return low <= value <= high
    if isinstance(value, str):
        pattern = re.search(r"matching pattern (\S+?)\.?(?:\s|$)", fix)
        return "format" not in fix and (pattern is None or re.search(pattern[1], value) is not None)
    return True


def _bounds(fix: str) -> tuple[float, float]:
    low, high = -math.inf, math.inf
    for sign, limit in re.findall(r"(>=|<=|>|<) (-?[\d.]+\d|-?\d)", fix):
        number = float(limit)
        if sign.startswith(">"):
            low = max(low, number if sign == ">=" else math.nextafter(number, math.inf))
        else:
            high = min(high, number if sign == "<=" else math.nextafter(number, -math.inf))
    return low, high


def _choices(fix: str) -> list[Any]:
    listed = re.search(r"(?:one of these values:|[Uu]se the value) (.*?)(?:\.(?:\s|$)|$)", fix)
    return [] if listed is None else [_json(item) for item in re.findall(r'"(?:[^"\\]|\\.)*"|[\w.+-]+', listed[1])]


def _invented(issue: Issue, value: Any) -> Any:
    """A value out of what the issue tells: its example, its choices, or its limits."""
    if issue.said("Example"):
        return _json(issue.said("Example"))
    fix = f"{issue.said('Fix')} {issue.said('Expected')}"
    choices = _choices(fix)
    if choices:
        return choices[0]
    low, high = _bounds(fix)
    kinds = _kinds(issue.said("Expected"), fix)
    kind = kinds[0] if kinds else "string"
    if kind in ("integer", "number") or not math.isinf(low) or not math.isinf(high):
        number = high if math.isinf(low) else low
        number = 1 if math.isinf(number) else number
        return math.ceil(number) if kind == "integer" or number == int(number) else number
    if kind == "string":
        least = re.search(r"at least (\d+) character", fix)
        most = re.search(r"at most (\d+) character", fix)
        text = value if isinstance(value, str) and value else "example"
        text = text.ljust(int(least[1]), "x") if least else text
        return text[: int(most[1])] if most else text
    return {"boolean": True, "array": [], "object": {}, "null": None}.get(kind)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _path(field: str, arguments: Any) -> tuple[str | int, ...]:
    """`items.0.id` as steps; a name may hold dots itself, so what is there decides."""
    if field in ("root", "(root)", ""):
        return ()
    steps: list[str | int] = []
    rest = field.split(".")
    while rest:
        for length in range(len(rest), 0, -1):
            name = ".".join(rest[:length])
            if isinstance(arguments, dict) and name in arguments:
                break
        else:
            length, name = 1, rest[0]
        step: str | int = int(name) if isinstance(arguments, list) and name.isdecimal() else name
        steps.append(step)
        arguments = _at(arguments, (step,))
        rest = rest[length:]
    return tuple(steps)


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        if isinstance(value, str):
            return Missing
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return Missing
    return value


def _put(value: Any, path: Sequence[str | int], other: Any) -> Any:
    if not path:
        return other
    if isinstance(value, list) and isinstance(path[0], int) and path[0] < len(value):
        return [_put(item, path[1:], other) if index == path[0] else item for index, item in enumerate(value)]
    value = value if isinstance(value, dict) else {}
    return {**value, path[0]: _put(value.get(path[0]), path[1:], other)}


def _dropped(value: Any, path: Sequence[str | int]) -> Any:
    if len(path) == 1:
        if isinstance(value, list):
            return [item for index, item in enumerate(value) if index != path[0]]
        return {name: item for name, item in value.items() if name != path[0]} if isinstance(value, dict) else value
    inner = _at(value, path[:1])
    return value if not path or inner is Missing else _put(value, path[:1], _dropped(inner, path[1:]))
