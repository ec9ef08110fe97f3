"""Interceptors (SEP-2624): what an interceptor server lists and answers, and a server that hosts some.

    interceptors/list     the descriptors, all of them or those of one event
    interceptor/invoke    one interceptor, one payload: a decision (validation) or another payload (mutation)

The proposal is a draft; `DRAFT` names what we read. Of its two payload shapes (the whole request in the text, bare
`params` in the fixtures), both are read and the first is sent. Older spellings are read as well: `hook` with the phase
`both` for `hooks`, and the mode `enforce` for `active`.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from toolvet.core.checks import SEVERITIES, MessageSeverity, ValidationReply, parse_reply
from toolvet.core.decodable import decodable
from toolvet.core.json_value import elements, is_object, members, names, same
from toolvet.core.meta import MCP_META_PREFIX
from toolvet.errors import could_not_check
from toolvet.mcp.serving import in_era, opening
from toolvet.mcp.wire import InvalidJson, Noise, Request, encode_error, encode_result, parse, reply_hint

DRAFT: Final = "modelcontextprotocol/experimental-ext-interceptors: docs/sep.md 2f66b9b, conformance suite 4d5bad7"
EXTENSION: Final = f"{MCP_META_PREFIX}interceptors"
LIST: Final = "interceptors/list"
INVOKE: Final = "interceptor/invoke"

Phase: TypeAlias = Literal["request", "response"]
InterceptorType: TypeAlias = Literal["validation", "mutation"]
Mode: TypeAlias = Literal["active", "audit"]

PHASES: Final[tuple[Phase, ...]] = ("request", "response")
_MODES: Final[Mapping[object, Mode]] = {"active": "active", "enforce": "active", "audit": "audit"}
_TYPES: Final[Mapping[object, InterceptorType]] = {"validation": "validation", "mutation": "mutation"}
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_TIMEOUT: Final = -32000


class Hook(msgspec.Struct, frozen=True):
    """The events that an interceptor sees in one phase. `*` stands for all, `tools/*` for those of a namespace."""

    events: tuple[str, ...]
    phase: Phase

    def has(self, event: str) -> bool:
        """Return whether the hook covers this event in its phase."""
        return any(
            each in (event, "*", f"*/{self.phase}") or (each.endswith("/*") and event.startswith(each[:-1]))
            for each in self.events
        )


class Interceptor(msgspec.Struct, frozen=True, kw_only=True):
    """The descriptor of an interceptor, as `interceptors/list` returns it.

    `priority` orders mutations, the lowest first, by phase. With `fail_open` a message passes if the interceptor fails.
    """

    name: str
    type: InterceptorType
    hooks: tuple[Hook, ...]
    mode: Mode = "active"
    fail_open: bool = False
    priority: Mapping[str, int] = {}
    description: str = ""
    version: str = ""

    def hooks_into(self, event: str, phase: Phase) -> bool:
        """Return whether the interceptor wants this event in this phase."""
        return any(hook.phase == phase and hook.has(event) for hook in self.hooks)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form. Defaults are omitted, as the conformance suite wants it."""
        form: dict[str, object] = {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "type": self.type,
            "hooks": [{"events": list(hook.events), "phase": hook.phase} for hook in self.hooks],
            "mode": "" if self.mode == "active" else self.mode,
            "failOpen": self.fail_open,
            "priorityHint": dict(self.priority),
        }
        return {key: value for key, value in form.items() if value or key == "hooks"}


def read_interceptor(value: object) -> Interceptor | None:
    """Read a descriptor. Total: None for one without a name, or of a type that the draft does not have."""
    found = members(value)
    name, kind = found.get("name"), _TYPES.get(_word(found.get("type")))
    if not isinstance(name, str) or not name or kind is None:
        return None
    hooks = [
        Hook(names(hook.get("events")), phase)
        for hook in map(members, (*elements(found.get("hooks")), found.get("hook")))
        for phase in PHASES
        if hook.get("phase") in (phase, "both")
    ]
    hint = found.get("priorityHint")
    hints = members(hint) if is_object(hint) else dict.fromkeys(PHASES, hint)
    description, version = found.get("description"), found.get("version")
    return Interceptor(
        name=name,
        type=kind,
        hooks=tuple(hooks),
        mode=_MODES.get(_word(found.get("mode")), "active"),
        fail_open=found.get("failOpen") is True,
        priority={phase: each for phase in PHASES if type(each := hints.get(phase)) is int},
        description=description if isinstance(description, str) else "",
        version=version if isinstance(version, str) else "",
    )


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


class ValidatorResult(NamedTuple):
    """The decision of a validator. `severity` is that of an invalid payload; only `error` may block."""

    reply: ValidationReply
    severity: MessageSeverity

    @property
    def blocks(self) -> bool:
        """Whether an active validator blocks the message with this decision."""
        return not self.reply.valid and self.severity == "error"


class MutatorResult(NamedTuple):
    """The payload that a mutator returns."""

    modified: bool
    payload: object


def read_validation(result: object) -> ValidatorResult | str:
    """Read the result of a validator. Total: a sentence for one that cannot be read."""
    if not is_object(result) or not isinstance(result.get("valid"), bool):
        return "the result has no boolean 'valid'"
    reply = parse_reply(result)
    if isinstance(reply, str):
        return reply
    # Invalid without a severity is an error, as in the SDKs of the working group.
    severity: MessageSeverity = reply.severity
    for each in SEVERITIES:
        if each == result.get("severity"):
            severity = each
    return ValidatorResult(reply, severity)


