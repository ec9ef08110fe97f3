"""A progress bar on stderr while servers are assessed; nothing where stderr is not a terminal."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from toolvet.assess import Silent, Watch
from toolvet.assess.report import Scenario


class Progress:
    """A bar for each server: tools done, the tools under way, calls so far. `quiet` shows nothing."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True)
        # We ask the stream itself: with FORCE_COLOR the console calls every file a terminal, and bars would fill a log.
        self._shown = not quiet and sys.stderr.isatty()

    @contextmanager
    def watching(self, name: str) -> Generator[Watch]:
        """Show the progress of one assessment while the block runs; yields what `assess` reports to."""
        if not self._shown:
            yield Silent()
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TextColumn("tools"),
            TextColumn("{task.fields[now]}", style="dim"),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=self._console, transient=True) as bar:
            yield _ProgressWatch(bar, name)


class _ProgressWatch:
    """The `Watch` of one assessment, which moves its bar."""

    def __init__(self, bar: Bar, name: str) -> None:
        self._bar = bar
        self._calls = 0
        self._under_way: list[str] = []
        self._task = bar.add_task(Text(name).markup[:40], total=None, now="connecting")

    def planned(self, tools: int) -> None:
        self._bar.update(self._task, total=tools)

    def began(self, tool: str) -> None:
        self._under_way.append(tool)
        self._show()

    def called(self, tool: str, scenario: Scenario) -> None:
        del tool, scenario
        self._calls += 1
        self._show()

    def ended(self, tool: str) -> None:
        self._under_way.remove(tool)
        self._bar.advance(self._task)
        self._show()

    def _show(self) -> None:
        names = Text(", ".join(self._under_way)).markup
        self._bar.update(self._task, now=f"{self._calls} calls  {names}"[:60])
