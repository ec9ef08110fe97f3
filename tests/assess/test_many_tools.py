"""A server with 20,000 tools or more: the deadline and Ctrl-C end the run, and the report is still written."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolvet.assess import Options, assess
from toolvet.assess.harvest import Harvest
from toolvet.assess.report.document import Report
from toolvet.assess.rules import tool_definition
from toolvet.assess.waves import Waves
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target

MANY_TOOLS = str(Path(__file__).parents[1] / "servers" / "many_tools.py")
SCRIPTED = Path(__file__).parents[1] / "servers" / "scripted.py"
MANY = 20_000


def definition(number: int) -> dict[str, object]:
    schema = {"type": "object", "properties": {"item_id": {"type": "string"}}, "required": ["item_id"]}
    return {"name": f"get_item_{number}", "description": "Gets an item.", "inputSchema": schema}


def script(folder: Path, answer: object) -> Path:
    """A server with `count` tools, each of which answers the same."""
    path = folder / "script.json"
    tools = [definition(number) for number in range(MANY)]
    marker = str(folder / "marker")
    path.write_text(json.dumps({"tools": tools, "answers": {"*": answer}, "marker": marker}), encoding="utf-8")
    return path


def test_the_deadline_ends_the_run_and_the_report_is_complete_in_what_was_seen(tmp_path: Path) -> None:
    target = StdioTarget(command=sys.executable, args=(str(SCRIPTED), str(script(tmp_path, {"echo": True}))))
    report = asyncio.run(assess(target, Options(timeout=60, deadline=4)))
    assert report.incomplete == "the deadline of 4 s passed"
    assert len(report.tools) == MANY
    assert report.summary.tested < MANY


@pytest.mark.skipif(sys.platform == "win32", reason="a process there gets no SIGINT")
def test_ctrl_c_ends_the_run_and_writes_the_report(tmp_path: Path) -> None:
    arguments = ["--report", f"json={tmp_path / 'r.json'}", "--fail-on", "never", "--timeout", "60"]
    server = ["--", sys.executable, str(SCRIPTED), str(script(tmp_path, {"hang": True}))]
    running = subprocess.Popen(
        [sys.executable, "-m", "toolvet", "assess", "-q", *arguments, *server], cwd=tmp_path, stderr=subprocess.PIPE
    )
    waited = threading.Event()
    try:
        # The first call without an answer has reached the server: all tools are known by now.
        while not (tmp_path / "marker").exists() and running.poll() is None:
            waited.wait(0.05)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=120)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["incomplete"] == "interrupted"
    assert len(report["tools"]) == MANY


def test_every_tool_is_in_one_wave() -> None:
    tools = [tool_definition(definition(number), number) for number in range(MANY)]
    waves = Waves(tools, Harvest(), {}, {})
    called = [position for wave in iter(waves.next, ()) for position in wave]
    assert sorted(called) == list(range(MANY))


@contextmanager
def server(transport: str, *words: str) -> Iterator[Target]:
    """The server that makes up as many tools as the words say."""
    if transport == "stdio":
        yield StdioTarget(command=sys.executable, args=(MANY_TOOLS, *words))
        return
    with subprocess.Popen([sys.executable, MANY_TOOLS, *words, "--http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield HttpTarget(process.stdout.readline().strip())
        process.kill()


def problems(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.id == "tool-list-broken"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    "words", [("--tools", "20001"), ("--tools", "20001", "--page", "1000"), ("--endless", "--page", "1000")]
)
def test_of_more_than_20000_tools_the_first_are_read_and_the_rest_is_a_finding(
    transport: str, words: tuple[str, ...]
) -> None:
    options = Options(tools=["get_item_7"], transport_checks=False)
    with server(transport, *words) as target:
        report = asyncio.run(assess(target, options))
    assert len(report.tools) + len(report.filtered) == MANY
    assert "only the first 20,000" in problems(report)[0]
    assert report.incomplete is None


def test_20000_tools_are_not_too_many() -> None:
    with server("stdio", "--tools", "20000", "--page", "1000") as target:
        report = asyncio.run(assess(target, Options(tools=["get_item_7"])))
    assert len(report.tools) + len(report.filtered) == MANY
    assert not problems(report)


def test_of_2001_tools_the_last_is_called_when_it_is_named() -> None:
    with server("stdio", "--tools", "2001") as target:
        plan = asyncio.run(assess(target, Options(plan_only=True)))
        named = asyncio.run(assess(target, Options(plan_only=True, tools=["get_item_2000"])))
    assert [tool.name for tool in plan.tools if tool.skipped] == ["get_item_2000"]
    assert [tool.name for tool in named.tools if not tool.skipped] == ["get_item_2000"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_page_that_never_comes_hides_no_page_before_it(transport: str) -> None:
    with server(transport, "--tools", "30", "--page", "10", "--silent-page", "20") as target:
        report = asyncio.run(assess(target, Options(timeout=600, deadline=6)))
    assert report.incomplete == "the deadline of 6 s passed"
    assert len(report.tools) == 20


@pytest.mark.skipif(sys.platform == "win32", reason="it has no FIFO")
def test_ctrl_c_while_the_reports_are_written_loses_none(tmp_path: Path) -> None:
    for name in ("first", "second"):
        os.mkfifo(tmp_path / name)
    reports = ["--report", f"github={tmp_path / 'first'}", "--report", f"json={tmp_path / 'second'}"]
    command = [sys.executable, "-m", "toolvet", "assess", "-q", *reports, "--fail-on", "never"]
    with subprocess.Popen([*command, "--", sys.executable, MANY_TOOLS]) as running:
        assert read_twice(tmp_path / "first", running)
        report = json.loads(read_twice(tmp_path / "second", None))
    assert running.returncode == 130
    assert report["summary"]["calls"]


def read_twice(fifo: Path, interrupted: "subprocess.Popen[bytes] | None") -> str:
    """Bytes written to a FIFO that its writer opens twice, the first time only to see that it is private."""
    for _ in range(2):
        with fifo.open() as file:
            if interrupted is not None:
                interrupted.send_signal(signal.SIGINT)
                interrupted = None
            text = file.read()
        if text:
            return text
    return ""
