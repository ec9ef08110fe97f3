"""A server that fills the disk is ended, and the report says so; one that stays below the limit is left alone."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.sandbox import sandbox_tool
from toolvet.assess.workspace import disk_used
from toolvet.errors import UsageError
from toolvet.findings import Finding, Severity
from toolvet.mcp.transport import StdioTarget

_FILLER = str(Path(__file__).parents[1] / "servers" / "filler.py")
_ENDLESS = "100000"


def filled(*words: str, **options: Any) -> Report:
    target = StdioTarget(sys.executable, (_FILLER, *words))
    return asyncio.run(assess(target, Options(tools_only=True, deadline=60, **options)))


def of_disk(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.id == "disk-filled"]


@pytest.fixture
def sandbox() -> None:
    try:
        sandbox_tool()
    except UsageError as error:
        pytest.skip(f"no sandbox can be made here: {error}")


@pytest.mark.parametrize("sandboxed", [False, True])
def test_a_server_that_fills_its_place_is_ended_with_a_finding(
    *, sandboxed: bool, request: pytest.FixtureRequest
) -> None:
    if sandboxed:
        request.getfixturevalue("sandbox")
    report = filled(_ENDLESS, disk_mib=20, sandbox=sandboxed)
    (finding,) = of_disk(report)
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith("The server wrote ")
    assert finding.message.endswith(" MiB into its folders, of which at most 20 are allowed, and was ended.")
    assert report.incomplete is not None
    assert report.incomplete.startswith("the server wrote ")


def test_what_stays_below_the_limit_and_no_limit_are_no_finding() -> None:
    assert of_disk(filled("2", disk_mib=20)) == []
    assert of_disk(filled("30", disk_mib=None)) == []


@pytest.mark.usefixtures("sandbox")
def test_the_temporary_folders_of_a_sandbox_are_full_at_the_limit() -> None:
    report = filled(_ENDLESS, "/var/tmp", disk_mib=8, sandbox=True)  # noqa: S108 - that of the sandbox
    result = cast("dict[str, Any]", report.tools[0].scenarios[0].result)
    assert result["content"][0]["text"].startswith("No space left on device after ")
    assert report.incomplete is None


def test_what_a_folder_takes_is_counted_without_links_and_holes(tmp_path: Path) -> None:
    before = disk_used(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(os.urandom(1 << 20))
    (tmp_path / "link").symlink_to("/usr")
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(1 << 30)
    assert 1 << 20 <= disk_used(tmp_path) - before < 2 << 20
    assert disk_used(tmp_path / "nowhere") == 0
