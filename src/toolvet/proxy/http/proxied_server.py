"""The server behind the proxy as all exchanges share it: upstream, policies, recorder, callers and size limits.

`RefusalLog` counts all refused requests, and the record gets a note of some, so that no flood fills a disk.
"""

import sys
from collections import Counter
from collections.abc import Callable
from secrets import token_hex
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from toolvet.core.redact import redact_text
from toolvet.proxy.http.callers import Callers
from toolvet.proxy.http.message import DROPPED, Field, Responder, ResponseHead, is_legal, passed_fields
from toolvet.proxy.http.unread import UnreadRequest, refuse_unread
from toolvet.proxy.http.upstream import Upstream, UpstreamResponse
from toolvet.proxy.interception import Interception, Traffic
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import Policies, Policy, PolicyFault, Session, ToolSettings

# This many notes of one status are written as they come. After them the pause between two notes grows from a minute
# to an hour, and shrinks again after an hour without any.
_AT_ONCE: Final = 10
_FIRST_PAUSE: Final = 60.0
_LONGEST_PAUSE: Final = 3600.0
_NAME: Final = "toolvet_refused_requests_total"
_HELP: Final = "HTTP requests that the proxy refused, by the status of its answer."
# At least that much is read, however low the policies are: a tool list, or an answer whose id has to be found.
_LEAST_HELD: Final = 16 * 2**20
# The message around the arguments or the result.
_ENVELOPE: Final = 64 * 1024
_MOST_COMPLAINTS: Final = 100


class RefusalLog:
    """Counts the requests that the proxy refuses, by the status of its answer, and notes them in the record.

    `server` is the server's name for the record; `now` returns the time in seconds.
    """

    def __init__(self, recorder: Recorder, server: str, now: Callable[[], float] = monotonic) -> None:
        self._recorder = recorder
        self._origin = RecordSource(server, "", "tcp")
        self._now = now
        self._counts: Counter[int] = Counter()
        self._notes: dict[int, _Notes] = {}

    def take(self, status: int, why: str) -> None:
        """Count a request that was refused with this status. `why` is for the record, as the words after a colon."""
        self._counts[status] += 1
        notes = self._notes.setdefault(status, _Notes())
        now = self._now()
        notes.why = why
        if notes.written >= _AT_ONCE and now < notes.due:
            notes.skipped += 1
            return
        if notes.written >= _AT_ONCE:
            if now > notes.due + _LONGEST_PAUSE:
                notes.written, notes.pause = 0, _FIRST_PAUSE
            else:
                notes.pause = min(notes.pause * 2, _LONGEST_PAUSE)
        notes.due = now + notes.pause
        notes.written += 1
        self._write(status, notes)

    def render(self) -> str:
        """Return the counts in the text format of Prometheus."""
        lines = [f"# HELP {_NAME} {_HELP}", f"# TYPE {_NAME} counter"]
        lines += [f'{_NAME}{{status="{status}"}} {count}' for status, count in sorted(self._counts.items())]
        return "\n".join(lines) + "\n"

    def close(self) -> None:
        """Note how many requests were refused since the last notes."""
        for status, notes in self._notes.items():
            if notes.skipped:
                notes.skipped -= 1
                self._write(status, notes)

    def _write(self, status: int, notes: "_Notes") -> None:
        words = f"A request was refused ({status}): {notes.why}."
        if notes.skipped:
            words += f" So were {notes.skipped} others with this status since the last note of one."
            notes.skipped = 0
        self._recorder.take(self._origin, PolicyFault("request_refused", words))


class _Notes(msgspec.Struct):
    """The notes of one status: how many were written and left out, and when the next one may be."""

    written: int = 0
    skipped: int = 0
    due: float = 0.0
    pause: float = _FIRST_PAUSE
    why: str = ""


class Address(msgspec.Struct, frozen=True):
    """Where the server is, as a client's request has to name it.

    `path` is the path of the endpoint, `target` has the query as well; `origin` is scheme and authority. `headers` are
    the user's own for the server and replace those of clients.
    """

    path: bytes = b"/mcp"
    target: bytes = b"/mcp"
    origin: bytes = b""
    headers: tuple[Field, ...] = ()


