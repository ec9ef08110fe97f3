"""Many servers over a Dask cluster: the overview of one machine, no secret on the way, and workers that are lost."""

import asyncio
import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.assess.test_many import Seen, python, scripted
from tests.batch.cluster.conftest import IS_REQUIRED, needed

from toolvet.assess import Options
from toolvet.assess.many import AssessmentJob, AssessmentLimits, AssessmentOutcome, ResultsFolder, assess_many
from toolvet.assess.many.cluster import (
    WORKER,
    ClusterAssessor,
    ServerReply,
    ServerRequest,
    decode_job,
    encode_request,
    why_not_sent,
)
from toolvet.assess.many.folder import JOURNAL
from toolvet.assess.many.on_worker import answer
from toolvet.batch.executors import open_executor
from toolvet.errors import UnreachableError
from toolvet.mcp.transport import HttpTarget, StdioTarget

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX systems")
LONG = pytest.mark.skipif(not IS_REQUIRED, reason="starts many processes: make cluster")
_LIMITS = AssessmentLimits(seconds=60, memory_mib=400, output_mib=50)

# Kills what started the process that started it, where that is a worker of Dask or Ray.
MURDERER = """
import os, signal
found = int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])
words = open(f"/proc/{found}/cmdline", "rb").read()
if b"multiprocessing" in words or words.startswith(b"ray::"):
    with open(%r, "a") as file: file.write("x")
    os.kill(found, signal.SIGKILL)
"""


def configured(folder: Path, **entries: Mapping[str, Any]) -> None:
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")


def entry(job: AssessmentJob, **more: Any) -> dict[str, Any]:
    assert isinstance(job.target, StdioTarget)
    return {"command": job.target.command, "args": list(job.target.args), **more}


def toolvet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolvet", "assess", "--config", "mcp.json", "--no-sandbox", "--tools-only"]
    return subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, check=False)


def without_figures(path: Path) -> Any:
    """An overview without what differs from run to run: how long servers took, and how much memory."""
    overview = json.loads(path.read_bytes())
    for row in overview["ranking"]:
        del row["duration_ms"], row["peak_mib"]
    return overview


def done_in(results: Path) -> set[tuple[str, str, str, str]]:
    """The entries of a run's journal: names, files, keys and endings."""
    lines = (results / JOURNAL).read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=AssessmentOutcome) for line in lines]
    return {(each.name, each.file, each.key, each.ending) for each in found}


def test_dask_gives_the_overview_of_this_machine_and_its_journal(tmp_path: Path) -> None:
    needed("distributed", "dask")
    names = ["one", "two"]
    gone = {"command": "/no/such/program"}
    configured(tmp_path, **{name: entry(scripted(tmp_path, name)) for name in names}, gone=gone)
    here = toolvet(tmp_path, "--workers", "2", "--into", "here")
    there = toolvet(tmp_path, "--engine", "dask", "--workers", "2", "--into", "there")
    assert (here.returncode, there.returncode) == (4, 4), there.stderr
    assert without_figures(tmp_path / "there" / "overview.json") == without_figures(tmp_path / "here" / "overview.json")
    # By this a run decides what is done: what a cluster began goes on on one machine.
    assert done_in(tmp_path / "there") == done_in(tmp_path / "here")


class TestWhatIsSent:
    def test_values_of_variables_stay_here_and_are_those_of_the_worker(self) -> None:
        job = AssessmentJob("a", StdioTarget("server", (), {"SHOP_KEY": "hunter2"}), Options())
        request = encode_request(job, "a", _LIMITS)
        assert b"hunter2" not in request
        asked = msgspec.msgpack.decode(request, type=ServerRequest)
        found, limits = decode_job(asked, {"SHOP_KEY": "of the worker"})
        assert isinstance(found.target, StdioTarget)
        assert (found.target.env, limits) == ({"SHOP_KEY": "of the worker"}, _LIMITS)
        with pytest.raises(KeyError, match="SHOP_KEY"):
            decode_job(asked, {})

    @pytest.mark.parametrize(
        ("job", "words"),
        [
            (AssessmentJob("a", HttpTarget("https://x/", {"Authorization": "Bearer b"}), Options()), "Authorization"),
            (AssessmentJob("a", HttpTarget("https://me:hunter2@x/"), Options()), "its URL has a secret"),
            (AssessmentJob("a", StdioTarget("x", ("--api-key", "hunter2")), Options()), "command line has a secret"),
            (AssessmentJob("a", StdioTarget("x"), Options(values={"password": "hunter2"})), "values or fixtures"),
            (AssessmentJob("a", StdioTarget("x", ("--port", "1"), {"KEY": "k"}), Options()), ""),
            (AssessmentJob("a", HttpTarget("https://x/", {"Accept": "text/plain"}), Options()), ""),
        ],
    )
    def test_what_has_a_secret_elsewhere_is_not_sent(self, job: AssessmentJob, words: str) -> None:
        why = why_not_sent(job)
        assert words in why
        assert bool(why) == bool(words)
        assert "hunter2" not in why

    def test_a_worker_that_lacks_a_variable_says_which(self) -> None:
        job = AssessmentJob("a", StdioTarget("x", (), {"NO_SUCH_VARIABLE": "1"}), Options())
        reply = msgspec.msgpack.decode(answer(encode_request(job, "a", _LIMITS)), type=ServerReply)
        assert reply.outcome is not None
        assert reply.outcome.ending == "unusable"
        assert "the variable NO_SUCH_VARIABLE, which the worker on " in reply.outcome.problem

    def test_a_worker_of_another_version_assesses_nothing(self) -> None:
        found = pickle.dumps((AssessmentJob("a", StdioTarget("x"), Options()), _LIMITS))
        reply = msgspec.msgpack.decode(
            answer(msgspec.msgpack.encode(ServerRequest("another", found, "a"))), type=ServerReply
        )
        assert reply.outcome is None
        assert "here is another. Reports of two versions" in reply.problem


def test_an_address_where_nobody_listens_and_daft_without_one_are_told() -> None:
    needed("distributed", "dask")
    with pytest.raises(UnreachableError, match="the scheduler does not answer"):
        open_executor("dask", "tcp://127.0.0.1:1", None, WORKER)


def assessed_by(assessor: ClusterAssessor, folder: Path, *jobs: AssessmentJob) -> dict[str, AssessmentOutcome]:
    results = ResultsFolder(folder)
    try:
        running = assess_many(jobs, results, workers=assessor.workers, limits=_LIMITS, watch=Seen(), assessor=assessor)
        return {outcome.name: outcome for outcome in asyncio.run(running)}
    finally:
        results.close()
        assessor.close()


@LONG
def test_a_server_whose_worker_is_lost_is_tried_once_more_and_then_told(tmp_path: Path) -> None:
    needed("distributed", "dask")
    murders = tmp_path / "murders"
    murderer = python("murderer", MURDERER % str(murders))
    found = assessed_by(
        ClusterAssessor(open_executor("dask", None, 2, WORKER)),
        tmp_path / "out",
        murderer,
        *(scripted(tmp_path, name) for name in "abc"),
    )
    assert {name: outcome.ending for name, outcome in found.items()} == {
        "murderer": "crashed", "a": "assessed", "b": "assessed", "c": "assessed",
    }  # fmt: skip
    assert murders.read_text() == "xx"
    assert "the worker that assessed it was lost, 2 times" in found["murderer"].problem
