"""One proxy under load on its stdin and stdout, while something goes wrong every so often."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.proxy.soak.disk import Disk
from tests.proxy.soak.tally import Tally, request

_WINDOW: Final = 256
# This many calls are under way while the client does not read.
_WIDE: Final = 20_000
_CHUNK: Final = 1 << 16


class Window:
    """How many calls may be under way: `enter` waits for room. A wide one does not wait for the client to read."""

    def __init__(self) -> None:
        self.limit = _WINDOW
        self.open = 0
        self._changed = threading.Condition()

    def enter(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.open < self.limit)
            self.open += 1

    def leave(self) -> None:
        with self._changed:
            self.open -= 1
            self._changed.notify()

    def set_limit(self, limit: int) -> None:
        with self._changed:
            self.limit = limit
            self._changed.notify_all()


class Faults:
    """One fault after the other, and a full disk in every thirtieth of them.

    The next one comes after `every` seconds, or after `answers` more answers where that is sooner: a short run on a
    fast machine has all of its faults, too. `counts` says how often each was injected.
    """

    def __init__(
        self,
        every: float,
        kinds: Mapping[str, Callable[[], None]],
        disk: Disk,
        full_seconds: float,
        answers: int | None = None,
    ) -> None:
        self.counts: dict[str, int] = {}
        self._every = every
        self._answers = answers
        self._due_answers = answers
        self._kinds = list(kinds.items())
        self._disk = disk
        self._full_seconds = full_seconds
        self._full_until: float | None = None
        self._due = time.monotonic() + every
        self._number = 0

    def pass_time(self, answered: int) -> None:
        """Inject the faults that are due after `answers` answers in all."""
        now = time.monotonic()
        if self._full_until is not None and now >= self._full_until:
            self.end()
        if now < self._due and (self._due_answers is None or answered < self._due_answers):
            return
        self._due = now + self._every
        if self._answers is not None:
            self._due_answers = answered + self._answers
        if self._number % 30 == 1 and self._disk.how is not None and self._full_until is None:
            self._count("full disk")
            self._full_until = now + self._full_seconds
            self._disk.fill()
        if self._kinds:
            name, inject = self._kinds[self._number % len(self._kinds)]
            self._count(name)
            inject()
        self._number += 1

    def start_over(self) -> None:
        """Count the time until the next fault from now."""
        self._due = time.monotonic() + self._every

    def end(self) -> None:
        """Free the disk."""
        if self._full_until is not None:
            self._disk.free()
            self._full_until = None

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


class Memory:
    """The memory of a proxy in MiB, when a tenth, half and all of the calls were answered."""

    def __init__(self, tally: Tally) -> None:
        self.at: dict[int, float] = {}
        self._tally = tally
        self._marks = {percent: max(1, tally.calls * percent // 100) for percent in (10, 50, 100)}

    def look(self, pid: int) -> None:
        """Measure where a mark was reached."""
        for percent, mark in self._marks.items():
            if percent not in self.at and self._tally.answered >= mark:
                self.at[percent] = rss_mib(pid)


def rss_mib(pid: int) -> float:
    """The resident memory of a process; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


