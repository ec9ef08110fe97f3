"""Daemons: a server that forks twice and makes a session of its own ends with `toolvet assess` and `toolvet proxy`.

On Linux only; docs/security.md says what becomes of them elsewhere.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")

DAEMON = str(Path(__file__).parents[2] / "servers" / "daemon.py")
TOOLVET = (sys.executable, "-m", "toolvet")
OPEN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def exists(pid: int) -> bool:
    """Whether the system still lists a process, zombies included."""
    return Path(f"/proc/{pid}").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder into which daemons write their ids; those that are left are killed after the test."""
    path = tmp_path / "daemons"
    path.mkdir()
    yield path
    for pid in daemons(path):
        if exists(pid):
            os.kill(pid, signal.SIGKILL)


def daemons(folder: Path) -> list[int]:
    return sorted(int(path.name) for path in folder.iterdir())


def open_proxy(folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A proxy on our pipes that has answered the handshake, so that the first daemon runs."""
    command = [*TOOLVET, "proxy", "--", sys.executable, DAEMON, str(folder), *words]
    proxy = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ask(proxy, "initialize", OPEN)
    assert len(daemons(folder)) == 1
    return proxy


def ask(proxy: "subprocess.Popen[bytes]", method: str, params: Mapping[str, object]) -> None:
    assert proxy.stdin is not None
    assert proxy.stdout is not None
    proxy.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).encode() + b"\n")
    proxy.stdin.flush()
    assert json.loads(proxy.stdout.readline())["id"] == method


@pytest.mark.parametrize("words", [(), ("deaf",)], ids=["that obeys", "that ignores SIGTERM"])
def test_assess_leaves_no_daemon(folder: Path, words: tuple[str, ...]) -> None:
    command = [*TOOLVET, "assess", "-q", "--fail-on", "never", "--", sys.executable, DAEMON, str(folder), *words]
    subprocess.run(command, check=True)
    assert len(daemons(folder)) > 1
    assert not [pid for pid in daemons(folder) if exists(pid)]


def test_the_end_of_stdin_ends_the_daemons_of_a_proxied_server(folder: Path) -> None:
    with open_proxy(folder) as proxy:
        ask(proxy, "tools/call", {"name": "get_time", "arguments": {}})
        assert proxy.stdin is not None
        proxy.stdin.close()
        proxy.wait()
    assert len(daemons(folder)) == 2
    assert not [pid for pid in daemons(folder) if exists(pid)]


def test_sigterm_ends_the_daemons_of_a_proxied_server(folder: Path) -> None:
    with open_proxy(folder, "deaf") as proxy:
        proxy.terminate()
        proxy.wait()
    assert not [pid for pid in daemons(folder) if exists(pid)]


def test_a_daemon_that_ends_while_the_proxy_runs_leaves_no_zombie(folder: Path) -> None:
    with open_proxy(folder) as proxy:
        (daemon,) = daemons(folder)
        os.kill(daemon, signal.SIGKILL)
        while exists(daemon):  # Ends by pytest's timeout if no process reaps it.
            continue
        assert proxy.poll() is None
        proxy.terminate()


def test_the_bridge_leaves_no_daemon(folder: Path) -> None:
    command = [*TOOLVET, "proxy", "--listen", "127.0.0.1:0", "--", sys.executable, DAEMON, str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as proxy:
        assert proxy.stderr is not None
        url = next(word for line in proxy.stderr for word in line.split() if word.startswith("http://"))
        for _ in range(2):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OPEN}).encode()
            heads = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            urlopen(Request(url, body, heads)).read()  # noqa: S310 - the proxy's own URL.
        # A third process may be waiting for the next session.
        assert len(daemons(folder)) >= 2
        proxy.terminate()
        proxy.wait()
    assert not [pid for pid in daemons(folder) if exists(pid)]


def test_children_from_before_are_left_alone(folder: Path) -> None:
    """A shell that becomes toolvet (`exec`) hands it children that no server started."""
    server = f"{sys.executable} {DAEMON} {folder}"
    script = (
        f"setsid sleep 600 >/dev/null 2>&1 & echo $!; exec {' '.join(TOOLVET)} assess -q --fail-on never -- {server}"
    )
    ended = subprocess.run(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    (folder / ended.stdout.strip()).touch()
    assert [pid for pid in daemons(folder) if exists(pid)] == [int(ended.stdout)]


def test_a_library_adopts_no_orphans(folder: Path) -> None:
    """The process belongs to its program, which may have children of its own that look like orphans."""
    program = (
        "import asyncio, ctypes, sys\nfrom toolvet.assess import assess\n"
        "from toolvet.mcp.transport import StdioTarget\n"
        "asyncio.run(assess(StdioTarget(sys.executable, tuple(sys.argv[1:]))))\n"
        "kept = ctypes.c_int(); ctypes.CDLL(None).prctl(37, ctypes.byref(kept), 0, 0, 0); print(kept.value)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, DAEMON, str(folder)], stdout=subprocess.PIPE, text=True, check=True
    )
    assert ended.stdout == "0\n"
    assert all(map(exists, daemons(folder)))


def test_a_hook_that_asks_a_server_for_its_tools_leaves_no_daemon(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "toolvet.agents.hook.tool_lists", str(tmp_path / "tools.json")]
    target = {"command": sys.executable, "args": [DAEMON, str(folder)]}
    subprocess.run(command, input=json.dumps(target).encode(), check=True)
    assert json.loads((tmp_path / "tools.json").read_bytes())
    assert daemons(folder)
    assert not [pid for pid in daemons(folder) if exists(pid)]
