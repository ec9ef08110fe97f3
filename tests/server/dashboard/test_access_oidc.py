"""Logging in with an identity provider: the right login, and every wrong one."""

import base64
import hmac
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey, RSAKey
from tests.server.dashboard.oidc_provider import CLIENT, SECRET, Provider, provider
from tests.server.dashboard.serving import Running, serving

from toolvet.errors import UsageError
from toolvet.server.access import oidc
from toolvet.server.access.oidc import OidcLogin
from toolvet.server.access.people import People
from toolvet.server.settings import OidcSettings, PersonSettings

ROLES: dict[str, Any] = {"roles": {"admin": ("ops",)}, "emails": {"reviewer": ("@ships.example",)}}


@pytest.fixture
def idp() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def running(idp: Provider, tmp_path: Path) -> Iterator[Running]:
    def login(url: str, _: People) -> OidcLogin:
        people = People([PersonSettings(name="vera", role="viewer", email="Vera@ships.example")])
        return OidcLogin(OidcSettings(issuer=idp.issuer, client_id=CLIENT, url=url, **ROLES), SECRET, people)

    with serving(f"{tmp_path}/a.db", people=[("vera", "viewer"), ("ada", "admin")], oidc=login) as made:
        yield made


def log_in(client: httpx2.Client, **changed: str) -> httpx2.Response:
    begun = client.get("/login/oidc", params={"next": "/v1/overview"})
    assert begun.status_code == 303
    back = httpx2.URL(httpx2.get(begun.headers["location"]).headers["location"])
    return client.get(back.copy_merge_params(changed))


def test_a_verified_address_gets_its_role(idp: Provider, running: Running) -> None:
    idp.claims = {"email": "rob@ships.example", "email_verified": True}
    with running.client() as client:
        assert "/login/oidc" in client.get("/login").text
        reply = log_in(client)
        assert reply.status_code == 200, reply.text
        assert 'content="0;url=/v1/overview"' in reply.text
        assert "samesite=strict" in reply.headers["set-cookie"].lower()
        assert client.get("/v1/overview").status_code == 200
        assert client.get("/v1/audit").status_code == 403
    with running.client("ada") as ada:
        (entry,) = ada.get("/v1/audit", params={"action": "login"}).json()["entries"]
        assert (entry["who"], entry["action"], entry["target"]) == ("rob@ships.example", "login", "oidc")


def test_a_group_gets_its_role(idp: Provider, running: Running) -> None:
    idp.claims = {"groups": ["ops", "crew"]}
    with running.client() as client:
        log_in(client)
        assert client.get("/v1/audit").status_code == 200


def test_a_person_of_the_settings_keeps_name_and_role(idp: Provider, running: Running) -> None:
    idp.claims = {"email": "vera@SHIPS.example", "email_verified": True, "groups": ["ops"]}
    with running.client() as client:
        log_in(client)
        assert client.get("/v1/overview").status_code == 200
        assert client.get("/v1/audit").status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"email": "eve@elsewhere.example", "email_verified": True},
        {"email": "eve@ships.example"},
        {"email": "eve@ships.example", "email_verified": "true"},
        {"email": "eve@evil-ships.example", "email_verified": True},
        {"groups": "opsx"},
    ],
)
def test_whom_nobody_named_has_no_access(idp: Provider, running: Running, claims: dict[str, Any]) -> None:
    idp.claims = claims
    with running.client() as client:
        assert log_in(client).status_code == 403
        assert client.get("/v1/overview").status_code == 401


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"aud": "other"},
        {"aud": [CLIENT, "other"]},
        {"azp": "other"},
        {"exp": 1},
        {"exp": None},
        {"iat": 32_000_000_000},
        {"nonce": "replayed"},
        {"nonce": None},
    ],
)
def test_a_wrong_token_is_refused(idp: Provider, running: Running, claims: dict[str, Any]) -> None:
    idp.claims = {"groups": ["ops"], **claims}
    with running.client() as client:
        assert log_in(client).status_code == 401
        assert client.get("/v1/overview").status_code == 401


def test_a_token_of_another_key_is_refused(idp: Provider, running: Running) -> None:
    idp.claims, idp.key = {"groups": ["ops"]}, RSAKey.generate_key(2048, {"kid": "one"})
    with running.client() as client:
        assert log_in(client).status_code == 401


def test_a_token_under_the_clients_secret_is_refused(idp: Provider, running: Running) -> None:
    idp.claims, idp.key, idp.algorithm = {"groups": ["ops"]}, OctKey.import_key("k" * 40), "HS256"  # type: ignore[assignment]
    with running.client() as client:
        assert log_in(client).status_code == 401


def unsigned(token: str) -> str:
    """The same claims under `none`."""
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


def signed_with(word: bytes, token: str) -> str:
    """The same claims under HS256 with a secret that is public: the provider's own public key, as PEM or DER."""
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').rstrip(b"=").decode()
    signed = f"{header}.{token.split('.')[1]}"
    found = base64.urlsafe_b64encode(hmac.digest(word, signed.encode(), "sha256")).rstrip(b"=").decode()
    return f"{signed}.{found}"


def under_its_own_key(token: str) -> str:
    """The same claims with the key that signs them in the header, as `jwk`."""
    own = RSAKey.generate_key(2048)
    return str(jwt.encode({"alg": "RS256", "jwk": own.as_dict(private=False)}, jwt_claims(token), own))


