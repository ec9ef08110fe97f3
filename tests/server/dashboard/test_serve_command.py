"""`toolvet serve` as a process: it starts, bounds its clients, ends in time, and says what is wrong in one sentence."""

import contextlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from tests.server.dashboard.serving import serving

from toolvet.cli.commands.serve import run as serve_command
from toolvet.server.dashboard import server
from toolvet.store import Store


@contextlib.contextmanager
def started(folder: Path, *words: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", str(folder / "a.db"), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **env}) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found is not None
            yield process, found[0].rstrip("/")
        finally:
            process.kill()


def refused(folder: Path, *words: str, settings: str = "") -> str:
    (folder / "toolvet.toml").write_text(settings)
    command = [sys.executable, "-m", "toolvet", "serve", "--store", str(folder / "a.db"), *words]
    env = {name: value for name, value in os.environ.items() if name != "TOOLVET_TOKEN"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_sigterm_ends_it_although_a_request_hangs(tmp_path: Path) -> None:
    with started(tmp_path) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        assert httpx2.post(f"{url}/v1/verdicts", json={"kind": "answer", "text": "A fine answer."}).status_code == 201
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /v1/check/answer HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                b"content-length: 100\r\n\r\n{"
            )
            assert httpx2.get(f"{url}/healthz").status_code == 200
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
    with Store(tmp_path / "a.db") as store:
        assert store.count() == 1


def test_a_token_of_toolvet_serve_token_opens_the_api_for_its_role(tmp_path: Path) -> None:
    words = ["toolvet", "serve", "token", "ada", "--role", "viewer"]
    made = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=True)
    settings, _, advice = made.stderr.partition("\n\n")
    assert "shown only once" in advice
    assert made.stdout.strip() not in made.stderr
    (tmp_path / "toolvet.toml").write_text(settings)
    with started(tmp_path) as (_, url):
        assert httpx2.get(f"{url}/v1/verdicts").status_code == 401
        headers = {"authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx2.get(f"{url}/v1/verdicts", headers=headers).json()["total"] == 0
        body = {"kind": "answer", "text": "A fine answer."}
        assert httpx2.post(f"{url}/v1/verdicts", json=body, headers=headers).status_code == 403


def test_a_team_with_two_reviewers_gets_as_far_as_the_page_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")
    section = page.split("## A team with two reviewers\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    (tmp_path / "answers.jsonl").write_text(next(text for kind, text in blocks if kind == "json"), encoding="utf-8")
    settings = [text for kind, text in blocks if kind == "toml"]

    def toolvet(line: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *line.replace("toolvet.db", "a.db").partition(" > ")[0].split()]
        env = {**os.environ, "TOOLVET_STORE": "a.db"}
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=env, timeout=120)

    done = {line: toolvet(line) for kind, text in blocks if kind == "sh" for line in text.splitlines()}
    tokens = {line.split(" > ")[1]: each for line, each in done.items() if " > " in line}
    settings += [each.stderr.rpartition("\n\n")[0] for each in tokens.values()]
    (tmp_path / "toolvet.toml").write_text("\n".join(settings), encoding="utf-8")
    with started(tmp_path) as (_, url), contextlib.ExitStack() as clients:
        ada, ben = (
            clients.enter_context(
                httpx2.Client(base_url=url, headers={"authorization": f"Bearer {each.stdout.strip()}"}, timeout=30)
            )
            for each in tokens.values()
        )
        items = [client.post("/v1/queue/next", json={}).json()["item"] for client in (ada, ben)]
        # The refusal alone: "180 euros." answers its question.
        assert items[0]["id"] == items[1]["id"]
        path = f"/v1/queue/{items[0]['id']}"
        ada.post(f"{path}/label", json={"value": "right"})
        assert ben.get(path).json()["labels"] == []
        ben.post(f"{path}/label", json={"value": "wrong"})
        assert ada.get("/v1/queue", params={"state": "disputed"}).json()["total"] == 1
        assert ben.post(f"{path}/label", json={"value": "right", "final": True}).status_code == 200
    assert "ada, ben" in toolvet("toolvet review agreement").stdout
    assert "ada: right" in toolvet("toolvet trace turn-1").stdout


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused(tmp_path, "--port", str(taken.getsockname()[1]))
    assert "is taken" in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("--host", "0.0.0.0"), ""),  # noqa: S104 - that it is refused is the test
        (("--allow-host", "dash.example"), ""),
        ((), '[serve]\nallow_host = ["dash.example"]'),
    ],
)
def test_other_machines_need_tokens(tmp_path: Path, words: tuple[str, ...], settings: str) -> None:
    assert "can be reached from other machines" in refused(tmp_path, *words, settings=settings)


def test_a_bad_port_and_a_weak_token_are_refused(tmp_path: Path) -> None:
    assert "65535" in refused(tmp_path, "--port", "70000")
    assert "16 characters" in refused(tmp_path, "--token", "short")


