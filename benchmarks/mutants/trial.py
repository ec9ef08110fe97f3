"""The tests of a room against its mutants, in processes that are forked from one that has everything loaded.

parent         loads the libraries, never the package
  warm         loads the package, runs each test once under the tracer, and then
    trial      puts a mutant into a loaded function and runs the tests that reach its lines
  cold         puts a mutant into a module that is yet to be imported, and then runs the tests: for what is computed
               at import, as constants and defaults
"""

import contextlib
import gc
import importlib
import os
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import NamedTuple

import pytest
from benchmarks.mutants.fork import Line, Outcome, try_in_fork
from benchmarks.mutants.mutation import Mutation
from benchmarks.mutants.patch import Caches, LoadedFunctions, import_changed
from benchmarks.mutants.room import Room
from benchmarks.mutants.tracer import Tracer
from hypothesis import Phase, settings

Told = Callable[[str], None]


class Reached(NamedTuple):
    """What the first run showed."""

    lines: Mapping[str, frozenset[tuple[str, int]]]
    """For each test, what it reaches."""
    at_import: frozenset[tuple[str, int]]
    filling: Mapping[tuple[str, int], frozenset[CodeType]]
    seconds: Mapping[str, float]
    broken: tuple[str, ...]
    """Tests that fail without any fault; they judge nothing."""

    def tests_for(self, mutation: Mutation, root: Path) -> list[str]:
        """Return the tests to run: those that reach its lines, then, where a cache is filled, all others."""
        path, wanted = str((root / mutation.path).resolve()), mutation.span(root)
        near = [test for test, lines in self.lines.items() if not wanted.isdisjoint(lines)]
        if not mutation.function or not wanted.isdisjoint(self.at_import):
            same_file = {test for test, lines in self.lines.items() if any(line[0] == path for line in lines)}
            return [*near, *sorted(same_file.difference(near)), *sorted(self.lines.keys() - same_file)]
        if not wanted.isdisjoint(self.filling):
            return [*near, *sorted(self.lines.keys() - set(near))]
        return near


class Verdicts(NamedTuple):
    """What the warm process hands back."""

    outcomes: dict[int, Outcome]
    reached: Reached
    libraries: tuple[str, ...]


def judge(room: Room, mutations: Sequence[Mutation], tell: Told) -> tuple[list[Outcome], tuple[str, ...]]:
    """Return what became of each mutant, in order, and the tests that had to be left out."""
    with TemporaryDirectory() as folder:
        found = Path(folder) / "verdicts"
        pid = os.fork()
        if not pid:
            _become_warm(room, mutations, tell, found)
        if os.waitpid(pid, 0)[1] or not found.exists():
            raise RuntimeError(f"{room.name}: the tests could not be run; try pytest {' '.join(room.tests)}")
        verdicts: Verdicts = pickle.loads(found.read_bytes())  # noqa: S301 - Our own process wrote it.
    for name in verdicts.libraries:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    outcomes, order = verdicts.outcomes, _Order(verdicts.reached, room.root)
    broken = verdicts.reached.broken
    if len(outcomes) < len(mutations):
        null = _run_cold(room, None, order.all_tests, order.seconds)
        if null.kind != "survived" and not null.failed:
            raise RuntimeError(
                f"{room.name}: a process that imports anew is {null.kind} at {null.test or 'the import'}"
            )
        order.leave_out(null.failed)
        broken = (*broken, *null.failed)
    for index, mutation in enumerate(mutations):
        if index not in outcomes:
            outcomes[index] = _try_cold(room, mutation, order)
            tell(_line(mutation, outcomes[index]))
    return [outcomes[index] for index in range(len(mutations))], broken


