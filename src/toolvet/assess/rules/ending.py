"""How a call ended, and who caused that: the tool, its surroundings or its framework.

Rules agree by the ending which of them reports a fault, so that one fault is one finding. An outage is about the
surroundings of a server, which no argument and no author can change in a call:

    answer    "Tool execution failed: No project specified. Set KANBAN_PROJECT_DIR env var in MCP config"
    missing   "KANBAN_PROJECT_DIR", a variable (`checks.result.outage_of`)

Twelve tools that say this have one cause, and it is reported once, for the server (`environment-outage`, in
`catalog/failures.py`). So is any fault that three or more tools have for the same reason:

    get_item    "get_item() missing 1 required positional argument: 'id'"
    get_tags    "get_tags() missing 1 required positional argument: 'id'"        one finding, of the three tools
    list_todos  "list_todos() got an unexpected keyword argument 'x'"

A rule gives its finding a cause (`cause_of` the server's words); `share` in `rules/judge.py` joins the findings of one
check, severity, place and cause.

The real work of a tool was seen only where at least one valid call succeeded:

    get_document("example.txt")   "Document example.txt does not exist"     a refusal: right, but not a success
    get_document("b.txt")         "Document b.txt does not exist"           the same
    exercise                      tried 2, succeeded 0; not exercised; a fixture would help
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, TypeAlias, cast

import msgspec

from toolvet.assess.rules.quote import quote
from toolvet.core.causes import ErrorKind, State
from toolvet.core.checks import (
    LeakKind,
    Outage,
    OutageKind,
    ResultVerdict,
    check_result,
    is_framework_refusal,
    outage_of,
)
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, Outcome, ProtocolError

INVALID_ARGUMENTS: Final = frozenset({-32602, -32600, -32700})
# -32042 wants a person to open a URL, -32021 a capability of the client: both are right as protocol errors.
NEEDS_MORE: Final = frozenset({-32042, -32021})
_ABSENT: Final = re.compile(
    r"(?i)\b(?:not found|no (?:\w+ ){0,3}found|does(?:n't| not) exist|no such|(?:could|can)(?:not|n't| not) find"
    r"|did not resolve)\b"
)
# The same, said of a thing that was asked for by its id; what only mentions a lack ("no tags found") does not.
_MISSED: Final = re.compile(
    r"(?i)\b(?:not (?:be )?found|does(?:n't| not) exist|no such|(?:could|can)(?:not|n't| not) find|not exist"
    r"|unknown (?:id|\w+ id)|invalid (?:\w+ )?id|is unknown|no \w+ (?:with|has|named|called)\b|unable to find)\b"
)
_LISTS: Final = frozenset(
    {"list", "search", "find", "query", "count", "check", "exists", "exist", "filter", "is", "has", "validate"}
)
_SHORT: Final = 300  # Characters: a longer answer says more than that nothing is there.
_LONGEST: Final = 4_000  # Characters of an error that are searched.
_MOST_VALUES: Final = 1_000  # Members of a structured content that are read for its words.
MissingKind: TypeAlias = Literal["variable", "program", "folder", "host", "credential", "service"]
_SHORTEST_IN_PATH: Final = 3  # Characters; a value this short is in a path by chance.
_MOST_COMPARED: Final = 200  # Values of a call that a path is compared with.
_SYMBOLS: Final = re.compile(r"[^0-9a-z/]+")
_QUOTES: Final = re.compile("['\"]")
# Keys of `_meta` that SDKs and frameworks add by themselves.
_OWN_META: Final = ("io.modelcontextprotocol/", "fastmcp")
_LISTING: Final = frozenset({"all", "find", "list", "lookup", "query", "scan", "search", "show"})
_GETTING: Final = frozenset({"fetch", "get", "read", "retrieve"})
_SINGULAR: Final = ("ss", "us", "is")  # status, address, analysis
# "No project is open", "Nothing to undo", "Not a repository".
_NAMES_A_STATE: Final = re.compile(
    r"(?i)\b(?:already|before|cannot|empty|first|log(?:ged)? ?in|must|needs?|never|no|none|not|nothing|only|please"
    r"|require[ds]?|missing|unset|without)\b|n't\b"
)
_IS_UNDER_WAY: Final = re.compile(r"(?i)\b(?:busy|in progress|later|locked|pending|running|try again|wait)\b")
SAME: Final = "the same "  # How a cause begins that two tools cannot share by chance: one absolute path.
_LONGEST_CAUSE: Final = 200
_MESSAGES: Final = ("error", "message", "detail", "reason", "error_message")  # The members of an error object.
_SHORTEST_MASKED: Final = 3  # Characters; a value this short is in a text by chance.
_VALUE: Final = re.compile(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{1,200}`|\d+|\S*[/\\\\.]\S+\b")
# Python, of a call with unchecked arguments: which of them was wrong makes no difference.
_UNCHECKED: Final = re.compile(
    r"\b(?:got (?:an unexpected keyword argument|multiple values for argument)|got some positional-only arguments"
    r"|missing \d+ required (?:positional|keyword-only) arguments?|takes \d+ positional arguments? but)\b"
)


class Ending(StrEnum):
    """How a call ended, for the client or the model that reads the answer."""

    SUCCESS = "success"
    UNFLAGGED_ERROR = "unflagged_error"  # the words of an error, without isError
    REFUSAL = "refusal"  # isError: the tool says in words that the call was wrong
    FAILURE = "failure"  # isError: the tool or what it depends on failed
    WORDLESS = "wordless"  # isError without any words
    PROTOCOL_REFUSAL = "protocol_refusal"  # a JSON-RPC error about the call
    PROTOCOL_FAILURE = "protocol_failure"  # a JSON-RPC error about anything else
    UNFINISHED = "unfinished"  # the server wants input, a task or a capability first
    MALFORMED = "malformed"  # not a legal tool result
    TIMEOUT = "timeout"
    DIED = "died"


_SILENT: Final = frozenset({Ending.TIMEOUT, Ending.DIED, Ending.MALFORMED, Ending.WORDLESS})


REFUSALS: Final = frozenset({Ending.REFUSAL, Ending.PROTOCOL_REFUSAL})


ERRORS_IN_WORDS: Final = frozenset({*REFUSALS, Ending.FAILURE, Ending.UNFLAGGED_ERROR, Ending.PROTOCOL_FAILURE})


# Caused by the surroundings of a tool: no argument can change them.
OUTAGES: Final = frozenset({State.TIMEOUT, State.UNREACHABLE, State.UNAVAILABLE, State.MISCONFIGURED})


def ending(call: ObservedCall) -> Ending:
    """How a call ended. Total: every call has an ending."""
    match call.outcome:
        case Outcome.TIMEOUT:
            return Ending.TIMEOUT
        case Outcome.SERVER_DIED:
            return Ending.DIED
        case Outcome.INVALID_MESSAGE:
            return Ending.MALFORMED
        case Outcome.PROTOCOL_ERROR:
            code = call.error.code if call.error is not None else None
            if code in NEEDS_MORE or call.tool.runs_as_task:
                return Ending.UNFINISHED
            verdict = verdict_of(call)
            refused = code in INVALID_ARGUMENTS or (verdict is not None and verdict.error_kind == "business")
            return Ending.PROTOCOL_REFUSAL if refused else Ending.PROTOCOL_FAILURE
        case Outcome.RESULT:
            return _result_ending(call)


def is_bad(call: ObservedCall) -> bool:
    """Whether the tool's own schema forbids the arguments of the call."""
    return bool(call.violations) or (call.intended is not None and call.intended.declared)