def read_mutation(result: object, payload: object) -> MutatorResult | str:
    """Read what a mutator made of `payload`. Total: a sentence for a result that cannot be read or used.

    The new payload must be of the same event: an object, with the same `method` if there was one.
    """
    found = members(result)
    modified = found.get("modified")
    if not isinstance(modified, bool) or "payload" not in found:
        return "the result has no boolean 'modified', or no 'payload'"
    made = found["payload"]
    if not modified:
        return (
            MutatorResult(modified, payload) if same(made, payload) else "'modified' is false, and the payload differs"
        )
    before = members(payload)
    if not is_object(made):
        return "the new payload is not an object"
    if "method" in before and (made.get("method") != before["method"] or not is_object(made.get("params"))):
        return "the new payload is not a request of the same method"
    return MutatorResult(modified, made)


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of `interceptor/invoke`."""

    name: str
    event: str
    phase: Phase
    payload: object
    timeout_ms: float | None = msgspec.field(name="timeoutMs", default=None)
    config: Mapping[str, object] = {}
    context: Mapping[str, object] = {}

    @property
    def params(self) -> Mapping[str, object]:
        """The `params` of an intercepted request, from either shape of payload."""
        whole = members(self.payload)
        return members(whole["params"]) if is_object(whole.get("params")) else whole

    def with_params(self, params: Mapping[str, object]) -> object:
        """Return the payload with other `params`, in the shape in which it came."""
        whole = members(self.payload)
        return {**whole, "params": params} if is_object(whole.get("params")) else params


Handler: TypeAlias = Callable[[Invocation], ValidationReply | MutatorResult]
"""Decides about a payload: a validator returns a ValidationReply, a mutator a MutatorResult."""


class InterceptorServer:
    """Answers one client that asks for interceptors.

    Args:
        hosted: The interceptors with their handlers, in the order of the list. Names must differ.
        name: The name of the server.

    Example:
        >>> hook = Hook(("tools/call",), "request")
        >>> guard = Interceptor(name="guard", type="validation", hooks=(hook,))
        >>> server = InterceptorServer([(guard, lambda call: ValidationReply(valid=True))], "guards")
        >>> server.answer(b'{"jsonrpc":"2.0","id":1,"method":"interceptors/list","params":{"event":"tools/list"}}')
        b'{"jsonrpc":"2.0","id":1,"result":{"interceptors":[]}}'
    """

    def __init__(self, hosted: Sequence[tuple[Interceptor, Handler]], name: str) -> None:
        self._hosted = {each.name: (each, handler) for each, handler in hosted}
        self._name = name
        events = {event: None for each, _ in hosted for hook in each.hooks for event in hook.events}
        self._capabilities = {"extensions": {EXTENSION: {"supportedEvents": list(events)}}}

    def answer(self, line: bytes) -> bytes | None:
        """Return the answer to a line of the client; None for a line that gets none. Total."""
        message = parse(line)
        if isinstance(message, Noise) and message.kind != "empty":
            # Half a surrogate in a payload, or too deep a one, mostly leaves the id.
            return encode_error(reply_hint(line), -32700, f"Not a JSON-RPC message: {message.reason}")
        if not isinstance(message, Request):
            return None
        if isinstance(message.params, InvalidJson):
            return encode_error(message.id, _INVALID_PARAMS, f"Invalid params: {message.params.reason}")
        if message.method == INVOKE:
            return self._invoke(message)
        if message.method == LIST:
            event = members(message.params).get("event")
            if event is not None and (not isinstance(event, str) or "*" in event):
                return encode_error(message.id, _INVALID_PARAMS, "'event' must be the name of one event")
            found: Mapping[str, object] | None = {
                "interceptors": [
                    each.to_dict()
                    for each, _ in self._hosted.values()
                    if event is None or any(each.hooks_into(event, phase) for phase in PHASES)
                ]
            }
        else:
            found = opening(message, self._name, self._capabilities)
        if found is None:
            return encode_error(message.id, -32601, f"Method not found: {message.method}")
        return encode_result(message.id, in_era(message, found))

    def _invoke(self, request: Request) -> bytes:
        # A client may write null for what it does not set.
        given = {key: each for key, each in members(request.params).items() if each is not None or key == "payload"}
        try:
            call = msgspec.convert(given, decodable(Invocation))
        except msgspec.ValidationError as error:
            return encode_error(request.id, _INVALID_PARAMS, f"Invalid params: {error}")
        interceptor, handler = self._hosted.get(call.name, (None, None))
        data = {"interceptor": call.name, "event": call.event, "phase": call.phase}
        if interceptor is None or handler is None:
            return encode_error(request.id, _INVALID_PARAMS, f"There is no interceptor '{call.name}'.", data)
        if not interceptor.hooks_into(call.event, call.phase):
            words = f"'{call.name}' does not hook into {call.event} in the phase {call.phase}."
            return encode_error(request.id, _INVALID_PARAMS, words, data)
        began = monotonic()
        try:
            made = handler(call)
        except Exception as error:  # noqa: BLE001 - the invoker decides what a failure means
            data["reason"] = could_not_check(error)
            return encode_error(request.id, _INTERNAL_ERROR, "Interceptor execution failed", data)
        if call.timeout_ms is not None and (monotonic() - began) * 1000 > call.timeout_ms:
            return encode_error(request.id, _TIMEOUT, "Interceptor execution timeout", data)
        result: dict[str, object] = {"interceptor": call.name, "type": interceptor.type, "phase": call.phase}
        result |= made.to_interceptor_result() if isinstance(made, ValidationReply) else made._asdict()
        return encode_result(request.id, in_era(request, result))
