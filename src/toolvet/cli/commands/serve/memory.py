"""How glibc gives memory back, for a process that runs for weeks: nothing where there is no glibc."""

import ctypes
import gc
import sys

# Numbers of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8

_LARGE = 256 * 1024


def spare_memory() -> None:
    """Let the system have large blocks as soon as they are free, and let threads share two heaps.

    By default glibc keeps blocks of megabytes for the next time, once one was freed: the databases of phrases are read
    as such blocks, and each thread would have a heap of its own.
    """
    malloc = _libc()
    if malloc is not None:
        malloc.mallopt(_MMAP_THRESHOLD, _LARGE)
        malloc.mallopt(_TRIM_THRESHOLD, _LARGE)
        malloc.mallopt(_ARENA_MAX, 2)


def trim_memory() -> None:
    """Give back what the start left behind."""
    gc.collect()
    malloc = _libc()
    if malloc is not None:
        malloc.malloc_trim(0)


def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    # musl has neither.
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
