"""`toolvet serve`: the dashboard, the review queue and the HTTP API."""

from toolvet.cli.commands.serve.flags import ServeFlags


def command(*, flags: ServeFlags | None = None) -> int:
    """Open the dashboard on http://127.0.0.1:8741, with the store in a file beside it.

    toolvet serve

    toolvet serve --store postgresql+psycopg://toolvet@db.example/toolvet --port 9000
    """
    from toolvet.cli.commands.serve.run import serve  # noqa: PLC0415 - the heavy half, for this command only

    return serve(flags or ServeFlags())
