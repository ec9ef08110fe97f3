"""Vet every tool call of an AI agent: the arguments going in, the result coming out, and the answer that follows.

Everything here is pure: no network, no disk, no clock. What does I/O lives in modules of its own, such as
`toolvet.assess`. Names that are not in `__all__` here or in such a module may change at any time.
"""

import sys
from importlib import import_module

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    # Queues, counters and caches rely on it, and nothing here was ever run without it.
    raise ImportError("toolvet is not tested on free-threaded Python: use another build, or PYTHON_GIL=1")


def __getattr__(name: str) -> object:
    """A public name, loaded when it is first asked for, so that `import toolvet` stays cheap.

    A program that only validates arguments loads no phrases, and one that only judges results no schemas.
    """
    if name == "__all__":
        value: object = sorted(_homes())
    elif name in _homes():
        value = getattr(import_module(_homes()[name]), name)
    else:
        raise AttributeError(f"module 'toolvet' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *_homes()})


def _homes() -> dict[str, str]:
    """Each public name to the module that it lives in, as `__init__.pyi` lists them."""
    if not _HOMES:
        # pathlib would cost more than all of `import toolvet`.
        with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123
            statements = stub.read().split("\nfrom ")[1:]
        found: dict[str, str] = {}
        for statement in statements:
            home, _, names = statement.partition(" import ")
            found |= {entry.split()[-1]: home for entry in names.strip("()\n ").split(",") if entry.strip()}
        _HOMES.update(found)
    return _HOMES


_HOMES: dict[str, str] = {}
