"""`toolvet serve`: the dashboard, the review queue and the HTTP API."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    *,
    store: Annotated[
        str | None,
        Parameter(env_var="TOOLVET_STORE", help="A file (toolvet.db), or postgresql+psycopg://USER@HOST/NAME."),
    ] = None,
    host: Annotated[str | None, Parameter(help="The address to listen on (127.0.0.1).")] = None,
    port: Annotated[int | None, Parameter(help="The port (8741); 0 takes a free one.")] = None,
    token: Annotated[
        str | None,
        Parameter(env_var="TOOLVET_TOKEN", show_env_var=True, help="An admin's token; safer in the environment."),
    ] = None,
    allow_host: Annotated[
        tuple[str, ...], Parameter(negative="", help="Another host name under which this server is reached.")
    ] = (),
    https: Annotated[
        bool,
        Parameter(negative="", help="Browsers use HTTPS (through a proxy): cookies are sent over HTTPS only."),
    ] = False,
    settings: Annotated[Path | None, Parameter(help="The settings file, instead of ./toolvet.toml.")] = None,
) -> int:
    """Open the dashboard on http://127.0.0.1:8741, with the store in a file in this folder.

    toolvet serve

    toolvet serve --store postgresql+psycopg://toolvet@db.example/toolvet --port 9000
    """
    from toolvet.cli.commands.serve.run import serve  # noqa: PLC0415 - the heavy half, for this command only

    return serve(
        store=store, host=host, port=port, token=token, allow_host=allow_host, https=https, settings_file=settings
    )


def token(
    name: Annotated[str, Parameter(help="The owner of the token; labels carry this name.")],
    /,
    *,
    role: Annotated[
        Literal["viewer", "reviewer", "admin"], Parameter(help="Their role: look, label too, or everything.")
    ] = "reviewer",
) -> int:
    """Print a new token on stdout, and on stderr the lines for toolvet.toml that accept it.

    toolvet serve token ada --role reviewer
    """
    from toolvet.cli.commands.serve.run import make_token  # noqa: PLC0415 - the heavy half, for this command only

    return make_token(name, role)
