"""The steps that a session returns: bytes for the server, bytes for the client, and notes for the record.

Notes carry no time: the driver stamps them. Their fields hold what passed, with its secrets. Only `to_dict()` may be
stored, logged or shown: it is redacted.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.checks import Issue, ResultVerdict
from toolvet.core.json_value import EMPTY, is_array, is_object, members
from toolvet.core.redact import REDACTED, SecretMask, may_hold_secrets, redact
from toolvet.errors import could_not_check
from toolvet.mcp.wire import Id
from toolvet.proxy.session.trace import TraceSource

Era: TypeAlias = Literal["legacy", "modern"]
_NO_TRACES: Final = TraceSource()
_NO_SECRETS: Final = SecretMask()
_JSON: Final = msgspec.json.Encoder()
# Members of a note that hold words of the client or the server. In the first ones we have words of our own beside them.
_OWN_FORMS: Final = ("verdict", "issues")
_FOREIGN: Final = ("unjudged", "repaired", "why", "arguments", "result")

Outcome: TypeAlias = Literal[
    "success",  # a result without a known error in it
    "tool_error",  # a result with `isError`
    "protocol_error",  # a JSON-RPC error
    "refused",  # answered by the proxy, not sent
    "input_required",  # the server asks back; the client calls again, with another id
    "task",  # the server goes on with it as a task
    "validated",  # a call of the `validate` that the proxy offers
    "retrieved",  # a call of the tool that returns what a shortened result left out
    "cancelled",
    "unreadable",  # the answer is not a legal message; it was passed on
    "lost",  # another request took the same id, so that its answer cannot be matched; or none came
]

OWN_OUTCOMES: Final = frozenset({"refused", "validated", "retrieved"})
"""The outcomes of calls that the server never saw: their verdicts say nothing of its tools."""

RefusalReason: TypeAlias = Literal[
    "arguments", "limits", "repeated", "unchanged", "server_validation", "definition", "interceptor"
]
"""Why a call was not sent."""

Reason: TypeAlias = RefusalReason | Literal["result", "output_schema", "contract", "steering"]
"""Which policy stepped in."""

Change: TypeAlias = Literal["repair", "verdict", "trace", "is_error", "content", "structured_content"]
"""The part that the session changed: the arguments (`repair`), or this part of the result.

The trace id is added to whatever is changed; `trace` is for a client that asked for it.
"""

FaultKind: TypeAlias = Literal[
    "schema_unusable",  # the tool's inputSchema does not compile: its calls pass unchecked
    "list_failed",  # the tool list could not be read: calls passed unchecked
    "server_validation_failed",  # the server's own validator gave no verdict: calls passed
    "name_taken",  # the server has a tool by the name of the `validate` that was announced
    "call_unreadable",  # a call that is not a legal message here, but may be one to the server: it passed unchecked
    "check_failed",  # a check raised an exception: what it was to check passed
    "message_too_long",  # a message is longer than `max_message_bytes`: it passed unread, or was held back
    "duplicate_id",  # a request took the id of one that is not answered yet
    "definition_changed",  # a tool is not what the lock says
    "definition_steers",  # a text of a tool's definition steers the model
    "request_refused",  # a request was refused, because it cannot be read or an interceptor blocks it
    "interceptor_failed",  # an interceptor gave no usable answer in time: the message passed, or was blocked
    "interceptor_finding",  # an interceptor reported something that did not block the message
    "interceptor_change",  # an interceptor changed a message, or on audit would have changed it
]


class ToServer(msgspec.Struct, frozen=True, gc=False):
    """One message for the server, as it goes on the wire, without the line end.

    `about` is the id of the request that it is, where the session made or kept the message: a driver with several
    exchanges at once needs it. It is None for bytes that pass; those are the very same object that came in.
    """

    data: bytes
    about: Id | None = None


class ToClient(msgspec.Struct, frozen=True, gc=False):
    """One message for the client. `about` is the id of the request that it answers, as in ToServer."""

    data: bytes
    about: Id | None = None


class Note(msgspec.Struct, frozen=True):
    """Something for the record."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form, without secrets. `event` says which note it is."""
        raise NotImplementedError


class CallStarted(Note, frozen=True):
    """A call began: it was sent to the server, or is kept back while the session asks something.

    `call` numbers the calls of this session from 1; `size` is in bytes, of the whole message. A call that was answered
    at once has no CallStarted, only a CallEnded.
    """

    call: int
    id: Id
    tool: str
    era: Era
    size: int

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "event": "call_started",
            "call": self.call,
            "id": self.id,
            "tool": self.tool,
            "era": self.era,
            "size": self.size,
        }


