"""`make conformance`: run the official suite on four servers, on the proxy before each, and on the bridge to each.

Direct and proxied, the server is reached over HTTP; bridged, the same program runs on stdio behind `toolvet proxy
--listen … -- COMMAND`. Installs the suite, a Node that it runs on, and the servers under .conformance (`SDK=folder` and
`TYPESCRIPT_SDK=folder` take checkouts that are there; `SERVERS=python,fastmcp` takes some of the servers).

Prints the checks that differ, and ends with 1 when there are any that `differences.toml` does not give a cause for.
After a run with all servers, docs/conformance.md says what was found.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from compared import HERE, ComparedServer, install_suite, prepare_servers

REVISIONS: Final = ["2025-11-25", "2026-07-28"]
KNOWN: Final = Path(__file__).with_name("differences.toml")
PAGE: Final = Path("docs/conformance.md")
INTRODUCTION: Final = """\
# Conformance

Written by `make conformance`: the official suite on a server over HTTP, on the proxy before it, and on the bridge to
the same program on stdio. Checks, of them passed, and seconds (on one machine, one after another; the bridge has
opened and ended three sessions before).

Up to 2025-11-25 each session behind the bridge has a process of its own: where a program computes for a second to
start, as in Python, so does each of the forty sessions that the suite opens one after another.

