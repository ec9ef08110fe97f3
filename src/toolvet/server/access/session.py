"""Login sessions: a signed cookie says who it is, and a token in each page that its forms come from that page.

The cookie holds a name, when it ends and a random number, under an HMAC-SHA256; the server keeps a list only of those
that were logged out. The role of a person of the settings is looked up with every request.
"""

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import msgspec

from toolvet.core.decodable import decodable

COOKIE: Final = "toolvet_session"
SESSION_SECONDS: Final = 12 * 3600
_MOST_COOKIE: Final = 4096

V = TypeVar("V")


class LoginSession(NamedTuple):
    """A person's session: until when (seconds since the epoch), and the random number that tells it from others.

    `role` is for a person whom the settings do not name: the identity provider decided what they may do.
    """

    name: str
    until: float
    number: str
    role: str = ""


class Sessions:
    """Makes and reads the cookies of sessions, and the tokens of their forms.

    Args:
        secret: The key of the signatures; by default a new one, so that a restart ends all sessions.
        clock: Seconds since the epoch.
    """

    def __init__(self, secret: bytes | None = None, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret or secrets.token_bytes(32)
        self._clock = clock
        # The numbers of sessions that were logged out, until they would have ended anyway.
        self._ended: dict[str, float] = {}

    def begin(self, name: str, role: str = "") -> tuple[LoginSession, str]:
        """Return a new session and its cookie."""
        session = LoginSession(name, self._clock() + SESSION_SECONDS, secrets.token_urlsafe(16), role)
        return session, self.seal("session", session)

    def read(self, cookie: str | None) -> LoginSession | None:
        """Return the session of a cookie; None for one that is forged, damaged or over."""
        session = self.unseal("session", cookie, LoginSession)
        if session is None:
            return None
        return session if session.until > self._clock() and session.number not in self._ended else None

    def end(self, session: LoginSession) -> None:
        """End a session now: copies of its cookie are worthless, too."""
        now = self._clock()
        self._ended = {number: until for number, until in self._ended.items() if until > now}
        self._ended[session.number] = session.until

    def form_token(self, session: LoginSession) -> str:
        """Return the token that the forms of this session's pages carry."""
        return self._sign("form", session.number)

    def is_form_token(self, session: LoginSession, offered: str) -> bool:
        """Whether this is the token of this session."""
        return hmac.compare_digest(self.form_token(session).encode(), offered.encode("utf-8", "replace"))

    def seal(self, purpose: str, value: object) -> str:
        """Return a value for a cookie, signed for this purpose; its user can read it, and not change it."""
        body = _encode(msgspec.json.encode(value))
        return f"{body}.{self._sign(purpose, body)}"

    def unseal(self, purpose: str, cookie: str | None, kind: type[V]) -> V | None:
        """Return the value of a cookie that `seal` made for this purpose; None for any other."""
        if not cookie or len(cookie) > _MOST_COOKIE:
            return None
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(self._sign(purpose, body).encode(), signature.encode("utf-8", "replace")):
            return None
        try:
            return msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=decodable(kind))
        except (ValueError, msgspec.DecodeError):
            return None

    def _sign(self, purpose: str, text: str) -> str:
        return _encode(hmac.digest(self._secret, f"{purpose}:{text}".encode("utf-8", "replace"), hashlib.sha256))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


CALLBACK: Final = "/login/oidc/callback"
FLOW_SECONDS: Final = 600
