"""The dashboard and its API on a loopback port, served by Uvicorn in a thread of the test's process."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx2

from toolvet.server.access.gate import Gate, Throttle
from toolvet.server.access.oidc import OidcLogin
from toolvet.server.access.people import People, new_token, person_at_this_machine, token_hash
from toolvet.server.access.session import Sessions
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.app import make_app
from toolvet.server.dashboard.server import make_server, open_socket
from toolvet.server.settings import PersonSettings
from toolvet.store import Store


class Running(NamedTuple):
    """A server: its URL without a path, what it knows, and the tokens of its people by their names."""

    url: str
    site: ServerContext
    tokens: dict[str, str]

    def client(self, name: str | None = None, **options: Any) -> httpx2.Client:
        """A client that sends the token of this person; None: no credentials."""
        headers = {} if name is None else {"authorization": f"Bearer {self.tokens[name]}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, **options)


@contextmanager
def serving(
    url: str,
    *,
    people: Sequence[tuple[str, str]] = (),
    requests: Throttle | None = None,
    hosts: tuple[str, ...] = (),
    is_secure: bool = False,
    store: Store | None = None,
    port: int = 0,
    oidc: Callable[[str, People], OidcLogin] | None = None,
    **site_options: Any,
) -> Iterator[Running]:
    """Serve the store with this URL. `people` are pairs of a name and a role; without any, everybody is an admin.

    `oidc` makes the provider's login from this server's URL and its people.
    """
    tokens = {name: new_token() for name, _ in people}
    known = People(
        [PersonSettings(name=name, role=role, token_sha256=token_hash(tokens[name])) for name, role in people],  # type: ignore[arg-type]
        local=None if people or oidc else person_at_this_machine(),
    )
    with store or Store(url) as opened:
        # As `toolvet serve` does.
        opened.open()
        site = ServerContext(opened, **site_options)
        listener = open_socket("127.0.0.1", port)
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        gate = Gate(known, Sessions(), requests, is_secure=is_secure, oidc=oidc(base, known) if oidc else None)
        app = make_app(site, gate, hosts=hosts)
        server = make_server(app, site.ending)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.005)
            yield Running(base, site, tokens)
        finally:
            site.ending.set()
            app.state.live.end()
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()
