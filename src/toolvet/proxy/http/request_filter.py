"""Which requests a listening proxy accepts: by the host they name, the page they come from, and the token.

A page in a browser can send requests to any address that the browser reaches, loopback included; with DNS rebinding it
can even read the answers. Such requests are known by their `Origin` and `Host` (MCP 2025-11-25 and 2026-07-28,
transports, security warning).
"""

import hmac
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from toolvet.core.json_value import whole
from toolvet.errors import UsageError
from toolvet.proxy.http.message import RequestHead

TOKEN_FIELD: Final = b"x-toolvet-token"
_BEARER: Final = b"bearer "
_MOST_KNOWN: Final = 256


class Denied(NamedTuple):
    """Why a request is denied: an HTTP status, and a sentence for the client."""

    status: int
    why: str


class Listen(NamedTuple):
    """Where to listen. `port` 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def read_listen(text: str) -> Listen:
    """Parse `host:port`, `[v6]:port`, `:port` or `port` alone; without a host it is the loopback. Raises UsageError.

    >>> read_listen("8080")
    Listen(host='127.0.0.1', port=8080)
    """
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = "", text
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isascii() or (number := whole(port)) is None or number > 65535:
        raise UsageError(f"--listen {text}: the port must be a number up to 65535, as in 127.0.0.1:8080")
    return Listen(host, number)


class RequestFilter:
    """Decides which requests may pass.

    Args:
        listen: The address that the proxy listens on.
        token: The secret that each request must carry; None for no token.
        hosts: Further host names that this proxy is reached by.
        origins: Pages that may use it (`https://app.example`).

    Raises:
        UsageError: For an address beyond the loopback without a token, and for a token that is too weak.
    """

    def __init__(
        self, listen: Listen, token: str | None = None, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        if not listen.is_loopback and not token:
            raise UsageError(f"--listen {listen.host} can be reached from other machines: that needs a --token")
        if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable()):
            raise UsageError("the token must have at least 16 characters, all of them printable ASCII")
        self._token = None if token is None else token.encode()
        self._is_loopback = listen.is_loopback
        self._hosts = {listen.host.lower(), *(host.lower() for host in hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in origins}
        # Decided once for each spelling: clients send the same few over and over.
        self._known_hosts: dict[bytes, bool] = {}
        self._known_origins: dict[bytes, bool] = {}

    def denies(self, head: RequestHead) -> Denied | None:
        """Return why this request is denied; None for a request that may pass."""
        hosts = head.values(b"host")
        if len(hosts) > 1 or not _decide(self._known_hosts, hosts[0] if hosts else b"", self._is_our_host):
            return Denied(421, "the Host header names another server; --host NAME admits it")
        origins = head.values(b"origin")
        if origins and (len(origins) > 1 or not _decide(self._known_origins, origins[0], self._is_welcome)):
            return Denied(403, "pages of this Origin may not use the proxy; --origin URL admits them")
        if self._token is not None and not self._has_token(head, self._token):
            return Denied(401, "the proxy needs its token, as X-Toolvet-Token or as Authorization: Bearer")
        return None

    def is_token(self, name: bytes, value: bytes) -> bool:
        """Whether this field carries the proxy's token in the place of the server's credentials."""
        token = self._token
        return token is not None and name.lower() == b"authorization" and _same(_credential(value), token)

    def _has_token(self, head: RequestHead, token: bytes) -> bool:
        offered = head.get(TOKEN_FIELD)
        if offered is not None:
            return _same(offered, token)
        for name in (b"proxy-authorization", b"authorization"):
            offered = head.get(name)
            if offered is not None and _same(_credential(offered), token):
                return True
        return False

    def _is_our_host(self, value: bytes) -> bool:
        host = host_of(value.decode("latin-1"))
        if host is None:
            return False
        if host in self._hosts or host == "localhost" or host.endswith(".localhost"):
            return True
        # DNS rebinding needs a name: an address in the URL is the address that was reached.
        return is_loopback(host) if self._is_loopback else _is_address(host)

    def _is_welcome(self, value: bytes) -> bool:
        text = value.decode("latin-1").lower()
        if text in self._origins:
            return True
        try:
            parts = urlsplit(text)
            host = parts.hostname
        except ValueError:
            return False
        if parts.scheme not in {"http", "https"} or host is None:
            return False
        return is_loopback(host) or host in self._hosts


def _decide(known: dict[bytes, bool], value: bytes, decide: Callable[[bytes], bool]) -> bool:
    """Return `decide(value)`; it is called once for each value in `known`."""
    found = known.get(value)
    if found is None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        found = known[value] = decide(value)
    return found


def host_of(value: str) -> str | None:
    """Return the host of a Host header without its port; None when the value is not a host."""
    # `urlsplit` would skip a tab.
    if not value.isprintable():
        return None
    try:
        parts = urlsplit(f"//{value}")
        _ = parts.port
    except ValueError:
        return None
    if parts.username is not None or any(mark in value for mark in "/?#"):
        return None
    return parts.hostname


def _credential(value: bytes) -> bytes:
    return value[len(_BEARER) :].strip() if value[: len(_BEARER)].lower() == _BEARER else b""


def _same(offered: bytes, token: bytes) -> bool:
    return hmac.compare_digest(offered, token)


def is_loopback(host: str) -> bool:
    """Whether this host is the machine itself, by its name or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
