"""The options of a replay: which calls are made again, how many, and how long."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolvet.assess import Options
from toolvet.core.checks import ResultCheck


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """How to replay a record.

    `timeout` is in seconds per call, `deadline` in seconds for the whole run (None: none). `tools` and `exclude` are
    shell patterns of tool names; no `tools` means all. `include` are patterns of tools that are called although nothing
    shows that they only read, and `destructive="call"` includes every tool. `repeats` makes identical calls of one
    tool again each time instead of once. `limit` is the most calls to make (the first ones), `sample` spreads so many
    evenly over the record; None makes all. `era`, `keep_home` and `sandbox` are those of an assessment. `check` judges
    the results of both sides.

        ReplayOptions(timeout=5, include=["render_*"])
    """

    timeout: float = 30.0
    deadline: float | None = None
    tools: Sequence[str] = ()
    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    destructive: Literal["skip", "call"] = "skip"
    repeats: bool = False
    limit: int | None = None
    sample: int | None = None
    era: Literal["auto", "legacy", "modern"] = "auto"
    keep_home: bool = False
    sandbox: bool = False
    check: ResultCheck = field(default_factory=ResultCheck)

    @property
    def guard(self) -> Options:
        """The same choice of tools, as an assessment makes it."""
        return Options(tools=self.tools, exclude=self.exclude, include=self.include, destructive=self.destructive)