class StdioLane:
    """Sends calls 0 to `tally.calls` through `command`, which is started again when it ended, and counts the answers.

    `stderr` is what the proxies said there. `pause` is how long each fault lasts, in seconds.
    """

    def __init__(self, command: list[str], tally: Tally, disk: Disk, *, pause: float) -> None:
        self.tally = tally
        self.memory = Memory(tally)
        self.stderr: list[bytes] = []
        self.process: subprocess.Popen[bytes]
        self.server = 0
        self._command = command
        self._disk = disk
        self._pause = pause
        self._window = Window()
        self._writing = threading.Lock()
        self._next = 0
        self._rest = b""
        self._faults: Faults | None = None

    @property
    def kinds(self) -> dict[str, Callable[[], None]]:
        """What can go wrong here."""
        return {
            "slow client": self._read_nothing,
            "stopped server": self._stop_server,
            "noise": self._make_noise,
            "killed server": self._kill_server,
        }

    def run(self, faults: Faults) -> dict[str, int]:
        """Send all calls, with these faults. Returns how often each fault was injected."""
        self._faults = faults
        while self.tally.answered < self.tally.calls and not self.tally.wrong:
            before = self.tally.answered
            self._run_once()
            if self.tally.answered == before:
                self.tally.wrong.append("a proxy ended without any answer")
        return faults.counts

    def _run_once(self) -> None:
        """Start a proxy and send what is left, until all was answered or it ends."""
        self._start()
        sender = threading.Thread(target=self._send, daemon=True)
        sender.start()
        before = self.tally.answered
        while self.tally.answered < self.tally.calls:
            chunk = os.read(self._from, _CHUNK)
            if not chunk:
                break
            if self.tally.answered == before and self._faults is not None:
                # The first answer waits for the checks to be loaded.
                self._faults.start_over()
            self._take(chunk)
        if self._faults is not None:
            self._faults.end()
        self.memory.look(self.process.pid)
        # Every written request has to be answered: the sender knows how much that is once it has ended.
        self._window.set_limit(self.tally.calls)
        with self._writing:
            self._to.close()
        sender.join()
        while chunk := os.read(self._from, _CHUNK):
            self._take(chunk)
        self.process.wait()
        self._errors.join()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        if self._window.open:
            self.tally.wrong.append(f"{self._window.open} calls of {self._next} were not answered at the end")

    def _start(self) -> None:
        self._window = Window()
        self._rest = b""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._to, self._from = self.process.stdin, self.process.stdout.fileno()
        errors = self.process.stderr
        self._errors = threading.Thread(target=lambda: self.stderr.append(errors.read()), daemon=True)
        self._errors.start()
        self._disk.pid = self.process.pid
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        self._say({"id": "open", "method": "initialize", "params": opening})
        self.server = int(self._read_one()["result"]["serverInfo"]["version"])
        self._say({"method": "notifications/initialized"})
        self._say({"id": "list", "method": "tools/list"})
        assert self._read_one()["id"] == "list"

    def _say(self, message: dict[str, Any]) -> None:
        with self._writing:
            self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._to.fileno(), view) :]

    def _read_one(self) -> dict[str, Any]:
        data = b""
        while not data.endswith(b"\n"):
            chunk = os.read(self._from, _CHUNK)
            assert chunk, "the proxy ended at once"
            data += chunk
        found: dict[str, Any] = json.loads(data)
        return found

    def _send(self) -> None:
        """Write calls until there are no more or the proxy does not take them."""
        while self._next < self.tally.calls:
            self._window.enter()
            with self._writing:
                if self._to.closed:
                    self._window.leave()
                    return
                try:
                    self._write(request(self._next) + b"\n")
                except BrokenPipeError:
                    self._window.leave()
                    return
                self._next += 1

    def _take(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if self.tally.take(line) is not None:
                self._window.leave()
            # After each answer: a machine may be so fast that all of them come in one piece.
            if self._faults is not None and self.tally.answered < self.tally.calls:
                self._faults.pass_time(self.tally.answered)
        self.memory.look(self.process.pid)

    # The faults.

    def _read_nothing(self) -> None:
        self._window.set_limit(_WIDE)
        time.sleep(self._pause)
        self._window.set_limit(_WINDOW)

    def _stop_server(self) -> None:
        self._signal(signal.SIGSTOP)
        threading.Timer(self._pause, self._signal, [signal.SIGCONT]).start()

    def _make_noise(self) -> None:
        # Not by the thread that reads: while the pipe is full, only reading makes room for writing.
        threading.Thread(target=self._say_noise, daemon=True).start()

    def _say_noise(self) -> None:
        with suppress(BrokenPipeError, ValueError):  # The proxy, or our pipe to it, may be gone already.
            self._say({"method": "notifications/noise"})

    def _kill_server(self) -> None:
        """Kill the server, and write nothing more: what was written before must be answered."""
        with self._writing:
            self._signal(signal.SIGKILL)
            self._to.close()

    def _signal(self, number: int) -> None:
        try:
            os.kill(self.server, number)
        except ProcessLookupError:
            return
