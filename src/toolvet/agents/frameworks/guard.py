"""`AgentGuard`: what every adapter asks, so that the same call has the same text and verdict in all of them.

`wrap` asks it for loops without a framework; `ObjectMemory` is for adapters whose frameworks give no ids.
"""

import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Generic, Literal, ParamSpec, Self, TypeVar

import msgspec

from toolvet.agents.integrations.proxy.vetting import AllowedCall, BlockedCall, Vetting
from toolvet.core.checks import AnswerQuality, check_arguments
from toolvet.core.json_value import elements, is_endless, is_object, members
from toolvet.core.redact import redact
from toolvet.core.tools import handle_of, view_of
from toolvet.core.turn import AnswerCheck, judged_ending, regeneration_advice
from toolvet.errors import ToolvetError
from toolvet.proxy.session import TRACE_KEY, CallEnded, Note, Policies, TraceSource

_MOST_OPEN: Final = 10_000

Answers = Literal["note", "retry", "off"]
"""How the last answer of a run is handled. `note` judges and records it. `retry` also asks the model once to answer
again, if the calls plainly contradict it and the framework can do so. `off` ignores it."""


class AnswerJudged(Note, frozen=True):
    """The last answer of a run was judged by the calls of its turn.

    `trace_id` is that of the calls of its conversation, None if it has no id. `advice` is the text that the model is to
    read before it answers again, None if it is not asked to.
    """

    trace_id: str | None
    quality: AnswerQuality
    advice: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form, without secrets."""
        form = {"event": "answer_judged", "trace_id": self.trace_id, "verdict": self.quality.to_dict()}
        safe = members(redact({**form, "advice": self.advice}))
        return {key: value for key, value in safe.items() if value is not None}


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        # Ctrl-C and cancellation say nothing of the tool.
        if isinstance(error, Exception):
            self.raised(error)

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
        policies: The checks, repairs and refusals; `Policies(ProxySettings(repair="apply"))` for one. None, the
            default: the defaults of `toolvet proxy`.
        on_note: Called with everything that is worth recording (`toolvet.proxy.session` has the kinds of notes:
            verdicts are in `CallEnded`, those on answers in `AnswerJudged`); it must not raise.
        answers: How the last answer of a run is handled; see `Answers`. Default "note".

    Example:
        >>> guard = AgentGuard()
        >>> weather = {"name": "weather", "inputSchema": {"type": "object", "required": ["city"]}}
        >>> isinstance(guard.call("run-1", weather, {}), RefusedCall)
        True
        >>> guard.call("run-1", weather, {"city": "Rome"}).returned("21 degrees") is None
        True
    """

    def __init__(
        self,
        policies: Policies | None = None,
        on_note: Callable[[Note], None] | None = None,
        *,
        answers: Answers = "note",
    ) -> None:
        self._vetting = Vetting(policies, on_note)
        self._lock = threading.Lock()
        self._open: dict[str, GuardedCall] = {}
        self._on_note = on_note
        self._answers = answers
        self._check = AnswerCheck()
        self._sent_back: dict[str, bool] = {}

    def call(
        self, conversation: str, tool: object, arguments: str | Mapping[str, Any], *, name: str = ""
    ) -> RefusedCall | GuardedCall:
        """Decide about a call before it is made.

        Args:
            conversation: An id of the run: its failing and repeated calls are counted apart from those of others, and
                it is the trace id of what is noted, as it is or as a hash. With an empty one each call has its own.
            tool: The definition of the tool, in any form that `check_arguments` takes. None for a tool that does not
                exist: such a call is not refused, only one that goes on failing.
            arguments: An object, or the JSON text that the model wrote.
            name: The name of a tool that does not exist.
        """
        trace = trace_of(conversation)
        meta = {} if trace is None else {TRACE_KEY: trace}
        given: Mapping[str, Any] | None = None
        if isinstance(arguments, str):
            with suppress(msgspec.DecodeError, ValueError, RecursionError):
                read: object = msgspec.json.decode(arguments or "{}")
                given = read if is_object(read) else None
        elif not is_endless(arguments):
            given = arguments
        view = None if tool is None else view_of(tool)
        called = name if view is None else view.name
        if given is None and view is not None:
            # No object, so no call that a session could read.
            report = check_arguments(handle_of(view), arguments, unchecked="pass")
            why = report.issues[0].problem if report.issues else "the arguments are not a JSON object"
            refused = CallEnded(0, 0, called, "legacy", "refused", None, "no JSON object", report.issues, meta=meta)
            self._note(msgspec.structs.replace(refused, blocked="arguments", why=why))
            # A schema that cannot be used finds nothing wrong with them.
            return RefusedCall(report.to_text() if report.issues else f"Tool '{called}' was not called: {why}.")
        definition = None
        if view is not None:
            held = members(tool)
            further = {key: held[key] for key in ("annotations", "outputSchema") if key in held}
            definition = {"name": called, "inputSchema": view.input_schema, **further}
        params = {"name": called, "arguments": given or {}, "_meta": meta}
        with self._lock:
            vetted = self._vetting.call(conversation, definition, params)
        if isinstance(vetted, BlockedCall):
            return RefusedCall(_text_of(vetted.result))
        return GuardedCall(vetted.arguments, vetted, self._lock)

    def finished(self, conversation: str, messages: Sequence[object]) -> str | None:
        """Judge the last answer of a run by the calls of its turn, and note the verdict.

        Returns what the model should read before it answers again: only with `answers="retry"`, only where the calls
        plainly contradict the answer, and never twice in a row. Otherwise None.

        Args:
            conversation: As in `call`. With an empty one nothing is sent back, because how often could not be counted.
            messages: The messages of the run, its last answer included, in any format that `toolvet.turns` reads; what
                it cannot read is not judged.
        """
        if self._answers == "off":
            return None
        trace = trace_of(conversation)
        ending = judged_ending(messages, self._check, trace=trace)
        if ending is None:
            return None
        advice = None
        if self._answers == "retry" and conversation:
            with self._lock:
                # The answer to a retry is not sent back a second time.
                is_second = self._sent_back.pop(conversation, False)
                sends_back = ending.contradiction is not None and not is_second
                if sends_back:
                    _make_room(self._sent_back)
                    self._sent_back[conversation] = True
            if sends_back:
                advice = regeneration_advice(ending.quality, calls=ending.calls)
        self._note(AnswerJudged(trace, ending.quality, advice))
        return advice

    def _note(self, note: Note) -> None:
        if self._on_note is not None:
            self._on_note(note)

    def keep(self, call_id: str, call: GuardedCall) -> None:
        """Keep a call until its result comes, where a framework asks in two places."""
        with self._lock:
            _make_room(self._open)
            self._open[call_id] = call

    def kept(self, call_id: str) -> GuardedCall | None:
        """Return the call that was kept under this id, and forget it."""
        return self._open.pop(call_id, None)


