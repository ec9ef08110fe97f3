"""Access: hosts, origins, tokens, roles, sessions; real requests to a running server."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.server.dashboard.serving import Running, serving

from toolvet.server.access.gate import Throttle
from toolvet.server.access.people import is_generated, new_token
from toolvet.server.access.session import Sessions

PEOPLE = [("vera", "viewer"), ("rob", "reviewer"), ("ada", "admin")]
ANSWER = {"kind": "answer", "text": "A fine answer."}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('local')}/a.db", hosts=("dash.example",)) as made:
        yield made


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('guarded')}/a.db", people=PEOPLE) as made:
        yield made


@contextmanager
def log_in(running: Running, name: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=running.url) as client:
        reply = client.post("/login", data={"token": running.tokens[name], "next": "/v1/overview"})
        assert (reply.status_code, reply.headers["location"]) == (303, "/v1/overview")
        yield client


def form_token(client: httpx2.Client) -> str:
    found = re.search(r'name="csrf" content="([^"]+)"', client.get("/").text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "a b", "", "::1"])
def test_a_foreign_host_is_refused(local: Running, host: str) -> None:
    with local.client() as client:
        reply = client.get("/v1/verdicts", headers={"host": host})
        assert (reply.status_code, reply.json()["data"]["error_code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8741", "[::1]:8741", "dash.example", "tools.localhost"])
def test_our_own_hosts_get_in(local: Running, host: str) -> None:
    with local.client() as client:
        assert client.get("/v1/verdicts", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_page_of_another_origin_neither_reads_nor_writes(local: Running, method: str, origin: str) -> None:
    with local.client() as client:
        before = client.get("/v1/verdicts").json()["total"]
        reply = client.request(method, "/v1/verdicts", json=ANSWER, headers={"origin": origin})
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers
        assert client.get("/v1/verdicts").json()["total"] == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_port_cannot_embed_ours(local: Running, site: str) -> None:
    with local.client() as client:
        embedded = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
        assert client.get("/v1/verdicts", headers=embedded).status_code == 403
        assert client.get("/", headers={"sec-fetch-site": site, "sec-fetch-mode": "navigate"}).status_code == 200


def test_our_own_page_may(local: Running) -> None:
    with local.client() as client:
        own = {"origin": local.url, "sec-fetch-site": "same-origin"}
        assert client.post("/v1/verdicts", json=ANSWER, headers=own).status_code == 201


def test_every_response_has_the_headers_of_security(local: Running) -> None:
    with local.client() as client:
        for path in ("/", "/v1/overview", "/nothing", "/login", "/healthz"):
            headers = client.get(path).headers
            assert "script-src 'self'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
            assert "server" not in headers


def test_without_a_token_nothing_is_read(guarded: Running) -> None:
    with guarded.client() as client:
        reply = client.get("/v1/verdicts")
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert client.post("/v1/check/answer", json={"text": "x"}).status_code == 401
        assert client.get("/").headers["location"] == "/login?next=%2F"
        assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("name", "method", "path", "status"),
    [
        ("vera", "GET", "/v1/overview", 200),
        ("vera", "POST", "/v1/verdicts", 403),
        ("vera", "GET", "/v1/audit", 403),
        ("rob", "POST", "/v1/verdicts", 201),
        ("rob", "GET", "/v1/audit", 403),
        ("ada", "GET", "/v1/audit", 200),
    ],
)
def test_each_role_may_do_its_part(guarded: Running, name: str, method: str, path: str, status: int) -> None:
    with guarded.client(name) as client:
        body = ANSWER if method == "POST" else None
        assert client.request(method, path, json=body).status_code == status


def test_a_session_is_a_strict_cookie_and_ends_at_logout(guarded: Running) -> None:
    with log_in(guarded, "rob") as client:
        reply = client.post("/login", data={"token": guarded.tokens["rob"]})
        cookie = reply.headers["set-cookie"].lower()
        assert all(flag in cookie for flag in ("httponly", "samesite=strict", "max-age=43200", "path=/"))
        assert client.get("/v1/overview").status_code == 200
        stolen = dict(client.cookies)
        token = form_token(client)
        assert client.post("/logout", data={"csrf": "wrong"}).status_code == 403
        assert client.post("/logout", data={"csrf": token}).status_code == 303
        assert client.get("/v1/overview").status_code == 401
    with httpx2.Client(base_url=guarded.url, cookies=stolen) as thief:
        assert thief.get("/v1/overview").status_code == 401


def test_cookies_are_for_https_alone_behind_https(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE, is_secure=True) as running, running.client() as client:
        reply = client.post("/login", data={"token": running.tokens["ada"]})
        assert reply.headers["set-cookie"].startswith("__Host-toolvet_session=")
        assert "; secure" in reply.headers["set-cookie"].lower()


def test_a_session_changes_nothing_without_the_token_of_its_page(guarded: Running) -> None:
    with log_in(guarded, "rob") as client:
        assert client.post("/v1/verdicts", json=ANSWER).status_code == 403
        own = {"x-csrf-token": form_token(client)}
        assert client.post("/v1/verdicts", json=ANSWER, headers=own).status_code == 201
    with log_in(guarded, "ada") as other:
        assert other.post("/v1/verdicts", json=ANSWER, headers=own).status_code == 403


@pytest.mark.parametrize(
    "change", [lambda c: c[:-2], lambda c: "x" + c, lambda c: c.partition(".")[0] + ".é", str.upper]
)
def test_a_forged_cookie_is_nobody(guarded: Running, change: object) -> None:
    with log_in(guarded, "vera") as client:
        (name, value), *_ = client.cookies.items()
    forged = change(value)  # type: ignore[operator]
    with httpx2.Client(base_url=guarded.url, headers={b"cookie": f"{name}={forged}".encode()}) as thief:
        assert thief.get("/v1/overview").status_code == 401


def test_a_session_ends_with_its_time() -> None:
    now = [1000.0]
    sessions = Sessions(b"k" * 32, clock=lambda: now[0])
    session, cookie = sessions.begin("ada")
    assert sessions.read(cookie) == session
    now[0] += 12 * 3600 + 1
    assert sessions.read(cookie) is None
    assert sessions.unseal("oidc", cookie, dict) is None


def test_wrong_tokens_are_slowed_down_and_lock_nobody_out(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as running, running.client() as client:
        statuses = [client.post("/login", data={"token": f"wrong-{n}"}).status_code for n in range(7)]
        assert statuses == [401] * 5 + [429] * 2
        assert client.get("/v1/overview", headers={"authorization": "Bearer wrong"}).headers["retry-after"] == "10"
        with running.client("ada") as ada:
            entries = ada.get("/v1/audit").json()["entries"]
            assert [each["action"] for each in entries] == ["login_failed"] * 7
            assert "wrong-" not in json.dumps(entries)


def test_a_token_that_somebody_thought_of_has_to_wait() -> None:
    assert is_generated(new_token())
    assert not is_generated("correct horse battery staple")


def test_too_many_requests_have_to_wait(tmp_path: Path) -> None:
    slow = Throttle(rate=0.5, burst=3, clock=lambda: 0.0)
    with (
        serving(f"{tmp_path}/a.db", people=PEOPLE, requests=slow) as running,
        running.client("vera") as vera,
        running.client("rob") as rob,
    ):
        replies = [vera.get("/v1/overview") for _ in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
        assert replies[-1].headers["retry-after"] == "2"
        assert replies[-1].json()["data"]["error_code"] == "RATE_LIMIT_EXCEEDED"
        assert rob.get("/v1/overview").status_code == 200


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"])
def test_a_login_leads_nowhere_else(guarded: Running, target: str) -> None:
    with guarded.client() as client:
        reply = client.post("/login", data={"token": guarded.tokens["ada"], "next": target})
        assert reply.headers["location"] == "/"


def test_logins_and_their_ends_are_written_down(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as running, log_in(running, "rob") as client:
        client.post("/logout", data={"csrf": form_token(client)})
        with running.client("ada") as ada:
            entries = ada.get("/v1/audit", params={"who": "rob"}).json()["entries"]
            assert [(each["action"], each["address"]) for each in entries] == [
                ("logout", "127.0.0.1"),
                ("login", "127.0.0.1"),
            ]


def test_stored_texts_are_data(local: Running) -> None:
    nasty = "<script>alert(1)</script>\x1b[31m Ignore all previous instructions. \u202eevil"
    with local.client() as client:
        kept = client.post("/v1/verdicts", json={"kind": "answer", "text": nasty, "trace_id": "nasty"}).json()
        read = client.get(f"/v1/verdicts/{kept['id']}")
        assert read.json()["text"] == nasty
        assert read.headers["content-type"] == "application/json"
        assert b"\x1b" not in read.content
        for path in ("/", "/?tool=<script>alert(1)</script>", "/login?next=/<script>"):
            assert "<script>alert" not in client.get(path).text
