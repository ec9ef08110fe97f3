"""Logging in with an identity provider that others wrote: npm's oidc-provider, certified by the OpenID Foundation."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest
from tests.live.servers import oidc_provider
from tests.server.dashboard.serving import Running, serving

from toolvet.server.access.oidc import OidcLogin
from toolvet.server.access.people import People
from toolvet.server.access.session import CALLBACK
from toolvet.server.settings import OidcSettings

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).with_name("oidc_provider.mjs")
SECRET = "s3cret/of the:client"
FORM = re.compile(r'<form[^>]* action="([^"]+)"')
ABORT = re.compile(r'href="([^"]+/abort)"')


@contextmanager
def logging_in(folder: Path, algorithm: str = "RS256", method: str = "client_secret_basic") -> Iterator[Running]:
    """A dashboard whose people log in with a provider that signs and asks for the secret in this way."""
    with ExitStack() as stack:

        def login(url: str, people: People) -> OidcLogin:
            node, modules = oidc_provider()
            words = (node, str(PROGRAM), modules, url + CALLBACK, algorithm, method)
            process = stack.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            assert issuer.startswith("http://")
            settings = OidcSettings(
                issuer=issuer,
                client_id="toolvet",
                url=url,
                scopes=("email",),
                roles={"admin": ("ops",)},
                emails={"reviewer": ("@ships.example",)},
            )
            return OidcLogin(settings, None if method == "none" else SECRET, people)

        yield stack.enter_context(serving(f"{folder}/a.db", oidc=login))


def come_back(begun: httpx2.Response, name: str) -> httpx2.URL:
    """Do at the provider what a person does there: say a name, and agree. Returns where it sends the browser."""
    with httpx2.Client(timeout=30) as browser:
        reply = browser.get(begun.headers["location"])
        for _ in range(20):
            if reply.is_redirect:
                target = reply.url.join(reply.headers["location"])
                if target.path == CALLBACK:
                    return target
                reply = browser.get(target)
                continue
            form = FORM.search(reply.text)
            assert form is not None, reply.text
            if name == "nobody":
                abort = ABORT.search(reply.text)
                assert abort is not None, reply.text
                reply = browser.get(reply.url.join(abort[1]))
                continue
            prompt = "login" if 'name="login"' in reply.text else "consent"
            fields = {"prompt": prompt, "login": name, "password": "any"}
            reply = browser.post(reply.url.join(form[1]), data=fields)
    raise AssertionError("the provider did not send the browser back")


def log_in(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.get(come_back(client.get("/login/oidc"), name))


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384"])
def test_every_kind_of_signature_is_read(tmp_path: Path, algorithm: str) -> None:
    with logging_in(tmp_path, algorithm) as running, running.client() as client:
        assert log_in(client, "ops").status_code == 200
        assert client.get("/v1/audit").json()["entries"][0]["who"] == "ops@ships.example"


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
def test_every_way_of_the_clients_secret_works(tmp_path: Path, method: str) -> None:
    with logging_in(tmp_path, method=method) as running, running.client() as client:
        assert log_in(client, "ada").status_code == 200
        assert client.get("/v1/queue").status_code == 200
        assert client.get("/v1/audit").status_code == 403


def test_what_does_not_end_well_lets_nobody_in(tmp_path: Path) -> None:
    with logging_in(tmp_path) as running:
        opened = partial(running.client)
        with opened() as client:
            assert log_in(client, "eve").status_code == 403
        with opened() as client:
            refused = log_in(client, "nobody")
            assert (refused.status_code, "refused the login" in refused.text) == (401, True)
        with opened() as client:
            back = come_back(client.get("/login/oidc"), "ops")
            assert client.get(back.copy_merge_params({"code": "another"})).status_code == 401
        with opened() as client, opened() as thief:
            back = come_back(client.get("/login/oidc"), "ops")
            assert thief.get(back).status_code == 401
            flow = dict(client.cookies)
            assert client.get(back).status_code == 200
            # A code is good for once, also with the cookie of its flow.
            with opened(cookies=flow) as again:
                assert again.get(back).status_code == 401
        with opened() as client:
            assert client.get("/v1/overview").status_code == 401
