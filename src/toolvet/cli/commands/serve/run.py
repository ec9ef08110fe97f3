"""The work of `toolvet serve`."""

import ctypes
import gc
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from toolvet.cli.options import note_action
from toolvet.core.settings import load_settings
from toolvet.errors import StoreError, UsageError
from toolvet.server.settings import OidcSettings, ReviewSettings, ServeSettings
from toolvet.store import Store
from toolvet.store.settings import StoreSettings

if TYPE_CHECKING:
    from toolvet.server.access import OidcLogin, People


import_module("starlette")  # First, because a plain install lacks more, and its extra brings all of that.
_REQUESTS_PER_MINUTE = 60_000
_PORT = 8741
_CLOSE_SECONDS = 1.0
_STORE = "toolvet.db"


def serve(
    *,
    store: str | None,
    host: str | None,
    port: int | None,
    token: str | None,
    allow_host: Sequence[str],
    https: bool,
    settings_file: Path | None,
) -> int:
    """Serve until the user ends it. Returns the exit code."""
    spare_memory()
    known = load_settings(settings_file)
    settings = known[ServeSettings]
    host = host or settings.host or "127.0.0.1"
    from toolvet.proxy.http import is_loopback  # noqa: PLC0415 - an extra
    from toolvet.server.access import COOKIE, Gate, People, Sessions, Throttle, person_at_this_machine  # noqa: PLC0415
    from toolvet.server.context import ServerContext  # noqa: PLC0415
    from toolvet.server.dashboard import AlertWatch, bounded_end, make_app, open_socket, run_app  # noqa: PLC0415

    people = People(settings.people, token=token)
    hosts = (*allow_host, *settings.allow_host)
    oidc = None if settings.oidc is None else _oidc_login(settings.oidc, people)
    if not people.has_credentials and oidc is None:
        # A further name means a proxy in front of the loopback, and with it other machines.
        beyond = next((name for name in (host, *hosts) if not is_loopback(name)), None)
        if beyond is not None:
            raise UsageError(
                f"{beyond} can be reached from other machines: that needs people with tokens "
                "(toolvet serve token NAME), or TOOLVET_TOKEN in the environment"
            )
        people.local = person_at_this_machine()
    listener = open_socket(host, next((each for each in (port, settings.port) if each is not None), _PORT))
    a_minute = settings.requests_per_minute or _REQUESTS_PER_MINUTE
    gate = Gate(
        people,
        Sessions(),
        Throttle(a_minute / 60, max(a_minute / 6, 20)),
        is_secure=https or bool(settings.https),
        # Two servers on one machine share the browser's cookies.
        cookie=f"{COOKIE}_{listener.getsockname()[1]}",
        oidc=oidc,
    )
    kept = known[StoreSettings]
    opened = Store(store or kept.url or _STORE, older_than=kept.older_than, max_size=kept.max_size, sync=kept.sync)
    site = ServerContext(opened, alerts=settings.alerts, review=known[ReviewSettings], settings=known)
    with bounded_end(site.ending):
        try:
            opened.open()
            _note_tokens(opened, people.tokens)
            watch = AlertWatch(opened, settings.alerts, os.environ)
            if settings.alerts:
                watch.start()
            try:
                app = make_app(site, gate, host=host, hosts=hosts)
                trim_memory()
                run_app(app, listener, site.ending)
            finally:
                watch.close()
        finally:
            # Records that the database does not take in this time stay safe in the spool.
            opened.close(_CLOSE_SECONDS)
    # All is closed, and the last collection of the interpreter crashes now and then.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _note_tokens(store: Store, tokens: Sequence[tuple[str, str, str]]) -> None:
    if not tokens:
        return
    from toolvet.store.audit import read_entries  # noqa: PLC0415 - SQLAlchemy

    try:
        known = {entry.target for entry in read_entries(store, action="token", limit=10_000)}
        for name, role, digest in tokens:
            # Enough to tell one token from another, and nothing by which it could be found.
            target = f"{name} ({role}), SHA-256 {digest[:8]}…"
            if target not in known:
                note_action(store, "token", target)
    except StoreError as error:
        sys.stderr.write(f"toolvet: the audit log cannot be written yet: {error}\n")


def _oidc_login(settings: OidcSettings, people: "People") -> "OidcLogin":
    from toolvet.server.access import OidcLogin  # noqa: PLC0415 - an extra

    return OidcLogin(settings, os.environ.get(settings.client_secret_env), people)


def make_token(name: str, role: str) -> int:
    """Print a new token, and what the settings file needs to know of it. Returns the exit code."""
    from toolvet.server.access import new_token, token_hash  # noqa: PLC0415 - an extra

    token = new_token()
    sys.stderr.write(
        f"[[serve.people]]\nname = {json.dumps(name)}\nrole = {json.dumps(role)}\n"
        f'token_sha256 = "{token_hash(token)}"\n\n'
        f"Put these lines into {Path('toolvet.toml')}, and give the token on stdout to {name}: it is shown only once.\n"
    )
    sys.stdout.write(f"{token}\n")
    return 0


# Numbers of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8

_LARGE = 256 * 1024


def spare_memory() -> None:
    """Let the system have large blocks as soon as they are free, and let threads share two heaps.

    By default glibc keeps blocks of megabytes for the next time, once one was freed: the databases of phrases are read
    as such blocks, and each thread would have a heap of its own.
    """
    malloc = _libc()
    if malloc is not None:
        malloc.mallopt(_MMAP_THRESHOLD, _LARGE)
        malloc.mallopt(_TRIM_THRESHOLD, _LARGE)
        malloc.mallopt(_ARENA_MAX, 2)


def trim_memory() -> None:
    """Give back what the start left behind."""
    gc.collect()
    malloc = _libc()
    if malloc is not None:
        malloc.malloc_trim(0)


def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    # musl has neither.
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
