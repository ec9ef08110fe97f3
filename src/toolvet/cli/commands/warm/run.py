"""The work of `toolvet warm`."""

import sys
from time import monotonic

from toolvet.core.discover import entries_of, prepared
from toolvet.core.turn import prepare
from toolvet.errors import UsageError


def warm(*, for_all: bool) -> int:
    """Compile the phrases into the cache of this user, or beside the package; return the exit code.

    Raises UsageError where the folder of the package cannot be written.
    """
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
