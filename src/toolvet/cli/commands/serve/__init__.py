"""`toolvet serve`: the dashboard, the review queue and the HTTP API."""

from typing import Annotated

from cyclopts import Parameter


def command(
    *,
    store: Annotated[
        str, Parameter(env_var="TOOLVET_STORE", help="A file, or postgresql+psycopg://USER@HOST/NAME.")
    ] = "toolvet.db",
    host: Annotated[str, Parameter(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port; 0 takes a free one.")] = 8741,
    allow_host: Annotated[
        tuple[str, ...], Parameter(negative="", help="A further name by which this server is reached.")
    ] = (),
) -> int:
    """Open the dashboard on http://127.0.0.1:8741, with the store in a file beside it.

    toolvet serve

    toolvet serve --store postgresql+psycopg://toolvet@db.example/toolvet --port 9000
    """
    from toolvet.cli.commands.serve.run import serve  # noqa: PLC0415 - the heavy half, for this command only

    return serve(store, host, port, allow_host)
