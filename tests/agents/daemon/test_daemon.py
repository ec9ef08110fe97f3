"""A daemon answers as the command does by itself, to the byte; and whatever becomes of it, there is an answer."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from toolvet.agents.daemon import client, protocol
from toolvet.agents.daemon.protocol import MessageError, packed, unpacked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux")

REFUSAL = b"I cannot help with that request."
ANSWER = ["check", "answer", "--json"]
PATIENCE = 4_000
ASK = """
import sys
from toolvet.agents.daemon.client import ask
code = ask(sys.argv[1:])
sys.exit(99 if code is None else code)
"""


class Home:
    """A runtime folder of a test's own, and commands that are run with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sockets = folder / "toolvet"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "TOOLVET_RESIDENT": "600"}

    def start(self, words: list[str], **more: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "toolvet", *words],
            env={**self.environment, **more},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, words: list[str], given: bytes = REFUSAL, **more: str) -> tuple[int, bytes, bytes]:
        process = self.start(words, **more)
        printed, complaints = process.communicate(given)
        return process.returncode, printed, complaints

    def alone(self, words: list[str], given: bytes = REFUSAL, **more: str) -> tuple[int, bytes, bytes]:
        return self.run(words, given, TOOLVET_RESIDENT="off", **more)

    def asked(self, words: list[str], given: bytes = REFUSAL, **more: str) -> tuple[int, bytes, bytes]:
        """As `run`, by the daemon alone: 99 where it does not answer."""
        done = subprocess.run(
            [sys.executable, "-c", ASK, *words],
            env={**self.environment, **more},
            cwd=self.folder,
            input=given,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def daemons(self) -> list[int]:
        """The processes that were started for this folder, the one that listens first."""
        found: list[int] = []
        for each in Path("/proc").iterdir():
            if each.name.isdigit():
                try:
                    words = (each / "cmdline").read_bytes()
                except OSError:
                    continue
                if b"toolvet.cli.daemon" in words and os.fsencode(self.folder) in words and b"/bin/sh" not in words:
                    found.append(int(each.name))
        return sorted(found)

    def socket(self) -> Path | None:
        return next(iter(self.sockets.glob("*.sock")), None)

    def begin(self) -> None:
        """Have a daemon started, and wait until it listens."""
        self.run(ANSWER)
        wait_for(self.socket)
        wait_for(lambda: len(self.daemons()) > 1)


def wait_for(happens: Callable[[], object]) -> None:
    for _ in range(PATIENCE):
        if happens():
            return
        time.sleep(0.02)
    pytest.fail("it does not happen")


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    # The path of a socket is short.
    found = Home(tmp_path_factory.mktemp("run"))
    yield found
    for pid in found.daemons():
        with suppress(ProcessLookupError):  # It may end by itself meanwhile.
            os.kill(pid, signal.SIGKILL)


def test_a_daemon_gives_the_same_bytes(home: Home) -> None:
    home.begin()
    (home.folder / "answers.jsonl").write_bytes(
        b'{"answer": "It is sunny.", "id": 7}\n{"answer": "Hello there \xc3\xa9"}\n'
    )
    calls = b'{"answer": "It costs 12 euros.", "calls": [{"name": "price", "arguments": {}, "result": "13 EUR"}]}'
    words = [
        (ANSWER, REFUSAL),
        (["check", "answer"], "Désolé, je ne peux pas.".encode()),
        (["check", "answer", "answers.jsonl", "--min-length", "1"], b""),
        (["check", "answer", "--json", "--advice"], calls),
        (["check", "answer", "--fail-on", "never", "--lines"], b"Sorry, I cannot.\nIt is noon in Oslo now.\n"),
        (
            ["check", "result", "--json"],
            b'{"result": {"content": [{"type": "text", "text": "Error: x"}], "isError": true}}',
        ),
        (["check", "answer", "missing.txt"], b""),
        (["check", "answer", "--no-such-option"], b""),
        (["check", "answer", "--help"], b""),
        (["check"], b""),
    ]
    for given, content in words:
        assert home.asked(given, content) == home.alone(given, content), given


def test_the_callers_folder_and_environment_count(home: Home) -> None:
    home.begin()
    (home.folder / "toolvet.toml").write_text("[checks.answer]\nmin_length = 500\n", encoding="utf-8")
    given = b"The museum opens at nine and closes at six."
    assert b"empty_response" in home.run(ANSWER, given)[1]
    assert home.run(ANSWER, given) == home.alone(ANSWER, given)


def test_a_child_answers_again_and_knows_nothing_of_the_call_before(home: Home) -> None:
    home.begin()
    plain = home.asked(["check", "answer"])
    wait_for(lambda: len(home.daemons()) > 3)
    processes = set(home.daemons())
    settings = home.folder / "toolvet.toml"
    for _ in range(2):
        settings.write_text("[checks.answer]\nmin_length = 500\n", encoding="utf-8")
        assert b"empty_response" in home.asked(["check", "answer"])[1]
        settings.unlink()
        assert b"\x1b[" in home.asked(["check", "answer"], FORCE_COLOR="1", TERM="xterm")[1]
        assert home.asked(["check", "answer"]) == plain
    # None of them ended.
    assert processes <= set(home.daemons())


def test_what_opened_a_store_answers_no_more(home: Home) -> None:
    home.begin()
    home.asked(ANSWER)
    wait_for(lambda: len(home.daemons()) > 3)
    processes = set(home.daemons())
    assert home.asked([*ANSWER, "--store", "answers.db", "--trace", "a1"])[0] == 1
    wait_for(lambda: len(processes - set(home.daemons())) == 1)
    assert home.run(["trace", "a1", "--store", "answers.db"])[0] == 0


def test_of_twenty_at_once_one_starts_it(home: Home) -> None:
    started = [home.start(ANSWER) for _ in range(20)]
    alone = home.alone(ANSWER)
    for process in started:
        printed, complaints = process.communicate(REFUSAL)
        assert (process.returncode, printed, complaints) == alone
    wait_for(home.socket)
    wait_for(lambda: len(home.daemons()) > 1)
    parents = {
        int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
        for pid in home.daemons()
    }
    assert len(parents & set(home.daemons())) == 1
    again = [home.start(ANSWER) for _ in range(20)]
    assert [(each.communicate(REFUSAL)[0], each.returncode) for each in again] == [(alone[1], alone[0])] * 20


def test_one_that_is_killed_is_replaced_and_nobody_waits_for_it(home: Home) -> None:
    home.begin()
    alone = home.alone(ANSWER)
    # In the middle: it has the words, and waits for the input.
    asking = home.start(ANSWER)
    old = home.daemons()
    assert asking.stdin is not None
    asking.stdin.write(REFUSAL[:10])
    asking.stdin.flush()
    wait_for(lambda: set(home.daemons()) - set(old) or asking.poll() is not None)
    for pid in home.daemons():
        os.kill(pid, signal.SIGKILL)
    printed, complaints = asking.communicate(REFUSAL[10:])
    assert (asking.returncode, printed, complaints) == alone
    wait_for(lambda: not home.daemons())
    # Its socket is still there, and refuses.
    assert home.socket() is not None
    assert home.run(ANSWER) == alone
    wait_for(lambda: len(home.daemons()) > 1)
    wait_for(lambda: home.run(ANSWER) == alone and home.daemons())


def test_children_end_with_a_daemon_that_is_killed(home: Home) -> None:
    home.begin()
    os.kill(min(home.daemons()), signal.SIGKILL)
    wait_for(lambda: not home.daemons())


@pytest.mark.parametrize("end", [signal.SIGTERM, None])
def test_it_ends_when_it_is_told_or_idle_and_leaves_no_socket(home: Home, end: signal.Signals | None) -> None:
    home.environment["TOOLVET_RESIDENT"] = "600" if end else "2"
    home.begin()
    if end:
        os.kill(min(home.daemons()), end)
    wait_for(lambda: not home.daemons())
    assert home.socket() is None


def test_a_slow_input_is_judged_as_it_comes(home: Home) -> None:
    home.begin()
    process = home.start(["check", "answer", "--json", "--lines"])
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(REFUSAL + b"\n")
    process.stdin.flush()
    # The verdict is there before the input ends.
    assert b"refusal" in process.stdout.readline()
    process.stdin.write(b"It is noon in Oslo now.\n")
    assert process.communicate()[0].count(b"\n") == 1


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_a_folder_that_others_may_enter_is_not_used(home: Home, mode: int) -> None:
    home.sockets.mkdir()
    home.sockets.chmod(mode)
    assert home.run(ANSWER) == home.alone(ANSWER)
    assert list(home.sockets.iterdir()) == []


def test_a_folder_of_another_user_or_a_link_is_not_used(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.folder))
    assert protocol.address() is not None
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert protocol.address() is None
    monkeypatch.undo()
    (home.folder / "elsewhere").mkdir(mode=0o700)
    other = home.folder / "other"
    other.mkdir()
    (other / "toolvet").symlink_to(home.folder / "elsewhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(other))
    assert protocol.address() is None


def test_a_version_and_a_setting_of_python_have_an_address_of_their_own(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.folder))
    addresses = [protocol.address()]
    monkeypatch.setattr(protocol, "__version__", "99.0")
    addresses.append(protocol.address())
    monkeypatch.setenv("PYTHONUTF8", "1")
    addresses.append(protocol.address())
    assert len({*addresses, None}) == 4


