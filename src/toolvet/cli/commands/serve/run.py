"""The work of `toolvet serve`."""

from toolvet.errors import UsageError


def serve(store: str, host: str, port: int, hosts: tuple[str, ...]) -> int:
    """Serve until the user ends it. Returns the exit code; raises UsageError where the extra is missing."""
    try:
        from toolvet.dashboard import app, server, site  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError('toolvet serve needs its extra: pip install "toolvet[serve]"') from error
    listener = server.open_socket(host, port)
    server.serve(app.make_app(site.Site(store), host=host, hosts=hosts), listener)
    return 0