def verdict_of(call: ObservedCall) -> ResultVerdict | None:
    """The verdict; a protocol error is read as the error result that it should have been."""
    if call.verdict is not None or call.error is None:
        return call.verdict
    if call.error_verdict is not None:
        return call.error_verdict
    return check_result(call.tool.raw, call.arguments, error_as_result(call.error), call.category)


def error_as_result(error: ProtocolError) -> dict[str, object]:
    """Return a protocol error as the result of a tool that says the same."""
    return {"content": [{"type": "text", "text": f"MCP error {error.code}: {error.message}"}], "isError": True}


def words_of(call: ObservedCall) -> str:
    """The words that a model reads: the protocol error's message, the text blocks, or else the structured content."""
    if call.error is not None:
        return call.error.message
    blocks = map(members, elements(members(call.result).get("content")))
    texts = [text for block in blocks if isinstance(text := block.get("text"), str) and text.strip()]
    if not texts:
        texts = list(_strings(members(call.result).get("structuredContent")))
    return "\n".join(texts)


def speaks_of_absence(words: str) -> bool:
    """Whether an error says that something does not exist ("not found"): no schema could have said that before."""
    return _ABSENT.search(words[:_LONGEST]) is not None


def _result_ending(call: ObservedCall) -> Ending:
    result, verdict = call.result, call.verdict
    if not isinstance(result, Mapping):
        return Ending.MALFORMED
    about = cast("Mapping[str, object]", result)
    # Multi round-trip requests and tasks (2026-07-28: `resultType`; 2025-11-25: `task` instead of content).
    is_task = isinstance(about.get("task"), Mapping) and "content" not in about
    if is_task or about.get("resultType") in ("input_required", "task"):
        return Ending.UNFINISHED
    if verdict is None or not isinstance(about.get("content"), list):
        return Ending.MALFORMED
    if not verdict.is_error:
        unflagged = verdict.error_without_flag
        # "Task 99 not found" to `get_task(99)` is an error; "No tasks found" to `list_tasks(project_id=99)` is not.
        if call.absent and call.absent in call.tool.required and _LISTS.isdisjoint(word_segments(call.tool.name)):
            words = words_of(call).strip()
            unflagged = unflagged or (len(words) <= _SHORT and _MISSED.search(words) is not None)
        return Ending.UNFLAGGED_ERROR if unflagged else Ending.SUCCESS
    if call.tool.runs_as_task:
        return Ending.UNFINISHED
    if not words_of(call).strip():
        return Ending.WORDLESS
    if verdict.error_kind != "tool_failure":
        # Words that show neither a refusal nor a crash prove no fault of the tool, unless nothing was sent to refuse.
        unclear = verdict.error_kind is ErrorKind.UNKNOWN and not call.tool.properties
        return Ending.FAILURE if unclear and not _NAMES_A_STATE.search(words_of(call)) else Ending.REFUSAL
    # Unclear words after wrong arguments, without any sign of a crash: the error is the refusal that is due.
    wrong = is_bad(call) or call.intended is not None
    return Ending.REFUSAL if wrong and verdict.state is State.UNKNOWN else Ending.FAILURE


