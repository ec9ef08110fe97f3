"""One cause, one finding: what three or more tools have for the same reason is told once, for the server.

    get_item    "get_item() missing 1 required positional argument: 'id'"
    get_tags    "get_tags() missing 1 required positional argument: 'id'"        one finding, of the three tools
    list_todos  "list_todos() got an unexpected keyword argument 'x'"

A rule gives its finding a cause (`cause_of` the server's words); `share` joins the findings of one check, severity,
place and cause. `--ignore CHECK:TOOL` acts before, so that a tool that is ignored is not among them.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from toolvet.assess.rules.ending import outage_of_call, words_of
from toolvet.assess.rules.quote import quote
from toolvet.core.json_value import members
from toolvet.core.tool_rules import ObservedCall
from toolvet.findings import Finding

FEWEST: Final = 3  # Tools; two may have the same fault by chance.
SAME: Final = "the same "  # How a cause begins that two tools cannot share by chance: one absolute path.
_LONGEST: Final = 200
_MESSAGES: Final = ("error", "message", "detail", "reason", "error_message")  # The members of an error object.
_SHORTEST: Final = 3  # Characters; a value this short is in a text by chance.
_VALUE: Final = re.compile(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{1,200}`|\d+|\S*[/\\\\.]\S+\b")
# Python, of a call whose arguments nobody has checked: which of them was wrong makes no difference.
_UNCHECKED: Final = re.compile(
    r"\b(?:got (?:an unexpected keyword argument|multiple values for argument)|got some positional-only arguments"
    r"|missing \d+ required (?:positional|keyword-only) arguments?|takes \d+ positional arguments? but)\b"
)


def mask_values(words: str, tool: str = "") -> str:
    """The words without what differs from call to call: the tool's name, quoted values, numbers and paths.

    >>> mask_values("Item 7 of 'books' is gone, says get_item", "get_item")
    'item … of … is gone, says …'
    """
    return _VALUE.sub("…", words.replace(tool, "…") if tool else words).lower()


def cause_of(call: ObservedCall) -> str:
    """The cause of an error: its words without the name of the tool and without values; "" without words.

    What an outage says is missing is the cause, in whatever sentence.
    """
    missing = outage_of_call(call)
    if missing is not None and missing.name:
        return f"missing: {missing}"
    words = quote(_message_in(words_of(call)), _LONGEST)
    if _UNCHECKED.search(words):
        return "the arguments of a call reach the function unchecked"
    for value in members(call.arguments).values():
        if isinstance(value, str) and len(value) >= _SHORTEST:
            words = words.replace(value, "…")
    return mask_values(words, call.tool.name)


def _message_in(words: str) -> str:
    """The message in an error object, `{"success": false, "error": "no project set"}`; any other words as they are."""
    if not words.lstrip().startswith("{"):
        return words
    try:
        error = members(msgspec.json.decode(words))
    except (msgspec.DecodeError, RecursionError):
        return words
    for name in _MESSAGES:
        said = error.get(name)
        inner = next((members(said)[one] for one in _MESSAGES if one in members(said)), said)
        if isinstance(inner, str) and inner:
            return inner
    return words


def share(findings: Iterable[Finding]) -> list[Finding]:
    """Join the findings that at least `FEWEST` tools have for one cause, each set at the place of its first."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    kept: list[list[Finding]] = []
    for finding in findings:
        if not finding.cause or finding.tool is None:
            kept.append([finding])
            continue
        key = (finding.id, finding.severity.value, finding.pointer, finding.cause)
        if key not in groups:
            groups[key] = []
            kept.append(groups[key])
        groups[key].append(finding)
    return [one for group in kept for one in _join(group)]


def _join(group: list[Finding]) -> list[Finding]:
    tools = tuple(dict.fromkeys(finding.tool for finding in group if finding.tool is not None))
    if len(tools) < (2 if group[0].cause.startswith(SAME) else FEWEST):
        return [msgspec.structs.replace(finding, cause="") if finding.cause else finding for finding in group]
    count = sum(finding.occurrences for finding in group)
    return [msgspec.structs.replace(group[0], tool=None, tools=tools, occurrences=count)]
