"""Says who sent a request and how often they may ask; refuses what a person's browser was tricked into sending."""

import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Collection
from math import ceil
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from starlette.requests import HTTPConnection
from starlette.responses import Response

from toolvet.core.envelope import forbidden_error, rate_limit_error, unauthorized_error
from toolvet.server.access.people import People, is_generated
from toolvet.server.access.role import Person, role_of
from toolvet.server.access.session import COOKIE, SESSION_SECONDS, LoginSession, Sessions
from toolvet.server.failures import ApiError, refusal

if TYPE_CHECKING:
    from toolvet.server.access.oidc import OidcLogin

FORM_HEADER: Final = "x-csrf-token"
FORM_FIELD: Final = "csrf"
_BEARER: Final = "bearer "
_BASIC: Final = "basic "
# Wrong tokens: five at once, then one in ten seconds, for each address; fifty in all.
_TRIES: Final = 5
_TRY_RATE: Final = 0.1
_ALL_TRIES: Final = 50


KeyForm: TypeAlias = Literal["x-api-key", "basic"]
"""Further ways to send a token: in the header X-API-Key, or as the password of `Authorization: Basic`."""


class Sender(NamedTuple):
    """The sender of a request. `session` is None if a token came with the request itself, or nothing at all."""

    person: Person | None
    session: LoginSession | None


class Throttle:
    """Token buckets (the field's word), one for each caller; the callers that asked longest ago are forgotten first.

    Args:
        rate: Requests a second that the bucket fills by.
        burst: Requests that it holds.
        clock: Seconds of a clock that never jumps.

    Example:
        >>> throttle = Throttle(rate=1, burst=2, clock=lambda: 0.0)
        >>> [throttle.wait("ada") for _ in range(3)]
        [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._callers: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Take one request of this caller. Returns 0, or how many seconds to wait where the bucket is empty."""
        now = self._clock()
        held = self._held(caller, now)
        if held < 1:
            return (1 - held) / self.rate
        self._callers[caller] = (held - 1, now)
        self._callers.move_to_end(caller)
        while len(self._callers) > _MOST_CALLERS:
            self._callers.popitem(last=False)
        return 0.0

    def is_empty(self, caller: str) -> bool:
        """Whether this caller has to wait, without taking anything."""
        return self._held(caller, self._clock()) < 1

    def _held(self, caller: str, now: float) -> float:
        held, at = self._callers.get(caller, (self.burst, now))
        return min(self.burst, held + (now - at) * self.rate)


class Gate:
    """Knows the people, their sessions, and how often a caller may try.

    Args:
        people: The people who may log in.
        sessions: The login sessions.
        requests: How often one caller may use the API.
        is_secure: Whether browsers reach the server by HTTPS only, so that cookies must not be sent over HTTP.
        cookie: The name of the sessions' cookie. Cookies do not know ports: two servers on one machine need two names.
        oidc: The identity provider that people log in with, if there is one.
    """

    def __init__(
        self,
        people: People,
        sessions: Sessions,
        requests: Throttle | None = None,
        *,
        is_secure: bool = False,
        cookie: str = COOKIE,
        oidc: "OidcLogin | None" = None,
    ) -> None:
        self.people = people
        self.sessions = sessions
        self._requests = requests
        self.is_secure = is_secure
        self.oidc = oidc
        # Browsers take a cookie with this prefix from HTTPS only, and for this host alone.
        self.cookie = f"__Host-{cookie}" if is_secure else cookie
        self._tries = Throttle(_TRY_RATE, _TRIES)
        self._all_tries = Throttle(_TRY_RATE * 10, _ALL_TRIES)

    def caller(self, request: HTTPConnection, keys: Collection[KeyForm] = ()) -> Sender:
        """Return who sent this request. Raises ApiError for a wrong token, and for too many of them.

        `keys` are the forms in which a token may come beside `Authorization: Bearer`.
        """
        token = _offered(request, keys)
        if token is not None:
            return Sender(self.by_token(request, token), None)
        session = self.sessions.read(request.cookies.get(self.cookie))
        if session is not None:
            given = Person(session.name, role_of(session.role)) if session.role else None
            person = given or self.people.by_name(session.name)
            if person is not None:
                return Sender(person, session)
        return Sender(self.people.local, None)

    def end_session(self, request: HTTPConnection) -> None:
        """End the session that a request came with: a login leaves nothing of it behind."""
        session = self.sessions.read(request.cookies.get(self.cookie))
        if session is not None:
            self.sessions.end(session)

    def by_token(self, request: HTTPConnection, token: str) -> Person:
        """Return the owner of this token. Raises ApiError: 401 for a wrong one, 429 if there were too many.

        A token of `toolvet serve token` cannot be guessed. It passes always, so that wrong ones from the same address,
        as behind a proxy, lock no one out. A token that a person made up has to wait like any other try.
        """
        address = address_of(request)
        person = self.people.by_token(token)
        if person is not None and is_generated(token):
            return person
        if self._tries.is_empty(address) or self._all_tries.is_empty(""):
            raise refusal(429, "too many wrong tokens; try again later", {"retry-after": "10"})
        if person is None:
            self._tries.wait(address)
            self._all_tries.wait("")
            raise ApiError(401, unauthorized_error("the token is not known"), {"www-authenticate": "Bearer"})
        return person

    def slow_down(self, request: HTTPConnection, caller: Sender) -> None:
        """Count one request. Raises ApiError with 429 where the caller asks too often."""
        if self._requests is None:
            return
        name = caller.person.name if caller.person is not None else address_of(request)
        wait = self._requests.wait(name)
        if wait:
            limit = int(self._requests.rate * 60)
            raise ApiError(429, rate_limit_error(limit, "minute", round(wait, 3)), {"retry-after": f"{ceil(wait)}"})

    def check_form(self, caller: Sender, offered: str) -> None:
        """Raise ApiError with 403 where a session changes something without the token of its own page."""
        if caller.session is not None and not self.sessions.is_form_token(caller.session, offered):
            raise ApiError(403, forbidden_error("the form is out of date; load the page again"))

    def keep(self, response: Response, cookie: str) -> None:
        """Give the browser the cookie of its session."""
        response.set_cookie(
            self.cookie, cookie, max_age=SESSION_SECONDS, httponly=True, samesite="strict", secure=self.is_secure
        )

    def forget(self, response: Response) -> None:
        """Take the cookie of the session from the browser."""
        response.delete_cookie(self.cookie, httponly=True, samesite="strict", secure=self.is_secure)


def _offered(request: HTTPConnection, keys: Collection[KeyForm]) -> str | None:
    offered = request.headers.get("authorization", "")
    if offered[: len(_BEARER)].lower() == _BEARER:
        return offered[len(_BEARER) :].strip()
    if "basic" in keys and offered[: len(_BASIC)].lower() == _BASIC:
        try:
            return b64decode(offered[len(_BASIC) :].strip(), validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return request.headers.get("x-api-key") if "x-api-key" in keys else None


def address_of(request: HTTPConnection) -> str:
    """Return where a request came from; behind a proxy that is the proxy."""
    return request.client.host if request.client is not None else ""


_MOST_CALLERS: Final = 10_000
