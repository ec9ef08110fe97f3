"""Vet every tool call of an AI agent: the arguments going in, the result coming out, and the answer that follows.

Everything here is pure: no network, no disk, no clock. What does I/O lives in modules of its own, such as
`toolvet.assess`. Names that are not in `__all__` here or in such a module may change at any time.
"""

import sys

from toolvet.core.exports import lazy

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    # Queues, counters and caches rely on it, and nothing here was ever run without it.
    raise ImportError("toolvet is not tested on free-threaded Python: use another build, or PYTHON_GIL=1")

# A program that only validates arguments loads no phrases, and one that only judges results no schemas.
__getattr__, __dir__ = lazy(__name__)
