"""`check_result` and its sisters: a response in, a verdict out. Total and pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, cast

import msgspec
from msgspec.structs import replace

from toolvet.core.causes import ErrorKind, State, cause_of
from toolvet.core.checks.result.body import BodyReport, ResultContext, unwrap
from toolvet.core.checks.result.decision import Decision, decide, decide_by_envelope, shown
from toolvet.core.checks.result.evidence import CallFacts, FirstHits, tool_traits
from toolvet.core.checks.result.own_words import OwnWords, own_words
from toolvet.core.checks.result.phrases import ResultPhrases, Strength, phrases, tool_names
from toolvet.core.checks.result.response import (
    Content,
    ResultEnvelope,
    ToolResponse,
    envelope_in,
    is_only_text,
    list_of,
    object_of,
    read_response,
    readable,
)
from toolvet.core.checks.result.unflagged import strings_of, unflagged_error, without_echoes
from toolvet.core.checks.result.verdict import (
    Classification,
    Leak,
    LeakKind,
    OutputSchemaValidation,
    ResultMetadata,
    ResultVerdict,
)
from toolvet.core.json_value import is_endless
from toolvet.core.matching import Hit
from toolvet.core.tools import ToolHandle, ToolView, has_outputs, read_outputs, view_of

if TYPE_CHECKING:
    from toolvet.core.schema import Schema


_LONGEST_READ = 20_000
_MOST_SENT = 100
_LONG_NUMBER = 10**30
_SHORTEST_ECHO = 2
_LONGEST_QUOTED = 60
_MOST_OF_A_FAILURE = 50.0
_NO_ENVELOPE = ResultEnvelope(success=True)
_ONE_TEXT = ResultMetadata(content_types=("text",), text_block_count=1)
_ONE_TEXT_AND_META = ResultMetadata(content_types=("text",), text_block_count=1, has_meta=True)
# The verdict on most results of all.
_ONE_TEXT_WORKS = ResultVerdict(
    is_valid=True,
    is_error=False,
    classification=Classification.FULLY_WORKING,
    confidence=100,
    evidence=("Tool responded successfully with content", "Response includes 1 text block(s)"),
    metadata=_ONE_TEXT,
)
NO_CONTENT = "Response has no content"
DRAFT_CONTENT = (
    "Response has no content. It has `outputs`, of a draft of MCP (SEP-3279): set `draft_outputs = true` under "
    "[checks.result] to read them"
)
EMPTY_CONTENT = "Response content is empty or not an array"
NO_FLAG = "error reported without isError"
NO_MIRROR = "structuredContent has no text mirror in content"
UNKNOWN_FAULT = "An error that does not show whose fault it is"
PART_FAILED = "a part of the result is an error"


def check_result(
    tool: object,
    arguments: object,
    result: object,
    category: str | None = None,
    *,
    any_response: bool = False,
    extra_patterns: Sequence[str | re.Pattern[str]] = (),
    strong_patterns: Sequence[str | re.Pattern[str]] = (),
    failure_patterns: Sequence[str | re.Pattern[str]] = (),
    exceptions: Sequence[str | re.Pattern[str]] = (),
    factors: Mapping[str, tuple[str | re.Pattern[str], int]] | None = None,
    weights: Mapping[str, int] | None = None,
    threshold: float | None = None,
    shape: Literal["any", "mcp", "mcp_json"] = "any",
    thresholds: Mapping[str, float] | None = None,
    expects_validation: bool | None = None,
    draft_outputs: bool = False,
    trace: str | None = None,
) -> ResultVerdict:
    """Judge one response of a tool. Never raises for anything that a response or a tool holds.

    Args:
        tool: The tool's definition in any shape (docs/shapes.md), or its name.
        arguments: The arguments of the call.
        result: The result, in any shape (docs/shapes.md): a result of MCP as JSON or as an object, a message of a
            model API, an exception, an HTTP response, a text, any other value.
        category: The scenario (`happy_path`, `edge_case`, `boundary`, `error_case`), or None.
        any_response: Whether every flagged error counts as a working tool.
        extra_patterns: The caller's own phrases of business errors: plain words, or compiled expressions.
        strong_patterns: The same, for phrases that decide even beside the words of a crash.
        failure_patterns: The caller's own phrases of a failure of the tool; of the caller's own, only a strong pattern
            outweighs them.
        exceptions: Phrases of a success that reads like an error but is not, such as "0 errors found".
        factors: Factors of the caller's own, by name: a pattern, and its weight.
        weights: Other weights of the factors, by name.
        threshold: The share (0 to 1) of the weight of all factors from which an error that no word decides is business
            logic. None: the measured prior decides.
        shape: "any" recognizes the shape of the result, and `metadata.taken_for` names it. "mcp" is for the result
            of an MCP server; one that is not a valid MCP result is broken. "mcp_json" is the same for a result that
            was just decoded from JSON: it cannot contain itself, so toolvet does not check for that.
        thresholds: The same by type of tool, which wins over `threshold`: "validation_expected" for tools whose name
            says that they check what they are given (`get_user`, `delete_file`), "other" for all others.
        expects_validation: Of which type this tool is, as an exception for its name. None: its name says it.
        draft_outputs: Whether results may have `outputs`, as in the draft SEP-3279 (docs/results.md).
        trace: The id of the turn, which becomes the verdict's `trace_id`.

    Returns:
        The verdict: how well the tool works, whose fault an error is, and the evidence for both.

    Raises:
        UnsafePattern: A pattern cannot be matched in linear time.
        BadRule: A weight, a threshold, its type of tool, or the name of a factor cannot be used.

    Example:
        >>> result = {"isError": True, "content": [{"type": "text", "text": "User 7 not found"}]}
        >>> verdict = check_result({"name": "get_user"}, {"id": 7}, result)
        >>> str(verdict.error_kind), str(verdict.state)
        ('business', 'not_found')
    """
    own = None
    if (
        extra_patterns
        or strong_patterns
        or failure_patterns
        or exceptions
        or factors
        or weights
        or threshold is not None
        or thresholds
        or expects_validation is not None
    ):
        own = own_words(
            extra_patterns=extra_patterns,
            strong_patterns=strong_patterns,
            failure_patterns=failure_patterns,
            exceptions=exceptions,
            factors=factors,
            weights=weights,
            threshold=threshold,
            thresholds=thresholds,
            expects_validation=expects_validation,
        )
    view = view_of(tool)
    handle = tool if type(tool) is ToolHandle else None
    if draft_outputs and has_outputs(result):
        view, result = read_outputs(view, result)
        handle = None
    response = read_response(result, shape)
    seen = _Seen(view, None if is_endless(arguments) else arguments, response, envelope_in(response), handle)
    if response.flagged:
        verdict = _flagged(seen, category, own, any_response=any_response)
    else:
        verdict = _unflagged(seen, category, own)
    return verdict if trace is None else replace(verdict, trace_id=trace)


class _Seen(msgspec.Struct, frozen=True, gc=False):
    """One call and its answer."""

    view: ToolView
    arguments: object
    response: ToolResponse
    envelope: ResultEnvelope | None
    handle: ToolHandle | None


def is_business_logic_error(
    tool: object,
    arguments: object,
    result: object,
    extra_patterns: Sequence[str | re.Pattern[str]] = (),
    strong_patterns: Sequence[str | re.Pattern[str]] = (),
) -> bool:
    """Whether this error shows a tool that works and rejected the call.

    Takes `tool`, `arguments`, `result`, `extra_patterns` and `strong_patterns` as `check_result` does, and raises as it
    does. Returns False for anything that is not an error.

    Example:
        >>> result = {"isError": True, "content": [{"type": "text", "text": "Connection refused"}]}
        >>> is_business_logic_error({"name": "get_user"}, {"id": 7}, result)
        False
    """
    verdict = check_result(tool, arguments, result, extra_patterns=extra_patterns, strong_patterns=strong_patterns)
    return verdict.error_kind is ErrorKind.BUSINESS


def extract_metadata(tool: object, result: object) -> ResultMetadata:
    """Describe the parts of a response, and whether it keeps the `outputSchema` of its tool.

    Takes `tool` and `result` as `check_result` does, and returns the same `metadata` as its verdict. Never raises.

    Example:
        >>> extract_metadata({"name": "get_user"}, {"content": [{"type": "text", "text": "Ada"}]}).content_types
        ('text',)
    """
    response = read_response(result)
    schema = None if response.flagged else view_of(tool).output_schema
    return _metadata(response, envelope_in(response), output_schema_validation(schema, response))


def contract_drift(contract: object, result: object) -> str:
    """Describe how a result leaves the contract of its tool; empty if it keeps it, or is an error. Total.

    `contract` is a schema of `toolvet.core.contract.propose_schema`, or None.
    """
    response = read_response(result)
    if contract is None or response.flagged or response.unreadable:
        return ""
    found = output_schema_validation(contract, response)
    if found is None or found.error is None:
        return ""
    return "it contains no JSON" if found.error == NO_JSON else found.error.removeprefix(_UNKEPT)


def _flagged(seen: _Seen, category: str | None, own: OwnWords | None, *, any_response: bool) -> ResultVerdict:
    response, envelope = seen.response, seen.envelope
    metadata = _metadata(response, envelope)
    if any_response:
        evidence = ("Tool responded with an error: it received the request and ran",)
        return ResultVerdict(
            is_valid=True, is_error=True, classification=Classification.FULLY_WORKING, confidence=100,
            issues=response.malformed, evidence=evidence, metadata=metadata,
        )  # fmt: skip
    if response.is_blank and (envelope is None or not envelope.error):
        return ResultVerdict(
            is_valid=False, is_error=True, classification=Classification.CONNECTIVITY_ONLY, confidence=30,
            issues=("The error says nothing", *response.malformed), metadata=metadata,
            error_kind=ErrorKind.TOOL_FAILURE,
        )  # fmt: skip
    text = "\n".join(response.texts) if response.texts else strings_of(response.structured)
    decision, leaks = _judge(seen, text, own)
    return _error_verdict(response, category, metadata, decision, leaks)


def _error_verdict(
    response: ToolResponse, category: str | None, metadata: ResultMetadata, decision: Decision, leaks: tuple[Leak, ...]
) -> ResultVerdict:
    issues = response.malformed
    if category == "error_case" and decision.state is State.UNKNOWN and response.flagged and not leaks:
        # The call was wrong on purpose: it should return an error, in any words.
        reason = "The scenario expects an error, and nothing shows that the tool failed"
        decision = replace(decision, kind=ErrorKind.BUSINESS, state=State.INVALID_INPUT, reason=reason)
    if decision.kind is ErrorKind.BUSINESS:
        classification, confidence, valid = Classification.FULLY_WORKING, 100.0, True
        evidence: tuple[str, ...] = (f"Tool rejected the call: {decision.reason}",)
        if issues or response.content not in (Content.BLOCKS, Content.EMPTY):
            classification, confidence = Classification.PARTIALLY_WORKING, 70.0
    else:
        # How likely the tool works in spite of the error.
        confidence = round(min(100 * (1 - decision.certainty), _MOST_OF_A_FAILURE), 1)
        classification, valid = Classification.ERROR, False
        evidence = (decision.reason,)
        is_unknown = decision.kind is ErrorKind.UNKNOWN
        issues = (UNKNOWN_FAULT if is_unknown else f"The tool failed ({decision.state})", *issues)
    cause = cause_of(decision.state)
    return ResultVerdict(
        is_valid=valid, is_error=response.flagged, classification=classification, confidence=confidence, issues=issues,
        evidence=evidence, error_kind=decision.kind, state=decision.state, retry=cause.retry,
        factors=decision.factors, metadata=metadata, leaks=leaks, framework=decision.framework,
        certainty=round(decision.certainty, 3), error_code=decision.code or cause.error_code,
    )  # fmt: skip


def _unflagged(seen: _Seen, category: str | None, own: OwnWords | None) -> ResultVerdict:
    view, response, envelope = seen.view, seen.response, seen.envelope
    if response.unreadable:
        return _broken(response, response.unreadable)
    if response.structured is None:
        if response.awaits:
            return ResultVerdict(
                is_valid=True, is_error=False, classification=Classification.FULLY_WORKING, confidence=100,
                evidence=(f"Tool responded, and waits ({response.awaits})",), metadata=_metadata(response),
            )  # fmt: skip
        if response.content is Content.ABSENT:
            return _broken(response, DRAFT_CONTENT if response.has_outputs else NO_CONTENT)
        if response.content is not Content.BLOCKS:
            return _broken(response, EMPTY_CONTENT)
    if response.is_blank:
        # A function that returns nothing declares `{"result": null}` and no other value: then a blank is expected.
        properties = object_of((object_of(view.output_schema) or {}).get("properties")) or {}
        inner = object_of(properties.get("result")) or {}
        declares_nothing = list(properties) == ["result"] and inner.get("type") == "null"
        if response.structured is None or not declares_nothing:
            return ResultVerdict(
                is_valid=False, is_error=False, classification=Classification.CONNECTIVITY_ONLY, confidence=30,
                issues=("Response content is blank",), metadata=_metadata(response),
            )  # fmt: skip
    if envelope is None:
        report, text = unflagged_error(response, phrases(), _asked(view, seen.arguments))
    else:
        report = BodyReport.NOTHING if envelope.success else BodyReport.FAILED
        text = "\n".join(response.texts) or envelope.error
    if report is not BodyReport.NOTHING and own is not None and own.is_exception(readable(text[:_LONGEST_READ])):
        report = BodyReport.NOTHING
    if report is not BodyReport.FAILED:
        ready = None if seen.handle is None else seen.handle.ready_output
        verdict = _success(response, envelope, output_schema_validation(view.output_schema, response, ready))
        if report is BodyReport.NOTHING:
            return verdict
        return replace(
            verdict,
            classification=Classification.PARTIALLY_WORKING,
            confidence=min(verdict.confidence, 70.0),
            issues=(PART_FAILED, *verdict.issues),
        )
    decision, leaks = _judge(seen, text, own)
    verdict = _error_verdict(response, category, _metadata(response, envelope), decision, leaks)
    if not response.has_flag:
        # A text or a message that has no flag: that the flag is missing is not a fault.
        return replace(verdict, error_without_flag=True)
    worse = verdict.classification is Classification.ERROR
    return replace(
        verdict,
        classification=Classification.ERROR if worse else Classification.PARTIALLY_WORKING,
        confidence=min(verdict.confidence, 70.0),
        issues=(NO_FLAG, *verdict.issues),
        error_without_flag=True,
    )


def _broken(response: ToolResponse, issue: str) -> ResultVerdict:
    return ResultVerdict(
        is_valid=False, is_error=False, classification=Classification.BROKEN, confidence=0,
        issues=(issue, *response.malformed), metadata=_metadata(response),
    )  # fmt: skip


def _success(
    response: ToolResponse, envelope: ResultEnvelope | None, validation: OutputSchemaValidation | None
) -> ResultVerdict:
    if validation is None and envelope is None and response.meta is None and is_only_text(response):
        return _ONE_TEXT_WORKS
    issues = response.malformed
    found = ["Tool responded successfully with content"]
    counted = (
        (response.text_block_count, "text block"),
        (response.image_count, "image"),
        (response.audio_count, "audio clip"),
        (response.resource_count, "resource"),
        *((count, f"{name[:40]} block") for name, count in response.other_counts.items()),
    )
    found += [f"Response includes {count} {name}(s)" for count, name in counted if count]
    if response.structured is not None:
        found.append("Response includes structured content")
    evidence = tuple(found)
    whole = not issues
    if validation is not None and not validation.is_valid:
        issues = (validation.error or "Output schema validation failed", *issues)
        evidence = (*evidence, "Tool has output schema but response does not conform")
        whole = False
    elif validation is not None:
        evidence = (*evidence, "Response conforms to the tool's output schema")
    if response.structured is not None and not response.texts and not response.taken_for:
        # A framework that wraps a list writes a block for each item, and no block for an empty list or null.
        inner = unwrap(response.structured)
        if inner is response.structured or not (inner is None or list_of(inner) == []):
            # Its client receives everything: only clients of earlier versions of MCP lack a part.
            issues = (*issues, NO_MIRROR)
    return ResultVerdict(
        is_valid=True, is_error=False,
        classification=Classification.FULLY_WORKING if whole else Classification.PARTIALLY_WORKING,
        confidence=100 if whole else 70, issues=issues, evidence=evidence,
        metadata=_metadata(response, envelope, validation),
    )  # fmt: skip


def _metadata(
    response: ToolResponse, envelope: ResultEnvelope | None = None, validation: OutputSchemaValidation | None = None
) -> ResultMetadata:
    if envelope is None:
        if validation is None and is_only_text(response):
            return _ONE_TEXT if response.meta is None else _ONE_TEXT_AND_META
        envelope = _NO_ENVELOPE
    return ResultMetadata(
        content_types=response.content_types,
        text_block_count=response.text_block_count,
        image_count=response.image_count,
        resource_count=response.resource_count,
        has_structured_content=response.structured is not None,
        has_meta=response.meta is not None,
        output_schema_validation=validation,
        warnings=envelope.warnings,
        pagination=envelope.pagination,
        content_fidelity=envelope.content_fidelity,
        dropped_content_ids=envelope.dropped_content_ids,
        taken_for=response.taken_for or None,
        audio_count=response.audio_count,
        other_counts=response.other_counts,
    )


def _judge(seen: _Seen, text: str, own: OwnWords | None) -> tuple[Decision, tuple[Leak, ...]]:
    """Decide whose fault the error is, and find its leaks."""
    view, arguments, envelope = seen.view, seen.arguments, seen.envelope
    known = phrases()
    sent = _sent(arguments)
    shortened, echoes = without_echoes(text[:_LONGEST_READ], sent)
    read = readable(shortened)
    hits = known.evidence(read)
    quoted = next((value[:_LONGEST_QUOTED] for value in sent if len(value) > _SHORTEST_ECHO and value in text), "")
    name_word = tool_traits(view.name).validating_word
    if own is not None and own.expects_validation is not None:
        # The caller's exception for the name.
        name_word = (name_word or view.name) if own.expects_validation else ""
    call = CallFacts(view, arguments, (*echoes, *sent), quoted, _structure(read, seen.response), name_word)
    evidence = FirstHits(read, hits, known, call)
    if own is not None:
        own.look(read, evidence)
    decision = decide(evidence, known, own)
    state = None if envelope is None else envelope.state
    if envelope is not None and state is not None and evidence.own_strong is None and evidence.own_failure is None:
        decision = decide_by_envelope(envelope, state, decision)
    leaks = leaks_in(read, hits, known, sent)
    if echoes:
        # Where a leak is counts in the text as it came.
        leaks = tuple(
            Leak(each.kind, _with_echoes(each.text, echoes), start, start + len(_with_echoes(each.text, echoes)))
            for each in leaks
            for start in (len(_with_echoes(read[: each.start], echoes)),)
        )
        decision = replace(
            decision,
            reason=shown(_with_echoes(decision.reason, echoes)),
            factors=tuple(
                replace(each, evidence=shown(_with_echoes(each.evidence, echoes))) for each in decision.factors
            ),
        )
    if evidence.refusal is not None:
        # "Unexpected keyword argument" are the words of a crash elsewhere.
        leaks = tuple(leak for leak in leaks if leak.kind is not LeakKind.CRASH_TEXT)
        decision = replace(decision, framework=framework_of(hits, known))
    return decision, leaks


def _with_echoes(words: str, echoes: Mapping[str, str]) -> str:
    """The words with the values that were taken out of them."""
    for word, written in echoes.items():
        words = words.replace(word, written)
    return words


def _asked(view: ToolView, arguments: object) -> ResultContext:
    """Return how to read the answer, from the tool and its arguments."""
    traits = tool_traits(view.name, view.description)
    members = object_of(arguments)
    if not members:
        return traits.asked
    command = ""
    if traits.runs_programs or "args" in members:
        given = next((members[name] for name in tool_names().command_parameters if members.get(name)), "")
        words = list_of(given) or [given, *(list_of(members.get("args")) or ())]
        command = " ".join(word for word in words if isinstance(word, str))
    known = traits.asked
    return ResultContext(known.runs_programs, known.acts, known.reports, known.probes, command, _sent(arguments))


_NOT_SENT: Final = frozenset({bool, float, type(None)})


def _sent(arguments: object) -> tuple[str, ...]:
    """The strings (and long numbers) of the arguments, as an error would quote them."""
    members = object_of(arguments)
    if not members:
        return ()
    found: list[str] = []
    pending = list(members.values())[:_MOST_SENT]
    for value in pending:
        # By type first: each call comes by here, and nearly all its values are plain.
        kind = type(value)
        if kind is str:
            found.append(cast("str", value))
        elif kind is int:
            number = cast("int", value)
            if 99 < abs(number) < _LONG_NUMBER:
                found.append(str(number))
        elif kind in _NOT_SENT:
            continue
        elif isinstance(value, str):
            found.append(value)
        elif len(pending) < _MOST_SENT:
            # Nested values are looked at last: the loop walks the list while it grows.
            if kind is list:
                pending += cast("list[object]", value)[:_MOST_SENT]
                continue
            inner = object_of(value)
            pending += (list_of(value) or (() if inner is None else tuple(inner.values())))[:_MOST_SENT]
    return tuple(found)


def _structure(text: str, response: ToolResponse) -> str:
    """What shows that the error has a structure that a program can read; empty if it is prose."""
    if object_of(response.structured) is not None:
        return "structuredContent"
    opened = text.find("{")
    if opened < 0 or '"' not in text[opened : opened + 4_000]:
        return ""
    keys = ('"error', '"message"', '"code"', '"detail', '"status"', '"errors"', '"reason"', '"title"', '"type"')
    return next((f"JSON with {key.strip(chr(34))}" for key in keys if key in text), "")


_UNKEPT: Final = "Output schema validation failed: "
NO_JSON = "Tool has output schema but response contains no valid JSON"
_FENCED = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_MOST_TOLD = 3
_MOST_FENCED = 1_000


def output_schema_validation(
    schema: object, response: ToolResponse, ready: "Schema | None" = None
) -> OutputSchemaValidation | None:
    """None for a tool without `outputSchema`. Structured content counts; without it, any JSON in a text block.

    `ready` is the compiled schema, if the caller has it.
    """
    if schema is None:
        return None
    judge = ready
    if judge is None:
        # The schema engine takes as long to import as all the rest; most tools declare no outputSchema.
        from toolvet.core.schema import compiled  # noqa: PLC0415

        judge = compiled(schema)
    if judge.problem is not None:
        return OutputSchemaValidation(
            has_output_schema=True, is_valid=False, error=f"outputSchema does not compile: {judge.problem.message}"
        )
    if response.structured is not None:
        violations = judge.violations(response.structured)
    else:
        candidates = _json_values(response.texts)
        if not candidates:
            return OutputSchemaValidation(has_output_schema=True, is_valid=False, error=NO_JSON)
        # The value that comes closest counts: an object before a stray number.
        judged = [(judge.violations(candidate), not isinstance(candidate, dict)) for candidate in candidates]
        violations = min(judged, key=lambda pair: (bool(pair[0]), pair[1], len(pair[0])))[0]
    if not violations:
        return OutputSchemaValidation(has_output_schema=True, is_valid=True)
    listed = "; ".join(
        f"{each.pointer or '(root)'}: {each.message} ({each.keyword})" for each in violations[:_MOST_TOLD]
    )
    uncounted = violations[-1].params.get("more") if violations[-1].keyword == "unlisted" else None
    more = len(violations) - _MOST_TOLD + (uncounted - 1 if isinstance(uncounted, int) else 0)
    return OutputSchemaValidation(
        has_output_schema=True,
        is_valid=False,
        error=f"{_UNKEPT}{listed}{f' and {more} more' if more > 0 else ''}",
    )


def _json_values(texts: Sequence[str]) -> list[object]:
    found: list[object] = []
    for text in texts:
        fenced = (block[1] for block in islice(_FENCED.finditer(text), _MOST_FENCED)) if "```" in text else ()
        for source in (text, *fenced):
            if len(found) >= _MOST_FENCED:
                return found
            try:
                found.append(cast("object", msgspec.json.decode(source)))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                continue
    return found


_MOST_LEAKS = 20
_MOST_BEFORE = 100
_PATH = re.compile(r"[^\s\"'`)\]>,;|*?]{1,300}")
_BEFORE_PATH = re.compile(r"^[\s\"'(=:\[,<`>]")
_LINE = re.compile(r"[^\n]{0,160}")


def leaks_in(text: str, hits: Sequence[Hit], known: ResultPhrases, sent: Iterable[str]) -> tuple[Leak, ...]:
    """The leaks in an error's text, in order. A path that the caller `sent` is not a leak."""
    leaky = [hit for hit in hits if hit.id in known.leaky]
    if not leaky:
        return ()
    found: list[Leak] = []
    sent_paths = tuple(value for value in sent if "/" in value or "\\" in value)
    seen: set[str] = set()
    reached = 0
    for hit in leaky:
        # Several words of one crash in the same line: reported once.
        if hit.end <= reached and known.by_id[hit.id].leak:
            continue
        leak = _leak(text, hit, known, sent_paths)
        # A line of a stack trace is reported once, even if it contains words of a crash.
        if leak is None or leak.text in seen or len(found) >= _MOST_LEAKS:
            continue
        seen.add(leak.text)
        found.append(leak)
        reached = max(reached, leak.end)
    return tuple(found)


