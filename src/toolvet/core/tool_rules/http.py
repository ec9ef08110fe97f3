"""What was seen of a server's HTTP transport: each probe with its response, and the facts that decide how bad it is."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

FOREIGN_ORIGIN: Final = "https://attacker.example"  # What the probes say that they come from.
# How the HTTP layers of the Python SDK (which FastMCP is built on) and the TypeScript SDK refuse a Content-Type.
_PYTHON: Final = ("Invalid Content-Type header",)
_TYPESCRIPT: Final = ("Unsupported Media Type: Content-Type must be application/json",)
PLACE_OF_PROBES: Final = "/transport/"  # What the JSON Pointers of findings about probes begin with.
# Statuses that say nothing of the probe: credentials are wanted, or there were too many requests.
UNJUDGED: Final = frozenset({401, 429})


class HttpExchange(msgspec.Struct, frozen=True, kw_only=True):
    """One probe and what came back.

    `probe` is its id, `sent` says in a phrase what was sent, and `wanted` what should come back. `status` is None where
    no response came; `failure` then says why. `body` is its head. `is_result` says whether the body is a JSON-RPC
    result (or an array with one), `code`, `words` and `data` are those of a JSON-RPC error. `as_wanted` says whether
    the protocol wants this response; None where none came.
    """

    probe: str
    sent: str = ""
    wanted: str = ""
    status: int | None = None
    headers: Mapping[str, str] = {}
    body: str = ""
    is_result: bool = False
    code: int | None = None
    words: str = ""
    data: Any = None
    failure: str = ""
    as_wanted: bool | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_served(self) -> bool:
        """Whether the request was carried out: a JSON-RPC result came back."""
        return self.is_success and self.is_result

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused, by a status 4xx or by a JSON-RPC error that is not an internal one."""
        refused = self.status is not None and 400 <= self.status < 500
        return refused or (self.is_success and self.code is not None)

    @property
    def media_type(self) -> str:
        """The content type of the response without parameters; "" if it has none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def outcome(self) -> Literal["answered", "refused", "failed"]:
        """The response in a word: refused (4xx or a JSON-RPC error), failed (5xx or none at all), else answered."""
        if self.status is None or self.status >= 500:
            return "failed"
        return "refused" if self.is_refused else "answered"


class HttpSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP transport of a server, as the probes saw it.

    `place` is where the host is, by its name alone. `has_credentials` says whether the user's headers went with the
    requests. `legacy` and `modern` are the protocol eras that the server speaks, `revision` what it agreed to in the
    handshake. `session_ids` are those that it issued, and `is_session_illegal` says that one was not visible ASCII.
    `sdk` is the SDK that its words give away, or "". `not_probed` says why probes are missing.
    """

    place: Literal["loopback", "private", "public"] = "loopback"
    is_encrypted: bool = False
    has_credentials: bool = False
    legacy: bool = False
    modern: bool = False
    revision: str = ""
    session_ids: tuple[str, ...] = ()
    is_session_illegal: bool = False
    exchanges: tuple[HttpExchange, ...] = ()
    sdk: Literal["", "fastmcp", "python", "typescript"] = ""
    not_probed: str = ""

    def find(self, probe: str) -> HttpExchange | None:
        """The exchange of this probe; None where it was not sent."""
        return next((exchange for exchange in self.exchanges if exchange.probe == probe), None)

    def is_served(self, probe: str) -> bool:
        """Whether this probe was sent and carried out."""
        exchange = self.find(probe)
        return exchange is not None and exchange.is_served

    @property
    def is_local(self) -> bool:
        """Whether web pages can reach this server only through the browser of a user: this is what rebinding is for."""
        return self.place != "public"

    @property
    def is_open_to_pages(self) -> bool:
        """Whether a page of another web site can send this server requests, without rebinding its name.

        A browser asks first (a preflight) before it sends JSON to another site, and does not ask for text/plain.
        """
        asked = self.find("preflight")
        if asked is None or not self.is_served("foreign-origin"):
            return False
        headers = asked.headers
        allowed = headers.get("access-control-allow-headers", "").lower()
        may_post = headers.get("access-control-allow-origin") in {"*", FOREIGN_ORIGIN}
        return self.is_served("text-plain") or (may_post and ("content-type" in allowed or "*" in allowed))

    @property
    def is_guarded(self) -> bool:
        """Whether requests without the user's credentials are refused, so that a web page cannot make any."""
        exchange = self.find("no-credentials")
        return exchange is not None and exchange.status in {401, 403}


def recognise_sdk(
    exchanges: Sequence[HttpExchange], tools: Sequence[Mapping[str, object]]
) -> Literal["", "fastmcp", "python", "typescript"]:
    """Name the SDK that the words of refusals give away. FastMCP also marks its tools: `tools` are their `_meta`.

    >>> recognise_sdk([HttpExchange(probe="text-plain", status=400, body="Invalid Content-Type header")], [])
    'python'
    """
    words = [f"{exchange.words}\n{exchange.body}" for exchange in exchanges if not exchange.is_served]
    if any(phrase in text for text in words for phrase in _TYPESCRIPT):
        return "typescript"
    if any(phrase in text for text in words for phrase in _PYTHON):
        return "fastmcp" if any("fastmcp" in meta for meta in tools) else "python"
    return ""


def place_in_report(probe: str) -> str:
    """The JSON Pointer of a finding about this probe: findings and probes are joined by it.

    >>> place_in_report("foreign-origin")
    '/transport/foreign-origin'
    """
    return f"{PLACE_OF_PROBES}{probe}"
