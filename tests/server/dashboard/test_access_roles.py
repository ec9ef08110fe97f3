"""Every route and the least role that may use it. A route that is not in the table fails here, so none is forgotten."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from starlette.routing import Route
from tests.server.dashboard.serving import Running, serving

from toolvet.server.access.gate import Gate
from toolvet.server.access.oidc import OidcLogin
from toolvet.server.access.people import People
from toolvet.server.access.session import Sessions
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.app import endpoints, make_app
from toolvet.server.dashboard.rendering import environment, pages
from toolvet.server.settings import OidcSettings
from toolvet.store import Store

PEOPLE = [("vera", "viewer"), ("rob", "reviewer"), ("ada", "admin")]
ROLES = {"anybody": 0, "viewer": 1, "reviewer": 2, "admin": 3}
LEAST: dict[str, list[str]] = {
    "anybody": [
        *("GET /healthz", "GET /openapi.json", "GET /static/{digest}/{name}", "GET /login", "POST /login"),
        *("POST /logout", "GET /login/oidc", "GET /login/oidc/callback"),
    ],
    "viewer": [
        *("GET /", "GET /assessments", "GET /assessments/compare", "GET /assessment/{id}", "GET /compare"),
        *("GET /events", "GET /servers", "GET /server/{server}", "GET /tools", "GET /tool/{server}/{tool}"),
        *("GET /verdicts", "GET /search", "GET /verdict/{id}", "GET /turn/{trace}"),
        *("GET /conversation/{conversation}", "GET /live"),
        *("GET /v1/verdicts", "GET /v1/verdicts/{id}", "GET /v1/turns", "GET /v1/turns/{trace}", "GET /v1/overview"),
        *("GET /v1/groups", "GET /v1/trend", "GET /v1/events", "GET /v1/alerts"),
        *("GET /v1/assessments", "GET /v1/assessments/{id}"),
        *("POST /v1/check/answer", "POST /v1/check/arguments", "POST /v1/check/result", "POST /v1/check/envelope"),
        *("POST /v1/check/conversation", "POST /v1/check/batch", "POST /v1/check/stream"),
        "POST /v1/repairs",
        *("GET /v1/guardrails/tools", "POST /v1/hooks/claude"),
        "POST /v1/guardrails/litellm/beta/litellm_basic_guardrail_api",
        *("POST /v1/guardrails/agentgateway/request", "POST /v1/guardrails/agentgateway/response"),
        *("POST /v1/guardrails/docker/before", "POST /v1/guardrails/docker/after"),
        *("POST /v1/check/stream/{id}", "POST /v1/check/stream/{id}/finish", "DELETE /v1/check/stream/{id}"),
    ],
    "reviewer": [
        *("GET /queue", "POST /queue", "GET /queue/{id}", "POST /queue/{id}"),
        *("POST /v1/verdicts", "POST /v1/assessments", "PUT /v1/guardrails/tools"),
        *("GET /v1/queue", "POST /v1/queue", "POST /v1/queue/next", "POST /v1/queue/undo", "GET /v1/queue/agreement"),
        "GET /v1/queue/labels",
        *("GET /v1/queue/{id}", "GET /v1/queue/{id}/history", "POST /v1/queue/{id}/label"),
        *("POST /v1/queue/{id}/lease", "POST /v1/queue/{id}/release", "POST /v1/queue/{id}/skip"),
        *("POST /v1/queue/{id}/second-opinion", "POST /v1/queue/{id}/assign"),
    ],
    "admin": ["GET /v1/audit"],
}
ROLE_OF = {route: role for role, routes in LEAST.items() for route in routes}


def known_routes() -> set[str]:
    """The answers of the application, as the table writes them. A page takes POST only if it has a form."""
    oidc = OidcLogin(OidcSettings(issuer="https://i.example", client_id="c", url="https://a.example"), None, People())
    with_form = {page.path for page in pages() if page.post is not None}
    is_page = {page.path for page in pages()}
    with Store("/nonexistent/never-opened.db") as store:
        app = make_app(ServerContext(store), Gate(People(), Sessions(), oidc=oidc))
    found: set[str] = set()
    for route in app.routes:
        assert isinstance(route, Route)
        path = re.sub(r":\w+}", "}", route.path)
        for method in (route.methods or {"GET"}) - {"HEAD"}:
            if method == "GET" or path not in is_page or path in with_form:
                found.add(f"{method} {path}")
    return found


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('roles')}/a.db", people=PEOPLE) as made:
        yield made


def test_the_table_has_every_route_and_no_other() -> None:
    assert known_routes() == set(ROLE_OF)
    assert {f"{each.method} {each.path}": each.role.word for each in endpoints()}.items() <= ROLE_OF.items()


def status_of(client: httpx2.Client, route: str) -> int | str:
    """The status, or where a redirect leads."""
    method, path = route.split(" ")
    path = re.sub(r"{\w+}", "none", path)
    if path == "/live":
        with client.stream(method, path) as reply:
            return reply.status_code
    form = method == "POST" and not path.startswith("/v1")
    reply = client.request(method, path, data={"a": "b"} if form else None, json=None if form else {})
    return "/login" if reply.headers.get("location", "").startswith("/login") else reply.status_code


@pytest.mark.parametrize("route", sorted(set(ROLE_OF) - {route for route in ROLE_OF if "/login" in route}))
def test_a_role_may_what_the_table_says_and_no_more(running: Running, route: str) -> None:
    least = ROLE_OF[route]
    for name, role in [(None, "anybody"), *PEOPLE]:
        with running.client(name) as client:
            status = status_of(client, route)
        if ROLES[role] >= ROLES[least]:
            # A form without a session's token is refused by everybody's role.
            is_form = route.startswith("POST") and "/v1" not in route
            assert is_form or status not in {401, 403}, (name, status)
            assert name is None or status != "/login" or route == "POST /logout"
        elif name is None:
            assert status in {401, "/login"}, status
        else:
            assert status == 403


# Forms that people send.

FORM = re.compile(r"<form\b[^>]*>.*?</form>", re.DOTALL)


def test_every_form_that_changes_something_carries_the_token_of_its_page() -> None:
    found: list[str] = []
    loader = environment().loader
    assert loader is not None
    for name in loader.list_templates():
        source = loader.get_source(environment(), name)[0]
        for form in FORM.findall(source):
            if 'method="post"' in form:
                found.append(name)
                # At login there is no session yet: the origin of the page decides.
                assert name == "login.html.jinja" or 'name="csrf" value="{{ csrf }}"' in form, (name, form)
    assert {"base.html.jinja", "login.html.jinja", "queue.html.jinja", "queue_item.html.jinja"} <= set(found)


@contextmanager
def log_in(running: Running, name: str) -> Iterator[httpx2.Client]:
    with running.client() as client:
        assert client.post("/login", data={"token": running.tokens[name]}).status_code == 303
        yield client


@pytest.mark.parametrize("route", sorted(r for r in ROLE_OF if r.split()[0] != "GET" and r != "POST /login"))
def test_no_request_of_a_session_changes_anything_without_the_token(running: Running, route: str) -> None:
    with log_in(running, "ada") as client:
        assert status_of(client, route) == 403
        method, path = route.split(" ")
        wrong = {"x-csrf-token": "wrong", "content-type": "application/json"}
        reply = client.request(method, re.sub(r"{\w+}", "none", path), headers=wrong, content=b"{}")
        assert reply.status_code in {403, 415}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_nobody_is_logged_in_or_out_by_a_foreign_page(running: Running, headers: dict[str, str]) -> None:
    with running.client() as client:
        for path in ("/login", "/logout"):
            reply = client.post(path, data={"token": running.tokens["ada"]}, headers=headers)
            assert (reply.status_code, "set-cookie" in reply.headers) == (403, False)


def test_a_login_ends_the_session_before_it(running: Running) -> None:
    with log_in(running, "vera") as client:
        before = dict(client.cookies)
        assert client.post("/login", data={"token": running.tokens["ada"]}).status_code == 303
        assert dict(client.cookies) != before
        assert client.get("/v1/audit").status_code == 200
    with running.client(cookies=before) as planted:
        assert planted.get("/v1/overview").status_code == 401


def test_a_login_keeps_the_filter_of_the_page_that_was_wanted(running: Running) -> None:
    with running.client() as client:
        sent = client.get("/verdicts?kind=call&q=a+b").headers["location"]
        assert sent == "/login?next=%2Fverdicts%3Fkind%3Dcall%26q%3Da%2Bb"
        reply = client.post("/login", data={"token": running.tokens["vera"], "next": "/verdicts?kind=call&q=a+b"})
        assert reply.headers["location"] == "/verdicts?kind=call&q=a+b"


def test_nothing_of_a_session_is_kept_by_a_cache(running: Running) -> None:
    with running.client("ada") as client:
        for path in ("/", "/v1/overview", "/v1/audit", "/nothing", "/login", "/queue"):
            assert client.get(path).headers["cache-control"] == "no-store"
        asset = re.search(r'"(/static/[^"]+)"', client.get("/").text)
        assert asset is not None
        assert "immutable" in client.get(asset[1]).headers["cache-control"]
