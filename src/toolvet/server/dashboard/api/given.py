"""Verdicts that a caller made himself, in the spelling of the API, and their way into the store."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from toolvet.core.checks import AnswerQuality, ArgumentReport, ResultVerdict
from toolvet.core.envelope import check_envelope, missing_required_error
from toolvet.core.json_form import given_type
from toolvet.core.json_value import elements, members
from toolvet.core.redact import SecretMask, redact, redact_text
from toolvet.core.tools import view_of
from toolvet.findings import Finding
from toolvet.server.dashboard.api.bodies import AnswerBody, ArgumentsBody, ResultBody, verdict_of
from toolvet.server.dashboard.api.endpoint import ApiBody
from toolvet.server.dashboard.api.fields import Name, RecordId, Seconds, Timestamp, Tool, TraceId
from toolvet.server.dashboard.api.routing import convert
from toolvet.server.failures import ApiError
from toolvet.store import Store
from toolvet.store.judged import AnyVerdict, VerdictContext, verdict_record
from toolvet.store.records import CUT, SignalRecord, VerdictRecord, clean_text, encode_document

_MOST_SENT: Final = 64 * 1024


class StoreBody(ApiBody, frozen=True, kw_only=True, tag_field="kind"):
    """What can be stored, by its `kind`.

    `verdict` is null for what toolvet shall judge on arrival; a verdict that was made before is kept as it is. With an
    `id` of one's own, sending the same again after a lost reply keeps it once.
    """

    id: RecordId | None = None
    trace_id: TraceId | None = None
    conversation: Name | None = None
    server: Name = ""
    model: Name | None = None
    variant: Name | None = None
    at: Timestamp | None = None
    duration: Seconds | None = None


if TYPE_CHECKING:
    GivenArguments: TypeAlias = Any
else:
    # A report cannot be made from its JSON form: it knows the schema. Of the form only `valid` is needed, and the
    # keyword of each issue.
    GivenArguments = given_type(ArgumentReport)


class GivenEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on an envelope that was made before."""

    findings: list[Finding]


class StoreAnswer(StoreBody, frozen=True, kw_only=True, tag="answer"):
    """An answer of an agent, with the calls of its turn."""

    text: str | None
    calls: list[dict[str, Any]] | None = None
    question: str | None = None
    finish_reason: str | None = None
    verdict: AnswerQuality | None = None


class StoreArguments(StoreBody, frozen=True, kw_only=True, tag="arguments"):
    """The arguments of a call. `tool` is the tool's definition; its name is enough beside a verdict."""

    tool: Tool
    arguments: Any = None
    verdict: GivenArguments | None = None


class StoreResult(StoreBody, frozen=True, kw_only=True, tag="result"):
    """The result of a call. `tool` is the tool's definition, or its name."""

    tool: Tool = ""
    arguments: Any = None
    result: Any = None
    verdict: ResultVerdict | None = None


class StoreCall(StoreBody, frozen=True, kw_only=True, tag="call"):
    """A whole call as a client or proxy saw it: the verdict is the one on its result."""

    tool: Tool
    arguments: Any = None
    result: Any = None
    verdict: ResultVerdict | None = None


class StoreEnvelope(StoreBody, frozen=True, kw_only=True, tag="envelope"):
    """A response that should keep the contract response-v2."""

    tool: Name | None = None
    response: Any = None
    verdict: GivenEnvelope | None = None


AnyStored = StoreAnswer | StoreArguments | StoreResult | StoreCall | StoreEnvelope


def stored_record(body: AnyStored, store: Store) -> VerdictRecord:
    """Return the record of a body: judged now, or with the verdict that came with it. Raises ApiError.

    An answer without `calls` is compared with those that the store has under its trace id.
    """
    if isinstance(body, StoreAnswer):
        if body.verdict is None:
            calls = body.calls if body.calls is not None else store.tool_calls(body.trace_id)
            answer = verdict_of(
                AnswerBody(text=body.text, calls=calls, question=body.question, finish_reason=body.finish_reason)
            )
            assert isinstance(answer, AnswerQuality)  # noqa: S101 - for the type checkers
        else:
            # The turn is the body's, whose id was checked.
            answer = msgspec.structs.replace(body.verdict, trace_id=None)
        record = _record(body, answer, text=body.text or None, question=body.question, calls=body.calls)
    elif isinstance(body, StoreEnvelope):
        findings = check_envelope(body.response) if body.verdict is None else body.verdict.findings
        record = _record(body, findings, tool=body.tool)
    elif isinstance(body, StoreArguments):
        record = _arguments(body)
    else:
        record = _result(body)
    return record if body.id is None else msgspec.structs.replace(record, id=body.id)


def _record(body: StoreBody, verdict: AnyVerdict, **context: Any) -> VerdictRecord:
    given = ("conversation", "server", "model", "variant", "at", "duration")
    same = {name: getattr(body, name) for name in given}
    return verdict_record(verdict, VerdictContext(trace=body.trace_id, **same, **context))


def _arguments(body: StoreArguments) -> VerdictRecord:
    name, given = _name(body.tool), body.verdict
    if given is None:
        if isinstance(body.tool, str):
            needed = "tool must be its definition where no verdict is given"
            raise ApiError(422, missing_required_error("tool", message=needed))
        report = verdict_of(ArgumentsBody(tool=body.tool, arguments=body.arguments))
        return _record(body, report, tool=name)  # type: ignore[arg-type]
    # A record of an envelope has the columns. The document has the members that the caller gave.
    error = members(members(msgspec.to_builtins(given)).get("error"))
    return msgspec.structs.replace(
        _record(body, [], tool=name),
        kind="arguments",
        outcome="valid" if given.valid else "invalid",
        failed=not given.valid,
        score=float(given.valid),
        reason=clean_text(redact_text(str(error.get("summary") or ""))) or None,
        signals=tuple(SignalRecord(str(members(issue)["keyword"]), "error") for issue in elements(error.get("issues"))),
        document=encode_document(redact(msgspec.to_builtins(given))),
    )


def _result(body: StoreResult | StoreCall) -> VerdictRecord:
    name = _name(body.tool) or None
    if body.verdict is not None:
        found = msgspec.structs.replace(body.verdict, trace_id=None)
    else:
        tool = body.tool if isinstance(body.tool, dict) else {"name": body.tool}
        judged = verdict_of(ResultBody(tool=tool, arguments=body.arguments, result=body.result))
        assert isinstance(judged, ResultVerdict)  # noqa: S101 - for the type checkers
        found = judged
    record = _record(body, found, tool=name)
    mask = SecretMask.learned(body.arguments, body.result)
    detail = members(mask.own(record.detail))
    if isinstance(body, StoreCall):
        sent = {"arguments": _bounded(mask.value(body.arguments)), "result": _bounded(mask.value(body.result))}
        record = msgspec.structs.replace(record, kind="call")
        detail = {**detail, **sent}
    reason = None if record.reason is None else clean_text(mask.text(record.reason))
    return msgspec.structs.replace(record, reason=reason, document=encode_document(detail))


def _bounded(value: object) -> object:
    encoded = bytes(encode_document(value))
    return value if len(encoded) <= _MOST_SENT else encoded[:_MOST_SENT].decode("utf-8", "ignore") + CUT


def _name(tool: dict[str, Any] | str) -> str:
    if isinstance(tool, str):
        return convert(tool, Name, below="tool")  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
    return view_of(tool).name[:500].replace("\x00", "")