def _strings(value: object) -> Iterator[str]:
    pending, seen = [value], 0
    while pending and seen < _MOST_VALUES:
        here = pending.pop()
        seen += 1
        if isinstance(here, str):
            yield here
        elif isinstance(here, Mapping):
            pending.extend(reversed(list(cast("Mapping[object, object]", here).values())))
        else:
            pending.extend(reversed(elements(here)))


class Missing(msgspec.Struct, frozen=True):
    """The thing that an outage reports as missing: a `kind`, and its `name` if the text has one, else ""."""

    kind: MissingKind
    name: str = ""

    def __str__(self) -> str:
        return f"the {self.kind} {self.name}" if self.name else f"a {self.kind}"


def outage_of_call(call: ObservedCall) -> Missing | None:
    """Return what the surroundings lack by the answer to `call`; None for a success and for any other error.

    A refusal for missing credentials counts only on arguments that the schema allows: it was the first thing that the
    tool looked at.
    """
    if call.outage_nearby:
        return Missing("service")
    verdict = verdict_of(call)
    if verdict is None or ending(call) not in ERRORS_IN_WORDS:
        return None
    outage = outage_of(words_of(call))
    if outage is not None:
        if not _comes_of_the_call(outage, call):
            return Missing(outage.kind.value, outage.subject)
        if outage.kind is OutageKind.FOLDER:
            # The call's own file is not there: whatever else the words suggest, nothing else is missing.
            return None
    if verdict.state is State.UNAUTHORIZED and not is_bad(call):
        return Missing("credential")
    return Missing("service") if verdict.state in OUTAGES else None


def is_conflict(call: ObservedCall) -> bool:
    """Whether an error says that something is there already, and not that something is still under way."""
    verdict = verdict_of(call)
    if verdict is None or verdict.state is not State.CONFLICT or ending(call) not in ERRORS_IN_WORDS:
        return False
    return _IS_UNDER_WAY.search(words_of(call)[:_LONGEST]) is None


