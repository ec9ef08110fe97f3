"""`Vetting`: the policies of `toolvet proxy` for the calls of one server, without a framework."""

from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from secrets import token_hex
from typing import Final, TypeAlias

import msgspec

from toolvet.core.envelope import current_request_id, request_id, response_contract
from toolvet.core.json_value import is_object, members
from toolvet.mcp.wire import encode_error, encode_notification, encode_request, encode_result
from toolvet.proxy.session import (
    TRACE_KEY,
    TRACE_PARENT,
    Catalogue,
    Contract,
    KnownTool,
    Note,
    Policies,
    Session,
    Step,
    ToClient,
    ToServer,
    TraceSource,
    wanted_contract,
)

# For each client its failing calls are counted. After this many other clients, its count starts again.
_MOST_CALLERS: Final = 1000


class BlockedCall(msgspec.Struct, frozen=True):
    """A call that must not be made. `result` is the tool result to answer it with."""

    result: Mapping[str, object]


class AllowedCall:
    """A call that may be made, with `arguments`. `trace_id` is the id of its turn.

    Afterwards call exactly one of `judge`, `fail` and `cancel`.
    """

    def __init__(
        self,
        vetting: "Vetting",
        session: Session,
        number: int,
        arguments: Mapping[str, object],
        *,
        trace_id: str,
        contract: Contract | None,
    ) -> None:
        self.arguments = arguments
        self._contract = contract
        self.trace_id = trace_id
        self._vetting = vetting
        self._session = session
        self._number = number

    @contextmanager
    def responding(self) -> Generator[None]:
        """Make the envelopes in this block as the call wants them.

        They get the trace id as `meta.request_id`, unless another id is set, and the contract that the client asks for.
        """
        with ExitStack() as until_the_end:
            if current_request_id() is None:
                until_the_end.enter_context(request_id(self.trace_id))
            if self._contract is not None:
                until_the_end.enter_context(response_contract(self._contract))
            yield

    def judge(self, result: Mapping[str, object]) -> Mapping[str, object]:
        """Judge the tool result. Returns the result for the client: the very same object where nothing changes."""
        message = encode_result(self._number, dict(result))
        for step in self._vetting.record(self._session.from_server(message)):
            if isinstance(step, ToClient) and step.data is not message:
                return members(members(msgspec.json.decode(step.data)).get("result"))
        return result

    def fail(self, code: int, message: str) -> None:
        """Record that the call ended in a protocol error, which always passes unchanged."""
        self._vetting.record(self._session.from_server(encode_error(self._number, code, message)))

    def cancel(self) -> None:
        """Record that the client cancelled the call."""
        notification = encode_notification("notifications/cancelled", {"requestId": self._number})
        self._vetting.record(self._session.from_client(notification))


VettedCall: TypeAlias = BlockedCall | AllowedCall


class Vetting:
    """Decides about the calls of one server. Not safe for several threads.

    Args:
        policies: what is checked, repaired and refused; the defaults of `toolvet proxy` without it.
        on_note: called with everything that is worth recording (`toolvet.proxy.session` has the kinds of notes); it
            must not raise.
    """

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._policies = policies if policies is not None else Policies()
        self._on_note = on_note
        self._callers: OrderedDict[str, tuple[Session, Catalogue]] = OrderedDict()
        self._number = 0
        # Numbers are counted for all callers, so that each call has a trace id of its own.
        self._traces = TraceSource(token_hex(16))

    def call(
        self,
        caller: str | None,
        tool: Mapping[str, object] | None,
        params: Mapping[str, object],
        *,
        parent: object = None,
    ) -> VettedCall:
        """Decide about a call before it is made.

        Args:
            caller: an id of the client, whose failing calls are counted apart from those of others; None counts none.
            tool: the definition of the tool, as this caller sees it; None for a tool that the server does not have.
            params: those of the `tools/call`.
            parent: the header `traceparent` of its HTTP request, if any.
        """
        session, catalogue = self._session_of(caller)
        name = params.get("name")
        if isinstance(name, str) and tool is None:
            catalogue.tools.pop(name, None)
            catalogue.miss(name)
        elif isinstance(name, str) and tool is not None:
            known = catalogue.tools.get(name)
            if known is None or known.definition != tool:
                catalogue.tools[name] = KnownTool(name, tool)
        self._number += 1
        meta = members(params.get("_meta"))
        if isinstance(parent, str) and TRACE_PARENT not in meta and not isinstance(meta.get(TRACE_KEY), str):
            meta = {**meta, TRACE_PARENT: parent}
            params = {**params, "_meta": meta}
        message = encode_request(self._number, "tools/call", dict(params))
        arguments = params.get("arguments")
        for step in self.record(session.from_client(message)):
            if isinstance(step, ToClient):
                answer = members(msgspec.json.decode(step.data))
                if "error" not in answer:
                    return BlockedCall(members(answer.get("result")))
                # No legal call: the session answers with an error of the protocol, and here a result is wanted.
                words = members(answer["error"]).get("message")
                return BlockedCall({"content": [{"type": "text", "text": words}], "isError": True})
            if isinstance(step, ToServer) and step.data is not message:
                arguments = members(members(msgspec.json.decode(step.data)).get("params")).get("arguments")
        trace_id = self._traces.id_of(meta, self._number)
        return AllowedCall(
            self,
            session,
            self._number,
            arguments if is_object(arguments) else {},
            trace_id=trace_id,
            contract=wanted_contract(meta),
        )

    def record(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Pass notes among the steps on to `on_note`, and return the steps."""
        if self._on_note is not None:
            for step in steps:
                if isinstance(step, Note):
                    self._on_note(step)
        return steps

    def _session_of(self, caller: str | None) -> tuple[Session, Catalogue]:
        if caller is None:
            catalogue = Catalogue()
            return Session(self._policies, catalogue, traces=self._traces), catalogue
        found = self._callers.get(caller)
        if found is None:
            catalogue = Catalogue()
            found = self._callers[caller] = (
                Session(self._policies, catalogue, traces=self._traces),
                catalogue,
            )
            if len(self._callers) > _MOST_CALLERS:
                self._callers.popitem(last=False)
        else:
            self._callers.move_to_end(caller)
        return found
