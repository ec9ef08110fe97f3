"""Log in with an identity provider: OpenID Connect, authorization code flow with PKCE.

    begin    browser → /login/oidc → the provider, with `state`, `nonce` and the hash of a verifier
    finish   the provider → /login/oidc/callback with a code → an ID token, whose signature and claims are checked

The claims then identify the person: a person of the settings by their verified email address, or a person whose address
or groups have a role there. Sources: OpenID Connect Core 1.0, 3.1; RFC 7636 (PKCE); RFC 9207 (`iss` in the reply).
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import httpx2
import msgspec
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from toolvet.core.envelope import forbidden_error, unauthorized_error, unavailable_error
from toolvet.core.json_value import elements, is_object
from toolvet.errors import UsageError
from toolvet.proxy.http import is_loopback
from toolvet.server.access.people import People
from toolvet.server.access.role import Person, Role
from toolvet.server.access.session import CALLBACK, FLOW_SECONDS
from toolvet.server.failures import ApiError
from toolvet.server.settings import OidcSettings

_KNOWN_SECONDS: Final = 3600.0
_LEEWAY: Final = 60
_WAIT_SECONDS: Final = 10.0
_MOST_BYTES: Final = 2**20
# Signatures of a key that only the provider has. `none` and HMAC are not among them.
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class OidcFlow(msgspec.Struct, frozen=True):
    """The browser keeps this, signed, while its user is at the provider: `until` is in seconds since the epoch."""

    state: str
    nonce: str
    verifier: str
    next: str
    until: float


class _Provider(NamedTuple):
    authorize: str
    token: str
    keys: KeySet
    by_post: bool
    says_issuer: bool
    until: float


class OidcLogin:
    """One provider. Its addresses and keys are fetched when a person logs in, and kept for an hour.

    Args:
        settings: `[serve.oidc]`.
        secret: The client's secret; None for a public client.
        people: The people of the settings, found by their email addresses.

    Raises:
        UsageError: For an issuer or an address of this server that is not HTTPS and not on this machine.
    """

    def __init__(self, settings: OidcSettings, secret: str | None, people: People) -> None:
        for name, url in (("issuer", settings.issuer), ("url", settings.url)):
            parts = urlsplit(url)
            if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
                raise UsageError(f"serve.oidc.{name}: {url!r} must be an https:// address")
        self._settings = settings
        self._secret = secret
        self._people = people
        self._redirect = settings.url.rstrip("/") + CALLBACK
        self._known: _Provider | None = None

    async def begin(self, next_path: str) -> tuple[str, OidcFlow]:
        """Return where to send the browser, and what it has to keep. Raises ApiError: 503 without the provider."""
        async with _client() as client:
            provider = await self._provider(client)
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._redirect,
            "scope": " ".join(dict.fromkeys(("openid", *self._settings.scopes))),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        mark = "&" if "?" in provider.authorize else "?"
        flow = OidcFlow(state, nonce, verifier, next_path, time.time() + FLOW_SECONDS)
        return f"{provider.authorize}{mark}{urlencode(query)}", flow

    async def finish(self, query: Mapping[str, str], flow: OidcFlow | None) -> Person:
        """Return the person who came back from the provider. Raises ApiError: 401, 403 for one without a role, 503."""
        if flow is None or flow.until < time.time() or not _same(query.get("state", ""), flow.state):
            raise _unknown("the login took too long, or began in another browser; try again")
        if "error" in query:
            raise _unknown("the identity provider refused the login")
        async with _client() as client:
            provider = await self._provider(client)
            # RFC 9207: a code of another provider must not get here.
            if provider.says_issuer and query.get("iss") != self._settings.issuer:
                raise _unknown("the login came back from another provider")
            token = await self._redeem(client, provider, query.get("code", ""), flow)
            claims = await self._claims(client, provider, token)
        if not _same(f"{claims.get('nonce', '')}", flow.nonce):
            raise _unknown("the ID token belongs to another login")
        given = claims.get("email")
        email = given if isinstance(given, str) and claims.get("email_verified") is True else None
        if email is not None and (known := self._people.by_email(email)) is not None:
            return known
        role = max((Role.VIEWER, Role.REVIEWER, Role.ADMIN), key=lambda each: self._has(each, email, claims) * each)
        # Without a verified address the provider's own number is the only name that is unique.
        name = (email or f"{claims.get('sub')}@{urlsplit(self._settings.issuer).hostname}")[:200]
        if not self._has(role, email, claims):
            raise ApiError(403, forbidden_error(f"{name} has no role here"))
        return Person(name, role)

    async def _provider(self, client: httpx2.AsyncClient, *, refresh: bool = False) -> _Provider:
        known = self._known
        if known is not None and known.until > time.monotonic() and not refresh:
            return known
        found = await _get(client, self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != self._settings.issuer:
            raise _unreachable("says that it is another issuer")
        addresses: dict[str, str] = {}
        for name in _ADDRESSES:
            address = found.get(name)
            parts = urlsplit(address if isinstance(address, str) else "")
            if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
                raise _unreachable("names an address that is not HTTPS")
            addresses[name] = f"{address}"
        ways = elements(found.get("token_endpoint_auth_methods_supported")) or ["client_secret_basic"]
        keys = await _get(client, addresses["jwks_uri"])
        try:
            imported = KeySet.import_key_set(keys)  # type: ignore[arg-type]
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise _unreachable("has no usable keys") from error
        self._known = _Provider(
            addresses["authorization_endpoint"],
            addresses["token_endpoint"],
            imported,
            "client_secret_basic" not in ways and "client_secret_post" in ways,
            found.get("authorization_response_iss_parameter_supported") is True,
            time.monotonic() + _KNOWN_SECONDS,
        )
        return self._known

    async def _redeem(self, client: httpx2.AsyncClient, provider: _Provider, code: str, flow: OidcFlow) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": flow.verifier,
        }
        auth: httpx2.Auth | None = None
        if self._secret is None or provider.by_post:
            form["client_id"] = self._settings.client_id
        if self._secret is not None:
            if provider.by_post:
                form["client_secret"] = self._secret
            else:
                # Both are written as in forms before they become Basic (RFC 6749, 2.3.1).
                name, _, word = urlencode({self._settings.client_id: self._secret}).partition("=")
                auth = httpx2.BasicAuth(name, word)
        request = client.build_request("POST", provider.token, data=form)
        reply, document = await _read(client, request, "did not redeem the code", auth)
        token = document.get("id_token")
        if not reply.is_success or not isinstance(token, str):
            raise _unknown("the identity provider did not accept the code; try again")
        return token

    async def _claims(self, client: httpx2.AsyncClient, provider: _Provider, token: str) -> Mapping[str, Any]:
        try:
            claims = _decode(token, provider.keys)
        except (JoseError, ValueError):
            # A provider changes its keys; once more with those that it has now.
            fresh = await self._provider(client, refresh=True)
            try:
                claims = _decode(token, fresh.keys)
            except (JoseError, ValueError) as error:
                raise _unknown("the ID token has no valid signature") from error
        audience = claims.get("aud")
        audiences = [audience] if isinstance(audience, str) else elements(audience)
        mine, now = self._settings.client_id, time.time()
        expires, issued = claims.get("exp"), claims.get("iat")
        if claims.get("iss") != self._settings.issuer:
            raise _unknown("the ID token is of another issuer")
        party = claims.get("azp", mine if len(audiences) == 1 else None)
        if mine not in audiences or party != mine:
            raise _unknown("the ID token is for another program")
        if not isinstance(expires, int | float) or expires + _LEEWAY < now:
            raise _unknown("the ID token is out of date")
        if not isinstance(issued, int | float) or issued - _LEEWAY > now:
            raise _unknown("the ID token is of the future")
        return claims

    def _has(self, role: Role, email: str | None, claims: Mapping[str, Any]) -> bool:
        claim = claims.get(self._settings.role_claim)
        groups = {claim} if isinstance(claim, str) else {each for each in elements(claim) if isinstance(each, str)}
        if groups & set(_of_role(self._settings.roles, role)):
            return True
        if email is None:
            return False
        address = email.lower()
        wanted = _of_role(self._settings.emails, role)
        return any(
            address == each.lower() or (each.startswith("@") and address.rpartition("@")[2] == each[1:].lower())
            for each in wanted
        )


_ADDRESSES: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def _of_role(given: Mapping[Any, tuple[str, ...]], role: Role) -> tuple[str, ...]:
    return given.get(role.word, ())


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=_WAIT_SECONDS, follow_redirects=False)


async def _get(client: httpx2.AsyncClient, url: str) -> Mapping[str, object]:
    reply, document = await _read(client, client.build_request("GET", url), "cannot be reached")
    if not reply.is_success:
        raise _unreachable("cannot be reached")
    return document


async def _read(
    client: httpx2.AsyncClient, request: httpx2.Request, why: str, auth: httpx2.Auth | None = None
) -> tuple[httpx2.Response, Mapping[str, object]]:
    """Return a reply and its JSON object. Raises ApiError with 503 for one that is too long, slow or no object."""
    body = b""
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            reply = await client.send(request, stream=True, auth=auth or httpx2.Auth())
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise _unreachable("sends too much")
        document: object = msgspec.json.decode(body)
    except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError, msgspec.DecodeError) as error:
        raise _unreachable(why) from error
    if not is_object(document):
        raise _unreachable("did not answer with a JSON object")
    return reply, document


def _decode(token: str, keys: KeySet) -> dict[str, Any]:
    try:
        return jwt.decode(token, keys, algorithms=list(_ALGORITHMS)).claims
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _same(offered: str, expected: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), expected.encode())


def _unknown(why: str) -> ApiError:
    return ApiError(401, unauthorized_error(why))


def _unreachable(why: str) -> ApiError:
    return ApiError(503, unavailable_error(f"the identity provider {why}"), {"retry-after": "10"})
