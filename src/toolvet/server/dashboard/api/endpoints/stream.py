"""`/v1/check/stream`: an answer is checked while it is written.

A stream is a resource: open it, send each piece of text, finish it. That needs nothing but ordinary requests, so it
works from every language; a request whose body goes on while its response comes back does not work in browsers, in
most clients and through most proxies.
"""

from typing import Annotated, Any

import msgspec

from toolvet.core.envelope import not_found_error, validation_error
from toolvet.errors import ToolvetError
from toolvet.server.dashboard.api.bodies import (
    AnswerBody,
    AnswerOptionsBody,
    answer_options,
    field_of,
    judge,
    or_unchecked,
)
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import TraceId
from toolvet.server.dashboard.api.replies import AnswerReply
from toolvet.server.dashboard.api.streams import IDLE_SECONDS, OpenStream, OpenStreams, TooManyStreams
from toolvet.server.failures import ApiError, refusal


class StreamReply(msgspec.Struct, frozen=True, kw_only=True):
    """A stream: its id, and for how many seconds without a request it is kept."""

    id: str
    idle_seconds: float


class TextBody(ApiBody, frozen=True, kw_only=True):
    """The next piece of the answer."""

    text: Annotated[str, msgspec.Meta(max_length=1_000_000)]


class FinishBody(ApiBody, frozen=True, kw_only=True):
    """The context of the verdict on the whole answer, besides its text."""

    calls: list[dict[str, Any]] | None = None
    question: str | list[Any] | None = None
    finish_reason: str | None = None
    trace: TraceId | None = None


def _open(asked: ApiRequest[AnswerOptionsBody]) -> StreamReply:
    try:
        id_ = asked.site.kept(OpenStreams).open(asked.person.name, answer_options(asked.body))
    except (ToolvetError, TypeError) as error:
        raise ApiError(422, validation_error(f"{error}", field=field_of(f"{error}", asked.body))) from error
    except TooManyStreams:
        raise refusal(429, "too many streams are open; finish or delete some", {"retry-after": "10"}) from None
    return StreamReply(id=id_, idle_seconds=IDLE_SECONDS)


def _found(asked: ApiRequest[Any], stream: OpenStream | None) -> OpenStream:
    if stream is None:
        raise ApiError(404, not_found_error("Stream", asked.path["id"]))
    return stream


def _feed(asked: ApiRequest[TextBody]) -> object:
    stream = _found(asked, asked.site.kept(OpenStreams).get(asked.path["id"], asked.person.name))
    return or_unchecked(lambda: stream.feed(asked.body.text).to_dict())


def _finish(asked: ApiRequest[FinishBody]) -> object:
    stream = _found(asked, asked.site.kept(OpenStreams).close(asked.path["id"], asked.person.name))
    given = {name: getattr(asked.body, name) for name in asked.body.__struct_fields__}
    return judge(AnswerBody(text=stream.text, **given, **stream.options))


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/check/stream",
        "Begin to check an answer while it is written.",
        AnswerOptionsBody,
        _open,
        status=201,
        reply=StreamReply,
        is_long=lambda body: bool(answer_options(body)),
    ),
    Endpoint(
        "POST",
        "/v1/check/stream/{id}",
        "Send the next piece of the answer; the reply is the verdict so far.",
        TextBody,
        _feed,
        reply=AnswerReply,
        failures=(404,),
    ),
    Endpoint(
        "POST",
        "/v1/check/stream/{id}/finish",
        "Finish the answer; the reply is the verdict on all of it.",
        FinishBody,
        _finish,
        reply=AnswerReply,
        failures=(404,),
    ),
    Endpoint(
        "DELETE",
        "/v1/check/stream/{id}",
        "Forget an answer that was not finished.",
        Nothing,
        lambda asked: _found(asked, asked.site.kept(OpenStreams).close(asked.path["id"], asked.person.name)),
        status=204,
        failures=(404,),
    ),
)