class ReadLimits(msgspec.Struct, frozen=True):
    """How many bytes of a message are read; larger messages pass unread."""

    request: int
    answer: int


class ProxiedServer:
    """One server behind the proxy, for all its clients. `prefix` begins the ids of the proxy's own questions."""

    def __init__(
        self,
        upstream: Upstream,
        address: Address,
        policies: Policies,
        recorder: Recorder,
        interception: Interception | None = None,
    ) -> None:
        self.upstream = upstream
        self.address = address
        self.policies = policies
        self.recorder = recorder
        self.refusals = RefusalLog(recorder, upstream.name)
        self.callers = Callers()
        self.limits = _read_limits(policies)
        self.prefix = f"toolvet:{token_hex(8)}:"
        self.interception = interception
        # By the sessions of the exchanges, some of which are answered on the stream of another one.
        self.traffic = WeakKeyDictionary[Session, Traffic]()
        self._complained: set[str] = set()

    def complain(self, words: str) -> None:
        """Write `words` to stderr without secrets, once for each wording."""
        if words not in self._complained and len(self._complained) < _MOST_COMPLAINTS:
            self._complained.add(words)
            sys.stderr.write(f"toolvet: {redact_text(words)}\n")

    async def stream(self, response: UpstreamResponse, responder: Responder) -> None:
        """Pass an answer on as it arrives. Raises BrokenBodyError when it breaks off."""
        head = self.passed_head(response.head)
        if head.length == 0:
            responder.send(head)
            return
        await responder.start(head)
        while data := await response.body.read():
            await responder.write(data)
        await responder.end()

    def refuses(self, unread: UnreadRequest, origin: RecordSource, responder: Responder) -> bool:
        """Refuse a request that may be a call and cannot be read; where no policy enforces arguments, only record it.

        Returns whether it was refused.
        """
        if self.policies.enforces_arguments:
            self.refusals.take(unread.status, f"the proxy cannot check {unread.what}")
            responder.send(*refuse_unread(unread))
            return True
        self.record_unread(unread, origin)
        return False

    def record_unread(self, unread: UnreadRequest, origin: RecordSource) -> None:
        """Record that a request passes unchecked."""
        self.recorder.take(origin, PolicyFault("call_unreadable", f"A request passed unchecked: {unread.what}."))

    def passed_head(self, head: ResponseHead) -> ResponseHead:
        """Return the server's head as the client gets it; a redirect to the server itself then leads to the proxy."""
        fields = passed_fields(head.fields, DROPPED)
        if not all(map(is_legal, fields)):
            fields = list(filter(is_legal, fields))
        origin = self.address.origin
        if origin and 300 <= head.status < 400:
            fields = [
                (name, value[len(origin) :] or b"/")
                if name.lower() == b"location" and _is_at(value, origin)
                else (name, value)
                for name, value in fields
            ]
        return ResponseHead(head.status, head.reason, fields, head.length)


def _read_limits(policies: Policies) -> ReadLimits:
    settings = policies.settings
    parts: tuple[ToolSettings, ...] = (settings, *settings.tools.values())
    standard = Policy()
    arguments = max(standard.max_arguments_bytes, *(one.max_arguments_bytes or 0 for one in parts))
    judged = max(standard.max_judged_bytes, *(one.max_judged_bytes or 0 for one in parts))
    result = max(standard.max_result_bytes, *(one.max_result_bytes or 0 for one in parts))
    enforced = any(one.results == "enforce" or one.output_schema == "enforce" for one in parts)
    answer = max(_LEAST_HELD, result if enforced else judged)
    return ReadLimits(max(_LEAST_HELD, arguments) + _ENVELOPE, answer + _ENVELOPE)


def _is_at(location: bytes, origin: bytes) -> bool:
    return location.startswith(origin) and location[len(origin) : len(origin) + 1] in {b"", b"/", b"?"}
