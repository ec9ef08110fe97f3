"""What people read, kept as files, so that a change of wording is reviewed like code.

`TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/assess/report` rewrites them.
"""

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rich.console import Console
from tests.assess.report import samples

from toolvet.assess import report
from toolvet.assess.report import Format
from toolvet.assess.report.document import Report

FOLDER = Path(__file__).parent / "snapshots"


def terminal(width: int) -> Callable[[Sequence[Report]], str]:
    def printed(reports: Sequence[Report]) -> str:
        console = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
        with console.capture() as capture:
            report.print_report(reports, console)
        return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())

    return printed


def rendered(name: str) -> Callable[[Sequence[Report]], str]:
    return lambda reports: report.render(name, reports, samples.CARDS)


def ending(report_format: Format) -> str:
    """The suffix of the snapshots of a format; for plain text the format's name, as the terminal's is text, too."""
    return report_format.name if report_format.suffix == ".txt" else report_format.suffix.removeprefix(".")


FORMATS = {ending(report_format): rendered(report_format.name) for report_format in report.formats().values()}
RENDERERS = {"80.txt": terminal(80), "140.txt": terminal(140), **FORMATS}
# A new format is read in the bookshop. The page is long and has tests of its own, so the shortest report is enough.
SAMPLES = {
    "bookshop": tuple(suffix for suffix in RENDERERS if suffix != "html"),
    "hostile": ("80.txt", "140.txt", "md", "github", "xml", "sarif"),
    "empty": ("80.txt", "md", "github", "xml", "html"),
    "several": ("80.txt", "140.txt", "md", "github"),
    "library": ("80.txt", "140.txt", "md", "github", "xml", "sarif"),
    "forty": ("80.txt", "md", "github"),
    "baselined": ("80.txt", "md", "github"),
}


@pytest.mark.parametrize(("name", "suffix"), [(name, suffix) for name, kinds in SAMPLES.items() for suffix in kinds])
def test_a_report_reads_as_it_did(name: str, suffix: str) -> None:
    actual = RENDERERS[suffix](samples.named(name))
    path = FOLDER / f"{name}.{suffix}"
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        path.write_text(actual, encoding="utf-8", newline="")
    assert actual == path.read_bytes().decode()


def test_every_snapshot_belongs_to_a_sample() -> None:
    expected = {f"{name}.{suffix}" for name, kinds in SAMPLES.items() for suffix in kinds}
    assert {path.name for path in FOLDER.iterdir()} == expected
