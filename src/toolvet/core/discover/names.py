"""The public names of a package, each loaded from its module when it is first used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def named(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of `package`, so that importing one of its modules does not load all of them.

    `homes` maps each module to the names that it defines, separated by spaces. No name may be that of a module of the
    package: the one that is loaded last would hide the other.

    Example:
        __getattr__ = named(__name__, {"peer": "Era Peer", "session": "McpSession"})
    """
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
