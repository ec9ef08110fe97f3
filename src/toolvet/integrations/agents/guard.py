"""`AgentGuard`: what every adapter asks, so that the same call has the same text and verdict in all of them."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from toolvet.checks.arguments import check_arguments
from toolvet.integrations.proxy.vetting import AllowedCall, BlockedCall, Vetting
from toolvet.schema.json_value import elements, is_object, members
from toolvet.session import Note, Policies
from toolvet.tools import handle_of, view_of

_MOST_OPEN: Final = 10_000


class RefusedCall(msgspec.Struct, frozen=True):
    """A call that must not be made. `text` is what the model reads in place of a result."""

    text: str


class GuardedCall(msgspec.Struct, frozen=True):
    """A call that may be made, with `arguments`, which differ from the model's where a policy repaired them."""

    arguments: Mapping[str, Any]
    allowed: AllowedCall
    lock: Any

    @property
    def trace_id(self) -> str:
        """The id of its turn, as in the record."""
        return self.allowed.trace_id

    def returned(self, result: Any, *, failed: bool = False) -> str | None:
        """Judge what the tool returned. Returns a text where the policy puts one in its place, else None.

        `failed` says that the framework tells the model of an error.
        """
        found = _as_result(result)
        return self._judged({**found, "isError": True} if failed else found)

    def raised(self, error: BaseException) -> str | None:
        """Judge an exception of the tool, as a framework tells it to the model; else as `returned`."""
        return self._judged(
            {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}
        )

    def _judged(self, result: Mapping[str, Any]) -> str | None:
        with self.lock:
            judged = self.allowed.judge(result)
        # Notes in `_meta`, such as that of a repair, are for clients of MCP; a model reads the text.
        return None if judged is result or judged.get("content") == result["content"] else _text_of(judged)


class AgentGuard:
    """Checks the calls of one agent before they are made, and judges what comes back, as `toolvet proxy` does.

    Safe for several threads and for concurrent tasks.

    Args:
        policies: What is checked, repaired and refused; `Policies(ProxySettings(repair="apply"))` for one. None, the
            default: the defaults of `toolvet proxy`.
        on_note: Called with everything that is worth recording (`toolvet.session` has the kinds of notes: verdicts are
            in `CallEnded`); it must not raise.

    Example:
        >>> guard = AgentGuard()
        >>> weather = {"name": "weather", "inputSchema": {"type": "object", "required": ["city"]}}
        >>> isinstance(guard.call("run-1", weather, {}), RefusedCall)
        True
        >>> guard.call("run-1", weather, {"city": "Rome"}).returned("21 degrees") is None
        True
    """

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._vetting = Vetting(policies, on_note)
        self._lock = threading.Lock()
        self._open: dict[str, GuardedCall] = {}

    def call(self, conversation: str, tool: object, arguments: str | Mapping[str, Any]) -> RefusedCall | GuardedCall:
        """Decide about a call before it is made.

        Args:
            conversation: An id of the run: its failing and repeated calls are counted apart from those of others.
            tool: The definition of the tool, in any form that `check_arguments` takes.
            arguments: An object, or the JSON text that the model wrote.
        """
        view = view_of(tool)
        given = _parsed(arguments)
        if given is None:
            # No object, so no call that a session could read.
            return RefusedCall(check_arguments(handle_of(view), arguments, unchecked="pass").to_text())
        definition = {"name": view.name, "inputSchema": view.input_schema, **_further(tool)}
        with self._lock:
            vetted = self._vetting.call(conversation, definition, {"name": view.name, "arguments": given})
        if isinstance(vetted, BlockedCall):
            return RefusedCall(_text_of(vetted.result))
        return GuardedCall(vetted.arguments, vetted, self._lock)

    def keep(self, call_id: str, call: GuardedCall) -> None:
        """Keep a call until its result comes, where a framework asks in two places."""
        if len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        self._open[call_id] = call

    def kept(self, call_id: str) -> GuardedCall | None:
        """Return the call that was kept under this id, and forget it."""
        return self._open.pop(call_id, None)


def _parsed(arguments: str | Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        found: object = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return found if is_object(found) else None


def _further(tool: object) -> Mapping[str, Any]:
    """What a definition in the form of MCP says beside name and schema: annotations, outputSchema."""
    held = members(tool)
    return {key: held[key] for key in ("annotations", "outputSchema") if key in held}


def _as_result(result: Any) -> Mapping[str, Any]:
    """What a tool returned, as a tool result of MCP: a model reads text in any case."""
    held = members(result)
    if isinstance(held.get("content"), list):
        return held
    if isinstance(result, str):
        return {"content": [{"type": "text", "text": result}]}
    try:
        text = msgspec.json.encode(result, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        text = str(result)
    return {"content": [{"type": "text", "text": text}]}


def _text_of(result: Mapping[str, Any]) -> str:
    return "\n\n".join(str(members(block).get("text", "")) for block in elements(result.get("content")))
