"""Real servers of both eras and three real clients: through the proxy as without it, except for the better errors."""

import asyncio
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.live.servers import (
    everything_server,
    filesystem_server,
    git_server,
    inspector,
    sqlite_server,
    time_server,
    typescript_client,
    typescript_sdk,
)

import mcp
from toolvet.core.checks.capability import EXTENSION_ID
from toolvet.store import Store, VerdictRecord

pytestmark = pytest.mark.live
HERE = Path(__file__).parent
Mode = Literal["legacy", "auto"]
Call = tuple[str, dict[str, Any]]


class Case(NamedTuple):
    """A server, calls whose results must be the same, one that only the proxy explains, and words of that."""

    command: tuple[str, ...]
    same: tuple[Call, ...]
    bad: Call
    told: str


def time_case(_folder: Path) -> Case:
    converted = {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Kathmandu"}
    same = (("convert_time", converted), ("get_current_time", {"timezone": "Mars/Phobos"}))
    return Case((time_server().command,), same, ("get_current_time", {"zone": "UTC"}), "Rename 'zone' to 'timezone'")


def git_case(folder: Path) -> Case:
    repository = str(folder / "repository")
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    subprocess.run(["git", "init", "--initial-branch=main", repository], check=True, capture_output=True)
    begin = ["git", "-C", repository, *identity, "commit", "--allow-empty", "-m", "Begin"]
    subprocess.run(begin, check=True, capture_output=True)
    same = (
        ("git_status", {"repo_path": repository}),
        ("git_log", {"repo_path": repository}),
        ("git_show", {"repo_path": repository, "revision": "deadbeef"}),
    )
    return Case((git_server().command,), same, ("git_log", {"repo": repository}), "Rename 'repo' to 'repo_path'")


def sqlite_case(folder: Path) -> Case:
    same: tuple[Call, ...] = (
        ("list_tables", {}),
        ("read_query", {"query": "select 1"}),
        ("read_query", {"query": "select * from nope"}),
    )
    command = (str(sqlite_server()), "--db-path", str(folder / "x.db"))
    return Case(command, same, ("read_query", {"sql": "select 1"}), "**query**: Required")


def everything_case(_folder: Path) -> Case:
    same: tuple[Call, ...] = (
        ("echo", {"message": "ünï ☃"}),
        ("get-sum", {"a": 2, "b": 3}),
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "New York"}),
    )
    # The Inspector itself turns "2" into 2 where a number is wanted, so the fault is another.
    told = "**message**: Required"
    return Case((everything_server().command, "stdio"), same, ("echo", {"msg": "x"}), told)


def filesystem_case(folder: Path) -> Case:
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    same = (
        ("read_text_file", {"path": str(folder / "a.txt"), "head": 1}),
        ("list_directory", {"path": str(folder)}),
        ("read_text_file", {"path": str(folder / "none.txt")}),
    )
    bad = ("read_text_file", {"file": str(folder / "a.txt")})
    return Case((filesystem_server().command, str(folder)), same, bad, "**path**: Required")


CASES: dict[str, Callable[[Path], Case]] = {
    "time": time_case,
    "git": git_case,
    "sqlite": sqlite_case,
    "everything": everything_case,
    "filesystem": filesystem_case,
}


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    folder = tmp_path / "data"
    folder.mkdir()
    made: Case = request.param(folder)
    return made


def through(command: tuple[str, ...], *flags: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "toolvet", "proxy", *flags, "--", *command)


def conversation(command: tuple[str, ...], mode: Mode, calls: tuple[Call, ...]) -> dict[str, Any]:
    """Everything that the official Python client shows of these."""

    async def held() -> dict[str, Any]:
        server = StdioServerParameters(command=command[0], args=list(command[1:]))
        async with mcp.Client(stdio_client(server), mode=mode) as client:
            tools = await client.list_tools()
            results = [await client.call_tool(*call) for call in calls]
            return {
                "version": client.protocol_version,
                "capabilities": client.server_capabilities.model_dump(mode="json", by_alias=True, exclude_none=True),
                "tools": tools.model_dump(mode="json", by_alias=True, exclude_none=True),
                "results": [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in results],
            }

    return asyncio.run(held())


def without_ours(seen: dict[str, Any]) -> dict[str, Any]:
    """Without the capability that the proxy announces, which has to be there."""
    assert seen["capabilities"]["experimental"].pop("toolValidation")["supported"] is True
    seen["capabilities"].get("extensions", {}).pop(EXTENSION_ID, None)
    return bare(seen)


def bare(seen: dict[str, Any]) -> dict[str, Any]:
    """Without empty places for capabilities: some servers announce them, and what is in the proxy's is taken out."""
    places = ("experimental", "extensions")
    kept = {key: value for key, value in seen["capabilities"].items() if value or key not in places}
    return {**seen, "capabilities": kept}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_client_sees_the_same_through_the_proxy(case: Case, mode: Mode) -> None:
    direct = conversation(case.command, mode, case.same)
    assert without_ours(conversation(through(case.command), mode, case.same)) == bare(direct)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_bad_call_is_explained_and_is_on_record(case: Case, mode: Mode, tmp_path: Path) -> None:
    record = tmp_path / "calls.db"
    (result,) = conversation(through(case.command, "--store", str(record)), mode, (case.bad,))["results"]
    assert result["isError"] is True
    assert case.told in result["content"][0]["text"]
    (call,) = kept(record)
    assert (call.tool, call.outcome, call.blocked) == (case.bad[0], "refused", "arguments")


def kept(record: Path) -> list[VerdictRecord]:
    with Store(record) as store:
        return store.verdicts(order="oldest")


FIRST = (typescript_sdk, "@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js")
SECOND = (typescript_client, "@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio")
CLIENTS = {"v1": (*FIRST, "legacy"), "v2, legacy": (*SECOND, "legacy"), "v2, modern": (*SECOND, "modern")}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_typescript_client_sees_the_same_through_the_proxy(case: Case, client: str) -> None:
    install, *modules = CLIENTS[client]
    calls = json.dumps([*case.same, case.bad])

    def seen(command: tuple[str, ...]) -> dict[str, Any]:
        words = ("node", str(HERE / "proxied_client.mjs"), str(install()), *modules, calls, *command)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    direct, proxied = seen(case.command), seen(through(case.command))
    *same, bad = proxied.pop("results")
    assert same == direct.pop("results")[:-1]
    assert case.told in bad["content"][0]["text"]
    assert without_ours(proxied) == bare(direct)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_inspector_sees_the_same_through_the_proxy(case: Case, era: str, tmp_path: Path) -> None:
    program = inspector()

    def seen(command: str, *words: str) -> tuple[int, str]:
        line = (*program, "--cli", command, "--method", *words, "--protocol-era", era, "--format", "json")
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout

    # The inspector takes options behind the command for its own, so each command stands in a script.
    proxied = script(tmp_path / "proxied.sh", through(case.command))
    direct = script(tmp_path / "direct.sh", case.command)
    assert seen(proxied, "tools/list") == seen(direct, "tools/list")
    for tool, arguments in case.same:
        words = ("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        assert seen(proxied, *words) == seen(direct, *words)
    tool, arguments = case.bad
    code, told = seen(proxied, "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    assert code == 5
    assert case.told in json.dumps(json.loads(told), ensure_ascii=False)


def script(path: Path, command: tuple[str, ...]) -> str:
    """A program without arguments that runs this command."""
    path.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
