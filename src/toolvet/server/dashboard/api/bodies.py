"""The bodies of the checks, and what judges each: the parameters of the library's functions under their names."""

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec

from toolvet.core.checks import (
    AnswerQuality,
    ArgumentReport,
    JsonRepair,
    ResultVerdict,
    SignalType,
    check_arguments,
    check_result,
    repair_call,
    repair_json,
)
from toolvet.core.envelope import EnvelopeVerdict, check_envelope, validation_error
from toolvet.core.turn import ConversationVerdict, check_answer, check_conversation
from toolvet.errors import ToolvetError, could_not_check
from toolvet.server.dashboard.api.endpoint import ApiBody
from toolvet.server.failures import ApiError

Characters = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class CheckBody(ApiBody, frozen=True, kw_only=True):
    """The base of what can be checked."""


class AnswerOptionsBody(CheckBody, frozen=True, kw_only=True):
    """The options of a check of answers."""

    min_length: Characters | None = None
    strict: bool | None = None
    languages: list[str] | None = None
    packs: list[str] | None = None
    threshold: Share | None = None
    custom_patterns: dict[SignalType, list[str]] | None = None
    replace_patterns: bool | None = None
    exceptions: dict[SignalType, list[str]] | None = None
    weights: dict[SignalType, Share] | None = None


class AnswerBody(AnswerOptionsBody, frozen=True, kw_only=True):
    """The parameters of `check_answer`."""

    text: str | None
    calls: list[dict[str, Any]] | None = None
    question: str | list[Any] | None = None
    finish_reason: str | None = None
    trace: str | None = None


class ArgumentsBody(CheckBody, frozen=True, kw_only=True):
    """The parameters of `check_arguments`."""

    tool: dict[str, Any]
    arguments: Any
    unchecked: Literal["refuse", "pass"] = "refuse"
    trace: str | None = None


class ResultBody(CheckBody, frozen=True, kw_only=True):
    """The parameters of `check_result`."""

    result: Any
    tool: dict[str, Any] | None = None
    arguments: Any = None
    category: str | None = None
    any_response: bool = False
    expects_validation: bool | None = None
    trace: str | None = None


class RepairBody(ApiBody, frozen=True, kw_only=True):
    """The parameters of `repair_json`; with a `tool`, its schema is that of the arguments."""

    text: str
    schema: dict[str, Any] | bool = True
    tool: dict[str, Any] | None = None
    partial: bool = False


class EnvelopeBody(CheckBody, frozen=True, kw_only=True):
    """The parameters of `check_envelope`."""

    response: Any


class ConversationBody(CheckBody, frozen=True, kw_only=True):
    """The parameters of `check_conversation`."""

    messages: Any
    tools: Any = None


BODIES: Final[Mapping[str, type[CheckBody]]] = {
    "answer": AnswerBody,
    "arguments": ArgumentsBody,
    "result": ResultBody,
    "envelope": EnvelopeBody,
    "conversation": ConversationBody,
}
"""The bodies by the last word of their path."""

# What stderr has of bugs of ours: each once.
_SAID: Final = set[str]()


def answer_options(body: AnswerOptionsBody) -> dict[str, Any]:
    """Return the options of a check of answers that a body has, as keywords."""
    names = AnswerOptionsBody.__struct_fields__
    return {name: value for name in names if (value := getattr(body, name)) is not None}


def judge_answer(body: AnswerBody) -> AnswerQuality:
    """Return the verdict of an answer."""
    return check_answer(
        body.text,
        calls=body.calls,
        question=body.question,
        finish_reason=body.finish_reason,
        trace=body.trace,
        **answer_options(body),
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


def repair_of(body: RepairBody) -> JsonRepair:
    """Return the valid value in a text. Raises ApiError with 422 for a schema or tool that cannot be used."""
    try:
        if body.tool is None or body.partial:
            return repair_json(body.text, body.schema, partial=body.partial)
        return repair_call(body.tool, body.text)
    except ToolvetError as error:
        field = "schema" if body.tool is None else "tool"
        raise ApiError(422, validation_error(f"{error}", field=field)) from error


def verdict_of(
    body: CheckBody,
) -> AnswerQuality | ArgumentReport | ResultVerdict | EnvelopeVerdict | ConversationVerdict:
    """Return the library's verdict on a body. Raises ApiError with 422 for faults of the caller."""
    try:
        if isinstance(body, AnswerBody):
            return judge_answer(body)
        if isinstance(body, ArgumentsBody):
            return judge_arguments(body)
        if isinstance(body, ResultBody):
            return judge_result(body)
        if isinstance(body, ConversationBody):
            return check_conversation(body.messages, tools=body.tools)
        return EnvelopeVerdict(check_envelope(getattr(body, "response", None)))
    except (ToolvetError, TypeError) as error:
        raise ApiError(422, validation_error(f"{error}", field=field_of(f"{error}", body))) from error


def judge(body: CheckBody) -> object:
    """Return the verdict on a body as the API shows it. Raises ApiError."""
    return or_unchecked(lambda: verdict_of(body).to_dict())


def or_unchecked(check: Callable[[], object]) -> object:
    """Return the verdict of a check, or `{"unchecked": why}` if it raises. Raises ApiError."""
    try:
        return check()
    except ApiError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug of ours is not the fault of this request
        return {"unchecked": note_fault(error)}


def note_fault(error: Exception) -> str:
    """Return the words for an exception of a check, which stderr gets once."""
    words = could_not_check(error)
    if words not in _SAID:
        _SAID.add(words)
        sys.stderr.write(f"toolvet: a request {words}\n")
    return words


def field_of(message: str, body: ApiBody) -> str | None:
    """Return the member of the body that a sentence begins with; the sentences of options begin with their name."""
    word = message.replace(":", " ").replace("[", " ").partition(" ")[0]
    return word if word in body.__struct_fields__ else None
