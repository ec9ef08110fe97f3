"""The hooks in the clients themselves, with a scripted model and a real MCP server on loopback (`make clients`)."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.agents.hook.live.coding_agents import AGENTS, CodingAgent, Workplace, environment, run_agent
from tests.agents.hook.live.conftest import HookTimes
from tests.agents.hook.live.scripted_model import ScriptedModel, ScriptStep
from tests.live.servers import npm_modules

from toolvet.agents.hook.dialect import Client, dialect_of, read_event

pytestmark = pytest.mark.live
TOOLVET = Path(sys.executable).parent / "toolvet"
WATCHED = Path(__file__).parent / "watched_hook.py"
BAD = {"zone": "Europe/Rome", "style": "tiny"}
GOOD = {"zone": "Europe/Rome", "style": "short"}
MENDABLE = {"zone": "Europe/Rome", "days": "2"}
DOWN = {"zone": "Mars/Phobos"}
CORRECTION = 'Use one of these values: "short", "long"'
TESTS = """import unittest


class DatesTest(unittest.TestCase):
    def test_day(self):
        self.assertTrue(True)
"""


class ClientRun(NamedTuple):
    """One run of a client: what the model was asked, what the server was called with, and what the hooks said."""

    model: ScriptedModel
    calls: list[dict[str, Any]]
    hooks: list[dict[str, Any]]
    output: str


class Bench:
    """A client in an empty home, with the hooks that the real `toolvet hook install` put into its settings."""

    def __init__(self, client: Client, folder: Path, times: HookTimes) -> None:
        self.times = times
        self.client = client
        self.agent: CodingAgent = AGENTS[client]
        self.modules = npm_modules(f"client-{client}", self.agent.package)
        self.place = Workplace(folder / "home", folder / "project", folder / "called")
        for each in (self.place.home, self.place.project, folder / "bin"):
            each.mkdir()
        self.program = folder / "bin" / "toolvet"
        self.record = folder / "hooks.jsonl"

    def run(self, *steps: ScriptStep, settings: str = "", without: str = "") -> ClientRun:
        """Install the hooks, run the client on this script, take them out again, and return what happened.

        `without` is a word that is left out of the client's command.
        """
        if settings:
            (self.place.project / "toolvet.toml").write_text(settings)
        with ScriptedModel(steps) as model:
            given = self.agent.configure(self.place, model.url)
            agent = self.agent._replace(command=tuple(word for word in self.agent.command if word != without))
            path = self.settings_path()
            before = path.read_bytes() if path.exists() else None
            self.install(given)
            assert path.read_bytes() != before
            done = run_agent(agent, self.modules, self.place, given)
            self.toolvet(given, "uninstall")
        output = done.stdout + done.stderr
        after = path.read_bytes() if path.exists() else None
        assert after == before, f"the settings are not what they were: {after!r}\n{output}"
        assert model.asked, output
        return ClientRun(model, self._called(), self._hooks(), output)

    def install(self, given: Mapping[str, str]) -> None:
        """Let the real `toolvet hook install` change the settings."""
        # The program is copied to be watched: once it is installed, another stands in its place that runs it.
        shutil.copy(TOOLVET, self.program)
        self.toolvet(given, "install")
        words = [sys.executable, str(WATCHED), str(self.record), str(TOOLVET)]
        self.program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')

    def toolvet(self, given: Mapping[str, str], what: str) -> None:
        """Run `toolvet hook install` or `uninstall`."""
        program = self.program if what == "install" else TOOLVET
        subprocess.run(
            [str(program), "hook", what, self.client],
            check=True,
            capture_output=True,
            cwd=self.place.project,
            env={**environment(self.place), **given},
        )

    def settings_path(self) -> Path:
        """Return the file with the hooks of the user."""
        place = dialect_of(self.client).settings
        return self.place.home / place.user.removeprefix("~/")

    def _called(self) -> list[dict[str, Any]]:
        if not self.place.calls.exists():
            return []
        return [json.loads(line) for line in self.place.calls.read_text().splitlines() if line != "started"]

    def _hooks(self) -> list[dict[str, Any]]:
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        hooks = [json.loads(line) for line in lines]
        assert all(each["code"] == 0 for each in hooks)
        for each in hooks:
            moment = read_event(dialect_of(self.client), each["event"]).moment
            self.times[self.client, moment].append((each["seconds"], each["cpu"]))
        return hooks


@pytest.fixture(params=list(AGENTS))
def bench(request: pytest.FixtureRequest, tmp_path: Path, hook_times: HookTimes) -> Bench:
    return Bench(request.param, tmp_path, hook_times)


def test_a_bad_call_does_not_reach_the_server_and_the_model_reads_why(bench: Bench) -> None:
    clock = bench.agent.clock
    run = bench.run(clock(BAD), clock(GOOD), ScriptStep(text="It is 12:00 in Rome."))
    assert run.calls == [GOOD], run.output
    assert CORRECTION in run.model.heard(1)
    assert "It is 12:00." in run.model.heard(2)
    assert len(run.model.asked) == 3


def test_repaired_arguments_reach_the_server(bench: Bench) -> None:
    clock = bench.agent.clock
    run = bench.run(clock(MENDABLE), ScriptStep(text="It is 12:00 in Rome."), settings='[proxy]\nrepair = "apply"\n')
    assert run.calls == [{"zone": "Europe/Rome", "days": 2}], run.output
    assert "It is 12:00." in run.model.heard(1)


def test_the_model_reads_that_a_result_is_a_failure(bench: Bench) -> None:
    clock = bench.agent.clock
    run = bench.run(clock(DOWN), clock(GOOD), ScriptStep(text="The clock of Phobos is down."))
    assert run.calls == [DOWN, GOOD], run.output
    assert "reports a failure" in run.model.heard(1)
    assert run.model.heard(2).count("reports a failure") == 1


def test_an_end_that_the_calls_contradict_is_refused_once(bench: Bench) -> None:
    path = str(bench.place.project / "dates.py")
    steps = [bench.agent.write(path, "DAY = 1\n"), *[ScriptStep(text="I set the day. All tests pass.")] * 4]
    run = bench.run(*steps)
    assert (bench.place.project / "dates.py").read_text() == "DAY = 1\n", run.output
    assert "no call ran the tests after the last edit" in run.model.heard(2)
    assert len(run.model.asked) == 3, run.output


def test_a_hand_back_that_the_calls_contradict_is_refused_once(tmp_path: Path, hook_times: HookTimes) -> None:
    bench = Bench("claude", tmp_path, hook_times)
    task = {"description": "Set the day", "prompt": "Set the day in dates.py.", "subagent_type": "general-purpose"}
    claims = [ScriptStep(text="I set the day. All tests pass.")] * 2
    write = bench.agent.write(str(bench.place.project / "dates.py"), "DAY = 1\n")
    run = bench.run(ScriptStep("Task", task), write, *claims, ScriptStep(text="The other agent set the day."))
    assert "no call ran the tests after the last edit" in run.model.heard(3), run.output
    ends = [each["event"] for each in run.hooks if each["event"]["hook_event_name"] == "SubagentStop"]
    assert [each["stop_hook_active"] for each in ends] == [False, True]
    assert run.hooks[-1]["answer"] is None


def test_a_hand_back_in_copilot_is_refused_once(tmp_path: Path, hook_times: HookTimes) -> None:
    bench = Bench("copilot", tmp_path, hook_times)
    task = {"agent_type": "task", "name": "set-day", "description": "Set the day", "prompt": "Set the day in dates.py."}
    claims = [ScriptStep(text="I set the day. All tests pass.")] * 2
    write = bench.agent.write(str(bench.place.project / "dates.py"), "DAY = 1\n")
    run = bench.run(ScriptStep("task", {**task, "mode": "sync"}), write, *claims, ScriptStep(text="It set the day."))
    assert "no call ran the tests after the last edit" in run.model.heard(3), run.output
    # The sub-agent's own end comes first, then that of its work for the parent; both again when it has gone on.
    ends = [each for each in run.hooks if {"agentId", "transcriptPath"} <= each["event"].keys()]
    assert ["response" in each["event"] for each in ends] == [False, True] * 2, run.output
    assert [each["answer"] is None for each in ends] == [False, False, True, True]
    assert len(run.model.asked) == 5


def test_an_honest_end_is_not_refused(bench: Bench) -> None:
    path = str(bench.place.project / "test_dates.py")
    run_them = bench.agent.shell("python3 -m unittest test_dates")
    run = bench.run(bench.agent.write(path, TESTS), run_them, ScriptStep(text="I wrote a test. All tests pass."))
    assert "Ran 1 test" in run.model.heard(2), run.output
    assert len(run.model.asked) == 3, run.output
    assert run.hooks[-1]["answer"] is None


def test_gemini_checks_arguments_before_it_asks_a_hook(tmp_path: Path, hook_times: HookTimes) -> None:
    bad, good = (ScriptStep("mcp_clock_now", each) for each in (BAD, GOOD))
    run = Bench("gemini", tmp_path, hook_times).run(bad, good, ScriptStep(text="It is 12:00 in Rome."))
    assert run.calls == [GOOD], run.output
    assert "must be equal to one of the allowed values" in run.model.heard(1)
    assert [each["event"]["hook_event_name"] for each in run.hooks] == ["BeforeTool", "AfterTool", "AfterAgent"]


def test_codex_runs_no_hook_that_the_user_has_not_trusted(tmp_path: Path, hook_times: HookTimes) -> None:
    bench = Bench("codex", tmp_path, hook_times)
    bad = bench.agent.clock(BAD)
    run = bench.run(bad, ScriptStep(text="It is 12:00."), without="--dangerously-bypass-hook-trust")
    assert run.calls == [BAD], run.output
    assert run.hooks == []


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ("claude", ("plugin", "marketplace", "add", "./market")),
        ("gemini", ("mcp", "add", "-s", "user", "other", "/bin/true")),
    ],
)
def test_what_a_client_wrote_into_its_settings_stays(
    client: Client, words: tuple[str, ...], tmp_path: Path, hook_times: HookTimes
) -> None:
    """The other two have their hooks in a file of its own, which they do not write."""
    market = tmp_path / "market" / ".claude-plugin"
    market.mkdir(parents=True)
    (market / "marketplace.json").write_text('{"name": "market", "owner": {"name": "x"}, "plugins": []}')
    command = tuple(str(market.parent) if word == "./market" else word for word in words)
    written = []
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        bench = Bench(client, tmp_path / name, hook_times)
        given = bench.agent.configure(bench.place, "http://127.0.0.1:9")
        path = bench.settings_path()
        if name == "with":
            bench.install(given)
        before = path.read_bytes()
        done = run_agent(bench.agent._replace(command=command), bench.modules, bench.place, given)
        assert path.read_bytes() != before, done.stdout + done.stderr
        if name == "with":
            assert b"toolvet hook" in path.read_bytes()
            bench.toolvet(given, "uninstall")
        written.append(path.read_text().replace(str(bench.place.calls), "calls"))
    assert written[0] == written[1]


def test_copilot_also_runs_the_hooks_that_a_project_has_for_claude_code(tmp_path: Path, hook_times: HookTimes) -> None:
    bench = Bench("copilot", tmp_path, hook_times)
    words = [str(TOOLVET), "hook", "install", "claude", "--project"]
    subprocess.run(words, check=True, capture_output=True, cwd=bench.place.project, env=environment(bench.place))
    settings = bench.place.project / ".claude/settings.json"
    watched = [sys.executable, str(WATCHED), str(tmp_path / "claude.jsonl"), str(TOOLVET)]
    settings.write_text(settings.read_text().replace(str(TOOLVET), shlex.join(watched)))
    path = str(bench.place.project / "dates.py")
    end = [ScriptStep(text="I set the day. All tests pass.")] * 4
    run = bench.run(bench.agent.clock(BAD), bench.agent.write(path, "DAY = 1\n"), *end)
    events = [json.loads(line) for line in (tmp_path / "claude.jsonl").read_text().splitlines()]
    # The matcher of Claude Code's tools fits none of Copilot's.
    assert [each["event"]["hook_event_name"] for each in events] == ["Stop", "Stop"]
    assert run.calls == []
    assert len(run.model.asked) == 4, run.output
    assert run.model.heard(3).count("no call ran the tests after the last edit") == 1
