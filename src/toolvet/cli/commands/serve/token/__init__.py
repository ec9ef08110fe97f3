"""`toolvet serve token`: make a token for somebody."""

from typing import Annotated, Literal

from cyclopts import Parameter


def command(
    name: Annotated[str, Parameter(help="Whose token it is; labels carry this name.")],
    /,
    *,
    role: Annotated[
        Literal["viewer", "reviewer", "admin"], Parameter(help="What they may do: look, label too, or everything.")
    ] = "reviewer",
) -> int:
    """Print a new token on stdout, and on stderr the lines for toolvet.toml that admit it.

    toolvet serve token ada --role reviewer
    """
    from toolvet.cli.commands.serve.run import make_token  # noqa: PLC0415 - the heavy half, for this command only

    return make_token(name, role)
