"""`SummaryOptions`: what a report is asked to look at."""

from dataclasses import dataclass

from toolvet.assess.report import PeriodLength


@dataclass(frozen=True, kw_only=True)
class SummaryOptions:
    """What a report looks at beside the verdicts.

    `time` is the column by which periods are made, `per` their length (None: what fits). `label` is a column of labels,
    of which `bad` and `good` are what says that a row is bad or good.
    """

    time: str | None = None
    per: PeriodLength | None = None
    label: str | None = None
    bad: tuple[str, ...] | None = None
    good: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be in the output."""
        return tuple(name for name in dict.fromkeys((self.time, self.label)) if name is not None)
