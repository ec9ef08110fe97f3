"""Verdicts that a caller made himself, in the spelling of the API, and their way into the store."""

from typing import Annotated, Any, Final, TypeVar

import msgspec

from toolvet.checks.answer import AnswerQuality
from toolvet.checks.result import Classification, ResultVerdict
from toolvet.dashboard.api.bodies import AnswerBody, ArgumentsBody, EnvelopeBody, ResultBody, verdict_of
from toolvet.dashboard.api.endpoint import Body
from toolvet.dashboard.api.fields import Name, RecordId, Seconds, Timestamp, TraceId
from toolvet.dashboard.api.routing import convert
from toolvet.dashboard.api.snake import snake
from toolvet.dashboard.failures import ApiError
from toolvet.envelope import missing_required_error
from toolvet.findings import Finding
from toolvet.redact import SecretMask, redact, redact_text
from toolvet.schema.json_value import members
from toolvet.store.judged import AnyVerdict, VerdictContext, verdict_record
from toolvet.store.records import SignalRecord, VerdictRecord, clean_text, encode_document
from toolvet.tool import view_of

Verdict = dict[str, Any] | None
_MOST_SENT: Final = 64 * 1024
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class StoreBody(Body, frozen=True, kw_only=True, tag_field="kind"):
    """What can be stored, by its `kind`.

    `verdict` is null for what toolvet shall judge on arrival; otherwise it is kept as it is. With an `id` of one's own,
    sending the same again after a lost reply keeps it once.
    """

    id: RecordId | None = None
    trace_id: TraceId | None = None
    conversation: Name | None = None
    server: Name = ""
    model: Name | None = None
    variant: Name | None = None
    at: Timestamp | None = None
    duration: Seconds | None = None
    verdict: Verdict = None


class StoreAnswer(StoreBody, frozen=True, kw_only=True, tag="answer"):
    """An answer of an agent, with the calls of its turn."""

    text: str | msgspec.UnsetType | None = msgspec.UNSET
    calls: list[dict[str, Any]] | None = None
    question: str | None = None
    finish_reason: str | None = None


class StoreArguments(StoreBody, frozen=True, kw_only=True, tag="arguments"):
    """The arguments of a call. `tool` is the tool's definition; its name is enough beside a verdict."""

    tool: dict[str, Any] | Name
    arguments: Any = None


class StoreResult(StoreBody, frozen=True, kw_only=True, tag="result"):
    """The result of a call. `tool` is the tool's definition, or its name."""

    tool: dict[str, Any] | Name = ""
    arguments: Any = None
    result: Any = None


class StoreCall(StoreBody, frozen=True, kw_only=True, tag="call"):
    """A whole call as a client or proxy saw it: the verdict is the one on its result."""

    tool: dict[str, Any] | Name
    arguments: Any = None
    result: Any = None


class StoreEnvelope(StoreBody, frozen=True, kw_only=True, tag="envelope"):
    """A response that should keep the contract response-v2."""

    tool: Name | None = None
    response: Any = None


T = TypeVar("T")
AnyStored = StoreAnswer | StoreArguments | StoreResult | StoreCall | StoreEnvelope


class GivenArguments(msgspec.Struct, frozen=True, kw_only=True):
    """A given verdict on arguments: the part of `ArgumentReport` that is kept in columns."""

    valid: bool
    error: dict[str, Any] = {}


class GivenEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """A given verdict on an envelope."""

    findings: list[Finding]