def test_a_slow_head_loses_its_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.HeadLimit, "seconds", 0.2)
    with serving(f"{tmp_path}/a.db") as running:
        address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
        for beginning in (b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /he"):
            with socket.create_connection(address) as slow:
                slow.settimeout(20)
                slow.sendall(beginning)
                received = b"".join(iter(lambda slow=slow: slow.recv(65536), b""))  # type: ignore[misc]
                assert received == b"" or b"200 OK" in received


def test_a_head_without_end_is_refused(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db") as running:
        address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
        with socket.create_connection(address) as loud:
            loud.settimeout(20)
            loud.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
            with contextlib.suppress(OSError):
                for _ in range(100):
                    loud.sendall(b"x-more: " + b"x" * 1000 + b"\r\n")
            with contextlib.suppress(ConnectionError):
                assert b" 400 " in loud.recv(65536)


def test_the_end_is_announced_to_streams_of_events() -> None:
    ending = threading.Event()
    ended: list[bool] = []
    app: Any = SimpleNamespace(state=SimpleNamespace(live=SimpleNamespace(end=lambda: ended.append(True))))
    made: Any = server.make_server(app, ending)
    made.handle_exit(signal.SIGTERM, None)
    assert ending.is_set()
    assert ended
    assert made.should_exit


def test_it_starts_with_a_token_from_the_environment(tmp_path: Path) -> None:
    token = "correct-horse-battery"
    with started(tmp_path, TOOLVET_TOKEN=token) as (_, url):
        assert httpx2.get(f"{url}/v1/overview").status_code == 401
        assert httpx2.get(f"{url}/v1/overview", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_the_second_signal_waits_for_nobody(tmp_path: Path) -> None:
    with started(tmp_path) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /v1/check/answer HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                b"content-length: 100\r\n\r\n{"
            )
            assert httpx2.get(f"{url}/healthz").status_code == 200
            process.send_signal(signal.SIGTERM)
            while _accepts(host, int(port)):
                pass
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 128 + signal.SIGTERM


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_the_store_and_is_no_failure(tmp_path: Path, number: int) -> None:
    with started(tmp_path) as (process, url):
        assert httpx2.post(f"{url}/v1/verdicts", json={"kind": "answer", "text": "A fine answer."}).status_code == 201
        process.send_signal(number)
        assert process.wait() == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith("-wal")]


def test_a_locked_store_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with started(tmp_path) as (process, url):
        assert httpx2.get(f"{url}/healthz").status_code == 200
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, timeout=60)
        other.execute("BEGIN EXCLUSIVE")
        assert httpx2.post(f"{url}/v1/verdicts", json={"kind": "answer", "text": "A fine answer."}).status_code == 201
        process.send_signal(signal.SIGTERM)
        process.wait()
        other.execute("ROLLBACK")
        other.close()
    with Store(tmp_path / "a.db") as store:
        assert store.count() == 1


def test_what_hangs_in_a_thread_is_cut() -> None:
    program = (
        "import threading\nfrom toolvet.server.dashboard.server import bounded_end\nending = threading.Event()\n"
        "with bounded_end(ending, 0.1):\n    ending.set()\n    threading.Event().wait()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == server.CUT_SHORT
    assert "safe in the spool" in ended.stderr


def test_the_pages_need_neither_the_reports_nor_a_terminal() -> None:
    code = (
        "import sys; import toolvet.server.dashboard.app, toolvet.server.access.gate;"
        "heavy = {'rich', 'pygments', 'alembic', 'toolvet.assess.report.terminal', 'toolvet.assess.rules'};"
        " print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


class FakeMalloc:
    """A C library that notes its calls."""

    def __init__(self) -> None:
        self.told: list[tuple[int, ...]] = []

    def mallopt(self, *given: int) -> int:
        self.told.append(given)
        return 1

    def malloc_trim(self, pad: int) -> int:
        self.told.append((pad,))
        return 1


def test_large_blocks_go_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    libc = FakeMalloc()
    monkeypatch.setattr(serve_command, "_libc", lambda: libc)
    serve_command.spare_memory()
    # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX of <malloc.h>.
    assert libc.told == [(-3, 256 * 1024), (-1, 256 * 1024), (-8, 2)]
    serve_command.trim_memory()
    assert libc.told[3:] == [(0,)]


def test_without_glibc_memory_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolvet.cli.commands.serve.run.ctypes.CDLL", lambda _: object())
    serve_command.spare_memory()
    serve_command.trim_memory()
    monkeypatch.setattr("toolvet.cli.commands.serve.run.sys.platform", "darwin")
    monkeypatch.setattr("toolvet.cli.commands.serve.run.ctypes.CDLL", pytest.fail)
    serve_command.spare_memory()