def _leak(text: str, hit: Hit, known: ResultPhrases, sent_paths: Sequence[str]) -> Leak | None:
    phrase = known.by_id[hit.id]
    if phrase.strength is Strength.PATH:
        start = hit.start + (_BEFORE_PATH.match(text[hit.start : hit.start + 1]) is not None)
        path = text[start : hit.end] if (match := _PATH.match(text, start)) is None else match.group().rstrip(".:")
        # The caller named this path, one above it or one below it.
        if any(value in path or value.startswith(path) for value in sent_paths):
            return None
        return Leak(LeakKind.ABSOLUTE_PATH, path, start, start + len(path))
    if phrase.strength is Strength.TRACE:
        line = _LINE.match(text, hit.start)
        words = text[hit.start : hit.end] if line is None else line.group().rstrip()
        return Leak(LeakKind.STACK_TRACE, words, hit.start, hit.start + len(words))
    if phrase.leak:
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_BEFORE)
        line = _LINE.match(text, start)
        words = text[start : hit.end] if line is None else line.group()
        start += len(words) - len(words.lstrip())
        return Leak(LeakKind.CRASH_TEXT, words.strip(), start, start + len(words.strip()))
    return None


_LONGEST_REFUSAL: Final = 20_000


def is_framework_refusal(text: str) -> str | None:
    """The name of the framework whose validation wrote this refusal of the caller's arguments; else None.

    An author cannot change such words, so they do not affect the score of the author's messages. None for a sentence
    that the author put inside the framework's frame (a `ValueError` of a pydantic validator), for a crash, and for an
    output that breaks the tool's own `outputSchema`.

    >>> is_framework_refusal("Input validation error: 'abc' is not of type 'integer'")
    'MCP Python SDK'
    >>> is_framework_refusal("limit must be between 1 and 50") is None
    True
    """
    known = phrases()
    return framework_of(known.evidence(text[:_LONGEST_REFUSAL]), known)


def framework_of(hits: Sequence[Hit], known: ResultPhrases) -> str | None:
    """The framework that wrote the words with these `hits`, as `is_framework_refusal` says."""
    found = {hit.id for hit in hits}
    first: str | None = None
    for identifier, phrase in known.refusing:
        if identifier not in found:
            continue
        if (
            phrase.decides
            or phrase.strength is Strength.TRACE
            or (not phrase.framework and phrase.strength is Strength.REFUSAL)
        ):
            return None
        first = first or phrase.framework or None
    return first
