"""The policy core of the proxy: messages in, in order; steps out: what goes to which side, and what to record.

Pure: no clock, no I/O. The driver decides how long a session waits for an answer (see `Asked`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from toolvet.core.checks import ValidationCall, ValidationRequest, parse_reply
from toolvet.core.json_value import is_array, members
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    InvalidJson,
    Message,
    Noise,
    Notification,
    Request,
    Result,
    encode_error,
    encode_request,
    parse,
    parse_answer,
    shallow,
    split_batch,
)
from toolvet.proxy.session.catalogue import Catalogue, ResultCache
from toolvet.proxy.session.judge import end_call, end_unchecked, judge_error, judge_result, judge_unanswered
from toolvet.proxy.session.own_tools import add_capability, add_own_tools, answer_own_tool, is_ours, needed_tools
from toolvet.proxy.session.pending import (
    AmbiguousAnswers,
    ListRequest,
    PendingAnswer,
    PendingCall,
    PendingOpening,
    PendingPage,
    client_meta,
    describe_failure,
    read_call,
)
from toolvet.proxy.session.policy import Policies
from toolvet.proxy.session.step import (
    Asked,
    CallStarted,
    Outcome,
    PolicyFault,
    Reason,
    SchemaForgotten,
    SchemaLearned,
    Step,
    ToClient,
    ToServer,
    check_failed,
)
from toolvet.proxy.session.trace import TraceSource
from toolvet.proxy.session.unread import UnreadMessages, may_be_call, may_be_request, readable_id
from toolvet.proxy.session.vet import (
    CallRefusal,
    answer_refusal,
    check_limits,
    error_result,
    refused_by_server,
    unless_audit,
    vet_call,
)
from toolvet.proxy.session.vetted import held_tools, refuse_held, vet_definitions, without_tools

if TYPE_CHECKING:
    from toolvet.core.checks import ResultVerdict
    from toolvet.proxy.session.judge import Stop

_CANCELLED: Final = "notifications/cancelled"
_LIST_CHANGED: Final = "notifications/tools/list_changed"
# Calls that are never answered must not fill the memory: the oldest go on unjudged.
_MOST_PENDING: Final = 65_536
_MOST_PAGES: Final = 1000
_MOST_RESTARTS: Final = 3

# A tuple, because a union would be built for every message.
_ANSWERS: Final = (Result, ErrorReply)
_INVALID_REQUEST: Final = -32600
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603


class Session:
    """The state of one stdio connection or one HTTP exchange.

    Feed the messages in the order in which they came, each as its bytes without the line end, and do the returned steps
    in order. Total: any bytes are a message.

    Args:
        policies: What to do with each tool's calls.
        catalogue: Knowledge about the server. Over HTTP, pass the same one to all exchanges of a caller.
        prefix: Begins the ids of the session's own questions; the driver makes it unguessable, so that a client's id
            cannot be mistaken for one.
        traces: Where trace ids come from. None: the prefix distinguishes the connection.
    """

    def __init__(
        self,
        policies: Policies,
        catalogue: Catalogue | None = None,
        *,
        prefix: str = "toolvet:",
        traces: TraceSource | None = None,
    ) -> None:
        self._policies = policies
        self._check = policies.check
        self._catalogue = catalogue if catalogue is not None else Catalogue()
        if policies.fits and self._catalogue.result_cache is None:
            self._catalogue.result_cache = ResultCache(policies.archive)
        self._prefix = prefix
        self._traces = traces if traces is not None else TraceSource(prefix)
        self._pending: dict[Id, PendingAnswer] = {}
        self.unread = UnreadMessages(policies, self._catalogue, self._pending, prefix)
        self._held: list[PendingCall] = []
        self._reading: ListRequest | None = None
        self._validating: dict[str, PendingCall] = {}
        self._calls = 0
        self._questions = 0
        self._requests: dict[str, Callable[[Request], list[Step]]] = {
            "tools/call": self._take_call,
            "tools/list": self._take_list_request,
            "initialize": self._take_opening,
            "server/discover": self._take_opening,
        }

    def from_client(self, data: bytes, message: Message | None = None) -> list[Step]:
        """Feed a message of the client. One that needs no decision comes back in `ToServer` as the very same object.

        `message` is what `data` was parsed to, where the driver did so.
        """
        try:
            return self._take_client(data, parse(data) if message is None else message)
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the user a connection
            return [ToServer(data), check_failed(error)]

    def _take_client(self, data: bytes, message: Message) -> list[Step]:
        if isinstance(message, Request):
            handle = self._requests.get(message.method)
            if handle is not None:
                return handle(message)
            # Remembered, so that its answer is not taken for that of a call under the same id.
            return [ToServer(data), *self._expect_unchecked(message.id)]
        if isinstance(message, Notification):
            if message.method == _CANCELLED:
                return self._take_cancellation(message)
            if message.method == "tools/call":
                return self._take_unreadable(data, "a call without `id`")
        elif isinstance(message, Noise):
            if message.kind == "batch":
                return decide_batch(data, self.from_client, ToServer, self._prefix, self._take_inner_batch)
            if message.kind == "too_deep":
                return self._take_too_deep(data)
            if may_be_call(data) or (self._policies.intercepts and may_be_request(data)):
                return self._take_unreadable(data, message.reason)
        # Answers of the client to the server's own requests pass, whatever their ids.
        return [ToServer(data)]

    def from_server(self, data: bytes) -> list[Step]:
        """Feed a message of the server. One that needs no decision comes back in `ToClient` as the very same object."""
        try:
            return self._take_server(data)
        except Exception as error:  # noqa: BLE001 - as above
            is_ours = self.unread.has_asked and self._prefix.encode() in data
            return [*([] if is_ours else [ToClient(data)]), check_failed(error)]

    def _take_server(self, data: bytes) -> list[Step]:
        pending = self._pending
        # The next message mostly answers the oldest open request; if it does not, this costs or saves a pass.
        expected = next(iter(pending.values())) if pending else None
        message = parse_answer(data) if expected is not None and expected.reads_answer(len(data)) else parse(data)
        if isinstance(message, _ANSWERS):
            return self._take_answer(message.id, message, data)
        if isinstance(message, Notification):
            if message.method == _LIST_CHANGED:
                self._catalogue.forget()
                self._catalogue.forget_calls()
                return [ToClient(data), SchemaForgotten()]
        elif isinstance(message, Noise):
            if message.kind == "batch":
                return decide_batch(data, self.from_server, ToClient, self._prefix)
            if message.reply_to is not None:
                return self._take_answer(message.reply_to, message, data)
        return [ToClient(data)]

    def take_unread_call(self, request: Request, size: int) -> list[Step]:
        """Feed a call that is too long to be kept, as far as its beginning shows it; `size` is in bytes.

        Returns an answer, where the call must not pass, or else the notes for a call that passed.
        """
        self._calls += 1
        call = read_call(request, self._calls, self._policies, self._traces)
        if call is None:
            return self._expect_unchecked(request.id)
        call.size = size
        refused = self.unread.refusal(call)
        is_checked = call.policy.arguments != "off" and unless_audit(call, refused) is not None
        if is_checked or self._policies.intercepts:
            return self._refuse(call, refused)
        return self._send(call)[1:]

    def _guarded(self, call: PendingCall, decide: Callable[[PendingCall], list[Step]]) -> list[Step]:
        """Decide on a call. Where that raises an exception, the call passes unchecked, and is waited for no more."""
        try:
            return decide(call)
        except Exception as error:  # noqa: BLE001 - as above
            self._held = [held for held in self._held if held is not call]
            return [*self._send(call), check_failed(error, call.tool)]

    def _fail(self, call: PendingCall, why: str, blocked: Reason | None = None) -> list[Step]:
        """Answer a call with an error that no check has to make."""
        answer = encode_error(call.id, _INTERNAL_ERROR, f"The call was not sent to the server: {why}")
        return [ToClient(answer, call.id), end_unchecked(call, "refused", blocked, len(answer))]

    def fail(
        self, data: bytes, stop: "Stop" = "unanswered", prepared: "dict[str, ResultVerdict] | None" = None
    ) -> list[Step]:
        """Feed an error that the driver answers an open request with; `stop` says why the server's answer is not.

        `prepared` is one dictionary for all errors of the same words, so that each tool's calls are judged once.
        """
        message = parse(data)
        id_ = message.id if isinstance(message, ErrorReply) else None
        call = self._pending.get(id_) if id_ is not None else None
        if not isinstance(message, ErrorReply) or not isinstance(call, PendingCall):
            return self.from_server(data)
        del self._pending[call.id]
        try:
            answered = judge_unanswered(call, message, self._check, stop, prepared)
        except Exception as error:  # noqa: BLE001 - as above
            return [ToClient(data, call.id), end_unchecked(call, "protocol_error"), check_failed(error, call.tool)]
        return [ToClient(answered.data, call.id), answered.note]

    def refuse(self, data: bytes, why: str) -> list[Step]:
        """Answer a request of the client that an interceptor blocks. `why` is a sentence."""
        request = parse(data)
        if isinstance(request, Noise):
            # Nested too deeply, or it would not have been taken for a request.
            request = parse(shallow(data))
        if not isinstance(request, Request):
            return []
        self._calls += 1
        call = read_call(request, self._calls, self._policies, self._traces) if request.method == "tools/call" else None
        if call is not None:
            text = f"'{call.tool}' was not called: {why}"
            return self._refuse(call, CallRefusal("interceptor", why, error_result(text)))
        fault = PolicyFault("request_refused", f"{request.method} was refused: {why}")
        return [ToClient(encode_error(request.id, _INVALID_PARAMS, why), request.id), fault]

    @property
    def only_watches(self) -> bool:
        """Whether every open answer will pass unchanged.

        A driver may then pass an answer on before it feeds it to `from_server`: the client does not wait for the check.
        """
        return all(pending.passes for pending in self._pending.values())

    def give_up(self, question: str) -> list[Step]:
        """Stop waiting for the answer to a question: the calls that wait for it go on unchecked.

        `question` is the id of an `Asked`. Nothing happens for one that was answered meanwhile.
        """
        return self._take_own_answer(question, None)

    def close(self) -> list[Step]:
        """End the connection. Returns a note for every call that is still open."""
        waiting = [call for call in self._pending.values() if isinstance(call, PendingCall)]
        calls = [*waiting, *self._held, *self._validating.values()]
        self._pending.clear()
        self._held.clear()
        self._validating.clear()
        self._reading = None
        return [end_call(call, "lost") for call in calls]

    # Requests of the client.

    def _take_call(self, request: Request) -> list[Step]:
        self._calls += 1
        call = read_call(request, self._calls, self._policies, self._traces)
        if call is None:
            params = request.params
            # Numbers beyond a double, for one, are legal JSON, and the server may be able to read them.
            reason = params.reason if isinstance(params, InvalidJson) else "`params` has no `name` or no `arguments`"
            tool = members(params).get("name")
            return self._take_unreadable(request.raw, reason, request.id, tool if isinstance(tool, str) else None)
        return self._guarded(call, self._decide_or_hold)

    def _decide_or_hold(self, call: PendingCall) -> list[Step]:
        catalogue = self._catalogue
        # A call that came later must not overtake one that waits.
        must_wait = bool(self._held)
        if not must_wait and call.tool not in catalogue.tools:
            # The list may have changed without a notification: for an unknown tool it is read once more.
            is_known = catalogue.is_complete and self._is_ours(call.tool)
            must_wait = not is_known and any(catalogue.lacks(tool) for tool in self._needed_tools(call))
        if not must_wait:
            return self._decide(call)
        # Until the tool list was read.
        self._held.append(call)
        call.is_started = True
        steps: list[Step] = [_call_started(call)]
        if self._reading is None:
            self._reading = ListRequest("", client_meta(call), catalogue.generation)
            steps += self._ask_page(self._reading)
        return steps

    def _take_too_deep(self, data: bytes) -> list[Step]:
        """Decide on a message that is nested too deeply to be decoded: of a call, its limits can still be checked."""
        message, reason = parse(shallow(data)), "nested too deeply"
        if not isinstance(message, Request):
            is_call = isinstance(message, Noise | Notification) and may_be_call(data)
            return self._take_unreadable(data, reason) if is_call else [ToServer(data)]
        if message.method != "tools/call":
            return [ToServer(data), *self._expect_unchecked(message.id)]
        self._calls += 1
        call = read_call(message, self._calls, self._policies, self._traces)
        if call is not None:
            call.size = len(data)
            refused = check_limits(call) if call.policy.arguments != "off" else None
            if refused is not None:
                return self._refuse(call, refused)
        return self._take_unreadable(data, reason, message.id, None if call is None else call.tool)

    def _take_unreadable(self, data: bytes, reason: str, id_: Id | None = None, tool: str | None = None) -> list[Step]:
        """Decide on what cannot be read and may be a call to a lenient server; with an id it is a legal request."""
        if self.unread.refuses(tool):
            what = "call" if may_be_call(data) else "request"
            words = f"The {what} cannot be read, so it was not sent to the server: {reason}."
            answer = encode_error(readable_id(data) if id_ is None else id_, _INVALID_REQUEST, words)
            fault = PolicyFault("request_refused", f"A {what} was refused, because it cannot be read: {reason}", tool)
            return [ToClient(answer, id_), fault]
        fault = PolicyFault("call_unreadable", f"A call passed unchecked: {reason}", tool)
        return [ToServer(data), *([] if id_ is None else self._expect_unchecked(id_)), fault]

    def _take_inner_batch(self, data: bytes) -> list[Step]:
        """Decide on a batch within a batch: it is not a message in any revision, but a lenient server may read it."""
        return self._take_unreadable(data, "a batch within a batch") if may_be_call(data) else [ToServer(data)]

    def _decide(self, call: PendingCall) -> list[Step]:
        """Answer the call, or send it. All that can be learned of its tool is known by now."""
        catalogue = self._catalogue
        tool = catalogue.tools.get(call.tool)
        if tool is None and self._is_ours(call.tool):
            try:
                answered = answer_own_tool(call, catalogue, self._check)
            except Exception as error:  # noqa: BLE001 - as above
                fault = check_failed(error, call.tool)
                return [*self._fail(call, fault.message), fault]
            return [ToClient(answered.data, call.id), answered.note]
        faults: list[Step] = []
        if tool is not None and not tool.is_reported and call.policy.arguments != "off":
            tool.is_reported = True
            if tool.problem is not None:
                faults.append(PolicyFault("schema_unusable", tool.problem, tool.name))
        refused = refuse_held(call, tool) or vet_call(call, tool, catalogue, self._policies.check_arguments)
        if refused is not None:
            return [*self._refuse(call, refused), *faults]
        offer = catalogue.announcement
        if offer is not None and call.policy.server_validation == "before_call" and call.tool != offer.method:
            return [*self._ask_validator(call, offer.method), *faults]
        steps = self._send(call)
        return [*steps, *faults] if faults else steps

    def _send(self, call: PendingCall) -> list[Step]:
        clash = self._expect(call.id, call)
        if call.is_started:
            return [ToServer(call.data, call.id), *clash]
        call.is_started = True
        started = _call_started(call)
        if call.repaired is not None:
            return [ToServer(call.data, call.id), started, *clash]
        return [ToServer(call.data), started, *clash] if clash else [ToServer(call.data), started]

    def _refuse(self, call: PendingCall, refused: CallRefusal) -> list[Step]:
        try:
            answered = answer_refusal(call, refused, self._catalogue, self._check)
        except Exception as error:  # noqa: BLE001 - as above
            return [*self._fail(call, refused.why, refused.reason), check_failed(error, call.tool)]
        return [ToClient(answered.data, call.id), answered.note]

    def _take_list_request(self, request: Request) -> list[Step]:
        expected = PendingPage(members(request.params).get("cursor"), self._catalogue.generation)
        return [ToServer(request.raw), *self._expect(request.id, expected)]

    def _take_opening(self, request: Request) -> list[Step]:
        expected = PendingOpening("modern" if request.method == "server/discover" else "legacy")
        if expected.era == "legacy":
            self._catalogue.client_capabilities = members(request.params).get("capabilities")
        return [ToServer(request.raw), *self._expect(request.id, expected)]

    def _take_cancellation(self, message: Notification) -> list[Step]:
        """Drop a call that the server never saw; the late answer to any other call passes unchecked."""
        id_ = members(message.params).get("requestId")
        # `true` equals 1 as a key, but is not an id.
        if not isinstance(id_, int | str) or isinstance(id_, bool):
            return [ToServer(message.raw)]
        for call in self._held:
            if call.id == id_:
                self._held.remove(call)
                return [end_call(call, "cancelled")]
        for question, call in self._validating.items():
            if call.id == id_:
                del self._validating[question]
                return [end_call(call, "cancelled")]
        expected = self._pending.pop(id_, None)
        if isinstance(expected, AmbiguousAnswers) and expected.answers > 1:
            self._pending[id_] = AmbiguousAnswers(expected.answers - 1)
        if isinstance(expected, PendingCall):
            return [ToServer(message.raw), end_call(expected, "cancelled")]
        return [ToServer(message.raw)]

    # Answers of the server.

    def _expect(self, id_: Id, answer: PendingAnswer) -> list[Step]:
        """Remember what the answer under this id will be. Returns notes where that became ambiguous."""
        earlier = self._pending.get(id_)
        if earlier is None:
            self._pending[id_] = answer
            if len(self._pending) <= _MOST_PENDING:
                return []
            oldest = self._pending.pop(next(iter(self._pending)))
            return [end_call(oldest, "lost")] if isinstance(oldest, PendingCall) else []
        self._pending[id_] = AmbiguousAnswers((earlier.answers if isinstance(earlier, AmbiguousAnswers) else 1) + 1)
        if isinstance(earlier, AmbiguousAnswers) and isinstance(answer, AmbiguousAnswers):
            return []
        problem = f"The client used the id {str(id_)[:40]!r} again before it was answered: neither answer is judged."
        lost = [end_call(call, "lost") for call in (earlier, answer) if isinstance(call, PendingCall)]
        return [PolicyFault("duplicate_id", problem), *lost]

    def _expect_unchecked(self, id_: Id) -> list[Step]:
        return self._expect(id_, AmbiguousAnswers(1))

    def _take_answer(self, id_: Id | None, message: Result | ErrorReply | Noise, data: bytes) -> list[Step]:
        expected = self._pending.pop(id_, None) if id_ is not None else None
        if expected is None:
            if isinstance(id_, str):
                number = id_.removeprefix(self._prefix)
                is_number = number != id_ and number.isdecimal() and len(number) < 16
                if is_number and 0 < int(number) <= self._questions:
                    # The session asked this question, given up or not: the client must not see its answer.
                    return self._take_own_answer(id_, message)
            return [ToClient(data)]
        try:
            return self._use_answer(expected, id_, message, data)
        except Exception as error:  # noqa: BLE001 - as above
            if not isinstance(expected, PendingCall):
                return [ToClient(data), check_failed(error)]
            outcome: Outcome = "success" if isinstance(message, Result) else "protocol_error"
            ended = end_unchecked(expected, outcome, size=len(data))
            return [ToClient(data), ended, check_failed(error, expected.tool)]

    def _use_answer(
        self, expected: PendingAnswer, id_: Id | None, message: Result | ErrorReply | Noise, data: bytes
    ) -> list[Step]:
        if isinstance(expected, PendingCall):
            catalogue = self._catalogue
            if isinstance(message, Result):
                tool = catalogue.tools.get(expected.tool)
                judged = judge_result(expected, tool, message, catalogue, self._check)
            elif isinstance(message, ErrorReply):
                judged = judge_error(expected, message, catalogue, self._check)
            else:
                return [ToClient(data), end_call(expected, "unreadable", why=message.reason, size=len(data))]
            passed = ToClient(judged.data) if judged.data is data else ToClient(judged.data, expected.id)
            return [passed, judged.note]
        if isinstance(expected, AmbiguousAnswers):
            if expected.answers > 1 and id_ is not None:
                self._pending[id_] = AmbiguousAnswers(expected.answers - 1)
        elif isinstance(message, Result):
            if isinstance(expected, PendingOpening):
                return self._announce(expected, message)
            return self._learn_page(expected, message)
        return [ToClient(data)]

    def _announce(self, expected: PendingOpening, message: Result) -> list[Step]:
        """Announce validation where the server has tools and does not announce its own."""
        catalogue, settings = self._catalogue, self._policies.settings
        if expected.era == "legacy":
            # A new handshake, perhaps with another server behind the same address.
            catalogue.forget()
        silent = catalogue.read_capabilities(members(message.result).get("capabilities"))
        catalogue.is_ours_announced = silent and settings.announce != "off"
        if not catalogue.is_ours_announced:
            return [ToClient(message.raw)]
        return [ToClient(add_capability(message.raw, settings.validate_method, expected.era), message.id)]

    def _learn_page(self, expected: PendingPage, message: Result) -> list[Step]:
        """Learn from a page that the client asked for, unless the list changed meanwhile."""
        catalogue, settings = self._catalogue, self._policies.settings
        tools = members(message.result).get("tools")
        if expected.generation != catalogue.generation or not is_array(tools):
            return [ToClient(message.raw)]
        following = catalogue.learn(expected.cursor, message.result)
        vetted = list(vet_definitions(catalogue, self._policies, is_whole=following is None))
        named = tuple(name for each in tools if isinstance(name := members(each).get("name"), str))
        note = SchemaLearned(len(tools), following is None, catalogue.lifetime_ms, named)
        held = held_tools(catalogue, self._policies)
        data, faults = without_tools(message.raw, held) if held else message.raw, vetted
        if following is None:
            data, more = add_own_tools(data, catalogue, settings)
            faults += more
        return [ToClient(data) if data is message.raw else ToClient(data, message.id), note, *faults]

    # Questions of the session itself.

    def _is_ours(self, tool: str) -> bool:
        return is_ours(tool, self._catalogue, self._policies.settings)

    def _needed_tools(self, call: PendingCall) -> tuple[str, ...]:
        return needed_tools(call, self._catalogue, self._policies.settings)

    def _ask_page(self, reading: ListRequest) -> list[Step]:
        """Ask for the next page of the tool list."""
        reading.id = self._new_question_id()
        params: dict[str, object] = {"_meta": reading.meta} if reading.meta else {}
        if reading.cursor is not None:
            params["cursor"] = reading.cursor
        question = encode_request(reading.id, "tools/list", params or None)
        return [ToServer(question, reading.id), Asked(reading.id, "tools/list")]

    def _new_question_id(self) -> str:
        self._questions += 1
        self.unread.has_asked = True
        return f"{self._prefix}{self._questions}"

    def _ask_validator(self, call: PendingCall, method: str) -> list[Step]:
        """Ask the server's own validator, and keep the call back meanwhile."""
        id_ = self._new_question_id()
        asked = ValidationRequest(calls=(ValidationCall(call.tool, call.arguments),))
        params: dict[str, object] = {"name": method, "arguments": asked.to_dict()}
        if meta := client_meta(call):
            params["_meta"] = meta
        self._validating[id_] = call
        steps: list[Step] = [ToServer(encode_request(id_, "tools/call", params), id_), Asked(id_, "tools/call")]
        if not call.is_started:
            call.is_started = True
            steps.append(_call_started(call))
        return steps

    def _take_own_answer(self, id_: str, message: Result | ErrorReply | Noise | None) -> list[Step]:
        """Use the answer to a question of the session, which the client never sees; None when it was given up."""
        reading = self._reading
        if reading is not None and reading.id == id_:
            try:
                return self._take_own_page(reading, message)
            except Exception as error:  # noqa: BLE001 - as above
                return [*self._release(), check_failed(error)]
        call = self._validating.pop(id_, None)
        return [] if call is None else self._guarded(call, lambda call: self._use_own_verdict(call, message))

    def _use_own_verdict(self, call: PendingCall, message: Result | ErrorReply | Noise | None) -> list[Step]:
        """Decide on a call by what the server's own validator says."""
        reply = parse_reply(message.result) if isinstance(message, Result) else describe_failure(message)
        if isinstance(reply, str):
            return [*self._send(call), PolicyFault("server_validation_failed", reply, call.tool)]
        if reply.valid:
            return self._send(call)
        why = "; ".join(reply.errors) or "the server's validator refuses it"
        if call.policy.arguments == "audit":
            call.would_block, call.why = "server_validation", why
            return self._send(call)
        return self._refuse(call, CallRefusal("server_validation", why, refused_by_server(call, reply)))

    def _take_own_page(self, reading: ListRequest, message: Result | ErrorReply | Noise | None) -> list[Step]:
        catalogue = self._catalogue
        if not isinstance(message, Result) or not is_array(tools := members(message.result).get("tools")):
            problem = f"The tool list could not be read, so calls go unchecked: {describe_failure(message)}"
            return [*self._release(), PolicyFault("list_failed", problem)]
        # It changed while it was read: begin again. A list that changes without end is taken as it is.
        if reading.generation != catalogue.generation and reading.restarts < _MOST_RESTARTS:
            meta, restarts = reading.meta, reading.restarts + 1
            self._reading = ListRequest("", meta, catalogue.generation, restarts=restarts)
            return self._ask_page(self._reading)
        following = catalogue.learn(reading.cursor, message.result)
        vetted = list(vet_definitions(catalogue, self._policies, is_whole=following is None))
        named = tuple(name for each in tools if isinstance(name := members(each).get("name"), str))
        note = SchemaLearned(len(tools), following is None, catalogue.lifetime_ms, named)
        if following is not None and following != reading.cursor and reading.pages < _MOST_PAGES:
            reading.cursor = following
            reading.pages += 1
            return [*self._ask_page(reading), note, *vetted]
        return [*self._release(), note, *vetted]

    def _release(self) -> list[Step]:
        """Decide every call that waited for the list, in order: nothing more can be learned now."""
        self._reading = None
        held, self._held = self._held, []
        steps: list[Step] = []
        for call in held:
            steps += self._guarded(call, self._decide_released)
        return steps

    def _decide_released(self, call: PendingCall) -> list[Step]:
        for tool in self._needed_tools(call):
            self._catalogue.miss(tool)
        return self._decide(call)


