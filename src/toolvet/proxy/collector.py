"""How seldom Python's collector runs while calls pass."""

import gc
from typing import Final

# Objects that hold others, more than were there after the last look: Python's own 700 come together every 24 calls, and
# nearly nothing that a call leaves behind waits for the collector. So many of them take some megabytes.
_YOUNG: Final = 10_000


def settle() -> None:
    """Leave what exists now out of all further looks: it lives to the end, and looking at it costs a millisecond."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
