"""Results that are malformed, too large, empty, made up, or errors without the flag."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from toolvet.assess.rules.contrast import is_empty_answer, kind_of, payload_of
from toolvet.assess.rules.ending import Ending, asks_for_nothing, cause_of, ending, is_bad, is_empty_list, words_of
from toolvet.assess.rules.quote import quote, show, show_answer, show_sent
from toolvet.assess.rules.rule import of_call, of_calls
from toolvet.core.json_value import elements, is_array, is_object, members, pointer
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedCall, Outcome, ToolDefinition
from toolvet.findings import Card, Finding, Severity

ANSWER_MALFORMED = Card(
    id="answer-malformed",
    title="Invalid tool result",
    severity=Severity.ERROR,
    looks_for=(
        "An answer that is not a JSON-RPC response, a result without a `content` array, a content block whose type the "
        "protocol does not know or that lacks a field, an `isError` that is not a boolean, a `resultType` that does "
        "not exist."
    ),
    why=(
        "The official clients check results against the protocol's types and raise an exception instead of passing "
        "on what they can read: the model gets nothing, however good the rest of the answer is."
    ),
    remedy=(
        "Return the SDK's result types instead of dictionaries made by hand: in FastMCP return plain values or "
        '`ToolResult`, in TypeScript `{ content: [{ type: "text", text }] }`. `content` is required even when '
        "`structuredContent` says everything."
    ),
)
# The fields a block must have besides its type, by the schemas of protocol 2025-11-25 and 2026-07-28.
_FIELDS_OF_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
_RESULT_TYPES: Final = frozenset({"complete", "input_required", "task"})


@of_call(ANSWER_MALFORMED)
def check_answer_malformed(call: ObservedCall) -> Iterator[Finding]:
    """Find what official clients refuse to read."""
    if call.outcome is Outcome.INVALID_MESSAGE:
        yield ANSWER_MALFORMED.finding(
            message=f"The answer is not a JSON-RPC response: {quote(call.detail, 160) or 'no details'}.",
            evidence=quote(call.detail, 300),
        )
        return
    if call.outcome is not Outcome.RESULT or ending(call) is Ending.UNFINISHED:
        return
    if not isinstance(call.result, Mapping):
        yield ANSWER_MALFORMED.finding(message="The result is not an object.", evidence=show_answer(call.result))
        return
    result = cast("Mapping[str, object]", call.result)
    if "content" not in result:
        yield ANSWER_MALFORMED.finding(
            message="The result has no 'content'.", pointer="/content", evidence=show(result, 200)
        )
    elif not isinstance(result["content"], list):
        yield ANSWER_MALFORMED.finding(
            message="'content' must be an array.", pointer="/content", evidence=show(result["content"])
        )
    for index, block in enumerate(elements(result.get("content"))):
        problem = _block_problem(block)
        if problem is not None:
            yield ANSWER_MALFORMED.finding(
                message=f"Content block {index + 1} {problem}.", pointer="/content", evidence=show(block, 160)
            )
            break  # The others are usually like it.
    if not isinstance(result.get("isError", False), bool):
        yield ANSWER_MALFORMED.finding(
            message="'isError' must be true or false.", pointer="/isError", evidence=show(result["isError"])
        )
    kind = result.get("resultType", "complete")
    if not isinstance(kind, str) or kind not in _RESULT_TYPES:
        yield ANSWER_MALFORMED.finding(
            message=f'\'resultType\' must be "complete" or "input_required", not {show(kind)}.',
            pointer="/resultType",
            evidence=show(kind),
        )


def _block_problem(block: object) -> str | None:
    if not isinstance(block, dict):
        return "is not an object"
    fields = members(cast("object", block))
    kind = fields.get("type")
    if not isinstance(kind, str):
        return "has no type"
    if kind not in _FIELDS_OF_BLOCKS:
        return f"has the unknown type '{quote(kind, 40)}'"
    for name in _FIELDS_OF_BLOCKS[kind]:
        if not isinstance(fields.get(name), str):
            return (
                f"of type '{kind}' has no '{name}'"
                if name not in fields
                else f"of type '{kind}': '{name}' must be a string"
            )
    if kind == "resource":
        resource = members(fields.get("resource"))
        if not isinstance(resource.get("uri"), str) or not (
            isinstance(resource.get("text"), str) or isinstance(resource.get("blob"), str)
        ):
            return "of type 'resource' needs 'resource' with 'uri' and 'text' or 'blob'"
    return None


ANSWER_OVERSIZED = Card(
    id="answer-oversized",
    title="An answer is too large for a model",
    severity=Severity.INFO,
    looks_for=(
        "An answer of more than 1 MiB. Of such an answer the other checks read an excerpt, its first 256 KiB at most; "
        "its verdict and its structured content are judged on the whole, unless it has millions of values."
    ),
    why="No model reads so much: hosts cut the answer, fail, or pay for a context that is full of it.",
    remedy="Return a page and a cursor, a summary, or a link to a resource that the client can read in parts.",
)
_MIB: Final = 1 << 20


@of_call(ANSWER_OVERSIZED)
def check_answer_oversized(call: ObservedCall) -> Iterator[Finding]:
    """Say how large the answer is, and what was not judged."""
    if call.excerpt is None:
        return
    is_whole = call.excerpt.verdict_on == "whole"
    said = "an excerpt was judged, and for the verdict the whole" if is_whole else "only an excerpt was judged"
    if not is_whole and call.tool.result_schema is not None:
        said += ", and not whether its structured content satisfies the outputSchema"
    yield ANSWER_OVERSIZED.finding(
        message=f"The answer has {call.excerpt.size / _MIB:,.1f} MiB: {said}.",
        evidence=f"{call.excerpt.size:,} bytes",
        cause="larger than a model can read",
    )


ERROR_WITHOUT_FLAG = Card(
    id="error-without-flag",
    title="An error is reported without isError",
    severity=Severity.ERROR,
    looks_for="A result without `isError: true` whose text or structured content reports that the call failed.",
    why=(
        "Clients, guards and metrics rely on the flag. Without it the error counts as data: it is cached, passed on "
        "to the next step, and the agent reports success."
    ),
    remedy=(
        "Set `isError: true` where the error text is made. In FastMCP raise `ToolError` instead of returning a "
        'string such as "Error: ..."; in TypeScript return `{ isError: true, content: [...] }`.'
    ),
)


@of_call(ERROR_WITHOUT_FLAG)
def check_error_without_flag(call: ObservedCall) -> Iterator[Finding]:
    """Quote the words that report the error."""
    if ending(call) is Ending.UNFLAGGED_ERROR:
        words = words_of(call)
        yield ERROR_WITHOUT_FLAG.finding(
            message=f'The result reports an error without isError: "{quote(words, 120)}"',
            evidence=quote(words, 300),
            confidence=90,
            cause=cause_of(call),
        )


EMPTY_SUCCESS = Card(
    id="empty-success",
    title="A success without visible content",
    severity=Severity.WARNING,
    looks_for=(
        "A successful result without text, data, media or links: no content, blank text, or nothing but `null` or "
        "`{}`. An empty list, `0` and `false` are answers, and so is nothing for a call that has only empty values."
    ),
    why=(
        'A model cannot tell "done" from "nothing found" and from "nothing happened". It often calls again, or '
        "tells its user what it hoped for."
    ),
    remedy=(
        'Say what happened: "Deleted note 7", "No rows match", or return the changed object. In Python this is most '
        "often a function that ends without `return`, or a look-up that found nothing (`dict.get`)."
    ),
)
_WORDS_FOR_NOTHING: Final = frozenset({"", "null", "none", "{}", "undefined", '""', "''"})


@of_call(EMPTY_SUCCESS)
def check_empty_success(call: ObservedCall) -> Iterator[Finding]:
    """Judge valid calls only: `invalid-accepted` reports what the tool should have refused."""
    if ending(call) is not Ending.SUCCESS or is_bad(call) or call.intended is not None:
        return
    # A list narrowed to a made-up value may return an empty map, too.
    is_narrowed = bool(members(call.arguments)) and "list" in word_segments(call.tool.name)
    if is_empty_list(call) or asks_for_nothing(call) or (is_narrowed and words_of(call).strip() == "{}"):
        return
    result = members(call.result)
    schema = call.tool.output_schema
    # `structured-content-missing` reports structured content that was promised and not sent. A result wrapped by a
    # framework keeps its schema, which allows more than null, and can still be empty.
    properties = members(members(schema).get("properties"))
    is_wrapped = list(properties) == ["result"] and members(properties["result"]).get("type") != "null"
    if (schema is not None and not is_wrapped) or not _is_nothing(result.get("structuredContent")):
        return
    blocks = elements(result.get("content"))
    texts = [members(block).get("text") if members(block).get("type") == "text" else None for block in blocks]
    if all(isinstance(text, str) and text.strip().lower() in _WORDS_FOR_NOTHING for text in texts):
        how = (
            "has no content"
            if not blocks
            else "consists of blank text"
            if len(blocks) == 1
            else "consists of blank texts"
        )
        if any(str(members(block).get("text", "")).strip() for block in blocks):
            how = f"is nothing but {show(members(blocks[0]).get('text'), 20)}"
        yield EMPTY_SUCCESS.finding(
            message=f"The call succeeded, and the result {how}.",
            evidence=show_answer(call.result),
            confidence=90,
            cause=how,
        )


def _is_nothing(value: object) -> bool:
    """`null`, `{}`, blank text, and `{"result": null}`, as the Python SDKs wrap values that are not objects."""
    if isinstance(value, str):
        return value.strip().lower() in _WORDS_FOR_NOTHING
    if isinstance(value, Mapping):
        wrapped = cast("Mapping[object, object]", value)
        return not wrapped or (list(wrapped) == ["result"] and _is_nothing(wrapped["result"]))
    return value is None


ABSENT_ANSWERED = Card(
    id="absent-answered",
    title="A thing that does not exist is answered like one that does",
    severity=Severity.WARNING,
    looks_for=(
        "A required identifier whose real values a listing of the server has: with one that does not exist, the "
        "tool succeeds with a record of the same fields as for a real one, filled with other values, or with an empty "
        "list where the real one has entries; or a required path of a folder that does not exist, with an empty list. "
        "A null answer and one that says `found: false` are fine, as are searches by an id and tools that create."
    ),
    why=(
        "The model takes an invented record for a real one, and acts on it: it answers for a customer who does not "
        "exist with another one's data."
    ),
    remedy=(
        "Look the id up, and answer with isError and the id that was asked for when there is no such thing. Do not "
        "fall back to a default record, to the first of a list or to the nearest match."
    ),
)
_LENIENT_VERBS: Final = frozenset(
    {
        "all", "any", "autocomplete", "check", "closest", "complete", "count", "create", "default", "encode", "ensure",
        "estimate", "exists", "filter", "find", "generate", "guess", "hash", "has", "init", "is", "list", "lookup",
        "make", "match", "nearest", "new", "open", "or", "parse", "query", "random", "search", "start", "suggest",
        "upsert", "validate", "verify",
    }
)  # fmt: skip
_SEARCHING: Final = frozenset({"check", "count", "exists", "filter", "find", "query", "search"})
_PATHS: Final = {("path",), ("folder",), ("directory",), ("dir",)}
_ON_DISK: Final = re.compile(r"(?i)\b(?:files?|folders?|director(?:y|ies)|paths?)\b")
_FRAMES: Final = ("result", "data", "item", "record")
_SAYS_ABSENT: Final = re.compile(
    r"(?i)\bnot (?:be )?found\b|does(?:n't| not) exist|\bno such\b|\bunknown\b|\bmissing\b|\bexists?\b|\bfound\b"
    r"|\bdefault|\bplaceholder\b|\bcreated\b|\bn/?a\b"
)
_FEWEST_OWN: Final = 2  # Fields with words of their own, which no empty record has.
_SHORTEST_OWN: Final = 2


@of_calls(ABSENT_ANSWERED)
def check_absent_answered(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Compare the answer for an absent thing with those for the one that a listing has, and with an empty list."""
    verbs = set(word_segments(tool.name))
    for call in calls:
        if call.absent not in tool.required or ending(call) is not Ending.SUCCESS or is_bad(call):
            continue
        # Of the calls that asked for the thing that a listing has, and got it.
        real = [
            other
            for other in calls
            if call.present is not None
            and not other.absent
            and other.intended is None
            and members(other.arguments).get(call.absent) == call.present
            and ending(other) is Ending.SUCCESS
        ]
        sent, record = members(call.arguments).get(call.absent), _record(call)
        if (
            record
            and _LENIENT_VERBS.isdisjoint(verbs)
            and any(_is_invented(record, _record(one), call) for one in real)
        ):
            like = "one that does"
        elif is_empty_answer(call) and (
            _is_path(tool, call.absent, sent)
            or (_SEARCHING.isdisjoint(verbs) and not all(is_empty_answer(one) for one in real))
        ):
            like = "an empty one"
        else:
            continue
        yield ABSENT_ANSWERED.finding(
            message=(
                f"'{quote(call.absent, 60)}' = {show_sent(call, sent, 60)} does not exist, and is answered like "
                f'{like}: "{quote(words_of(call), 120)}"'
            ),
            pointer=pointer((call.absent,)),
            evidence=quote(words_of(call), 300),
            confidence=75,
        )


