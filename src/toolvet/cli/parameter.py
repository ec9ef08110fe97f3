"""`Parameter`: what a command says of one of its options, without cyclopts, which takes longer to load than a verdict.

A command that declares with it can be called by `plain_words` alone. Where cyclopts reads the command, for its help or
for words that are not plain, `with_parameters` gives it its own class.
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple


class Parameter(NamedTuple):
    """As `cyclopts.Parameter`."""

    help: str
    negative: str | None = None
    metavar: str | None = None


def with_parameters(command: Callable[..., object]) -> Callable[..., object]:
    """Return `command` with its declarations as cyclopts wants them."""
    # Who gets here is about to load it anyway.
    from cyclopts import Parameter as Declared  # noqa: PLC0415

    annotations = command.__annotations__
    for name, annotation in list(annotations.items()):
        for declared in getattr(annotation, "__metadata__", ()):
            if isinstance(declared, Parameter):
                given = {key: value for key, value in declared._asdict().items() if value is not None}
                annotations[name] = Annotated[annotation.__origin__, Declared(**given)]
    return command
