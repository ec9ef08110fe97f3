"""`lazy`: the names of a package, each loaded when it is first asked for.

A wing is imported by its name or by one of its direct children, so these offer everything that other wings use. Loaded at
once, they would bring half of toolvet into a program that checks one answer.
"""

from collections.abc import Callable
from importlib import import_module
from sys import modules


def lazy(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that offers the names in its `__init__.pyi`, and no others.

    Type checkers read the same list. It holds imports only: `from toolvet.core.turn.check import AnswerCheck as AnswerCheck`.

    Example:
        >>> from toolvet.core import checks
        >>> checks.check_arguments.__module__
        'toolvet.core.checks.arguments.check'
    """
    homes: dict[str, str] = {}

    def read() -> dict[str, str]:
        if not homes:
            # pathlib would cost more than all of `import toolvet`.
            with open(f"{modules[package].__path__[0]}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123
                statements = stub.read().split("\nfrom ")[1:]
            for statement in statements:
                home, _, names = statement.partition(" import ")
                entries = [entry.split()[0] for entry in names.strip("()\n ").split(",") if entry.strip()]
                homes.update(dict.fromkeys(entries, home))
        return homes

    def attribute(name: str) -> object:
        if name == "__all__":
            value: object = sorted(read())
        elif name in read():
            home = import_module(homes[name])
            # A module that is offered whole is no attribute of its package until it is imported.
            value = getattr(home, name, None) or import_module(f"{homes[name]}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *read()})

    return attribute, names
