"""The open requests of a session: the calls that it lets through or keeps back, and all others."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeAlias

import msgspec

from toolvet.core.checks import Issue
from toolvet.core.json_value import EMPTY, is_object
from toolvet.core.meta import MCP_META_PREFIX, META_PREFIX, PROTOCOL_VERSION_KEY
from toolvet.mcp.wire import ErrorReply, Id, Noise, Request, Result
from toolvet.proxy.session.policy import Policies, Policy
from toolvet.proxy.session.step import Era, Reason
from toolvet.proxy.session.trace import TRACE_KEY, TraceSource

VERDICT_KEY: Final = f"{META_PREFIX}verdict"
REPAIR_KEY: Final = f"{META_PREFIX}repair"
# A call of that size is decoded only as far as needed to find its policy.
_LARGE: Final = 2**20
_NO_ARGUMENTS: Final[dict[str, Any]] = {}


class PendingCall(msgspec.Struct):
    """The call as it came (`data`, `arguments`), and what was decided about it so far.

    `number` counts the calls of the session from 1, `size` is that of the whole message in bytes. `is_task` is set when
    a legacy client asked for a task: such a call cannot be answered with a tool result. `is_unread` is set when the
    arguments are larger than the policy allows: they were not decoded, and count as none. `issues` are the faults of
    the arguments, `repaired` the repair that was applied. `would_block` and `why` say what a policy on audit found.
    `is_unlisted` is set when the whole list was read, and the tool is not on it. `contract` is the schema that the lock
    has for its results.
    """

    number: int
    id: Id
    tool: str
    arguments: Mapping[str, object]
    meta: Mapping[str, object]
    era: Era
    is_task: bool
    data: bytes
    size: int
    policy: Policy
    traces: TraceSource
    contract: Any = None
    is_unread: bool = False
    is_started: bool = False
    is_unlisted: bool = False
    issues: tuple[Issue, ...] = ()
    repaired: Mapping[str, object] | None = None
    would_block: Reason | None = None
    why: str = ""

    @property
    def passes(self) -> bool:
        """Whether a result will pass unchanged, whatever is found in it."""
        policy = self.policy
        enforced = policy.results == "enforce" or policy.output_schema == "enforce" or policy.steering == "hold"
        holds_drift = self.contract is not None and policy.lock == "hold"
        return not (enforced or holds_drift or policy.fit or self.repaired is not None or self.wants_notes)

    def reads_answer(self, size: int) -> bool:
        """Whether a result of this many bytes will be decoded, because the policy has it judged."""
        policy = self.policy
        return (
            (policy.results != "off" or policy.steering == "hold" or self.contract is not None)
            and size <= policy.max_judged_bytes
            and size <= policy.max_result_bytes
        )

    @property
    def wants_notes(self) -> bool:
        """Whether the result gets members of ours in its `_meta`, whatever is found in it."""
        if self.policy.verdict == "always":
            return True
        meta = self.meta
        # Most calls have neither key, and every call comes by here.
        return (VERDICT_KEY in meta or TRACE_KEY in meta) and (self.wants_verdict or self.wants_trace)

    @property
    def wants_verdict(self) -> bool:
        """Whether the client asked for the verdict, or the policy always gives it."""
        return self.policy.verdict == "always" or self.meta.get(VERDICT_KEY, False) is not False

    @property
    def wants_trace(self) -> bool:
        """Whether the client asked for the trace id."""
        return self.meta.get(TRACE_KEY, False) is not False

    @property
    def trace_id(self) -> str:
        """The trace id of the call (`toolvet.proxy.session.trace`), computed on access because few calls need it."""
        return self.traces.id_of(self.meta, self.id)


class PendingPage(msgspec.Struct, frozen=True):
    """A page of the tool list that the client asked for, and the state of the catalogue at that time."""

    cursor: object
    generation: int
    passes: ClassVar = False

    def reads_answer(self, size: int) -> bool:  # noqa: ARG002 - as in PendingCall
        """Whether the answer will be decoded."""
        return True


class PendingOpening(msgspec.Struct, frozen=True):
    """The server's answer to `initialize` or `server/discover`."""

    era: Era
    passes: ClassVar = False

    def reads_answer(self, size: int) -> bool:  # noqa: ARG002 - as in PendingCall
        """Whether the answer will be decoded."""
        return True


