"""The words of a server reach a report without secrets, in every format and in every part of the document."""

import asyncio
import io
import json
import re
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from rich.console import Console

import toolvet
from toolvet.assess import Options, Report, assess, report as documents
from toolvet.assess.exchange import PlannedCall, assess_call, observe
from toolvet.assess.report import render
from toolvet.assess.rules import cards, tool_definition
from toolvet.mcp.transport import Answer, StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
SECRETS = ("hunter2secret", "dbpassS3", "sk-live-0123456789")
WORDS = f"login failed with password={SECRETS[0]} at postgres://bob:{SECRETS[1]}@h/x"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string", "description": "Words."}}, "required": ["query"]}


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Search. {WORDS}", "inputSchema": SCHEMA}


def text(words: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


ANSWERS = {
    "fails": text(WORDS, isError=True),
    "hides_it": text(f"Error: {WORDS}"),
    "refuses": text(f"Invalid argument 'query': {WORDS}", isError=True),
    "crashes": text(f'Traceback (most recent call last):\n  File "/srv/a.py", line 1\nE: {WORDS}', isError=True),
    "says_no": {"error": {"code": -32603, "message": WORDS, "data": {"api_key": SECRETS[2]}}},
    "is_structured": text("ok", structuredContent={"token": SECRETS[2], "note": WORDS}),
    "is_no_result": {"content": f"{WORDS}"},
    "fails/1": text("Not found: 1", isError=True),
    "cuts": text(f"connection refused: {'no route to the host, ' * 6}{'and again ' * 3}{WORDS}", isError=True),
}


@cache
def report() -> Report:
    with TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps({"tools": [tool(name) for name in ANSWERS], "answers": ANSWERS}), encoding="utf-8")
        target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)))
        return asyncio.run(assess(target, Options(timeout=5.0, destructive="call")))


def assert_safe(document: str) -> None:
    found = [document[max(0, place - 200) : place + 60] for secret in SECRETS if (place := document.find(secret)) >= 0]
    assert not found


@pytest.mark.parametrize("name", list(documents.formats()))
def test_no_format_shows_a_secret(name: str) -> None:
    assert len(report().tools) == len(ANSWERS)
    assert_safe(render(name, [report()], cards()))


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_shows_no_secret(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    with console.capture() as capture:
        documents.print_report([report()], console)
    assert_safe(capture.get().replace("\n", ""))


def test_what_was_hidden_is_marked_in_every_part_of_a_call() -> None:
    (fails,) = [tool for tool in report().tools if tool.name == "fails"]
    scenario = fails.scenarios[0]
    assert scenario.verdict is not None
    for part in (str(scenario.result), " ".join(scenario.verdict.evidence), fails.description):
        assert "password=[redacted]" in part


def test_a_verdict_that_quotes_half_a_secret_shows_none_of_it() -> None:
    """The verdict cuts its quotation wherever it must, and half of a URL with a password does not look like one."""
    secret = "Zq7" * 12
    definition = tool_definition({"name": "get", "inputSchema": {"type": "object"}})
    plan = PlannedCall(name="minimal", category="progressive", arguments={}, origin="schema")
    cut = 0
    for filler in range(120):
        words = f"ECONNREFUSED {'x' * filler} postgres://bob:{secret}@host.example/shop and more"
        reply = Answer(result=text(words, isError=True), raw=b"", duration=0.0)
        call = observe(definition, plan, reply, protocol_version="2025-11-25")
        assert call.verdict is not None
        cut += any(raw.endswith(secret[:n]) for raw in call.verdict.evidence for n in range(6, len(secret)))
        scenario = assess_call(1, plan, call, StdioTarget(command="server")).scenario
        assert scenario.verdict is not None
        assert secret[:6] not in " ".join([*scenario.verdict.evidence, *scenario.verdict.issues, scenario.note])
    assert cut


def test_secrets_are_removed_in_six_files_only() -> None:
    """Findings leave through `quote`, scenarios through `exchange`, and the server's own description in `assemble`.

    Requests about resources and prompts leave through `requests`. `harvest` takes no values from what is a secret, and
    `cluster` looks for secrets in jobs that would go to a worker. Replays and peers are not part of an assessment, and
    redact their own words.
    """
    folder = Path(toolvet.__file__).parent / "assess"
    files = [path for path in folder.rglob("*.py") if "replay" not in path.parts and path.name != "peers.py"]
    sources = [(path.name, path.read_text(encoding="utf-8")) for path in files]
    assert {name for name, text in sources if re.search(r"\bredact(?:_text)?\(", text)} == {
        "assemble.py",
        "cluster.py",
        "exchange.py",
        "harvest.py",
        "quote.py",
        "requests.py",
    }


def test_every_scenario_has_an_id_of_its_own_and_findings_name_those_only() -> None:
    ids = [scenario.id for tool in report().tools for scenario in tool.scenarios]
    assert len(ids) == len(set(ids))
    assert {finding.scenario for finding in report().findings} - {None} <= set(ids)
    for tool in report().tools:
        assert [scenario.id for scenario in tool.scenarios] == [
            f"{tool.name}/{n + 1}" for n in range(len(tool.scenarios))
        ]
