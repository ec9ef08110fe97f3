"""Logging in with an identity provider: the right login, and every wrong one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc.jwk import OctKey, RSAKey
from tests.server.dashboard.oidc_provider import CLIENT, SECRET, Provider, provider
from tests.server.dashboard.serving import Running, serving

from toolvet.errors import UsageError
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