def test_a_daemon_that_says_nothing_is_not_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.folder))
    monkeypatch.setattr(client, "_CONNECT_SECONDS", 0.1)
    path = protocol.address()
    assert path is not None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(path)
        silent.listen()
        with pytest.raises(TimeoutError):
            client._Call().ask(path, ANSWER)


@pytest.mark.parametrize("said", [b"d" + b"\xff" * 8, b"d" + (9).to_bytes(8, "big") + (99).to_bytes(8, "big") + b"x"])
def test_what_is_no_message_is_refused(said: bytes) -> None:
    with pytest.raises(MessageError):
        unpacked(said)


def test_messages_come_back() -> None:
    message = packed(b"d", b"0", b"", b"x" * 1000)
    assert unpacked(message) == (b"d", [b"0", b"", b"x" * 1000])
    assert all(unpacked(message[:end]) is None for end in (0, 5, 9, 20, len(message) - 1))


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 0), ("off", 0), ("on", 600), ("ON", 600), ("5", 5), ("x", 0), ("9" * 9, 86400)]
)
def test_the_setting(given: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(protocol.VARIABLE, given)
    assert protocol.idle_seconds() == seconds


def test_a_call_imports_next_to_nothing() -> None:
    line = (
        "import sys; before = set(sys.modules); import toolvet.agents.daemon.client;print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"typing", "re", "socket", "json", "pathlib", "collections", "functools", "toolvet.cli"}
    assert len(loaded) < 12


def test_an_output_that_cannot_be_written_ends_as_without_a_daemon(home: Home) -> None:
    home.begin()
    found: list[tuple[int, bytes]] = []
    for wanted in ("600", "off"):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "toolvet", *ANSWER],
                env={**home.environment, "TOOLVET_RESIDENT": wanted},
                input=REFUSAL,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
        found.append((done.returncode, done.stderr))
    assert found[0] == found[1]
    assert found[0][0] == 6