def is_explained_by_outage(call: ObservedCall) -> bool:
    """Whether an outage of what the server depends on may be the only cause: no answer came, or an unclear error."""
    ended, verdict = ending(call), verdict_of(call)
    if ended not in {Ending.FAILURE, Ending.PROTOCOL_FAILURE} or verdict is None:
        return ended is Ending.TIMEOUT
    leaks = {leak.kind for leak in verdict.leaks}
    return verdict.state in {State.UNKNOWN, State.INTERNAL} and leaks.isdisjoint(
        {LeakKind.STACK_TRACE, LeakKind.CRASH_TEXT}
    )


def _comes_of_the_call(outage: Outage, call: ObservedCall) -> bool:
    """Whether the words are about the call and no outage: a path may have a sent value in it (/data/my-note.md)."""
    if outage.kind is OutageKind.VARIABLE:
        return outage.subject in str(call.arguments)
    if outage.kind is not OutageKind.FOLDER or not outage.subject:
        return False
    path = _SYMBOLS.sub("", outage.subject.lower().replace("\\", "/"))
    parts = {stem for part in outage.subject.lower().split("/") for stem in (part, part.rpartition(".")[0])}
    for value in _scalars(call.arguments):
        plain = _SYMBOLS.sub("", value.lower().replace("\\", "/")).strip("/")
        # A name with a quotation mark in it may have been cut there by who quoted it.
        if {value.lower(), _QUOTES.split(value.lower())[0]} & (parts - {""}) or (
            len(plain) >= _SHORTEST_IN_PATH and plain in path
        ):
            return True
    return False


def _scalars(arguments: object) -> Iterator[str]:
    pending, seen = [arguments], 0
    while pending and seen < _MOST_COMPARED:
        here = pending.pop()
        seen += 1
        if isinstance(here, Mapping):
            pending.extend(cast("Mapping[object, object]", here).values())
        elif isinstance(here, str | int):
            yield str(here)
        else:
            pending.extend(elements(here))


def framework_of(call: ObservedCall) -> str | None:
    """Return the name of the framework that wrote the words of this refusal; None if the author wrote them."""
    return is_framework_refusal(words_of(call))


def is_empty_list(call: ObservedCall) -> bool:
    """Whether the answer is an empty list, which Python frameworks send as `content: []`: one block for each entry.

    {"content": [], "structuredContent": {"result": []}}      yes
    {"content": [], "_meta": {…}}, from search_orders         yes: the SDK added the _meta
    {"content": [], "isError": false}, from list_orders       yes: older Python SDKs send the flag always
    {"content": []}, from reset_cache or an unknown SDK       no: nothing says that it is a list
    """
    result = members(call.result)
    if not is_array(result.get("content")) or elements(result.get("content")) or result.get("isError") is True:
        return False
    if ending(call) not in {Ending.SUCCESS, Ending.MALFORMED}:
        return False
    structured = result.get("structuredContent")
    if structured is not None:
        only = next(iter(structured.values())) if is_object(structured) and len(structured) == 1 else structured
        return is_array(only) and not elements(only)
    made_by_sdk = any(name.startswith(_OWN_META) for name in members(result.get("_meta")))
    flagged = result.get("isError") is False
    if not (made_by_sdk or flagged) or call.tool.output_schema is not None:
        return False
    # A tool that returns any number of things by its name: `list_orders`, `get_orders`, `searchAll`.
    words = word_segments(call.tool.name)
    if not _LISTING.isdisjoint(words):
        return True
    return len(words) > 1 and words[0] in _GETTING and words[-1].endswith("s") and not words[-1].endswith(_SINGULAR)


class Exercise(msgspec.Struct, frozen=True, kw_only=True):
    """How the valid calls of a tool went: how many were `tried`, `succeeded`, and `failed` by the tool's own fault.

    `reason` says, for a tool that is not exercised, what was tried and what would help; "" for any other.
    """

    tried: int = 0
    succeeded: int = 0
    failed: int = 0
    reason: str = ""


