"""The policies of `toolvet proxy` inside a server, for teams that prefer code: what its drivers share.

`toolvet.integrations.proxying_fastmcp` and `toolvet.integrations.proxying_sdk` put it into a server. What decides is
the session of the proxy itself, so the same settings mean the same.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from toolvet.schema.json_value import is_object, members
from toolvet.session import Catalogue, Note, Policies, Session, Step, ToClient, ToServer
from toolvet.session.catalogue import KnownTool
from toolvet.wire import encode_error, encode_notification, encode_request, encode_result

# Each has the failing calls of one client; who comes back after so many others starts anew.
_MOST_CALLERS = 1000


class BlockedCall(msgspec.Struct, frozen=True):
    """The call is not to be made: this is its result."""

    result: Mapping[str, object]


class AllowedCall:
    """The call is to be made, with these arguments; then one of `result`, `failed` and `cancelled` is called, once."""

    def __init__(self, vetting: "Vetting", session: Session, number: int, arguments: Mapping[str, object]) -> None:
        self.arguments = arguments
        self._vetting = vetting
        self._session = session
        self._number = number

    def result(self, result: Mapping[str, object]) -> Mapping[str, object]:
        """What came of it; returns what the client gets, the very same object where nothing was to be changed."""
        given = encode_result(self._number, dict(result))
        for step in self._vetting.told(self._session.from_server(given)):
            if isinstance(step, ToClient) and step.data is not given:
                return members(members(msgspec.json.decode(step.data)).get("result"))
        return result

    def failed(self, code: int, message: str) -> None:
        """It ended in a protocol error, which always passes as it is."""
        self._vetting.told(self._session.from_server(encode_error(self._number, code, message)))

    def cancelled(self) -> None:
        """Nobody wants to know any more."""
        told = encode_notification("notifications/cancelled", {"requestId": self._number})
        self._vetting.told(self._session.from_client(told))


Vetted: TypeAlias = BlockedCall | AllowedCall


class Vetting:
    """Policies for the calls of one server. Not for several threads.

    `on_note` is given everything that is worth recording (`toolvet.session` has the kinds of notes); it must not raise.
    """

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._policies = policies if policies is not None else Policies()
        self._on_note = on_note
        self._callers: OrderedDict[str, tuple[Session, Catalogue]] = OrderedDict()
        self._number = 0

    def call(self, caller: str | None, tool: Mapping[str, object] | None, params: Mapping[str, object]) -> Vetted:
        """A call that is about to be made.

        `tool` is its definition, as this caller sees it; None for one that the server does not have. `params` are those
        of the `tools/call`. `caller` tells clients apart, because how often a call failed is nobody else's business;
        for None nothing is remembered.
        """
        session, catalogue = self._session_of(caller)
        name = params.get("name")
        if isinstance(name, str):
            _know(catalogue, name, tool)
        self._number += 1
        given = encode_request(self._number, "tools/call", dict(params))
        arguments = params.get("arguments")
        for step in self.told(session.from_client(given)):
            if isinstance(step, ToClient):
                return BlockedCall(members(members(msgspec.json.decode(step.data)).get("result")))
            if isinstance(step, ToServer) and step.data is not given:
                arguments = members(members(msgspec.json.decode(step.data)).get("params")).get("arguments")
        return AllowedCall(self, session, self._number, arguments if is_object(arguments) else {})

    def told(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps; what is worth recording is passed on."""
        if self._on_note is not None:
            for step in steps:
                if isinstance(step, Note):
                    self._on_note(step)
        return steps

    def _session_of(self, caller: str | None) -> tuple[Session, Catalogue]:
        if caller is None:
            catalogue = Catalogue()
            return Session(self._policies, catalogue), catalogue
        found = self._callers.get(caller)
        if found is None:
            catalogue = Catalogue()
            found = self._callers[caller] = (Session(self._policies, catalogue), catalogue)
            if len(self._callers) > _MOST_CALLERS:
                self._callers.popitem(last=False)
        else:
            self._callers.move_to_end(caller)
        return found


def _know(catalogue: Catalogue, name: str, tool: Mapping[str, object] | None) -> None:
    """What the server itself says of its tool counts now; nothing is asked or remembered beyond that."""
    if tool is None:
        catalogue.tools.pop(name, None)
        catalogue.miss(name)
        return
    known = catalogue.tools.get(name)
    if known is None or known.definition != tool:
        catalogue.tools[name] = KnownTool(name, tool)
