"""The options of `toolvet serve`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServeFlags:
    """What the user said on the command line; None where the settings file decides."""

    store: Annotated[
        str | None,
        Parameter(env_var="TOOLVET_STORE", help="A file (toolvet.db), or postgresql+psycopg://USER@HOST/NAME."),
    ] = None
    host: Annotated[str | None, Parameter(help="The address to listen on (127.0.0.1).")] = None
    port: Annotated[int | None, Parameter(help="The port (8741); 0 takes a free one.")] = None
    token: Annotated[
        str | None,
        Parameter(env_var="TOOLVET_TOKEN", show_env_var=True, help="An admin's token; better in the environment."),
    ] = None
    allow_host: Annotated[
        tuple[str, ...], Parameter(negative="", help="A further name by which this server is reached.")
    ] = ()
    https: Annotated[
        bool, Parameter(negative="", help="Browsers reach it by HTTPS (behind a proxy): cookies go by nothing else.")
    ] = False
    settings: Annotated[Path | None, Parameter(help="Settings other than toolvet.toml here.")] = None
