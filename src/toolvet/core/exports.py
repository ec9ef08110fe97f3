"""`lazy`: the names of a package, each loaded when it is first asked for.

A wing is imported by its name or by one of its direct children, so these offer everything that other wings use. If they
loaded it at once, a program that checks one answer would load half of toolvet.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # A command that asks the daemon imports next to nothing, and this file is the first that it loads.
    from collections.abc import Callable


def lazy(package: str) -> "tuple[Callable[[str], object], Callable[[], list[str]]]":
    """Return `__getattr__` and `__dir__` of a package that offers the names in its `__init__.pyi`.

    Type checkers read the same list. It holds imports only, such as `from toolvet.core.turn.check import A as A`.

    Example:
        >>> from toolvet.core import checks
        >>> checks.check_arguments.__module__
        'toolvet.core.checks.arguments.check'
    """
    module, homes = sys.modules[package], dict[str, str]()

    def read() -> dict[str, str]:
        if not homes:
            # pathlib would cost more than all of `import toolvet`.
            with open(f"{module.__path__[0]}/__init__.pyi", encoding="utf-8") as stub:  # noqa: PTH123
                statements = stub.read().split("\nfrom ")[1:]
            for statement in statements:
                home, _, names = statement.partition(" import ")
                homes.update((entry.split()[0], home) for entry in names.strip("()\n ").split(",") if entry.strip())
        return homes

    def attribute(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - as above

        if name == "__all__":
            value: object = sorted(read())
        elif name in read():
            try:
                home = import_module(homes[name])
            except ImportError as error:
                from toolvet.errors import MissingExtraError  # noqa: PLC0415 - as above

                raise MissingExtraError.of(error) or error from error
            # A module is an attribute of its package only after it was imported.
            value = getattr(home, name) if hasattr(home, name) else import_module(f"{homes[name]}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *read()})

    return attribute, names