def exercise_of(calls: Sequence[ObservedCall]) -> Exercise:
    """Return how the valid calls among `calls` (all of one tool) went."""
    valid = [call for call in calls if is_plain(call)]
    succeeded = sum(ending(call) is Ending.SUCCESS for call in valid)
    failed = sum(fails_by_itself(call) for call in valid)
    reason = _explain(valid) if calls and not succeeded and not failed else ""
    return Exercise(tried=len(valid), succeeded=succeeded, failed=failed, reason=reason)


def is_plain(call: ObservedCall) -> bool:
    """Whether a call asks for what the tool is there for: valid arguments, none of them made to be wrong or absent."""
    return call.intended is None and not call.absent and not is_bad(call)


def asks_for_nothing(call: ObservedCall) -> bool:
    """Whether a call has only empty values for the required arguments, or for everything it sends: `{"paths": []}`.

    Switches and choices from a list beside them ask for nothing: `{"text": "", "codec": "base64"}`.
    """
    sent = {
        name: value
        for name, value in members(call.arguments).items()
        if not isinstance(value, bool) and {"enum", "const"}.isdisjoint(members(call.tool.properties.get(name)))
    }
    required = [sent[name] for name in call.tool.required if name in sent]
    values = required or list(sent.values())
    return bool(values) and all(
        not value.strip()
        if isinstance(value, str)
        else value is None or ((is_array(value) or is_object(value)) and not value)
        for value in values
    )


def fails_by_itself(call: ObservedCall) -> bool:
    """Whether the answer shows a fault of the tool: no answer, a crash, an internal error, an error without words.

    Not an outage of the surroundings, not a refusal, and not unclear words ("Ref 'deadbeef' did not resolve").
    """
    ended = ending(call)
    if ended in _SILENT:
        return not call.outage_nearby
    verdict = verdict_of(call)
    if ended is Ending.UNFLAGGED_ERROR:
        own = (
            verdict is not None and verdict.error_kind is ErrorKind.TOOL_FAILURE and verdict.state is not State.UNKNOWN
        )
        return own and outage_of_call(call) is None
    if ended not in {Ending.FAILURE, Ending.PROTOCOL_FAILURE} or outage_of_call(call) is not None:
        return False
    if asks_for_nothing(call) and (verdict is None or verdict.state is not State.CRASH):
        return False
    # Nothing in a call without arguments can be wrong; a state of the server can, if the words are about one.
    unclear = verdict is not None and verdict.state is State.UNKNOWN
    return not unclear or not (call.tool.properties or _NAMES_A_STATE.search(words_of(call)))


def _explain(valid: Sequence[ObservedCall]) -> str:
    if not valid:
        return "No valid call was made; add a fixture ([[fixtures.TOOL]]) with good arguments."
    many = f"None of {len(valid)} valid calls succeeded" if len(valid) > 1 else "The valid call did not succeed"
    outage = next((missing for call in valid if (missing := outage_of_call(call)) is not None), None)
    if all(ending(call) is Ending.UNFINISHED for call in valid):
        return f"{many}: the server wants input or a task first, which an assessment cannot give."
    words = next((found for call in valid if (found := quote(words_of(call), 120))), "")
    said = f'{many}: "{words}"' if words else f"{many}."
    if outage is None:
        return f"{said} Add a fixture ([[fixtures.TOOL]]) with arguments that the server knows."
    # The words of an outage do not always name what is missing: "connection refused".
    name = outage.name
    help_with = {
        "variable": f"the environment variable {name} (--env {name})" if name else "an environment variable (--env)",
        "folder": f"the folder of {name}, there and writable" if name else "a disk that can be written",
        "program": f"the program {name}" if name else "a program that it starts",
        "host": f"the service at {name}, running and reachable" if name else "the service that it asks, reachable",
        "credential": "credentials for it (--env, --header)",
        "service": "what the server depends on, running and configured",
    }[outage.kind]
    return f"{said} Needed: {help_with}."


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
    words = quote(_message_in(words_of(call)), _LONGEST_CAUSE)
    if _UNCHECKED.search(words):
        return "the arguments of a call reach the function unchecked"
    for value in members(call.arguments).values():
        if isinstance(value, str) and len(value) >= _SHORTEST_MASKED:
            words = words.replace(value, "…")
    return mask_values(words, call.tool.name)


def _message_in(words: str) -> str:
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