def _is_path(tool: ToolDefinition, name: str, value: object) -> bool:
    spoken = (
        f"{' '.join(word_segments(tool.name))} {tool.description} {members(tool.properties[name]).get('description')}"
    )
    is_absolute = isinstance(value, str) and value.startswith("/")
    return is_absolute and word_segments(name)[-1:] in _PATHS and _ON_DISK.search(spoken) is not None


def _is_invented(record: Mapping[str, object], real: Mapping[str, object], call: ObservedCall) -> bool:
    if record.keys() != real.keys() or _SAYS_ABSENT.search(words_of(call)):
        return False
    if any(value is False for value in record.values()):
        return False
    # What repeats a value that was sent was made from it: {"greeting": "Hello 99"}.
    sent = [str(value) for value in members(call.arguments).values() if value not in ("", None)]
    own = [
        name
        for name, value in record.items()
        if isinstance(value, str) and len(value.strip()) >= _SHORTEST_OWN and value != real[name]
        if not any(one in value for one in sent)
    ]
    return len(own) >= _FEWEST_OWN


def _record(call: ObservedCall) -> Mapping[str, object]:
    value = payload_of(call)
    for _ in _FRAMES:
        inner = next((members(value)[name] for name in _FRAMES if name in members(value)), None)
        if not is_object(inner) or len(members(value)) > _FEWEST_OWN:
            break
        value = inner
    if is_array(value) and len(value) == 1:
        value = value[0]
    return members(value)


