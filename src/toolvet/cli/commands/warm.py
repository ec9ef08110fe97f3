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
            negative="", help="Write them next to the installed package, for all its users: for a container image."
        ),
    ] = False,
) -> int:
    """Compile the phrases of all languages now, instead of at the first check. Compiled ones are kept.

    Wheels contain the compiled phrases. Run this for a source checkout, or if another version of the engine is
    installed: in a container image or a CI job, where every process is the first one.
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
