"""What went wrong with a request → a response in the envelope of this project.

Every failure of the API has the same shape, whatever the reason: `toolvet.core.envelope`'s response-v2, with the HTTP
status of its row in the table of causes.
"""

import json
from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from toolvet.core.envelope import Envelope, error_response

# The codes of HTTP's own failures, which the table of causes does not have.
_CODES: Final[Mapping[int, tuple[str, str]]] = {
    400: ("INVALID_FORMAT", "validation"),
    405: ("METHOD_NOT_ALLOWED", "validation"),
    408: ("REQUEST_TIMEOUT", "validation"),
    413: ("PAYLOAD_TOO_LARGE", "validation"),
    415: ("UNSUPPORTED_MEDIA_TYPE", "validation"),
    429: ("RATE_LIMIT_EXCEEDED", "rate_limit"),
}


class ApiError(Exception):
    """A request that is answered with an envelope of a failure instead of its result."""

    def __init__(self, status: int, envelope: Envelope, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(envelope.error)
        self.status = status
        self.envelope = envelope
        self.headers = headers


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> ApiError:
    """Return the error for a request that HTTP itself has a status for, such as 415.

    >>> refusal(415, "the body must be JSON").envelope.data["error_code"]
    'UNSUPPORTED_MEDIA_TYPE'
    """
    code, type_ = _CODES[status]
    return ApiError(status, error_response(message, error_code=code, error_type=type_), headers)


def failure(status: int, envelope: Envelope, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a failure: `envelope` as JSON, under this HTTP status."""
    return Response(envelope.to_json(), status, media_type="application/json", headers=headers)


def json_response(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a document as JSON. Half a character (a lone surrogate), which UTF-8 cannot hold, is written escaped.

    A whole number of any length is written, too: a verdict that was imported may hold one.
    """
    try:
        body = msgspec.json.encode(document)
    except (UnicodeEncodeError, OverflowError):
        body = json.dumps(msgspec.to_builtins(document)).encode("ascii")
    return Response(body, status, media_type="application/json", headers=headers)
