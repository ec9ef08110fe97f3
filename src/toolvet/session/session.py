"""The policy core of the proxy: messages in, in their order; what goes to whom, and what to record, out.

Pure: no clock, no I/O. What a session waits for, and for how long, is the driver's to decide (see `Asked`).
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from toolvet.checks.capability import ValidationCall, ValidationRequest, parse_reply
from toolvet.schema.json_value import is_array, members
from toolvet.session.batch import batched
from toolvet.session.call import META_PREFIX, PendingCall, call_of
from toolvet.session.catalogue import Catalogue
from toolvet.session.expected import AmbiguousAnswers, Listed, ListRequest, Opened
from toolvet.session.judge import ended, judged_error, judged_result
from toolvet.session.note import Asked, CallStarted, PolicyFault, SchemaForgotten, SchemaLearned
from toolvet.session.policy import Policies
from toolvet.session.refusal import refusal, refused_by_server
from toolvet.session.step import Step, ToClient, ToServer
from toolvet.session.validating import announced, asked_about, listed, validated
from toolvet.session.vet import CallRefusal, beyond_limits, vetted
from toolvet.wire import (
    ErrorReply,
    Id,
    InvalidJson,
    Noise,
    Notification,
    Request,
    Result,
    encode_request,
    parse,
    shallow,
)

CANCELLED: Final = "notifications/cancelled"
LIST_CHANGED: Final = "notifications/tools/list_changed"
# Calls that are never answered must not fill the memory: the oldest go on unjudged.
_MOST_PENDING = 65_536
_MOST_PAGES = 1000
_MOST_RESTARTS = 3

# A tuple, because a union would be built for every message.
_ANSWERS = (Result, ErrorReply)

_Expected: TypeAlias = PendingCall | Listed | Opened | AmbiguousAnswers


class Session:
    """One connection, or one exchange over HTTP; then the exchanges of a caller share a `catalogue`.

    Messages are given in the order in which they came, each as its bytes without the line end, and the steps are to be
    done in theirs. Total: any bytes are a message. `prefix` begins the ids of questions of our own; the driver makes it
    unguessable, so that no client's id can be taken for one.
    """

    def __init__(self, policies: Policies, catalogue: Catalogue | None = None, *, prefix: str = "toolvet:") -> None:
        self._policies = policies
        self._catalogue = catalogue if catalogue is not None else Catalogue()
        self._prefix = prefix
        self._pending: dict[Id, _Expected] = {}
        self._held: list[PendingCall] = []
        self._reading: ListRequest | None = None
        self._validating: dict[str, PendingCall] = {}
        self._calls = 0
        self._questions = 0
        self._requests: dict[str, Callable[[Request], list[Step]]] = {
            "tools/call": self._called,
            "tools/list": self._list_wanted,
            "initialize": self._opening,
            "server/discover": self._opening,
        }

    def from_client(self, data: bytes) -> list[Step]:
        """A message of the client. One that needs no decision comes back as `ToServer` with the very same object."""
        message = parse(data)
        if isinstance(message, Request):
            handle = self._requests.get(message.method)
            if handle is not None:
                return handle(message)
            if message.id in self._pending:
                return [ToServer(data), *self._expect(message.id, AmbiguousAnswers(1))]
        elif isinstance(message, Notification) and message.method == CANCELLED:
            return self._cancelled(message)
        elif isinstance(message, Noise):
            if message.kind == "batch":
                return batched(data, self.from_client, ToServer, self._prefix)
            if message.kind == "too_deep":
                return self._too_deep(data)
            if b'"tools/call"' in data and data.lstrip()[:1] == b"{":
                # Half of a surrogate pair, for one, makes it no JSON to us, and a call to a more lenient server.
                return [
                    ToServer(data),
                    PolicyFault("call_unreadable", f"A call passed unchecked: {message.reason}"),
                ]
        # Answers of the client to the server's own requests are none of our business, whatever their ids.
        return [ToServer(data)]

    def from_server(self, data: bytes) -> list[Step]:
        """A message of the server. One that needs no decision comes back as `ToClient` with the very same object."""
        message = parse(data)
        if isinstance(message, _ANSWERS):
            return self._answered(message.id, message, data)
        if isinstance(message, Notification):
            if message.method == LIST_CHANGED:
                self._catalogue.forget()
                self._catalogue.breaker.clear()
                return [ToClient(data), SchemaForgotten()]
        elif isinstance(message, Noise):
            if message.kind == "batch":
                return batched(data, self.from_server, ToClient, self._prefix)
            if message.reply_to is not None:
                return self._answered(message.reply_to, message, data)
        return [ToClient(data)]

    @property
    def only_watches(self) -> bool:
        """Whether every answer that is waited for will pass as it comes: all of them to calls that nothing may change.

        A driver may then pass an answer on before it gives it to `from_server`, and nobody waits for the judgement.
        """
        return all(isinstance(what, PendingCall) and what.passes for what in self._pending.values())

    def give_up(self, question: str) -> list[Step]:
        """No answer to this question of ours will be waited for any longer: what waits for it goes on unchecked.

        `question` is the id of an `Asked`. Nothing happens for one that was answered meanwhile.
        """
        return self._own_answered(question, None)

    def close(self) -> list[Step]:
        """The connection is over: a note for every call that is still open."""
        waiting = [call for call in self._pending.values() if isinstance(call, PendingCall)]
        calls = [*waiting, *self._held, *self._validating.values()]
        self._pending.clear()
        self._held.clear()
        self._validating.clear()
        self._reading = None
        return [ended(call, "lost") for call in calls]

    # What the client asks.

    def _called(self, request: Request) -> list[Step]:
        self._calls += 1
        call = call_of(request, self._calls, self._policies)
        if call is None:
            passed = [ToServer(request.raw), *self._passed(request.id)]
            params = request.params
            if isinstance(params, InvalidJson):
                # Numbers beyond a double, for one, are legal JSON, and a server may read them.
                return [*passed, PolicyFault("call_unreadable", f"A call passed unchecked: {params.reason}")]
            return passed
        # A call that came later must not overtake one that waits.
        if self._held or (call.tool not in self._catalogue.tools and self._must_read(call)):
            return self._hold(call)
        return self._decide(call)

    def _too_deep(self, data: bytes) -> list[Step]:
        """Nested beyond what we can decode. Of a call that much still shows, and whether its policy admits it."""
        message = parse(shallow(data))
        if not isinstance(message, Request):
            return [ToServer(data)]
        faults: list[Step] = []
        if message.method == "tools/call":
            self._calls += 1
            call = call_of(message, self._calls, self._policies)
            if call is not None:
                call.size = len(data)
                refused = beyond_limits(call) if call.policy.arguments != "off" else None
                if refused is not None:
                    return self._refused(call, refused)
            faults.append(PolicyFault("call_unreadable", "A call passed unchecked: nested too deeply"))
        return [ToServer(data), *self._passed(message.id), *faults]

    def _decide(self, call: PendingCall) -> list[Step]:
        """Answer the call, or let it go. Whatever could be learned of its tool is known by now."""
        catalogue = self._catalogue
        tool = catalogue.tools.get(call.tool)
        if tool is None and self._is_ours(call.tool):
            answer = validated(call, catalogue)
            return [ToClient(answer, call.id), ended(call, "validated", size=len(answer))]
        faults: list[Step] = []
        if tool is not None and not tool.is_told and call.policy.arguments != "off":
            tool.is_told = True
            if tool.problem is not None:
                faults.append(PolicyFault("schema_unusable", tool.problem, tool.name))
        refused = vetted(call, tool, catalogue.breaker)
        if refused is not None:
            return [*self._refused(call, refused), *faults]
        told = catalogue.announcement
        if told is not None and call.policy.server_validation == "before_call" and call.tool != told.method:
            return [*self._ask_validator(call, told.method), *faults]
        steps = self._send(call)
        return [*steps, *faults] if faults else steps

    def _send(self, call: PendingCall) -> list[Step]:
        clash = self._expect(call.id, call)
        if call.is_started:
            return [ToServer(call.data, call.id), *clash]
        call.is_started = True
        started = CallStarted(call.number, call.id, call.tool, call.era, call.size)
        if call.repaired is not None:
            return [ToServer(call.data, call.id), started, *clash]
        return [ToServer(call.data), started, *clash] if clash else [ToServer(call.data), started]

    def _refused(self, call: PendingCall, refused: CallRefusal) -> list[Step]:
        answer = refusal(call, refused.result, self._catalogue.stamp)
        return [
            ToClient(answer, call.id),
            ended(call, "refused", blocked=refused.reason, why=refused.why, size=len(answer)),
        ]

    def _list_wanted(self, request: Request) -> list[Step]:
        expected = Listed(members(request.params).get("cursor"), self._catalogue.generation)
        return [ToServer(request.raw), *self._expect(request.id, expected)]

    def _opening(self, request: Request) -> list[Step]:
        expected = Opened("modern" if request.method == "server/discover" else "legacy")
        return [ToServer(request.raw), *self._expect(request.id, expected)]

    def _cancelled(self, message: Notification) -> list[Step]:
        """A call that the server never saw is dropped; the late answer to any other passes as it is."""
        id_ = members(message.params).get("requestId")
        # `true` is 1 to a dict, and no id.
        if not isinstance(id_, int | str) or isinstance(id_, bool):
            return [ToServer(message.raw)]
        kept = self._kept(id_)
        if kept is not None:
            return [ended(kept, "cancelled")]
        expected = self._pending.pop(id_, None)
        if isinstance(expected, AmbiguousAnswers) and expected.answers > 1:
            self._pending[id_] = AmbiguousAnswers(expected.answers - 1)
        if isinstance(expected, PendingCall):
            return [ToServer(message.raw), ended(expected, "cancelled")]
        return [ToServer(message.raw)]

    def _kept(self, id_: Id) -> PendingCall | None:
        """The call of this id that we kept back, kept no longer."""
        for call in self._held:
            if call.id == id_:
                self._held.remove(call)
                return call
        for question, call in self._validating.items():
            if call.id == id_:
                del self._validating[question]
                return call
        return None

    # What the server answers.

    def _expect(self, id_: Id, what: _Expected) -> list[Step]:
        """Remember what the answer under this id will be. Notes, where that cannot be told any more."""
        there = self._pending.get(id_)
        if there is None:
            self._pending[id_] = what
            return self._overflow() if len(self._pending) > _MOST_PENDING else []
        self._pending[id_] = AmbiguousAnswers((there.answers if isinstance(there, AmbiguousAnswers) else 1) + 1)
        told = f"The client used the id {str(id_)[:40]!r} again before it was answered: neither answer is judged."
        lost = [ended(call, "lost") for call in (there, what) if isinstance(call, PendingCall)]
        return [PolicyFault("duplicate_id", told), *lost]

    def _passed(self, id_: Id) -> list[Step]:
        return self._expect(id_, AmbiguousAnswers(1)) if id_ in self._pending else []

    def _overflow(self) -> list[Step]:
        oldest = self._pending.pop(next(iter(self._pending)))
        return [ended(oldest, "lost")] if isinstance(oldest, PendingCall) else []

    def _answered(self, id_: Id | None, message: Result | ErrorReply | Noise, data: bytes) -> list[Step]:
        expected = self._pending.pop(id_, None) if id_ is not None else None
        if expected is None:
            if isinstance(id_, str) and self._was_asked(id_):
                return self._own_answered(id_, message)
            return [ToClient(data)]
        if isinstance(expected, PendingCall):
            return self._call_answered(expected, message, data)
        if isinstance(expected, AmbiguousAnswers):
            if expected.answers > 1 and id_ is not None:
                self._pending[id_] = AmbiguousAnswers(expected.answers - 1)
        elif isinstance(message, Result):
            return self._opened(expected, message) if isinstance(expected, Opened) else self._page(expected, message)
        return [ToClient(data)]

    def _call_answered(self, call: PendingCall, message: Result | ErrorReply | Noise, data: bytes) -> list[Step]:
        catalogue = self._catalogue
        if isinstance(message, Result):
            judged = judged_result(call, catalogue.tools.get(call.tool), message, catalogue.breaker)
        elif isinstance(message, ErrorReply):
            judged = judged_error(call, message, catalogue.breaker)
        else:
            return [ToClient(data), ended(call, "unreadable", why=message.reason, size=len(data))]
        return [ToClient(judged.data) if judged.data is data else ToClient(judged.data, call.id), judged.note]

    def _opened(self, expected: Opened, message: Result) -> list[Step]:
        """Announce our validation where the server has tools and says nothing of its own."""
        catalogue, settings = self._catalogue, self._policies.settings
        if expected.era == "legacy":
            # A handshake begins anew, perhaps with another server behind the same address.
            catalogue.forget()
        silent = catalogue.opened(members(message.result).get("capabilities"))
        catalogue.is_ours_announced = silent and settings.announce != "off"
        if not catalogue.is_ours_announced:
            return [ToClient(message.raw)]
        return [ToClient(announced(message.raw, settings.validate_method, expected.era), message.id)]

    def _page(self, expected: Listed, message: Result) -> list[Step]:
        """A page that the client asked for. One from before the list changed teaches nothing."""
        catalogue, settings = self._catalogue, self._policies.settings
        tools = members(message.result).get("tools")
        if expected.generation != catalogue.generation or not is_array(tools):
            return [ToClient(message.raw)]
        following = catalogue.learn(expected.cursor, message.result)
        note = SchemaLearned(len(tools), following is None, catalogue.lifetime_ms)
        if following is not None or not catalogue.is_ours_announced:
            return [ToClient(message.raw), note]
        method = settings.validate_method
        if method in catalogue.tools:
            told = f"The server has a tool '{method}': set validate_method to another name, or announce to off."
            return [ToClient(message.raw), note, PolicyFault("name_taken", told, method)]
        if settings.announce == "tool":
            return [ToClient(listed(message.raw, method), message.id), note]
        return [ToClient(message.raw), note]

    # What we ask ourselves.

    def _is_ours(self, tool: str) -> bool:
        return self._catalogue.is_ours_announced and tool == self._policies.settings.validate_method

    def _wanted(self, call: PendingCall) -> tuple[str, ...]:
        """The tools whose schemas this call needs."""
        if self._is_ours(call.tool):
            return (call.tool, *asked_about(call))
        return (call.tool,) if call.policy.arguments != "off" else ()

    def _must_read(self, call: PendingCall) -> bool:
        if self._catalogue.is_complete and self._is_ours(call.tool):
            return False
        # Of a tool that the list does not have, the list may have changed unsaid: it is read once more.
        return any(self._catalogue.lacks(tool) for tool in self._wanted(call))

    def _hold(self, call: PendingCall) -> list[Step]:
        """Keep the call until the tool list was read."""
        self._held.append(call)
        call.is_started = True
        steps: list[Step] = [CallStarted(call.number, call.id, call.tool, call.era, call.size)]
        if self._reading is None:
            self._reading = ListRequest("", _carried(call), self._catalogue.generation)
            steps += self._read()
        return steps

    def _read(self) -> list[Step]:
        """Ask for the page that comes next."""
        reading = self._reading
        if reading is None:
            return []
        reading.id = self._question()
        params: dict[str, object] = {"_meta": reading.meta} if reading.meta else {}
        if reading.cursor is not None:
            params["cursor"] = reading.cursor
        question = encode_request(reading.id, "tools/list", params or None)
        return [ToServer(question, reading.id), Asked(reading.id, "tools/list")]

    def _question(self) -> str:
        self._questions += 1
        return f"{self._prefix}{self._questions}"

    def _was_asked(self, id_: str) -> bool:
        """Whether this is a question of ours, if only one that was given up: the client must not see its answer."""
        number = id_.removeprefix(self._prefix)
        return number != id_ and number.isdecimal() and len(number) < 16 and 0 < int(number) <= self._questions

    def _ask_validator(self, call: PendingCall, method: str) -> list[Step]:
        """Ask the server's own validator, and keep the call meanwhile."""
        id_ = self._question()
        asked = ValidationRequest(calls=(ValidationCall(call.tool, call.arguments),))
        params: dict[str, object] = {"name": method, "arguments": asked.to_dict()}
        if meta := _carried(call):
            params["_meta"] = meta
        self._validating[id_] = call
        steps: list[Step] = [ToServer(encode_request(id_, "tools/call", params), id_), Asked(id_, "tools/call")]
        if not call.is_started:
            call.is_started = True
            steps.append(CallStarted(call.number, call.id, call.tool, call.era, call.size))
        return steps

    def _own_answered(self, id_: str, message: Result | ErrorReply | Noise | None) -> list[Step]:
        """The answer to a question of ours, which the client never sees; None when it is waited for no longer."""
        reading = self._reading
        if reading is not None and reading.id == id_:
            return self._own_page(reading, message)
        call = self._validating.pop(id_, None)
        if call is None:
            return []
        reply = parse_reply(message.result) if isinstance(message, Result) else _reason(message)
        if isinstance(reply, str):
            return [*self._send(call), PolicyFault("server_validation_failed", reply, call.tool)]
        if reply.valid:
            return self._send(call)
        why = "; ".join(reply.errors) or "the server's validator refuses it"
        if call.policy.arguments == "audit":
            call.would_block, call.why = "server_validation", why
            return self._send(call)
        return self._refused(call, CallRefusal("server_validation", why, refused_by_server(call, reply)))

    def _own_page(self, reading: ListRequest, message: Result | ErrorReply | Noise | None) -> list[Step]:
        catalogue = self._catalogue
        if not isinstance(message, Result) or not is_array(tools := members(message.result).get("tools")):
            told = f"The tool list could not be read, so calls go unchecked: {_reason(message)}"
            return [*self._release(), PolicyFault("list_failed", told)]
        # It changed while it was read. One that changes without end is taken as it is.
        if reading.generation != catalogue.generation and reading.restarts < _MOST_RESTARTS:
            meta, restarts = reading.meta, reading.restarts + 1
            self._reading = ListRequest("", meta, catalogue.generation, restarts=restarts)
            return self._read()
        following = catalogue.learn(reading.cursor, message.result)
        note = SchemaLearned(len(tools), following is None, catalogue.lifetime_ms)
        if following is not None and following != reading.cursor and reading.pages < _MOST_PAGES:
            reading.cursor = following
            reading.pages += 1
            return [*self._read(), note]
        return [*self._release(), note]

    def _release(self) -> list[Step]:
        """Nothing more can be learned now: every call that waited goes on, in order."""
        self._reading = None
        held, self._held = self._held, []
        steps: list[Step] = []
        for call in held:
            for tool in self._wanted(call):
                self._catalogue.miss(tool)
            steps += self._decide(call)
        return steps


def _carried(call: PendingCall) -> Mapping[str, object]:
    """What a modern request must say of its client, taken from the call; never its progress token."""
    if call.era == "legacy":
        return {}
    return {key: value for key, value in call.meta.items() if key.startswith(META_PREFIX)}


def _reason(message: Result | ErrorReply | Noise | None) -> str:
    match message:
        case None:
            return "no answer in time"
        case Result():
            return "the answer is no tool list"
        case ErrorReply():
            return f"error {message.code}: {message.message[:200]}"
        case Noise():
            return message.reason