def jwt_claims(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


TOKENS: dict[str, Callable[[Provider, str], object]] = {
    "none": lambda _, token: unsigned(token),
    "None": lambda _, token: unsigned(token).replace("eyJhbGciOiJub25lIn0", "eyJhbGciOiJOb25lIn0"),
    "no signature": lambda _, token: token.rpartition(".")[0] + ".",
    "public key as PEM": lambda idp, token: signed_with(idp.key.as_pem(private=False), token),
    "public key as DER": lambda idp, token: signed_with(idp.key.as_der(private=False), token),
    "key in the header": lambda _, token: under_its_own_key(token),
    "a megabyte": lambda _, token: token + "A" * 1_000_000,
    "a number": lambda *_: 7,
    "nothing": lambda *_: "",
    "dots": lambda *_: "." * 10_000,
    "five parts": lambda *_: "e30.e30.e30.e30.e30",
    "other header": lambda _, token: "W10." + token.partition(".")[2],
    "odd alg": lambda _, token: base64.urlsafe_b64encode(b'{"alg":["RS256"]}').decode() + token[token.index("."):],
    "deep header": lambda *_: base64.urlsafe_b64encode(b"[" * 90_000).decode() + ".e30.e30",
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_a_forged_token_is_refused_with_the_reason(idp: Provider, running: Running, name: str) -> None:
    idp.claims, idp.token = {"groups": ["ops"]}, lambda token: TOKENS[name](idp, token)
    with running.client() as client:
        reply = log_in(client)
        assert reply.status_code == 401
        assert "ID token has no valid signature" in reply.text or "did not accept the code" in reply.text
        assert client.get("/v1/overview").status_code == 401


@pytest.mark.parametrize("claims", [b"[]", b"7", b"null", b'"x"', b"{", b'{"exp": NaN}', b"[" * 50_000])
def test_signed_claims_that_are_none_are_refused(idp: Provider, running: Running, claims: bytes) -> None:
    idp.token = lambda _: jws.serialize_compact({"alg": "RS256", "kid": "one"}, claims, idp.key)
    with running.client() as client:
        assert log_in(client).status_code == 401


def drip() -> Iterator[bytes]:
    while True:
        time.sleep(0.1)
        yield b" "


BODIES: dict[str, Callable[[], bytes | Iterator[bytes]]] = {
    "endless": lambda: itertools.repeat(b" " * 65_536),
    "large": lambda: b'{"a": "' + b"x" * 2_000_000 + b'"}',
    "deep": lambda: b"[" * 200_000,
    "a list": lambda: b"[]",
    "no JSON": lambda: b"<html>",
    "no keys": lambda: b'{"keys": 7, "id_token": {}}',
    "odd keys": lambda: b'{"keys": [7, {"kty": "RSA"}, {"kty": []}]}',
    "a bad key": lambda: b'{"keys": [{"kty": "EC", "crv": "P-256", "x": "A", "y": "A"}]}',
    "slow": drip,
}  # fmt: skip


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys", "/token"])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be_read_is_refused_with_the_reason(
    idp: Provider, running: Running, monkeypatch: pytest.MonkeyPatch, *, name: str, path: str
) -> None:
    monkeypatch.setattr(oidc, "_WAIT_SECONDS", 3.0)
    idp.claims = {"groups": ["ops"]}
    idp.bodies[path] = BODIES[name]()
    with running.client() as client:
        reply = client.get("/login/oidc")
        reply = log_in(client) if reply.status_code == 303 else reply
        assert reply.status_code in (401, 503)
        assert "identity provider" in reply.text or "ID token" in reply.text
        assert client.get("/v1/overview").status_code == 401
        # The next login, of an honest provider, is not held up.
        idp.bodies.clear()
        assert log_in(client).status_code == 200


def test_changed_keys_are_fetched_again(idp: Provider, running: Running) -> None:
    idp.claims = {"groups": ["ops"]}
    with running.client() as client:
        assert log_in(client).status_code == 200
        idp.key = idp.shown_key = RSAKey.generate_key(2048, {"kid": "one"})
        assert log_in(client).status_code == 200


@pytest.mark.parametrize("changed", [{"state": "x"}, {"code": "x"}, {"iss": "https://other.example"}, {"error": "no"}])
def test_a_wrong_return_is_refused(idp: Provider, running: Running, changed: dict[str, str]) -> None:
    idp.claims = {"groups": ["ops"]}
    with running.client() as client:
        assert log_in(client, **changed).status_code == 401


def test_another_browser_cannot_finish_a_login(idp: Provider, running: Running) -> None:
    idp.claims = {"groups": ["ops"]}
    with running.client() as client, running.client() as victim:
        begun = client.get("/login/oidc")
        back = httpx2.get(begun.headers["location"]).headers["location"]
        assert victim.get(back).status_code == 401


@pytest.mark.parametrize("metadata", [{"issuer": "https://other.example"}, {"token_endpoint": "http://other.example/"}])
def test_a_strange_provider_is_not_used(idp: Provider, running: Running, metadata: dict[str, str]) -> None:
    idp.metadata = metadata
    with running.client() as client:
        assert client.get("/login/oidc").status_code == 503


def test_an_issuer_without_https_is_refused_at_the_start() -> None:
    with pytest.raises(UsageError, match="https://"):
        OidcLogin(OidcSettings(issuer="http://idp.example", client_id="c", url="https://a.example"), None, People())
