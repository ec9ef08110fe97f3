"""The four clients as programs: how each is installed, configured for a model and a server on loopback, and run."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.agents.hook.live.scripted_model import ScriptStep

from toolvet.agents.hook.dialect import Client

SERVER = Path(__file__).parents[1] / "clock_server.py"
_SECONDS = 150
_PROMPT = "Tell me the time in Rome."


class Workplace(NamedTuple):
    """An empty home, the folder that the agent works in, and the file with the calls that reached the server."""

    home: Path
    project: Path
    calls: Path


class CodingAgent(NamedTuple):
    """How one client is run: its npm package, its configuration, its command, and the names of its tools."""

    package: str
    program: str
    configure: Callable[[Workplace, str], Mapping[str, str]]
    command: tuple[str, ...]
    clock: Callable[[dict[str, Any]], ScriptStep]
    write: Callable[[str, str], ScriptStep]
    shell: Callable[[str], ScriptStep]


def _entry(place: Workplace) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(SERVER), str(place.calls)]}


def _claude(place: Workplace, url: str) -> Mapping[str, str]:
    (place.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"clock": _entry(place)}}))
    settings = {"enabledMcpjsonServers": ["clock"], "theme": "dark"}
    (place.home / ".claude").mkdir()
    (place.home / ".claude/settings.json").write_text(json.dumps(settings, indent=4))
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


def _codex(place: Workplace, url: str) -> Mapping[str, str]:
    entry = _entry(place)
    (place.home / ".codex").mkdir()
    (place.home / ".codex/config.toml").write_text(
        # A model that Codex knows is offered apply_patch; another is not.
        'model = "gpt-5.5"\nmodel_provider = "scripted"\n\n'
        f'[model_providers.scripted]\nname = "Scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n\n'
        f"[mcp_servers.clock]\ncommand = {json.dumps(entry['command'])}\nargs = {json.dumps(entry['args'])}\n\n"
        f'[projects."{place.project}"]\ntrust_level = "trusted"\n'
    )
    return {"OPENAI_API_KEY": "none"}


def _gemini(place: Workplace, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "mcpServers": {"clock": _entry(place)},
    }
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini/settings.json").write_text(json.dumps(settings, indent=4))
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _copilot(place: Workplace, url: str) -> Mapping[str, str]:
    (place.home / ".copilot").mkdir()
    server = {"type": "local", "tools": ["*"], **_entry(place)}
    (place.home / ".copilot/mcp-config.json").write_text(json.dumps({"mcpServers": {"clock": server}}))
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": url,
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "claude-sonnet-4.5",
    }


AGENTS: dict[Client, CodingAgent] = {
    "claude": CodingAgent(
        "@anthropic-ai/claude-code@2.1.197",
        # What `.bin/claude` becomes by its install script, which does not run here.
        "@anthropic-ai/claude-code-*/claude",
        _claude,
        (
            "-p", _PROMPT, "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits",
            "--mcp-config", ".mcp.json", "--allowedTools", "mcp__clock__now,Write,Edit,Bash",
        ),
        lambda arguments: ScriptStep("mcp__clock__now", arguments),
        lambda path, text: ScriptStep("Write", {"file_path": path, "content": text}),
        lambda command: ScriptStep("Bash", {"command": command, "description": "Run it"}),
    ),
    "codex": CodingAgent(
        "@openai/codex@0.169.0",
        ".bin/codex",
        _codex,
        (
            "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust", "--json", _PROMPT,
        ),
        lambda arguments: ScriptStep("now", arguments, namespace="mcp__clock"),
        lambda path, text: ScriptStep("apply_patch", _patch(path, text)),
        lambda command: ScriptStep("exec_command", {"cmd": command}),
    ),
    "gemini": CodingAgent(
        "@google/gemini-cli@0.61.0",
        ".bin/gemini",
        _gemini,
        ("-p", _PROMPT, "--yolo", "-m", "gemini-2.5-pro"),
        # It checks the arguments of `now` itself; the schema of `then` it does not know.
        lambda arguments: ScriptStep("mcp_clock_then", arguments),
        lambda path, text: ScriptStep("write_file", {"file_path": path, "content": text}),
        lambda command: ScriptStep("run_shell_command", {"command": command}),
    ),
    "copilot": CodingAgent(
        "@github/copilot@1.0.102",
        ".bin/copilot",
        _copilot,
        ("-p", _PROMPT, "--allow-all-tools", "--allow-all-paths", "--trust-folder", "--log-level", "debug"),
        lambda arguments: ScriptStep("clock-now", arguments),
        lambda path, text: ScriptStep("create", {"path": path, "file_text": text}),
        lambda command: ScriptStep("bash", {"command": command, "description": "Run it"}),
    ),
}  # fmt: skip


def _patch(path: str, text: str) -> str:
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"


def environment(place: Workplace) -> dict[str, str]:
    """Return the variables that every client gets: what it sends to anywhere but loopback is refused."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    dead = "http://127.0.0.1:9"
    proxies = {"HTTPS_PROXY": dead, "HTTP_PROXY": dead, "NO_PROXY": "127.0.0.1,localhost"}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place.home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        # The compiled phrases, which took the machine some seconds, are shared; the list of tools is not: its
        # fingerprint has the path of the server's file.
        "XDG_CACHE_HOME": cache,
        **proxies,
    }


def run_agent(
    agent: CodingAgent, modules: Path, place: Workplace, given: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the client once, in the project."""
    return subprocess.run(
        [str(next(modules.glob(agent.program))), *agent.command],
        cwd=place.project,
        env={**environment(place), **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