JUNK_ANSWERED = Card(
    id="junk-answered",
    title="Junk is answered with a plausible value",
    severity=Severity.WARNING,
    looks_for=(
        "A parameter that takes a date, a URL, a time zone, a currency, a city, a unit and the like by its name, sent "
        "with text that is none, and a success that does not say so: different junk gives the same answer while a good "
        "value gives another, or the "
        'answer itself doubts ("same parameters, error?"). Echoes, empty results and "invalid" are fine.'
    ),
    why="A model that mistypes a date gets a number, and passes it on. An error would have cost it one more call.",
    remedy=(
        "Parse the argument before using it, and answer with isError and the form that is expected (`YYYY-MM-DD`) when "
        "it cannot be parsed. Do not fall back to a default."
    ),
)
_LONGEST_VALUE: Final = 60  # Characters of a date or a short address; what is longer is the largest string we send.
_ADMITS: Final = re.compile(
    r"(?i)\([^()\n]{0,60}\berror\s?\?{1,3}\s*\)|\bprobably (?:an? )?(?:error|mistake|invalid)\b"
)
_SAYS_NOTHING: Final = re.compile(
    r"(?i)\b(?:no|not|none|null|nothing|never|invalid|unknown|unable|cannot|could not|couldn't|can't|failed|error|false"
    r"|empty|unrecognized|malformed|ignored|nan|n/a)\b|^\W*0?\W*$"
)