class _Order:
    """Which tests to run first: those that killed mutants of this function, then those of this file, then the quick."""

    def __init__(self, reached: Reached, root: Path) -> None:
        self._reached = reached
        self._root = root
        self._kills: Counter[tuple[str, str]] = Counter()

    def tests(self, mutation: Mutation) -> list[str]:
        near = self._reached.tests_for(mutation, self._root)
        place = f"{mutation.path}::{mutation.function}"
        seconds = self._reached.seconds
        rank = {test: index for index, test in enumerate(near)}
        lines = self._reached.lines
        span = mutation.span(self._root)
        inside = {test for test in near if not span.isdisjoint(lines[test])}
        return sorted(
            (test for test in near if test not in self._reached.broken),
            key=lambda test: (
                test not in inside,
                -self._kills[place, test],
                seconds.get(test, 0.0) / (1 + self._kills[str(mutation.path), test]),
                rank[test],
            ),
        )

    @property
    def all_tests(self) -> list[str]:
        return [test for test in self._reached.lines if test not in self._reached.broken]

    def leave_out(self, tests: Sequence[str]) -> None:
        """Judge by these no longer."""
        self._reached = self._reached._replace(broken=(*self._reached.broken, *tests))

    def note(self, mutation: Mutation, outcome: Outcome) -> None:
        if outcome.kind == "killed":
            self._kills[f"{mutation.path}::{mutation.function}", outcome.test] += 1
            self._kills[str(mutation.path), outcome.test] += 1

    @property
    def seconds(self) -> Mapping[str, float]:
        return self._reached.seconds


def _try_cold(room: Room, mutation: Mutation, order: _Order) -> Outcome:
    tests = order.tests(mutation)
    if not tests:
        return Outcome("unreached")

    outcome = _run_cold(room, mutation, tests, order.seconds)
    if outcome.kind == "endless":
        outcome = _run_cold(room, mutation, tests, order.seconds, patience=3)
    order.note(mutation, outcome)
    return outcome


def _run_cold(
    room: Room, mutation: Mutation | None, tests: Sequence[str], seconds: Mapping[str, float], patience: float = 1.0
) -> Outcome:
    def work(line: Line) -> None:
        with _silenced():
            if mutation is not None:
                import_changed(mutation, room.root)
            _run_pytest(room, _ColdTrial(tests, line, on=mutation is None))

    return try_in_fork(work, seconds, patience)


def _line(mutation: Mutation, outcome: Outcome) -> str:
    return f"{outcome.kind:9} {mutation.line:4} {mutation.id} {outcome.test.rpartition('/')[2]}"


def _become_warm(room: Room, mutations: Sequence[Mutation], tell: Told, found: Path) -> None:
    code = 1
    try:
        paths = frozenset(str((room.root / path).resolve()) for path in room.files)
        warm = _WarmTrials(room, mutations, tell, Tracer(paths), paths)
        with _silenced():
            _run_pytest(room, warm)
        if warm.verdicts is not None:
            found.write_bytes(pickle.dumps(warm.verdicts._replace(reached=_without_code(warm.verdicts.reached))))
            code = 0
    except BaseException as raised:  # noqa: BLE001 - This process must not go on as its parent.
        tell(f"{type(raised).__name__}: {raised}")
    finally:
        os._exit(code)


def _without_code(reached: Reached) -> Reached:
    """Code objects do not travel to another process; which lines fill a cache still matters there."""
    return reached._replace(filling=dict.fromkeys(reached.filling, frozenset()))


def _run_pytest(room: Room, plugin: object) -> None:
    os.chdir(room.root)
    quiet = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
    # Our own plugin makes pytest load the whole package in its own way, to rewrite its assertions: a module that is
    # changed at its import would never be the one that is loaded.
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--assert=plain", "--timeout=0", "-W", quiet]
    pytest.main([*options, *room.tests], plugins=[plugin])


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Send what is printed to nowhere; in a process that ends soon."""
    null = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(null, 1)
    yield


class _Runs:
    """What both kinds of trial do inside pytest."""

    def __init__(self) -> None:
        self._failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Draw the same examples every time, and do not make failing ones small."""
        settings.register_profile(
            "mutants",
            settings(),
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
        )
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    def _fails(self, item: pytest.Item) -> bool:
        """Run one test with its fixtures, and take them down."""
        self._failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return self._failed

    def _run(self, items: Sequence[pytest.Item], line: Line, *, on: bool = False) -> None:
        """Run them until one fails; with `on`, all of them."""
        for item in items:
            line.begin(item.nodeid)
            begun = time.process_time()
            failed = self._fails(item)
            line.end(item.nodeid, time.process_time() - begun)
            if failed:
                line.fail(item.nodeid)
                if not on:
                    return
        line.finish("survived")


