"""Requests that could be a call to a lenient server, and that the session cannot read: known by their heads.

A message is a POST of `application/json` in UTF-8 that nothing compresses. What else has a body is refused at the
server's endpoint where a policy enforces arguments, and recorded as a fault everywhere else.
"""

from posixpath import normpath
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from toolvet.mcp.wire import encode_error
from toolvet.proxy.http.message import RequestHead, ResponseHead

_JSON: Final = frozenset({b"application/json", b""})
_PLAIN: Final = frozenset({b"", b"identity"})
_UTF8: Final = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_BODYLESS: Final = frozenset({b"GET", b"HEAD", b"DELETE", b"OPTIONS"})
_ALLOWED: Final = b"GET, POST, DELETE, OPTIONS"
_REASONS: Final = {400: b"Bad Request", 405: b"Method Not Allowed", 415: b"Unsupported Media Type"}
_INVALID_REQUEST: Final = -32600
# In words for an error message: a client can write much into a head.
_MOST_NAMED: Final = 60


class UnreadRequest(NamedTuple):
    """Why a request is not read: the status that refuses it, and what it is, as in "a POST of text/plain"."""

    status: int
    what: str


def why_unread(head: RequestHead) -> UnreadRequest | None:
    """Return why a request with a body cannot be read as a message; None for a message, and without a body.

    >>> head = RequestHead(b"POST", b"/mcp", [(b"Content-Type", b"text/plain"), (b"Content-Length", b"2")])
    >>> why_unread(head)
    UnreadRequest(status=415, what='a POST of text/plain')
    """
    if not _has_body(head):
        return None
    method = _name(head.method)
    if head.method in _BODYLESS:
        return UnreadRequest(400, f"a {method} with a body")
    if head.method != b"POST":
        return UnreadRequest(405, f"a {method} with a body")
    kinds = head.values(b"content-type")
    for kind in kinds:
        media_type, _, parameters = kind.partition(b";")
        if media_type.strip().lower() not in _JSON:
            return UnreadRequest(415, f"a POST of {_name(media_type)}")
        charset = _charset(parameters)
        if charset is not None and charset not in _UTF8:
            return UnreadRequest(415, f"a POST in {_name(charset)}")
    codings = b",".join(head.values(b"content-encoding"))
    if not _PLAIN.issuperset(coding.strip().lower() for coding in codings.split(b",")):
        return UnreadRequest(415, f"a POST with the encoding {_name(codings)}")
    return None


def is_endpoint(target: bytes, path: bytes) -> bool:
    """Whether `target` is the endpoint at `path` for a lenient server, too; the proxy maps `/` to it.

    >>> [is_endpoint(target, b"/mcp") for target in (b"/", b"/mcp?a=1", b"//MCP/", b"/%6dcp", b"/token")]
    [True, True, True, True, False]
    """
    plain = _plain_path(target)
    return plain in {b"", _plain_path(path)}


def refuse_unread(unread: UnreadRequest) -> tuple[ResponseHead, bytes]:
    """Return the answer that refuses this request."""
    fields = [(b"Content-Type", b"application/json")]
    if unread.status == 405:
        fields.append((b"Allow", _ALLOWED))
    words = f"The proxy cannot check {unread.what}: send a POST of application/json in UTF-8, not compressed."
    head = ResponseHead(unread.status, _REASONS[unread.status], fields)
    return head, encode_error(None, _INVALID_REQUEST, words)


def _has_body(head: RequestHead) -> bool:
    length = head.get(b"content-length")
    return head.get(b"transfer-encoding") is not None or (length is not None and int(length) > 0)


def _charset(parameters: bytes) -> bytes | None:
    for parameter in parameters.split(b";"):
        name, _, value = parameter.partition(b"=")
        if name.strip().lower() == b"charset":
            return value.strip().strip(b"\"'").lower()
    return None


def _plain_path(target: bytes) -> bytes:
    path = unquote_to_bytes(target.partition(b"?")[0].partition(b"#")[0]).partition(b";")[0]
    return normpath(b"/" + path).strip(b"/").lower()


def _name(value: bytes) -> str:
    return value.strip()[:_MOST_NAMED].decode("ascii", "backslashreplace")
