"""The servers of `wild.toml`, each assessed in a sandbox, against what a person said of its findings.

The precision of each check is printed: of the findings that a person has read, the share that is right. The others are
counted beside it.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from tests.live.servers import npm_modules, python_programs

from toolvet.assess import Options, Report, assess
from toolvet.assess.sandbox import sandbox_tool
from toolvet.errors import UsageError
from toolvet.findings import Finding
from toolvet.mcp.transport import StdioTarget

pytestmark = pytest.mark.live


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's verdicts on the findings of one check; without `tools`, of those about the server."""

    check: str
    tools: tuple[str, ...]
    verdict: Literal["right", "wrong", "doubtful"]
    why: str = ""

    def covers(self, finding: Finding) -> bool:
        if finding.id != self.check:
            return False
        if not finding.concerns:
            return not self.tools
        return any(fnmatchcase(tool, name) for tool in finding.concerns for name in self.tools)


class WildServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    command: tuple[str, ...]
    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    env: dict[str, str] = {}
    samples: bool = False
    prepare: str = ""
    timeout: float = 15
    judged: tuple[Judged, ...] = ()


class WildList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    samples: dict[str, str]
    servers: tuple[WildServer, ...]


WILD = msgspec.toml.decode((Path(__file__).parent / "wild.toml").read_bytes(), type=WildList)
TALLY: dict[str, Counter[str]] = {}


@pytest.fixture(scope="module")
def sandbox() -> None:
    try:
        sandbox_tool()
    except UsageError as error:
        pytest.skip(f"servers of strangers run only in a sandbox: {error}")


def assess_server(server: WildServer, cwd: Path) -> Report:
    installed = (
        python_programs(server.name, *server.pypi).parent if server.pypi else npm_modules(server.name, *server.npm)
    )
    env = installed if server.pypi else installed.parent

    def fill(text: str) -> str:
        return text.replace("{env}", str(env)).replace("{cwd}", str(cwd))

    for name, text in WILD.samples.items() if server.samples else ():
        (cwd / name).parent.mkdir(exist_ok=True)
        (cwd / name).write_text(text, encoding="utf-8")
    if server.prepare:
        subprocess.run(["sh", "-ec", fill(server.prepare)], cwd=cwd, check=True)
    command, *args = map(fill, server.command)
    target = StdioTarget(command, tuple(args), {name: fill(value) for name, value in server.env.items()}, str(cwd))
    return asyncio.run(assess(target, Options(sandbox=True, timeout=server.timeout)))


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("server", WILD.servers, ids=lambda server: server.name)
def test_no_finding_that_a_person_called_wrong_returns(server: WildServer, tmp_path: Path) -> None:
    report = assess_server(server, tmp_path)
    wrong: list[str] = []
    for finding in report.findings:
        judged = next((judged for judged in server.judged if judged.covers(finding)), None)
        TALLY.setdefault(finding.id, Counter())[judged.verdict if judged else "unread"] += 1
        if judged is not None and judged.verdict == "wrong":
            wrong.append(f"{finding.id} of {finding.tool}: {finding.evidence[:200]} ({judged.why})")
    assert not wrong, "\n".join(wrong)


def test_precision_of_each_check(capsys: pytest.CaptureFixture[str]) -> None:
    if not TALLY:
        pytest.skip("no server was assessed")
    lines = [f"\n{'check':<32} precision  right  wrong  doubtful  unread"]
    for check, counts in sorted(TALLY.items()):
        read = counts["right"] + counts["wrong"]
        share = f"{100 * counts['right'] / read:.0f} %" if read else "–"  # noqa: RUF001 - a dash instead of a number
        columns = f"{counts['right']:>5}  {counts['wrong']:>5}  {counts['doubtful']:>8}  {counts['unread']:>6}"
        lines.append(f"{check:<32} {share:>9}  {columns}")
    with capsys.disabled():
        sys.stdout.write("\n".join(lines) + "\n")
