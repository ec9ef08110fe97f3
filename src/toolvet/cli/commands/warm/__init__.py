"""`toolvet warm`: compile the phrases now, so that the first check need not."""

from typing import Annotated

from cyclopts import Parameter


def command(
    *,
    for_all: Annotated[
        bool,
        Parameter(
            negative="", help="Keep them beside the installed package, for all users of it: for a container image."
        ),
    ] = False,
) -> int:
    """Compile the phrases of all languages, as the first check otherwise does; what is there already is kept.

    Wheels bring them along. A source checkout, and an engine of another version than the wheel was built with, need
    this: in a container image or a CI job, where every process is the first one.
    """
    from toolvet.cli.commands.warm.run import warm  # noqa: PLC0415 - the heavy half, for this command

    return warm(for_all=for_all)