class _GivenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that `AnswerQuality` has without saying so."""

    score: _Share
    assessment_confidence: _Share


class _GivenResult(msgspec.Struct, frozen=True, kw_only=True):
    is_valid: bool
    is_error: bool
    classification: Classification
    confidence: Annotated[float, msgspec.Meta(ge=0, le=100)]
    certainty: _Share | None = None


def stored_record(body: AnyStored) -> VerdictRecord:
    """Return the record of a body: judged now, or with the verdict that came with it. Raises ApiError."""
    if isinstance(body, StoreAnswer):
        record = _record(body, _answer(body), text=body.text or None, question=body.question, calls=body.calls)
    elif isinstance(body, StoreEnvelope):
        record = _record(body, _envelope(body), tool=body.tool)
    elif isinstance(body, StoreArguments):
        record = _arguments(body)
    else:
        record = _result(body)
    return record if body.id is None else msgspec.structs.replace(record, id=body.id)


def _record(body: StoreBody, verdict: AnyVerdict, **context: Any) -> VerdictRecord:
    given = ("conversation", "server", "model", "variant", "at", "duration")
    same = {name: getattr(body, name) for name in given}
    return verdict_record(verdict, VerdictContext(trace=body.trace_id, **same, **context))


def _answer(body: StoreAnswer) -> AnswerQuality:
    if body.verdict is not None:
        verdict = snake(body.verdict)
        _under("verdict", verdict, _GivenAnswer)
        return _under("verdict", verdict, AnswerQuality)
    if body.text is msgspec.UNSET:
        raise ApiError(422, missing_required_error("text"))
    found = verdict_of(
        AnswerBody(text=body.text, calls=body.calls, question=body.question, finish_reason=body.finish_reason)
    )
    assert isinstance(found, AnswerQuality)  # noqa: S101 - for the type checkers
    return found


def _envelope(body: StoreEnvelope) -> list[Finding]:
    if body.verdict is not None:
        return _under("verdict", snake(body.verdict), GivenEnvelope).findings
    found = verdict_of(EnvelopeBody(response=body.response))
    assert isinstance(found, list)  # noqa: S101 - as above
    return found


def _arguments(body: StoreArguments) -> VerdictRecord:
    name = _name(body.tool)
    if body.verdict is None:
        if isinstance(body.tool, str):
            raise ApiError(
                422, missing_required_error("tool", message="tool must be its definition, or give a verdict")
            )
        report = verdict_of(ArgumentsBody(tool=body.tool, arguments=body.arguments))
        return _record(body, report, tool=name)  # type: ignore[arg-type]
    document = members(snake(body.verdict))
    given = _under("verdict", document, GivenArguments)
    # The report itself cannot be made from its JSON form: it knows the schema. A record of an envelope has the columns.
    kept = _record(body, [], tool=name)
    keywords = [str(members(issue).get("keyword", "")) for issue in given.error.get("issues") or ()]
    summary = given.error.get("summary")
    return msgspec.structs.replace(
        kept,
        kind="arguments",
        outcome="valid" if given.valid else "invalid",
        failed=not given.valid,
        score=float(given.valid),
        reason=clean_text(redact_text(summary)) if isinstance(summary, str) else None,
        signals=tuple(SignalRecord(keyword, "error") for keyword in keywords if keyword),
        document=encode_document(redact(document)),
    )


def _result(body: StoreResult | StoreCall) -> VerdictRecord:
    if body.verdict is not None:
        document = dict(members(snake(body.verdict)))
        _under("verdict", document, _GivenResult)
        if "response_metadata" in document:
            document["metadata"] = document.pop("response_metadata")
        found = _under("verdict", document, ResultVerdict)
    else:
        tool = body.tool if isinstance(body.tool, dict) else {"name": body.tool}
        judged = verdict_of(ResultBody(tool=tool, arguments=body.arguments, result=body.result))
        assert isinstance(judged, ResultVerdict)  # noqa: S101 - for the type checkers
        found = judged
    record = _record(body, found, tool=_name(body.tool) or None)
    mask = SecretMask.learned(body.arguments, body.result)
    detail = members(mask.own(record.detail))
    if isinstance(body, StoreCall):
        sent = {"arguments": _bounded(mask.value(body.arguments)), "result": _bounded(mask.value(body.result))}
        record = msgspec.structs.replace(record, kind="call")
        detail = {**detail, **sent}
    reason = None if record.reason is None else clean_text(mask.text(record.reason))
    return msgspec.structs.replace(record, reason=reason, document=encode_document(detail))


def _bounded(value: object) -> object:
    """Return a value as it is, or the beginning of its JSON where that is long."""
    encoded = bytes(encode_document(value))
    return value if len(encoded) <= _MOST_SENT else encoded[:_MOST_SENT].decode("utf-8", "ignore") + " … (cut)"


def _name(tool: dict[str, Any] | str) -> str:
    return tool if isinstance(tool, str) else view_of(tool).name[:500].replace("\x00", "")


def _under(name: str, value: object, kind: type[T]) -> T:
    """Return a member of the body as its type. Raises ApiError: 422 with the field that is wrong, below `name`."""
    return convert(value, kind, below=name)