class AmbiguousAnswers(msgspec.Struct):
    """This many answers under one id, which pass unchecked.

    One: that to a request which needs no decision. More: they cannot be matched to their requests.
    """

    answers: int
    passes: ClassVar = True

    def reads_answer(self, size: int) -> bool:  # noqa: ARG002 - as in PendingCall
        """Whether the answer will be decoded."""
        return False


PendingAnswer: TypeAlias = PendingCall | PendingPage | PendingOpening | AmbiguousAnswers
"""The answer that a session expects to an open request of the client."""


class ListRequest(msgspec.Struct):
    """The session's own reading of the tool list.

    `id` is that of the open question, `cursor` that of the page it asks for; `generation` is the state of the catalogue
    when the reading began, `pages` and `restarts` count so that a reading ends.
    """

    id: str
    meta: Mapping[str, object]
    generation: int
    cursor: str | None = None
    pages: int = 1
    restarts: int = 0


def read_call(request: Request, number: int, policies: Policies, traces: TraceSource) -> PendingCall | None:
    """Return the call that a tools/call holds; None for a malformed one, which the server is to answer."""
    body = request.body
    if body is None:
        return None
    size = len(request.raw)
    try:
        outline = _OUTLINE.decode(body) if size >= _LARGE else None
        if outline is None or size <= policies.of(outline.name).max_arguments_bytes:
            params = _PARAMS.decode(body)
        elif bytes(outline.arguments).startswith(b"{"):
            # Beyond the limit the arguments are not decoded.
            params = _Params(outline.name, _NO_ARGUMENTS, outline.meta, outline.task)
        else:
            return None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    meta = params.meta if is_object(params.meta) else EMPTY
    modern = PROTOCOL_VERSION_KEY in meta
    return PendingCall(
        number=number,
        id=request.id,
        tool=params.name,
        arguments={} if params.arguments is None else params.arguments,
        meta=meta,
        era="modern" if modern else "legacy",
        # In the modern era the server decides to make a task of it, and says so in the result.
        is_task=not modern and is_object(params.task),
        data=request.raw,
        size=size,
        policy=policies.of(params.name),
        traces=traces,
        contract=policies.contract_of(params.name),
        is_unread=size >= _LARGE and params.arguments is _NO_ARGUMENTS,
    )


def client_meta(call: PendingCall) -> Mapping[str, object]:
    """Return the members of `_meta` that describe the client, from the call; never its progress token."""
    if call.era == "legacy":
        return {}
    return {key: value for key, value in call.meta.items() if key.startswith(MCP_META_PREFIX)}


def describe_failure(message: Result | ErrorReply | Noise | None) -> str:
    """Return why a question of the session has no answer that it can use."""
    if message is None:
        return "no answer in time"
    if isinstance(message, ErrorReply):
        return f"error {message.code}: {message.message[:200]}"
    return "the answer is not a tool list" if isinstance(message, Result) else message.reason


# Typed, and not through `Request.params`: that remembers what it decoded, which costs as much as decoding it.
class _Params(msgspec.Struct, gc=False):
    name: str
    # Python's SDK takes null for none.
    arguments: dict[str, Any] | None = {}
    meta: Any = msgspec.field(name="_meta", default=None)
    task: Any = None


class _Outline(msgspec.Struct, gc=False):
    """The same, with the arguments undecoded."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    meta: Any = msgspec.field(name="_meta", default=None)
    task: Any = None


_PARAMS: Final = msgspec.json.Decoder(_Params)
_OUTLINE: Final = msgspec.json.Decoder(_Outline)