| server | revision | direct | through the proxy | through the bridge |
|---|---|---|---|---|"""

# Scenario, check and status.
Check = tuple[str, str, str]


@dataclass
class Run:
    """The results of the suite on one path to a server, and how long it took."""

    checks: Counter[Check]
    seconds: float

    @property
    def passed(self) -> int:
        """How many checks succeeded."""
        return sum(number for check, number in self.checks.items() if check[2] == "SUCCESS")


@dataclass
class Comparison:
    """The runs of one server in one revision of MCP. `proxied` and `bridged` are what differs from `direct`."""

    server: str
    revision: str
    direct: Run
    proxy: Run
    bridge: Run

    @property
    def proxied(self) -> list[tuple[str, Check]]:
        """The checks that the proxy changes, each with the path that has it."""
        return differences(self.direct, self.proxy, "proxied")

    @property
    def bridged(self) -> list[tuple[str, Check]]:
        """The checks that differ behind the bridge."""
        return differences(self.direct, self.bridge, "bridged")


def main() -> int:
    suite, servers = install_suite(), prepare_servers()
    wanted = os.environ.get("SERVERS")
    chosen = [server for server in servers if wanted is None or server.name in wanted.split(",")]
    known: list[dict[str, Any]] = tomllib.loads(KNOWN.read_text())["difference"]
    found: list[Comparison] = []
    unexplained: list[str] = []
    for server in chosen:
        with started(server) as ports:
            for revision in REVISIONS:
                one = compare_paths(suite, server, revision, ports)
                lines = report(one, known)
                if lines:
                    # The suite waits five seconds for an answer: on a busy machine a check fails now and then.
                    print("  once more:")
                    one = compare_paths(suite, server, revision, ports)
                    lines = report(one, known)
                found.append(one)
                unexplained += lines
    if len(chosen) == len(servers) and not unexplained:
        PAGE.write_text(render_page(found, known))
    return 1 if unexplained else 0


def compare_paths(suite: list[str], server: ComparedServer, revision: str, ports: list[int]) -> Comparison:
    """Run the suite on all paths to one server."""
    *others, bridge = ports
    runs = [run_suite(suite, revision, server.name, port) for port in others]
    warm_up(bridge)
    return Comparison(server.name, revision, *runs, run_suite(suite, revision, server.name, bridge))


def warm_up(port: int) -> None:
    """Open and end three sessions, so that the bridge has processes started, as the server over HTTP is started."""
    params = {"protocolVersion": REVISIONS[0], "capabilities": {}, "clientInfo": {"name": "warm-up", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    url = f"http://127.0.0.1:{port}/mcp"
    for _ in range(3):
        with urllib.request.urlopen(urllib.request.Request(url, message, accepted), timeout=60) as answer:
            session = answer.headers["Mcp-Session-Id"]
        ending = urllib.request.Request(url, headers={"Mcp-Session-Id": session}, method="DELETE")
        urllib.request.urlopen(ending, timeout=60).close()  # noqa: S310 - an address of this machine


@contextmanager
def started(server: ComparedServer) -> Iterator[list[int]]:
    """Start the server, the proxy and the bridge. Yields their ports."""
    ports = [free_port() for _ in range(3)]
    direct, proxy, bridge = map(str, ports)
    environment = {**os.environ, **server.env, "PORT": direct}
    toolvet = [sys.executable, "-m", "toolvet", "proxy", "--listen"]
    commands = [
        [*server.over_http, direct],
        [*toolvet, f"127.0.0.1:{proxy}", f"http://127.0.0.1:{direct}/mcp"],
        [*toolvet, f"127.0.0.1:{bridge}", "--", *server.over_stdio],
    ]
    processes = [
        subprocess.Popen(command, cwd=server.cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        for port in ports:
            wait_for(port)
        yield ports
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def run_suite(suite: list[str], revision: str, name: str, port: int) -> Run:
    """Run the suite against a port of this machine."""
    out = HERE / "results" / f"{name}-{revision}-{port}"
    shutil.rmtree(out, ignore_errors=True)
    url = f"http://127.0.0.1:{port}/mcp"
    began = time.monotonic()
    # The exit code says whether all passed; here only the difference counts.
    subprocess.run(
        [*suite, "server", "--url", url, "--requirements", revision, "--output-dir", str(out)],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    seconds = time.monotonic() - began
    checks: Counter[Check] = Counter()
    for file in out.glob("*/checks.json"):
        scenario = file.parent.name.rpartition(f"-{time.strftime('%Y')}")[0]
        checks.update((scenario, check["id"], check["status"]) for check in json.loads(file.read_text()))
    return Run(checks, seconds)


def differences(direct: Run, other: Run, name: str) -> list[tuple[str, Check]]:
    """Return the checks that only one of two runs has, each with its run, counting duplicates."""
    only_direct = (("direct", check) for check in sorted((direct.checks - other.checks).elements()))
    only_other = ((name, check) for check in sorted((other.checks - direct.checks).elements()))
    return [*only_direct, *only_other]


def report(one: Comparison, known: list[dict[str, Any]]) -> list[str]:
    """Print what differs. Returns the lines without a known cause."""
    print(f"{one.server} {one.revision}: {summary(one.direct)} direct, {summary(one.bridge)} bridged")
    unexplained: list[str] = []
    if not one.direct.checks:
        unexplained.append("  the suite checked nothing")
    for other, differing in (("proxied", one.proxied), ("bridged", one.bridged)):
        for path, check in differing:
            line = f"  {path}, not {other if path == 'direct' else 'direct'}: {' '.join(check)}"
            cause = find_cause(known, one, path, check)
            if cause is None or (other == "proxied" and not cause.get("proxied")):
                unexplained.append(line)
                print(line)
            else:
                print(f"{line} (owed by {cause['side']})")
    if not one.proxied and not one.bridged:
        print("  the identical list through the proxy and through the bridge")
    return unexplained


def find_cause(known: list[dict[str, Any]], one: Comparison, path: str, check: Check) -> dict[str, Any] | None:
    """Return the known difference that a check belongs to; None if there is none."""
    scenario, id_, status = check
    for entry in known:
        is_here = one.revision == entry["revision"] and one.server in entry["servers"]
        is_it = scenario == entry["scenario"] and id_ in entry["checks"]
        if is_here and is_it and status in entry["direct" if path == "direct" else "bridged"]:
            return entry
    return None


def summary(run: Run) -> str:
    return f"{run.checks.total()} checks, {run.passed} passed, {run.seconds:.0f} s"


def render_page(found: list[Comparison], known: list[dict[str, Any]]) -> str:
    """Return docs/conformance.md."""
    lines = [INTRODUCTION]
    for one in found:
        proxied = f"{one.proxy.checks.total()}, {one.proxy.passed}, {count(one.proxied)}"
        bridged = f"{cell(one.bridge)}, {count(one.bridged)}"
        lines.append(f"| {one.server} | {one.revision} | {cell(one.direct)} | {proxied} | {bridged} |")
    lines += ["", "## What differs behind the bridge, and which side owes it", ""]
    for entry in known:
        where = f"{', '.join(entry['servers'])}, {entry['revision']}, `{entry['scenario']}`"
        lines += [f"- {where} ({', '.join(f'`{id_}`' for id_ in entry['checks'])}). {entry['side']}: {entry['cause']}"]
    return "\n".join(lines) + "\n"


def cell(run: Run) -> str:
    return f"{run.checks.total()}, {run.passed}, {run.seconds:.0f} s"


def count(differing: list[tuple[str, Check]]) -> str:
    return f"{len(differing)} differ" if differing else "identical"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
