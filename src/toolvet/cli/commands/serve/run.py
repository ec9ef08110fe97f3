"""The work of `toolvet serve`."""

import json
import os
import sys
from pathlib import Path

from toolvet.cli.commands.serve.flags import ServeFlags
from toolvet.errors import UsageError
from toolvet.proxy.http.guard import is_loopback
from toolvet.settings import load_settings
from toolvet.store import Store

_MISSING = 'toolvet serve needs its extra: pip install "toolvet[serve]"'
_REQUESTS_PER_MINUTE = 60_000
_PORT = 8741
_STORE = "toolvet.db"


def serve(flags: ServeFlags) -> int:
    """Serve until the user ends it. Returns the exit code; raises UsageError where the extra is missing."""
    known = load_settings(flags.settings)
    settings = known.serve
    host = flags.host or settings.host or "127.0.0.1"
    try:
        from toolvet.dashboard.access.gate import Gate  # noqa: PLC0415 - an extra
        from toolvet.dashboard.access.people import People, person_at_this_machine  # noqa: PLC0415
        from toolvet.dashboard.access.session import Sessions  # noqa: PLC0415
        from toolvet.dashboard.access.throttle import Throttle  # noqa: PLC0415
        from toolvet.dashboard.alerting.watch import AlertWatch  # noqa: PLC0415
        from toolvet.dashboard.app import make_app  # noqa: PLC0415
        from toolvet.dashboard.server import open_socket, run_app  # noqa: PLC0415
        from toolvet.dashboard.site import Site  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(_MISSING) from error
    people = People(settings.people, token=flags.token)
    if is_loopback(host):
        if not people.has_credentials:
            people.local = person_at_this_machine()
    elif not people.has_credentials:
        raise UsageError(
            f"--host {host} can be reached from other machines: that needs people with tokens "
            "(toolvet serve token NAME), or TOOLVET_TOKEN in the environment"
        )
    a_minute = settings.requests_per_minute or _REQUESTS_PER_MINUTE
    gate = Gate(
        people,
        Sessions(),
        Throttle(a_minute / 60, max(a_minute / 6, 20)),
        is_secure=flags.https or bool(settings.https),
    )
    port = flags.port if flags.port is not None else settings.port
    listener = open_socket(host, _PORT if port is None else port)
    with Store(flags.store or known.store_settings().url or _STORE) as store:
        store.open()
        watch = AlertWatch(store, settings.alerts, os.environ)
        site = Site(store, alerts=settings.alerts, review=known.review)
        app = make_app(site, gate, host=host, hosts=(*flags.allow_host, *settings.allow_host))
        if settings.alerts:
            watch.start()
        try:
            run_app(app, listener)
        finally:
            watch.close()
    return 0


def make_token(name: str, role: str) -> int:
    """Print a new token, and what the settings file needs to know of it. Returns the exit code."""
    try:
        from toolvet.dashboard.access.people import new_token, token_hash  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(_MISSING) from error
    token = new_token()
    sys.stderr.write(
        f"[[serve.people]]\nname = {json.dumps(name)}\nrole = {json.dumps(role)}\n"
        f'token_sha256 = "{token_hash(token)}"\n\n'
        f"Put these lines into {Path('toolvet.toml')}, and give the token on stdout to {name}: it is shown only once.\n"
    )
    sys.stdout.write(f"{token}\n")
    return 0
