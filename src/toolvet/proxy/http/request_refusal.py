"""Why a connection of a client refuses a request before any handler sees it."""

from typing import Final, NamedTuple


class RequestRefusal(NamedTuple):
    """Why a request cannot be read: the status line of its answer and its text."""

    status: int
    reason: bytes
    words: bytes


class RequestRefusedError(Exception):
    """The request that is being read is not served."""

    def __init__(self, refusal: RequestRefusal) -> None:
        super().__init__()
        self.refusal = refusal


NO_HTTP: Final = RequestRefusal(400, b"Bad Request", b"this is no HTTP/1.1 request")
NO_VERSION: Final = RequestRefusal(505, b"HTTP Version Not Supported", b"the proxy serves HTTP/1.1 and HTTP/1.0")
NO_CODING: Final = RequestRefusal(501, b"Not Implemented", b"the only transfer coding here is chunked, once")
LONG_TARGET: Final = RequestRefusal(414, b"URI Too Long", b"the request's target is too long")
LARGE_HEAD: Final = RequestRefusal(431, b"Request Header Fields Too Large", b"the request's head is too large")
LATE_HEAD: Final = RequestRefusal(408, b"Request Timeout", b"the request's head took too long")
LATE_BODY: Final = RequestRefusal(408, b"Request Timeout", b"the request's body took too long")
CROWDED: Final = RequestRefusal(503, b"Service Unavailable", b"too many connections")
