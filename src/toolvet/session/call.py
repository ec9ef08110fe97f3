"""One tools/call on its way through a session."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from toolvet.checks.arguments import Issue
from toolvet.schema.json_value import EMPTY, is_object
from toolvet.session.note import Era, Reason
from toolvet.session.policy import Policies, Policy
from toolvet.wire import Id, Request

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_PREFIX: Final = "io.modelcontextprotocol/"
VERDICT_KEY: Final = "toolvet/verdict"
REPAIR_KEY: Final = "toolvet/repair"


class PendingCall(msgspec.Struct):
    """The call as it came (`data`, `arguments`), and what was decided about it so far.

    `is_task` when a legacy client asked for a task: such a call cannot be answered with a tool result. `is_unread` when
    the arguments are beyond the limit of the policy: they were not decoded, and count as none.
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
    is_unread: bool = False
    is_started: bool = False
    issues: tuple[Issue, ...] = ()
    repaired: Mapping[str, object] | None = None
    would_block: Reason | None = None
    why: str = ""

    @property
    def passes(self) -> bool:
        """Whether a result will pass as it comes, whatever is found in it."""
        policy = self.policy
        enforced = policy.results == "enforce" or policy.output_schema == "enforce"
        return not (enforced or self.repaired is not None or self.wants_verdict)

    @property
    def wants_verdict(self) -> bool:
        """Whether the client asked for the verdict, or the policy gives it unasked."""
        return self.policy.verdict == "always" or self.meta.get(VERDICT_KEY, False) is not False


def call_of(request: Request, number: int, policies: Policies) -> PendingCall | None:
    """The call that a tools/call is; None for one that is malformed: that is for the server to say."""
    body = request.body
    if body is None:
        return None
    size = len(request.raw)
    try:
        params = _PARAMS.decode(body) if size < _LARGE else _unread(body, size, policies)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    meta = params.meta if is_object(params.meta) else EMPTY
    modern = PROTOCOL_VERSION in meta
    return PendingCall(
        number,
        request.id,
        params.name,
        params.arguments,
        meta,
        "modern" if modern else "legacy",
        # In the modern era it is the server that decides to make a task of it, and says so in the result.
        not modern and is_object(params.task),
        request.raw,
        size,
        policies.of(params.name),
        size >= _LARGE and params.arguments is _NONE,
    )


# Typed, and not through `Request.params`: that remembers what it decoded, which costs as much as decoding it.
class _Params(msgspec.Struct, gc=False):
    name: str
    arguments: dict[str, Any] = {}
    meta: Any = msgspec.field(name="_meta", default=None)
    task: Any = None


class _Outline(msgspec.Struct, gc=False):
    """The same, with the arguments left as they stand."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    meta: Any = msgspec.field(name="_meta", default=None)
    task: Any = None


def _unread(body: msgspec.Raw, size: int, policies: Policies) -> _Params:
    """A large call, its arguments read only if they are within the limit. Raises as a decoder does."""
    found = _OUTLINE.decode(body)
    if size <= policies.of(found.name).max_arguments_bytes:
        return _PARAMS.decode(body)
    if not bytes(found.arguments).startswith(b"{"):
        raise msgspec.ValidationError("the arguments are no object")
    return _Params(found.name, _NONE, found.meta, found.task)


_LARGE = 2**20
_NONE: dict[str, Any] = {}
_PARAMS = msgspec.json.Decoder(_Params)
_OUTLINE = msgspec.json.Decoder(_Outline)
