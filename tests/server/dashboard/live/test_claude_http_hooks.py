"""Claude Code's http hooks against a running server, with a scripted model and a real MCP server (`make dialects`)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.hook.live.coding_agents import AGENTS, SERVER, Workplace, run_agent
from tests.agents.hook.live.scripted_model import ScriptedModel, ScriptStep
from tests.agents.hook.live.test_real_clients import BAD, CORRECTION, DOWN, GOOD, MENDABLE, TESTS
from tests.live.servers import npm_modules
from tests.server.dashboard.serving import Running, serving

from toolvet.core.settings import Settings
from toolvet.proxy.session import ProxySettings

pytestmark = [pytest.mark.live, pytest.mark.timeout(1_200)]
CLAUDE = AGENTS["claude"]
EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop")


def clock_tools() -> Any:
    """The tools as the MCP server lists them."""
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    done = subprocess.run([sys.executable, str(SERVER)], input=f"{asked}\n", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result"]["tools"]


class Work:
    """Claude Code in an empty home, whose hooks ask the server as docs/guardrail-dialects.md says."""

    def __init__(self, folder: Path, running: Running) -> None:
        self.running = running
        self.place = Workplace(folder / "home", folder / "project", folder / "called")
        self.place.home.mkdir()
        self.place.project.mkdir()
        with running.client("rob") as client:
            client.put("/v1/guardrails/tools", json={"server": "clock", "tools": clock_tools()}).raise_for_status()

    def run(self, *steps: ScriptStep, url: str = "", token: str = "") -> tuple[ScriptedModel, list[Any], str]:
        """Run the client. Returns the model, what reached the MCP server, and what the client printed."""
        with ScriptedModel(steps) as model:
            given = dict(CLAUDE.configure(self.place, model.url))
            given["TOOLVET_KEY"] = token or self.running.tokens["vera"]
            hook = {
                "type": "http",
                "url": f"{url or self.running.url}/v1/hooks/claude",
                "headers": {"Authorization": "Bearer $TOOLVET_KEY"},
                "allowedEnvVars": ["TOOLVET_KEY"],
            }
            path = self.place.home / ".claude/settings.json"
            settings = json.loads(path.read_text())
            hooks = {event: [{"hooks": [hook]}] for event in EVENTS}
            hooks["PreToolUse"][0] |= {"matcher": "mcp__.*"}  # type: ignore[dict-item]
            path.write_text(json.dumps({**settings, "hooks": hooks}))
            done = run_agent(CLAUDE, npm_modules("client-claude", CLAUDE.package), self.place, given)
        calls = self.place.calls.read_text().splitlines() if self.place.calls.exists() else []
        return model, [json.loads(line) for line in calls if line != "started"], done.stdout + done.stderr


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    settings = Settings(ProxySettings(repair="apply"))
    people = [("vera", "viewer"), ("rob", "reviewer")]
    with serving(f"{tmp_path}/a.db", people=people, settings=settings) as running:
        yield Work(tmp_path, running)


def test_a_bad_call_does_not_reach_the_server_and_the_model_reads_why(work: Work) -> None:
    model, calls, output = work.run(CLAUDE.clock(BAD), CLAUDE.clock(GOOD), ScriptStep(text="It is 12:00 in Rome."))
    assert calls == [GOOD], output
    assert CORRECTION in model.heard(1)
    assert "It is 12:00." in model.heard(2)


def test_repaired_arguments_reach_the_server(work: Work) -> None:
    _, calls, output = work.run(CLAUDE.clock(MENDABLE), ScriptStep(text="It is 12:00 in Rome."))
    assert calls == [{"zone": "Europe/Rome", "days": 2}], output


def test_the_model_reads_that_a_result_is_a_failure(work: Work) -> None:
    model, calls, output = work.run(CLAUDE.clock(DOWN), ScriptStep(text="The clock of Phobos is down."))
    assert calls == [DOWN], output
    assert "reports a failure" in model.heard(1)


def test_an_end_that_the_calls_contradict_is_refused_once(work: Work) -> None:
    path = str(work.place.project / "dates.py")
    steps = [CLAUDE.write(path, "DAY = 1\n"), *[ScriptStep(text="I set the day. All tests pass.")] * 4]
    model, _, output = work.run(*steps)
    assert "no call ran the tests after the last edit" in model.heard(2), output
    assert len(model.asked) == 3, output


def test_an_honest_end_is_not_refused(work: Work) -> None:
    path = str(work.place.project / "test_dates.py")
    run_them = CLAUDE.shell("python3 -m unittest test_dates")
    model, _, output = work.run(CLAUDE.write(path, TESTS), run_them, ScriptStep(text="I wrote a test. All tests pass."))
    assert "Ran 1 test" in model.heard(2), output
    assert len(model.asked) == 3, output


def test_a_run_that_failed_is_held_against_the_end(work: Work) -> None:
    path = str(work.place.project / "test_dates.py")
    run_them = CLAUDE.shell("python3 -m unittest test_dates")
    failing = TESTS.replace("assertTrue(True)", "assertTrue(False)")
    end = [ScriptStep(text="I wrote a test. All tests pass.")] * 3
    model, _, output = work.run(CLAUDE.write(path, failing), run_them, *end)
    assert "the last run of the tests failed" in model.heard(3), output
    assert len(model.asked) == 4, output


@pytest.mark.parametrize("fault", ["no listener", "a wrong key"])
def test_claude_code_goes_on_where_toolvet_does_not_answer(work: Work, fault: str) -> None:
    where = {"url": "http://127.0.0.1:9"} if fault == "no listener" else {"token": "wrong"}
    model, calls, output = work.run(CLAUDE.clock(BAD), ScriptStep(text="It is 12:00 in Rome."), **where)
    assert calls == [BAD], output
    assert len(model.asked) == 2