@of_calls(JUNK_ANSWERED)
def check_junk_answered(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """One finding for the first parameter whose junk is answered like this."""
    good = [call for call in calls if ending(call) is Ending.SUCCESS and not is_bad(call) and call.intended is None]
    for name in tool.properties:
        kind = kind_of(tool, name)
        if kind is None:
            continue
        junk: list[ObservedCall] = []
        for call in good:
            if not _is_junk(_value(call, name), kind):
                continue
            # When the answer repeats what was sent, a reader sees that it was junk.
            answer = words_of(call)
            sent = [value.strip() for value in members(call.arguments).values() if isinstance(value, str)]
            if not any(text and text[:_LONGEST_VALUE] in answer for text in sent):
                junk.append(call)
        doubtful = next((call for call in junk if _ADMITS.search(words_of(call))), None)
        shown = doubtful or _same_for_all(junk, name, good, kind)
        if shown is not None:
            words, value = quote(words_of(shown), 120), show_sent(shown, _value(shown, name), 60)
            yield JUNK_ANSWERED.finding(
                message=f"'{quote(name, 60)}' = {value} is not a valid {kind}, and is answered with \"{words}\"",
                pointer=pointer((name,)),
                evidence=quote(words_of(shown), 300),
                confidence=80 if doubtful else 70,
            )
            return


def _value(call: ObservedCall, name: str) -> object:
    return members(call.arguments).get(name)


def _is_junk(value: object, kind: str) -> bool:
    """Whether a text is surely none of its kind: words such as "tomorrow" may be a date."""
    if not isinstance(value, str) or not value.strip():
        return False
    if kind in {"address of mail", "URL"}:
        return not re.search("@" if kind == "address of mail" else r"[.:/]", value)
    return len(value) > _LONGEST_VALUE or ('"' in value and "'" in value) or "\n" in value


def _same_for_all(
    junk: Sequence[ObservedCall], name: str, good: Sequence[ObservedCall], kind: str
) -> ObservedCall | None:
    answers = {words_of(call).strip() for call in junk}
    if len({str(_value(call, name)) for call in junk}) < 2 or len(answers) != 1:
        return None
    (answer,) = answers
    if not answer or _SAYS_NOTHING.search(answer) or answer in {"[]", "{}"}:
        return None
    rest = [{key: value for key, value in members(call.arguments).items() if key != name} for call in junk]
    others = [
        call
        for call in good
        if (value := _value(call, name))
        and not _is_junk(value, kind)
        and {key: value for key, value in members(call.arguments).items() if key != name} in rest
    ]
    differs = bool(others) and all(words_of(call).strip() != answer for call in others)
    return junk[0] if differs else None
