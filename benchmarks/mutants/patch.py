"""Puts a mutant into a process: into functions that are loaded already, or into a module that is imported later."""

import gc
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from benchmarks.mutants.mutation import Mutation


class CodeName(NamedTuple):
    """What names a function's code in its file, before and after the change alike."""

    name: str
    line: int


class LoadedFunctions:
    """All functions of these files that are in memory, by the place in their source."""

    def __init__(self, paths: frozenset[str]) -> None:
        self._functions: dict[tuple[str, CodeName], list[FunctionType]] = {}
        for thing in gc.get_objects():
            if type(thing) is FunctionType and thing.__code__.co_filename in paths:
                code = thing.__code__
                self._functions.setdefault((code.co_filename, _name_of(code)), []).append(thing)

    def replace(self, mutation: Mutation, root: Path) -> bool:
        """Give the changed code to the function with this mutation; False where that cannot be done."""
        path = str((root / mutation.path).resolve())
        changed = False
        for code in _codes(compile(mutation.apply(), path, "exec", dont_inherit=True)):
            if code.co_qualname != mutation.function and not code.co_qualname.startswith(f"{mutation.function}."):
                continue
            for function in self._functions.get((path, _name_of(code)), ()):
                if len(function.__code__.co_freevars) != len(code.co_freevars):
                    return False
                function.__code__ = code
                changed = True
        return changed


def import_changed(mutation: Mutation, root: Path) -> None:
    """Let the next import of the file yield the changed module. Once in a process."""
    path = str((root / mutation.path).resolve())
    tree = mutation.apply()
    original = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(loader.path) == Path(path):
            return compile(tree, path, "exec", dont_inherit=True)
        return original(loader, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


class Caches:
    """The function caches of the package. Those of functions without parameters are kept while the tests go on."""

    def __init__(self, package: str) -> None:
        self._keyed: list[_lru_cache_wrapper[Any]] = []
        self._single: dict[CodeType, _lru_cache_wrapper[Any]] = {}
        for thing in gc.get_objects():
            # By its exact type: what only pretends to be one (a lazy module, a mock) is not asked.
            if type(thing) is _lru_cache_wrapper and thing.__module__.partition(".")[0] == package:
                code = thing.__wrapped__.__code__
                if code.co_argcount + code.co_kwonlyargcount:
                    self._keyed.append(thing)
                else:
                    self._single[code] = thing

    @property
    def kept(self) -> frozenset[CodeType]:
        """The code of cached functions that take nothing."""
        return frozenset(self._single)

    def clear_keyed(self) -> None:
        """Empty the caches of functions with parameters."""
        for cache in self._keyed:
            cache.cache_clear()

    def clear_kept(self, codes: frozenset[CodeType]) -> None:
        """Empty the caches of these functions, which take nothing."""
        for code in codes:
            self._single[code].cache_clear()


def _name_of(code: CodeType) -> CodeName:
    return CodeName(code.co_qualname, code.co_firstlineno)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
