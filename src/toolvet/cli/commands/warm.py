"""`toolvet warm`: compile the phrases now, so that the first check need not."""

import sys
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from toolvet.errors import UsageError


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
    from toolvet.core.discover import entries_of, prepared  # noqa: PLC0415 - for this command only
    from toolvet.core.turn import prepare  # noqa: PLC0415 - as above

    begun = monotonic()
    if for_all:
        try:
            size = prepared.pack(entries_of(prepare), prepared.FOLDER)
        except OSError as error:
            raise UsageError(f"{prepared.FOLDER} cannot be written: {error.strerror or error}") from None
        done = f"{prepared.FOLDER} has the phrases of all languages, {size / 1e6:.1f} MB"
    else:
        prepare()
        done = "the phrases of all languages are compiled"
    sys.stderr.write(f"toolvet: {done} ({monotonic() - begun:.1f} s)\n")
    return 0