def trace_of(conversation: str) -> str | None:
    """Return the trace id of everything in a conversation: its id, or a hash of an illegal one.

    >>> trace_of("run-7"), trace_of("")
    ('run-7', None)
    """
    if not conversation:
        return None
    return TraceSource().given_in({TRACE_KEY: conversation}) or TraceSource(conversation).id_of({}, 0)


def _make_room(held: dict[str, Any]) -> None:
    if len(held) >= _MOST_OPEN:
        del held[next(iter(held))]


def _as_result(result: Any) -> Mapping[str, Any]:
    """Return a tool's return value as a tool result of MCP: a model reads text in any case."""
    held = members(result)
    if is_endless(result):
        return {"content": [{"type": "text", "text": "(an object that contains itself, or its own parts too often)"}]}
    if isinstance(held.get("content"), list):
        return held
    if isinstance(result, str):
        return {"content": [{"type": "text", "text": result}]}
    blocks = elements(result)
    if blocks and all(isinstance(members(block).get("text"), str) and "type" in members(block) for block in blocks):
        # Blocks of text, as frameworks pass on those of MCP, under names of their own such as `input_text`.
        return {"content": [{"type": "text", "text": members(block)["text"]} for block in blocks]}
    try:
        text = msgspec.json.encode(result, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        text = str(result)
    return {"content": [{"type": "text", "text": text}]}


def _text_of(result: Mapping[str, Any]) -> str:
    return "\n\n".join(str(members(block).get("text", "")) for block in elements(result.get("content")))


P = ParamSpec("P")
R = TypeVar("R")


class CallRefusedError(ToolvetError):
    """A wrapped function was not called. Its text is for the model."""


def wrap(
    function: Callable[P, R], *, tool: object = None, guard: AgentGuard | None = None, conversation: str = ""
) -> Callable[P, R]:
    """Return a function that checks its arguments before it calls `function`, and judges what comes back.

    Args:
        function: The tool, sync or async; it is called with keyword arguments.
        tool: Its definition; None, the default, reads it from the function's annotations and docstring.
        guard: Checks the calls; by default a guard with the default policies.
        conversation: An id of the run, as in `AgentGuard.call`.

    Raises (the returned function):
        CallRefusedError: The call must not be made; the text says what is wrong, and the call that would be right.

    Example:
        >>> from toolvet import wrap
        >>> def weather(city: str) -> str:
        ...     return f"{city}: 21 degrees"
        >>> checked = wrap(weather)
        >>> checked(city="Rome")
        'Rome: 21 degrees'
    """
    asked = guard if guard is not None else AgentGuard()
    definition: object = function if tool is None else tool
    # It is called with what was checked, which a type checker cannot know.
    called: Callable[..., Any] = function

    def begun(arguments: dict[str, Any]) -> GuardedCall:
        call = asked.call(conversation, definition, arguments)
        if isinstance(call, RefusedCall):
            raise CallRefusedError(call.text)
        return call

    if inspect.iscoroutinefunction(function):

        async def later(**arguments: Any) -> Any:
            call = begun(arguments)
            with call:
                result = await called(**call.arguments)
            text = call.returned(result)
            return result if text is None else text

        return functools.wraps(function)(later)  # type: ignore[return-value]

    def now(**arguments: Any) -> Any:
        call = begun(arguments)
        with call:
            result = called(**call.arguments)
        text = call.returned(result)
        return result if text is None else text

    return functools.wraps(function)(now)  # type: ignore[return-value]


V = TypeVar("V")

_MOST_HELD: Final = 1_000


class ObjectMemory(Generic[V]):
    """A value for each of the last thousand objects that were used, which may have no hash.

    It holds the objects, too: the `id` of one that is gone soon belongs to another. A run that ends in an error
    is never taken out, so the oldest go.

    Example:
        >>> memory, agent = ObjectMemory[str](), ["no hash"]
        >>> memory.put(agent, "clerk")
        >>> memory.get(agent), memory.get(["no hash"]), memory.pop(agent), memory.get(agent)
        ('clerk', None, 'clerk', None)
    """

    def __init__(self) -> None:
        self._held: OrderedDict[int, tuple[object, V]] = OrderedDict()

    def put(self, key: object, value: V) -> None:
        """Keep a value for this object."""
        self._held[id(key)] = (key, value)
        self._held.move_to_end(id(key))
        if len(self._held) > _MOST_HELD:
            self._held.popitem(last=False)

    def get(self, key: object) -> V | None:
        """Return the value of this object; None if there is none."""
        found = self._held.get(id(key))
        return None if found is None else found[1]

    def pop(self, key: object) -> V | None:
        """Return the value of this object, and forget it."""
        found = self._held.pop(id(key), None)
        return None if found is None else found[1]
