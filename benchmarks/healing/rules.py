"""The healer of rules: it knows the layouts and phrases of the libraries, and what one does about each.

A layout splits a text into places and messages; there is one for each way in which these libraries write lists of
errors. A phrase names the fault. The change of the call is then the same for all libraries.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.healing.values import (
    EXAMPLES,
    NOTHING,
    TYPES,
    Path,
    as_type,
    at,
    closest,
    drop,
    notations,
    places,
    put,
    read,
    rename,
    unpacked,
    written,
)


class Fault(NamedTuple):
    """A fault at a place, with the message about it."""

    path: Path
    what: str
    message: str
    names: Sequence[str] = ()


def heal(call: Any, text: str) -> Any:
    """The call as the text asks for it."""
    corrected = re.search(r"^## Correct.*?```json\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
    if corrected:
        return _revealed(json.loads(corrected[1]), call)
    found = [fault for where, message in entries(text) for fault in faults(call, where, message)]
    for parent in sorted(
        {fault.path for fault in found if fault.what in ("missing", "unknown")}, key=len, reverse=True
    ):
        call = _members(call, parent, [fault for fault in found if fault.path == parent])
    done: set[Path] = set()
    for fault in found:
        if fault.what not in ("missing", "unknown") and fault.path not in done and fault.path:
            changed = _value(call, fault)
            if changed is not NOTHING:
                done.add(fault.path)
                call = changed
    return call


def _revealed(corrected: Any, call: Any) -> Any:
    """toolvet hides secrets in brackets, and asks to keep what was sent: the text of the member most alike by name."""
    sent = {str(path[-1]): value for path, value in places(unpacked(call)) if path and isinstance(value, str)}
    for path, value in list(places(corrected)):
        if path and isinstance(value, str) and re.fullmatch(r"\[.*\]", value):
            name, _ = closest(path[-1], list(sent))
            corrected = put(corrected, path, sent.get(name, value))
    return corrected


# ── layouts: places and messages ──


def entries(text: str) -> Iterator[tuple[str, str]]:
    """The places and messages of a text."""
    start = text.find("[\n  {")
    issues = read(text[start:]) if start >= 0 else NOTHING
    if isinstance(issues, list):  # zod's message, ajv's errors
        for issue in issues:
            where = issue.get("instancePath", "/".join(map(str, issue.get("path", ()))))
            params = issue.get("params") or {}
            extra = [f"one of {json.dumps(params[key])}" for key in ("allowedValues", "allowedValue") if key in params]
            extra += [f"keys: {json.dumps(params['additionalProperty'])}"] if "additionalProperty" in params else []
            yield where.replace(".", "\0"), " ".join([issue.get("message", ""), *extra])
    elif re.search(r"^\d+\. \*\*", text, re.MULTILINE):  # toolvet
        section = re.sub(r"^## (?!Issues).*", "", text, flags=re.MULTILINE | re.DOTALL)
        for block in re.split(r"^\d+\. \*\*", section, flags=re.MULTILINE)[1:]:
            where, _, message = block.partition("**: ")
            yield "" if where == "root" else where, message
    elif " [type=" in text:  # pydantic
        for match in re.finditer(r"^(\S.*)\n  (.+) \[type=", text, re.MULTILINE):
            yield match[1], match[2]
    elif "✖ " in text:  # zod, prettified
        for match in re.finditer(r"✖ (.+)(?:\n  → at (.+))?", text):
            yield match[2] or "", match[1]
    elif re.match(r"data[/ ]", text):  # ajv's errorsText
        for part in re.split(r", (?=data(?:/| must))", text):
            where, _, message = part[4:].partition(" ")
            yield where, message
    else:  # LangChain, a line each; the MCP SDK for TypeScript, one after the other
        body = re.sub(r"^.*?Invalid arguments for tool \S*: ", "", text)
        for part in re.split(r"\n|, (?=(?:[\w.$-]+: )?(?:Invalid|Unrecognized|Too|Expected))", body):
            pair = re.match(r" ?([\w.$-]+): (.+)", part)
            yield (pair[1], pair[2]) if pair and pair[1] != "Invalid" else ("", part)


# ── phrases: faults ──

_PHRASES: Final = [
    ("missing", r"field required|missing required|received undefined|^required\b|must have required property"),
    ("unknown", r"extra inputs|unexpected keyword|unrecognized key|additional propert|unknown field"),
    ("choice", r"one of|input should be ['\"\d]|expected \"|invalid enum|equal to constant|must be '"),
    ("bound", r"less than|greater than|<=?|>=?|at least|at most|fewer than|more than"),
    ("format", r"format|pattern|\bdate|\btime|valid (?:email|uuid)|ISO|invalid (?:email|uuid|string)|match"),
    ("type", rf"\b(?:{'|'.join(TYPES)})s?\b"),
]


def faults(call: Any, where: str, message: str) -> Iterator[Fault]:
    """The faults in a message. A missing or unknown member is a fault of the object around it."""
    first = message.split("\n", maxsplit=1)[0]
    what = next((name for name, pattern in _PHRASES if re.search(pattern, first, re.IGNORECASE)), "")
    path = _path(where, call)
    steps = [step for step in re.split(r"[./\0]", where) if step]
    if first.startswith("Invalid") and len(steps) == len(path) + 1:
        what = "missing"  # For a missing member, zod lists the values it may have.
    if what == "missing":
        named = re.search(r"property '([^']+)'", message)
        yield Fault(path, what, message, [named[1] if named else steps[-1] if steps else ""])
    elif what == "unknown":
        keys = re.search(r"keys?: (.+)", first)
        if keys:
            yield Fault(path, what, message, re.findall(r'"([^"]+)"', keys[1]))
        elif path and at(call, path) is not NOTHING and "additional propert" not in first:
            yield Fault(path[:-1], what, message, [str(path[-1])])
    elif what:
        yield Fault(path, what, message)


def _path(where: str, call: Any) -> Path:
    """The steps that are there: unions add names of their branches, and a missing member is not there."""
    found: Path = ()
    for step in re.split(r"[./\0]|\[(?=\d)|\](?=$|\.)", where):
        value = at(call, found)
        next_step: str | int = int(step) if isinstance(value, list) and step.isdecimal() else step
        if step and at(value, (next_step,)) is not NOTHING:
            found = (*found, next_step)
    return found


# ── changes of the call ──


def _members(call: Any, parent: Path, found: Sequence[Fault]) -> Any:
    holder = at(call, parent)
    if not isinstance(holder, dict):
        return call
    missing = {name: fault for fault in found if fault.what == "missing" for name in fault.names if name not in holder}
    unknown = {name: fault for fault in found if fault.what == "unknown" for name in fault.names if name in holder}
    for value in holder.values():
        inner = unpacked(value)
        # Everything is in a member that should not be there: it is a wrapper.
        if isinstance(inner, dict) and inner and (set(holder) == set(unknown) or set(missing) & set(inner)):
            return put(call, parent, inner)
    for name, fault in unknown.items():
        suggested = re.search(r"Did you mean: \"([^\"]+)\"", fault.message)
        best, alike = (suggested[1], 1.0) if suggested else closest(name, list(missing))
        if best and best not in holder and (alike >= 0.6 or len(unknown) == len(missing) == 1):
            call = rename(call, (*parent, name), best)
            missing.pop(best, None)
        elif len(missing) != 1:
            call = drop(call, (*parent, name))
    left = [name for name in unknown if name in (at(call, parent) or {})]
    for name, fault in missing.items():
        # The library may not say which members it does not know.
        similar, alike = closest(name, [each for each in holder if not unknown])
        if left:
            inner = {each: holder[each] for each in left}
            for each in left:
                call = drop(call, (*parent, each))
            call = put(call, (*parent, name), inner)
        elif alike >= 0.6:
            call = rename(call, (*parent, similar), name)
        else:
            call = put(call, (*parent, name), _invented(fault.message))
    return call


def _invented(message: str) -> Any:
    example = re.search(r"Example: (.+)", message)
    choices = _choices(message)
    if example and read(example[1]) is not NOTHING:
        return read(example[1])
    return choices[0] if choices else EXAMPLES[next(iter(_types(message)), "string")]


def _types(message: str) -> list[str]:
    said = re.sub(r"received \w+|Received: .*|unable to parse \w+", "", message)
    return [TYPES[word] for word in re.findall(r"[a-z]+", said.lower()) if word in TYPES]


def _choices(message: str) -> list[Any]:
    listed = re.search(r"(?:one of|Input should be|expected|Fix: Use|values:) (.*)", message)
    quoted = re.findall(r"'[^']*'|\"[^\"]*\"", listed[1]) if listed else []
    return [value for value in map(read, quoted) if value is not NOTHING]


def _value(call: Any, fault: Fault) -> Any:
    """The call with another value at the place, or NOTHING."""
    value, message = at(call, fault.path), fault.message
    if value is NOTHING:
        return NOTHING
    meant = re.search(r"Did you mean: (.+)", message)
    if meant and read(meant[1]) is not NOTHING:
        return put(call, fault.path, read(meant[1]))
    if value is None or value in ("", "null", "None"):
        return drop(call, fault.path)
    if fault.what == "choice" and (choices := _choices(message)):
        return put(call, fault.path, closest(value, choices)[0])
    if fault.what == "bound":
        limits = [json.loads(each) for each in re.findall(r"-?\d+(?:\.\d+)?", message.split("\n")[0])]
        if limits and isinstance(value, int | float) and not isinstance(value, bool):
            return put(call, fault.path, limits[0])
        return put(call, fault.path, value[: int(limits[0])]) if limits and isinstance(value, str) else NOTHING
    for wanted in _types(message):
        other = as_type(value, wanted)
        if other is not NOTHING and written(other) != written(value):
            return put(call, fault.path, other)
    plain_text = fault.what == "format" or not _types(message) or "string" in _types(message)
    if isinstance(value, str) and plain_text and (others := notations(value)):
        pattern = re.search(r"pattern [\"'/]?(\^.*?\$)", message)
        fitting = [other for other in others if not pattern or re.search(pattern[1], other)]
        return put(call, fault.path, (fitting or others)[0])
    if isinstance(value, dict | list) and len(value) == 1 and fault.what != "bound":
        return put(call, fault.path, next(iter(value.values() if isinstance(value, dict) else value)))
    return put(call, fault.path, _invented(message)) if _types(message) else NOTHING