class CallEnded(Note, frozen=True):
    """A call ended.

    `verdict` is None if the result was not judged, and `unjudged` then says why, if the policy wanted it judged.
    `issues` are the faults of the arguments; `repaired` is the repair that was applied. `blocked` is the policy that
    stepped in, `would_block` one that would have, were it not on audit. `code` is that of a protocol error; `size` is
    the answer's, in bytes. `arguments` and `result` are set when the policy wants them recorded; `hidden` names fields
    that `to_dict` hides. `mask` knows the
    secrets of what is quoted here. `trace_id` is computed from `meta`, the `_meta` of the call, and `traces`.
    """

    call: int
    id: Id
    tool: str
    era: Era
    outcome: Outcome
    verdict: ResultVerdict | None = None
    unjudged: str | None = None
    issues: tuple[Issue, ...] = ()
    repaired: Mapping[str, object] | None = None
    blocked: Reason | None = None
    would_block: Reason | None = None
    why: str = ""
    changed: tuple[Change, ...] = ()
    code: int | None = None
    size: int = 0
    arguments: object = None
    result: object = None
    hidden: tuple[str, ...] = ()
    mask: SecretMask = _NO_SECRETS
    meta: Mapping[str, object] = EMPTY
    traces: TraceSource = _NO_TRACES

    @property
    def trace_id(self) -> str:
        """The id of the turn that the call belongs to. Computed each time, so that it costs no call anything."""
        return self.traces.id_of(self.meta, self.id)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form: absent members left out, secrets and the fields that the policy hides replaced."""
        trace_id = self.trace_id
        form: dict[str, object] = {
            "event": "call_ended",
            "call": self.call,
            "id": self.id,
            "trace_id": trace_id,
            "tool": self.tool,
            "era": self.era,
            "outcome": self.outcome,
            "verdict": None if self.verdict is None else {**self.verdict.to_dict(), "trace_id": trace_id},
            "unjudged": self.unjudged,
            "issues": [issue.to_dict() for issue in self.issues] or None,
            "repaired": self.repaired,
            "blocked": self.blocked,
            "would_block": self.would_block,
            "why": self.why or None,
            "changed": list(self.changed) or None,
            "code": self.code,
            "size": self.size,
            "arguments": self.arguments,
            "result": self.result,
        }
        present = {key: value for key, value in form.items() if value is not None}
        names = frozenset(self.hidden)
        mask = (
            self.mask | SecretMask.learned(self.arguments, self.result) if self.arguments or self.result else self.mask
        )
        try:
            # The JSON, read once, tells 20 times faster whether a walk through all members is needed.
            has_secrets = bool(mask) or may_hold_secrets(_JSON.encode(present).decode())
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError):
            has_secrets = True
        safe: Mapping[str, object] = {**members(redact(present))} if has_secrets else present
        if mask:
            # The members that quote the client or the server, without the secrets of what they quote.
            own: dict[str, object] = {key: mask.own(present[key]) for key in _OWN_FORMS if key in present}
            safe = {**safe, **own, **{key: mask.value(present[key]) for key in _FOREIGN if key in present}}
        return {key: _hide(value, names) if names else value for key, value in safe.items()}


class SchemaLearned(Note, frozen=True):
    """A page of the tool list was read. `complete` when it was the last one.

    `tools` is the number of tools on it, `names` has their names. `lifetime_ms` is the list's `ttlMs`, but at least
    30 s, and None if the server set none: after that time the driver has to call `Catalogue.forget`, because a session
    has no clock.
    """

    tools: int
    complete: bool
    lifetime_ms: int | None = None
    names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        form: dict[str, object] = {"event": "schema_learned", "tools": self.tools, "complete": self.complete}
        return form if self.lifetime_ms is None else {**form, "lifetime_ms": self.lifetime_ms}


class SchemaForgotten(Note, frozen=True):
    """The server reported that its tool list changed: its tools are unknown until the list is read again."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"event": "schema_forgotten"}


class Asked(Note, frozen=True):
    """A question of the session goes to the server, and calls wait for its answer.

    The session has no clock: when the answer takes too long, the driver calls `Session.give_up(id)`; the calls go on.
    """

    id: str
    method: Literal["tools/list", "tools/call"]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"event": "asked", "id": self.id, "method": self.method}


class PolicyFault(Note, frozen=True):
    """A policy could not be applied, and the call passed anyway; only with `request_refused` nothing passed.

    `message` is a sentence.
    """

    kind: FaultKind
    message: str
    tool: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        form = {"event": "fault", "kind": self.kind, "message": str(redact(self.message))}
        return {**form, "tool": self.tool} if self.tool is not None else dict[str, object](form)


Step: TypeAlias = ToServer | ToClient | Note


def check_failed(error: Exception, tool: str | None = None) -> PolicyFault:
    """Return the fault for an exception of a check, which is a bug of ours."""
    return PolicyFault("check_failed", could_not_check(error), tool)


def _hide(value: object, names: frozenset[str]) -> object:
    """Return `value` with `[redacted]` under these keys, at any depth: what was decoded may be nested 1,000 deep."""
    top: list[object] = [value]
    copies: list[dict[str, object] | list[object]] = [top]
    while copies:
        copy = copies.pop()
        for place, item in [*(copy.items() if isinstance(copy, dict) else enumerate(copy))]:
            if is_object(item):
                inner: dict[str, object] | list[object] = {
                    key: REDACTED if key in names else each for key, each in item.items()
                }
            elif is_array(item):
                inner = list(item)
            else:
                continue
            copy[place] = inner  # pyright: ignore[reportArgumentType, reportCallIssue]
            copies.append(inner)
    return top[0]