def _call_started(call: PendingCall) -> CallStarted:
    return CallStarted(call=call.number, id=call.id, tool=call.tool, era=call.era, size=call.size)


def decide_batch(
    data: bytes,
    decide: Callable[[bytes], list[Step]],
    onward: type[ToServer] | type[ToClient],
    prefix: str,
    nested: Callable[[bytes], list[Step]] | None = None,
) -> list[Step]:
    """Return the steps for a batch. If none of its messages is changed, kept back or answered, it passes as it is.

    The session's own questions and its answers are sent as single messages, not within the batch.

    Args:
        data: The batch.
        decide: Returns the steps for one of its messages.
        onward: The kind of step that goes the way of the batch.
        prefix: Begins the ids of the session's own questions.
        nested: Returns the steps for a batch within the batch; None, the default, lets it pass.
    """
    messages = split_batch(data)
    passed: list[bytes] = []
    rest: list[Step] = []
    for message in messages:
        # A batch within a batch is not a message in any revision.
        for step in (nested(message) if nested else [onward(message)]) if message.startswith(b"[") else decide(message):
            if isinstance(step, onward) and not (isinstance(step.about, str) and step.about.startswith(prefix)):
                passed.append(step.data)
            else:
                rest.append(step)
    if len(passed) == len(messages) and all(new is old for new, old in zip(passed, messages, strict=True)):
        return [onward(data), *rest]
    return [onward(b"[" + b",".join(passed) + b"]"), *rest] if passed else rest
