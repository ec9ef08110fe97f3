"""`POST /v1/check/…`: the checks of the library, with the library's parameters as members of the body."""

from typing import Any, Literal

from toolvet.checks.arguments import check_arguments
from toolvet.checks.result import check_result
from toolvet.dashboard.api.endpoint import Asked, Body, Endpoint
from toolvet.dashboard.api.failures import ApiError
from toolvet.dashboard.api.snake import snake
from toolvet.envelope import check_envelope, validation_error
from toolvet.errors import ToolvetError
from toolvet.turn import check_answer, check_conversation

_MOST_BATCHED = 1000


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


def judge_answer(body: AnswerBody) -> object:
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


def judge_arguments(body: ArgumentsBody) -> object:
    """Return the report on the arguments of a call."""
    return check_arguments(body.tool, body.arguments, unchecked=body.unchecked, trace=body.trace)


def judge_result(body: ResultBody) -> object:
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


def _checked(judge: Any, body: Any) -> Any:
    try:
        verdict = judge(body)
    except (ToolvetError, TypeError, ValueError) as error:
        raise ApiError(422, validation_error(f"{error}", field=_field(f"{error}", body))) from error
    return snake(verdict.to_dict())


def _field(message: str, body: Body) -> str | None:
    """Return the member of the body that a sentence begins with; the sentences of options begin with their name."""
    word = message.replace(":", " ").partition(" ")[0]
    return word if word in body.__struct_fields__ else None


def _answer(asked: Asked[AnswerBody]) -> object:
    return _checked(judge_answer, asked.body)


def _arguments(asked: Asked[ArgumentsBody]) -> object:
    return _checked(judge_arguments, asked.body)


def _result(asked: Asked[ResultBody]) -> object:
    return _checked(judge_result, asked.body)


def _envelope(asked: Asked[EnvelopeBody]) -> object:
    findings = [snake(finding.to_dict()) for finding in check_envelope(asked.body.response)]
    return {"valid": not any(finding["severity"] == "error" for finding in findings), "findings": findings}


def _conversation(asked: Asked[ConversationBody]) -> object:
    return _checked(lambda body: check_conversation(body.messages, tools=body.tools), asked.body)


ENDPOINTS = (
    Endpoint(
        "POST", "/v1/check/answer", "Judge an answer by its text and by the calls of its turn.", AnswerBody, _answer
    ),
    Endpoint(
        "POST",
        "/v1/check/arguments",
        "Check the arguments of a call against the tool's schema.",
        ArgumentsBody,
        _arguments,
    ),
    Endpoint(
        "POST",
        "/v1/check/result",
        "Say what a tool's result is: success, the caller's error, a failure.",
        ResultBody,
        _result,
    ),
    Endpoint(
        "POST",
        "/v1/check/envelope",
        "Hold a response against the envelope contract response-v2.",
        EnvelopeBody,
        _envelope,
    ),
    Endpoint("POST", "/v1/check/conversation", "Judge every turn of a conversation.", ConversationBody, _conversation),
)
