"""Many servers, each by a worker of its own: limits, faults, and a folder that a run goes on in. All of it real."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options
from toolvet.assess.many import AssessmentJob, AssessmentLimits, AssessmentOutcome, ResultsFolder, assess_many
from toolvet.assess.many.folder import JOURNAL
from toolvet.assess.many.pool import ProcessFacts, below, end_all_below, list_processes, memory_of
from toolvet.core.checks.result import ResultCheck
from toolvet.core.checks.result_settings import ResultSettings
from toolvet.errors import UsageError
from toolvet.mcp.transport import StdioTarget

_SCRIPTED = str(Path(__file__).parents[1] / "servers" / "scripted.py")
_LIMITS = AssessmentLimits(seconds=60, memory_mib=300, output_mib=50)
_OPTIONS = Options(deadline=60, tools_only=True)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX systems")


class Seen:
    """Collects the reports of a run while it goes on."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.kept: list[str] = []

    def began(self, name: str) -> None:
        self.started.append(name)

    def ended(self, outcome: AssessmentOutcome, *, is_earlier: bool) -> None:
        if is_earlier:
            self.kept.append(outcome.name)


def scripted(tmp_path: Path, name: str) -> AssessmentJob:
    """A server with one tool that only reads."""
    script = tmp_path / f"{name}.json"
    tool = {"name": "get_time", "description": "The time", "inputSchema": {"type": "object"}}
    answer = {"content": [{"type": "text", "text": "12:00"}]}
    script.write_text(json.dumps({"tools": [tool], "answers": {"get_time": answer}}))
    return AssessmentJob(name, StdioTarget(sys.executable, (_SCRIPTED, str(script))), _OPTIONS)


def python(name: str, code: str, options: Options = _OPTIONS) -> AssessmentJob:
    return AssessmentJob(name, StdioTarget(sys.executable, ("-c", code)), options)


def run(
    folder: Path, jobs: Sequence[AssessmentJob], limits: AssessmentLimits = _LIMITS, workers: int = 2
) -> tuple[dict[str, AssessmentOutcome], Seen]:
    seen, results = Seen(), ResultsFolder(folder)
    try:
        found = asyncio.run(assess_many(jobs, results, workers=workers, limits=limits, watch=seen))
    finally:
        results.close()
    return {outcome.name: outcome for outcome in found}, seen


def test_each_server_ends_in_its_own_way_and_harms_no_other(tmp_path: Path) -> None:
    jobs = [
        python("eats", f"x = []\nwhile True: x.append(bytearray(20_000_000)) # {tmp_path}"),
        python("floods", "import sys\nwhile True: sys.stdout.buffer.write(b'x' * 1_000_000 + b'\\n')"),
        python("kills", f"import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(600) # {tmp_path}"),
        AssessmentJob("missing", StdioTarget("/no/such/program"), _OPTIONS),
        scripted(tmp_path, "good"),
    ]
    found, _ = run(tmp_path / "out", jobs)
    assert list(found) == [job.name for job in jobs]
    assert {name: outcome.ending for name, outcome in found.items()} == {
        "eats": "limit", "floods": "limit", "kills": "crashed", "missing": "unreachable", "good": "assessed",
    }  # fmt: skip
    assert "MiB of memory; at most 300 are allowed" in found["eats"].problem
    assert "more than the 50 MiB" in found["floods"].problem
    assert "signal 9" in found["kills"].problem
    assert "/no/such/program" in found["missing"].problem
    assert found["good"].peak_mib > 0
    report = json.loads((tmp_path / "out" / "servers" / "good.json").read_bytes())
    assert (report["schema"], report["summary"]["tested"]) == ("toolvet-report/1", 1)
    # Nothing of theirs runs on, the server that killed what assessed it included.
    assert [pid for pid in list_processes() if _command_of(pid).endswith(f"# {tmp_path}")] == []


def test_what_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolvet.assess.many.pool._GRACE_SECONDS", 0.0)
    job = python("silent", "import time\ntime.sleep(600)", Options(timeout=600))
    found, _ = run(tmp_path / "out", [job], AssessmentLimits(seconds=1))
    assert (found["silent"].ending, found["silent"].problem) == ("limit", "did not end within 1 s")


def test_a_second_run_does_only_what_is_not_done(tmp_path: Path) -> None:
    jobs = [
        scripted(tmp_path, "one"),
        scripted(tmp_path, "two"),
        AssessmentJob("missing", StdioTarget("/no/such"), _OPTIONS),
    ]
    folder = tmp_path / "out"
    _, first = run(folder, jobs)
    before = (folder / "servers" / "one.json").read_bytes()
    assert sorted(first.started) == ["missing", "one", "two"]

    # What could not be reached is tried again; a line that was cut off when a run was killed does not matter.
    with (folder / JOURNAL).open("ab") as journal:
        journal.write(b'{"name":"two","fi')
    found, second = run(folder, jobs)
    assert (second.started, second.kept) == (["missing"], ["one", "two"])
    assert list(found) == ["one", "two", "missing"]
    assert (folder / "servers" / "one.json").read_bytes() == before

    # A report that is gone, and one of other options, is made again.
    (folder / "servers" / "two.json").unlink()
    changed = [AssessmentJob(jobs[0].name, jobs[0].target, Options(deadline=60, tools_only=True, seed=1)), *jobs[1:]]
    _, third = run(folder, changed)
    assert sorted(third.started) == ["missing", "one", "two"]


