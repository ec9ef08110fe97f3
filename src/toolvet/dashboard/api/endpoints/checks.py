"""`POST /v1/check/…`: the checks of the library, with the library's parameters as members of the body."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

from toolvet.checks.answer import AnswerQuality
from toolvet.checks.arguments import ArgumentReport, check_arguments
from toolvet.checks.result import ResultVerdict, check_result
from toolvet.dashboard.api.endpoint import Asked, Body, Endpoint
from toolvet.dashboard.api.snake import snake
from toolvet.dashboard.failures import ApiError
from toolvet.envelope import check_envelope, validation_error
from toolvet.errors import ToolvetError
from toolvet.findings import findings_document
from toolvet.turn import ConversationVerdict, check_answer, check_conversation

B = TypeVar("B", bound=Body)


class AnswerBody(Body, frozen=True, kw_only=True):
    """The parameters of `check_answer`."""

    text: str | None
    calls: list[dict[str, Any]] | None = None
    question: str | list[Any] | None = None
    finish_reason: str | None = None
    trace: str | None = None
    min_length: int | None = None
    strict: bool | None = None
    languages: list[str] | None = None
    packs: list[str] | None = None
    threshold: float | None = None
    custom_patterns: dict[str, list[str]] | None = None
    replace_patterns: bool | None = None
    exceptions: dict[str, list[str]] | None = None
    weights: dict[str, float] | None = None


class ArgumentsBody(Body, frozen=True, kw_only=True):
    """The parameters of `check_arguments`."""

    tool: dict[str, Any]
    arguments: Any
    unchecked: Literal["refuse", "pass"] = "refuse"
    trace: str | None = None


class ResultBody(Body, frozen=True, kw_only=True):
    """The parameters of `check_result`."""

    tool: dict[str, Any] | None = None
    arguments: Any = None
    result: Any
    category: str | None = None
    any_response: bool = False
    expects_validation: bool | None = None
    trace: str | None = None


class EnvelopeBody(Body, frozen=True, kw_only=True):
    """The parameters of `check_envelope`."""

    response: Any


class ConversationBody(Body, frozen=True, kw_only=True):
    """The parameters of `check_conversation`."""

    messages: Any
    tools: Any = None


_OWN = frozenset({"text", "calls", "question", "finish_reason", "trace"})


def judge_answer(body: AnswerBody) -> AnswerQuality:
    """Return the verdict of an answer."""
    given = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not None}
    options = {name: value for name, value in given.items() if name not in _OWN}
    return check_answer(
        body.text,
        calls=body.calls,
        question=body.question,
        finish_reason=body.finish_reason,
        trace=body.trace,
        **options,
    )


def judge_arguments(body: ArgumentsBody) -> ArgumentReport:
    """Return the report on the arguments of a call."""
    return check_arguments(body.tool, body.arguments, unchecked=body.unchecked, trace=body.trace)


def judge_result(body: ResultBody) -> ResultVerdict:
    """Return the verdict of a result."""
    return check_result(
        body.tool or {"name": ""},
        body.arguments,
        body.result,
        body.category,
        any_response=body.any_response,
        expects_validation=body.expects_validation,
        trace=body.trace,
    )


def judge_conversation(body: ConversationBody) -> ConversationVerdict:
    """Return the verdict of a conversation."""
    return check_conversation(body.messages, tools=body.tools)


class _Verdict(Protocol):
    def to_dict(self) -> Mapping[str, object]: ...


def _answering(judge: Callable[[B], _Verdict]) -> Callable[[Asked[B]], object]:
    """Return an endpoint's work: the verdict in the API's spelling; what the caller did wrong is a 422."""

    def answer(asked: Asked[B]) -> object:
        try:
            return snake(judge(asked.body).to_dict())
        except (ToolvetError, TypeError) as error:
            raise ApiError(422, validation_error(f"{error}", field=_field(f"{error}", asked.body))) from error

    return answer


def _field(message: str, body: Body) -> str | None:
    """Return the member of the body that a sentence begins with; the sentences of options begin with their name."""
    word = message.replace(":", " ").partition(" ")[0]
    return word if word in body.__struct_fields__ else None


def _envelope(asked: Asked[EnvelopeBody]) -> object:
    return findings_document(check_envelope(asked.body.response))


def _check(kind: str, summary: str, body: type[Any], run: Callable[[Asked[Any]], object]) -> Endpoint[Any]:
    return Endpoint("POST", f"/v1/check/{kind}", summary, body, run)


ENDPOINTS = (
    _check("answer", "Judge an answer by its text and by its turn's calls.", AnswerBody, _answering(judge_answer)),
    _check("arguments", "Check arguments against the tool's schema.", ArgumentsBody, _answering(judge_arguments)),
    _check("result", "Say whether a result is a success, or whose error.", ResultBody, _answering(judge_result)),
    _check("envelope", "Hold a response against the contract response-v2.", EnvelopeBody, _envelope),
    _check("conversation", "Judge all turns.", ConversationBody, _answering(judge_conversation)),
)
