"""The servers of `judged.json` beside the project, assessed in a sandbox, against what a person said of the findings.

A finding that was called wrong must not return. A fault that was missed must be found: at least one finding without a
judgement has to be about a tool that the missed fault names. The tests skip without the labelled data.
"""

import json
import re
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.labelled import SERVERS
from tests.live.test_wild_servers import WildServer, assess_server

from toolvet.assess import Report
from toolvet.assess.folder import sample_bytes
from toolvet.assess.sandbox import sandbox_tool
from toolvet.errors import UsageError
from toolvet.findings import Finding, Severity

pytestmark = [pytest.mark.live, pytest.mark.labelled]

FILE = SERVERS / "judged.json"
JUDGED: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["servers"] if FILE.is_file() else []
# `prepare` calls scripts that are not beside the project: "python3 …/mkpdf.py doc.pdf".
SCRIPT = re.compile(r"python3 \S*/mk\w+\.py (\S+)")
REPORTS: dict[str, Report] = {}


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    try:
        sandbox_tool()
    except UsageError as error:
        pytest.skip(f"servers of strangers run only in a sandbox: {error}")


@pytest.fixture(params=JUDGED, ids=lambda judged: judged["key"])
def judged(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    server: Mapping[str, Any] = request.param
    return server


@pytest.fixture
def report(judged: Mapping[str, Any], tmp_path: Path) -> Report:
    """The report on a server, which is assessed once."""
    if judged["key"] not in REPORTS:
        package = judged["package"]
        npm = (f"{package}@{judged['version']}",)
        pypi = (f"{package}=={judged['version']}", *judged.get("with", ()))
        is_npm = judged["registry"] == "npm"
        for name in SCRIPT.findall(judged["prepare"]):
            write_sample(tmp_path / name)
        server = WildServer(
            name=f"judged-{judged['key']}",
            command=tuple(judged["command"]),
            npm=npm if is_npm else (),
            pypi=() if is_npm else pypi,
            env=judged["env"],
            prepare=SCRIPT.sub("true", judged["prepare"]),
            timeout=judged["timeout"],
        )
        REPORTS[judged["key"]] = assess_server(server, tmp_path)
    return REPORTS[judged["key"]]


def write_sample(path: Path) -> None:
    if path.suffix == ".db":
        with sqlite3.connect(path) as database:
            database.executescript("CREATE TABLE books (id INTEGER, title TEXT); INSERT INTO books VALUES (1, 'Emma')")
    else:
        path.write_bytes(sample_bytes(path.suffix[1:]) or b"")


def told(report: Report) -> list[Finding]:
    """The errors and warnings, and the notes on what is missing where the server runs."""
    return [
        finding
        for finding in report.findings
        if finding.severity is not Severity.INFO or finding.id == "environment-outage"
    ]


def tools_of(entry: Mapping[str, Any]) -> set[str]:
    return {*entry["tools"], *filter(None, [entry["tool"]])}


def is_same(finding: Finding, entry: Mapping[str, Any]) -> bool:
    """Whether a finding is the one that was judged: the same check, a tool in common, and the same first words."""
    if finding.id != entry["id"] or tools_of(entry).isdisjoint(finding.concerns) != (not tools_of(entry)):
        return False
    quoted = [words.partition('"')[2][:40] for words in (finding.message, entry["message"])]
    return quoted[0] == quoted[1] or not all(quoted)


def test_no_finding_that_a_person_called_wrong_returns(judged: Mapping[str, Any], report: Report) -> None:
    wrong = [entry for entry in judged["findings"] if entry["label"] == "wrong"]
    returned = [
        f"{finding.id}: {finding.message} ({entry['why']})"
        for finding in told(report)
        for entry in wrong
        if is_same(finding, entry)
    ]
    assert not returned, "\n".join(returned)


def test_the_faults_that_were_missed_are_found(judged: Mapping[str, Any], report: Report) -> None:
    names = [tool.name for tool in report.tools]
    new = {
        tool
        for finding in told(report)
        for tool in finding.concerns or re.findall(r"[\w-]+", finding.message)
        if not any(tool in tools_of(entry) and is_same(finding, entry) for entry in judged["findings"])
    }
    still: list[str] = []
    for missed in judged["missed"]:
        said = set(re.findall(r"[\w-]+", missed))
        # "search_files: …" of a server whose tools are called fast_search_files; one without a name is about all.
        about = {name for name in names if any(name == word or name.endswith(f"_{word}") for word in said)} or {*names}
        if about.isdisjoint(new):
            still.append(missed)
    assert not still, "\n".join(still)


def test_tools_that_could_have_been_reached_are(judged: Mapping[str, Any], report: Report) -> None:
    succeeded = {tool.name for tool in report.tools if tool.succeeded}
    still = {name: how for name, how in judged["unreached_but_reachable"].items() if name not in succeeded}
    assert not still


def test_most_tools_that_were_called_and_can_succeed_do(capsys: pytest.CaptureFixture[str]) -> None:
    if len(REPORTS) < len(JUDGED) or not JUDGED:
        pytest.skip("not all servers were assessed")
    lines, able, did = [f"\n{'server':<14} tools  called  succeeded  score"], 0, 0
    for judged in JUDGED:
        report, cannot = REPORTS[judged["key"]], " ".join(judged["cannot_succeed_here"])
        called = [tool for tool in report.tools if tool.scenarios]
        succeeded = sum(tool.succeeded > 0 for tool in called)
        lines.append(f"{judged['key']:<14} {len(report.tools):>5}  {len(called):>6}  {succeeded:>9}  {report.score}")
        if "*" not in cannot:
            # The person judged the tools that were called then; the report says what the others would need.
            can = [t for t in called if t.name not in cannot.split() and "Needed:" not in (t.not_exercised or "")]
            able, did = able + len(can), did + sum(tool.succeeded > 0 for tool in can)
    with capsys.disabled():
        sys.stdout.write("\n".join(lines) + "\n")
    assert did >= 0.85 * able
