"""Which lines of the room each test reaches, and which functions run only to fill a cache."""

import sys
import threading
from types import CodeType, FrameType
from typing import Any, Final

from benchmarks.mutants.patch import Caches

Line = tuple[str, int]
_WALKS: Final = 50  # So many calls of a function are looked at for a cached function above them.


class Tracer:
    """A trace function. `current` receives the lines; the runner sets it before each test."""

    def __init__(self, paths: frozenset[str]) -> None:
        self.current: set[Line] = set()
        self.filling: dict[Line, set[CodeType]] = {}
        """Lines that ran below a cached function without parameters, with the code of that function."""
        self._paths = paths
        self._kept: frozenset[CodeType] = frozenset()
        self._walks: dict[CodeType, int] = {}
        self._above: set[CodeType] = set()

    def start(self) -> None:
        """Trace this thread and those that it starts."""
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> None:
        """Trace no longer."""
        sys.settrace(None)
        threading.settrace(None)

    def know(self, caches: Caches) -> None:
        """Look for these cached functions from now on."""
        self._kept = caches.kept

    def _call(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._paths:
            return None
        walks = self._walks[code] = self._walks.get(code, 0) + 1
        above: set[CodeType] = set()
        if walks <= _WALKS:
            caller: FrameType | None = frame
            while caller is not None:
                if caller.f_code in self._kept:
                    above.add(caller.f_code)
                caller = caller.f_back
        path, lines, filling = code.co_filename, self.current, self.filling
        lines.add((path, frame.f_lineno))

        def trace_line(frame: FrameType, _event: str, _arg: Any) -> Any:
            line = (path, frame.f_lineno)
            lines.add(line)
            if above:
                filling.setdefault(line, set()).update(above)
            return trace_line

        return trace_line