class _ColdTrial(_Runs):
    def __init__(self, tests: Sequence[str], line: Line, *, on: bool) -> None:
        super().__init__()
        self._tests = tests
        self._line = line
        self._on = on

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        if not session.testsfailed:
            self._run([items[test] for test in self._tests if test in items], self._line, on=self._on)
        os._exit(0)


class _WarmTrials(_Runs):
    def __init__(
        self, room: Room, mutations: Sequence[Mutation], tell: Told, tracer: Tracer, paths: frozenset[str]
    ) -> None:
        super().__init__()
        self.verdicts: Verdicts | None = None
        self._room = room
        self._mutations = mutations
        self._tell = tell
        self._tracer = tracer
        self._paths = paths
        tracer.start()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return True
        at_import = frozenset(self._tracer.current)
        lines = self._trace(session.items)
        reached = Reached(lines, at_import, {k: frozenset(v) for k, v in self._tracer.filling.items()}, {}, ())
        caches, functions = Caches(self._room.package), LoadedFunctions(self._paths)
        gc.collect()
        gc.freeze()
        begun = time.monotonic()
        null = try_in_fork(lambda line: self._run(session.items, line, on=True), dict.fromkeys(lines, 30.0))
        if null.kind == "endless":
            raise RuntimeError(f"{null.test} does not end in a fork")
        reached = reached._replace(seconds=null.seconds, broken=null.failed)
        self._tell(
            f"{self._room.name}: {len(lines)} tests in {time.monotonic() - begun:.0f} s, {len(null.failed)} left out"
        )
        outcomes = self._try_all({item.nodeid: item for item in session.items}, reached, caches, functions)
        libraries = tuple(sorted(name for name in sys.modules if self._is_library(name)))
        self.verdicts = Verdicts(outcomes, reached, libraries)
        return True

    def _is_library(self, name: str) -> bool:
        top = name.partition(".")[0]
        return top not in {self._room.package, "tests", "benchmarks", "conftest", "__main__"} and not top.startswith(
            "test_"
        )

    def _trace(self, items: Sequence[pytest.Item]) -> dict[str, frozenset[tuple[str, int]]]:
        lines: dict[str, frozenset[tuple[str, int]]] = {}
        modules, caches = 0, Caches(self._room.package)
        for item in items:
            if len(sys.modules) != modules:
                modules, caches = len(sys.modules), Caches(self._room.package)
                self._tracer.know(caches)
            caches.clear_keyed()
            self._tracer.current = set()
            self._tracer.start()
            self._fails(item)
            lines[item.nodeid] = frozenset(self._tracer.current)
        self._tracer.stop()
        return lines

    def _try_all(
        self, items: Mapping[str, pytest.Item], reached: Reached, caches: Caches, functions: LoadedFunctions
    ) -> dict[int, Outcome]:
        outcomes: dict[int, Outcome] = {}
        order, endless = _Order(reached, self._room.root), []
        for index, mutation in enumerate(self._mutations):
            span = mutation.span(self._room.root)
            if not mutation.function or not span.isdisjoint(reached.at_import):
                continue
            tests = order.tests(mutation)
            filling = frozenset(code for line in span for code in reached.filling.get(line, ()))
            outcome = Outcome("unreached")
            if tests:
                work = self._work(mutation, [items[test] for test in tests], (caches, functions), filling)
                outcome = try_in_fork(work, reached.seconds)
                if outcome.kind == "endless":
                    endless.append((index, work))
            if outcome.kind == "unpatched":
                continue
            order.note(mutation, outcome)
            outcomes[index] = outcome
            self._tell(_line(mutation, outcome))
        for index, work in endless:
            outcomes[index] = try_in_fork(work, reached.seconds, patience=3)
        return outcomes

    def _work(
        self,
        mutation: Mutation,
        items: Sequence[pytest.Item],
        loaded: tuple[Caches, LoadedFunctions],
        filling: frozenset[CodeType],
    ) -> Callable[[Line], None]:
        caches, functions = loaded

        def work(line: Line) -> None:
            if not functions.replace(mutation, self._room.root):
                line.finish("unpatched")
                return
            caches.clear_keyed()
            caches.clear_kept(filling)
            self._run(items, line)

        return work