def test_the_fingerprint_of_a_job_is_that_of_its_content() -> None:
    target = StdioTarget("uvx", ("time",), {"A": "1", "B": "2"})
    same = StdioTarget("uvx", ("time",), {"B": "2", "A": "1"})
    assert AssessmentJob("a", target, Options()).key == AssessmentJob("b", same, Options()).key
    other = ResultCheck(ResultSettings(strong_patterns=("margin call",)))
    keys = {
        AssessmentJob("a", target, Options()).key,
        AssessmentJob("a", StdioTarget("uvx", ("time",), {"A": "1", "B": "3"}), Options()).key,
        AssessmentJob("a", target, Options(values={"city": "Bonn"})).key,
        AssessmentJob("a", target, Options(check=other)).key,
    }
    assert len(keys) == 4
    assert "secret" not in AssessmentJob("a", StdioTarget("x", (), {"TOKEN": "secret"}), Options()).key


def test_two_servers_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two servers are named one"):
        run(tmp_path / "out", [scripted(tmp_path, "one"), scripted(tmp_path, "one")])


def test_a_folder_belongs_to_one_run_at_a_time(tmp_path: Path) -> None:
    folder = ResultsFolder(tmp_path / "out")
    with pytest.raises(UsageError, match="another run writes there"):
        ResultsFolder(tmp_path / "out")
    folder.close()
    ResultsFolder(tmp_path / "out").close()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"holds thesis\.tex, so it is not a folder of results"):
        ResultsFolder(tmp_path)
    assert not (tmp_path / JOURNAL).exists()
    with pytest.raises(UsageError, match="--into"):
        ResultsFolder(tmp_path / "thesis.tex" / "out")


def test_reports_are_private(tmp_path: Path) -> None:
    run(tmp_path / "out", [scripted(tmp_path, "one")])
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) == 3
    assert {path.stat().st_mode & 0o077 for path in written} == {0}


def test_ctrl_c_ends_the_servers_and_the_same_command_goes_on(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    marker = tmp_path / "reached"
    waits = f"import pathlib, time\npathlib.Path({str(marker)!r}).touch()\ntime.sleep(600)"
    good = scripted(tmp_path, "good").target
    assert isinstance(good, StdioTarget)
    servers: dict[str, Any] = {
        "good": {"command": good.command, "args": list(good.args)},
        "waits": {"command": sys.executable, "args": ["-c", waits]},
    }
    config.write_text(json.dumps({"mcpServers": servers}))
    command = [sys.executable, "-m", "toolvet", "assess", "--config", str(config), "--into", str(tmp_path / "out")]
    command += ["--no-sandbox", "--tools-only", "--timeout", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not marker.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted with 1 server to go; the same command goes on" in errors
    assert [pid for pid in list_processes() if waits in _command_of(pid)] == []
    servers["waits"] = servers["good"]
    config.write_text(json.dumps({"mcpServers": servers}))
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, "1 server of an earlier run kept" in again.stderr) == (0, True)
    overview = json.loads((tmp_path / "out" / "overview.json").read_bytes())
    assert [row["name"] for row in overview["ranking"]] == ["good", "waits"]


class TestProcesses:
    def test_a_tree_is_found_whatever_its_order(self) -> None:
        processes = {9: ProcessFacts(4, 5), 4: ProcessFacts(1, 7), 1: ProcessFacts(0, 11), 2: ProcessFacts(3, 1)}
        assert below(1, processes) == (4, 9)
        assert memory_of(1, processes, 1000) == 23

    def test_a_circle_ends(self) -> None:
        assert below(1, {2: ProcessFacts(3, 0), 3: ProcessFacts(2, 0), 1: ProcessFacts(1, 0)}) == ()

    def test_what_starts_others_while_it_is_ended_ends(self) -> None:
        # Each hundredth of a second another; should this test fail, it ends by itself.
        code = (
            "import subprocess, time\n"
            "for _ in range(500): time.sleep(.01); subprocess.Popen(['sleep', '10'])\n"
            "time.sleep(10)"
        )
        process = subprocess.Popen([sys.executable, "-c", code])
        try:
            while not (tree := below(process.pid, list_processes())):
                time.sleep(0.01)
        finally:
            end_all_below(process.pid)
            process.wait()
        left = list_processes()
        assert tree
        assert [pid for pid in tree if pid in left and not left[pid].is_over] == []

    def test_memory_that_processes_share_counts_once_where_it_matters(self) -> None:
        # 60 MB in a parent and three children that were forked from it.
        code = (
            "import os, sys, time\nx = bytearray(60_000_000)\nx[::4096] = b'x' * len(x[::4096])\n"
            "for _ in range(3):\n if os.fork() == 0: time.sleep(60)\nprint(flush=True)\ntime.sleep(60)"
        )
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            processes = list_processes()
            shared = memory_of(process.pid, processes, 0)
            end_all_below(process.pid)
        if sys.platform != "linux":
            pytest.skip("only Linux tells the shares of memory")
        assert 55_000_000 < shared < 120_000_000
        assert memory_of(process.pid, processes, 1 << 40) > 200_000_000


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
