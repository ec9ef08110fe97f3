"""What a session tells the record: facts without a time. The driver stamps them.

The fields hold what passed, secrets and all. Only `to_dict()` is fit to be stored, logged or shown: it is redacted.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from toolvet.checks.arguments import Issue
from toolvet.checks.result import ResultVerdict
from toolvet.redact import REDACTED, redact
from toolvet.schema.json_value import EMPTY, is_array, is_object, members
from toolvet.wire import Id

Era: TypeAlias = Literal["legacy", "modern"]

Outcome: TypeAlias = Literal[
    "success",  # a result, and no error in it that we know of
    "tool_error",  # a result with `isError`
    "protocol_error",  # a JSON-RPC error
    "refused",  # answered by us, never sent
    "input_required",  # the server asks back; the client calls again, with another id
    "task",  # the server goes on with it as a task
    "validated",  # a question to the `validate` that we offer
    "cancelled",
    "unreadable",  # the answer is no legal message; it was passed on
    "lost",  # another request took the same id, so that no answer can be told to be this one's
]

Reason: TypeAlias = Literal["arguments", "limits", "repeated", "server_validation", "result", "output_schema"]
"""Which policy stepped in."""

Change: TypeAlias = Literal["repair", "verdict", "is_error", "content", "structured_content"]
"""What we changed: the arguments on their way in (`repair`), or that part of the result."""

FaultKind: TypeAlias = Literal[
    "schema_unusable",  # the tool's inputSchema does not compile: its calls pass unchecked
    "list_failed",  # the tool list could not be read: calls passed unchecked
    "server_validation_failed",  # the server's own validator gave no verdict: calls passed
    "name_taken",  # the server has a tool by the name of the `validate` that we announced
    "call_unreadable",  # a call that is no legal message to us, and may be one to the server: it passed unchecked
    "duplicate_id",  # a request took the id of one that is not answered yet
]


class Note(msgspec.Struct, frozen=True):
    """Something for the record."""

    def to_dict(self) -> dict[str, object]:
        """The JSON form, without secrets. `event` says which note it is."""
        raise NotImplementedError


class CallStarted(Note, frozen=True):
    """A call that is under way: sent to the server, or kept back while something is asked.

    `call` numbers the calls of this session from 1; `size` is in bytes, of the whole message. A call that was answered
    at once has no CallStarted, only a CallEnded.
    """

    call: int
    id: Id
    tool: str
    era: Era
    size: int

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "event": "call_started",
            "call": self.call,
            "id": self.id,
            "tool": self.tool,
            "era": self.era,
            "size": self.size,
        }


class CallEnded(Note, frozen=True):
    """A call and what became of it.

    `verdict` is None where the result was not judged, and `unjudged` then says why, if the policy wanted it judged.
    `issues` are the faults of the arguments; `repaired` tells a repair that was applied. `blocked` is the policy that
    stepped in, `would_block` the one that would have, were it not on audit. `code` is that of a protocol error; `size`
    is the answer's, in bytes. `arguments` and `result` are there when the policy wants them recorded.
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
    meta: Mapping[str, object] = EMPTY

    def to_dict(self) -> dict[str, object]:
        """The JSON form: without what is absent, and with secrets and the fields that the policy hides replaced."""
        found: dict[str, object] = {
            "event": "call_ended",
            "call": self.call,
            "id": self.id,
            "tool": self.tool,
            "era": self.era,
            "outcome": self.outcome,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
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
        told = {key: value for key, value in found.items() if value is not None}
        names = frozenset(self.hidden)
        return {key: _without(value, names) if names else value for key, value in members(redact(told)).items()}


class SchemaLearned(Note, frozen=True):
    """A page of the tool list was read. `complete` when it was the last one.

    `lifetime_ms` is the list's `ttlMs`, but at least 30 s, and None where the server set none: after that time the
    driver has to call `Catalogue.forget`, because a session has no clock.
    """

    tools: int
    complete: bool
    lifetime_ms: int | None = None

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        told: dict[str, object] = {"event": "schema_learned", "tools": self.tools, "complete": self.complete}
        return told if self.lifetime_ms is None else {**told, "lifetime_ms": self.lifetime_ms}


class SchemaForgotten(Note, frozen=True):
    """The server said that its tool list changed: nothing is known of its tools until they are read again."""

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"event": "schema_forgotten"}


class Asked(Note, frozen=True):
    """A question of our own is on its way to the server, and calls wait for its answer.

    The session has no clock: a driver that is tired of waiting calls `Session.give_up(id)`, and the calls go on.
    """

    id: str
    method: Literal["tools/list", "tools/call"]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"event": "asked", "id": self.id, "method": self.method}


class PolicyFault(Note, frozen=True):
    """Something that kept a policy from being applied: the call passed all the same. `message` is a sentence."""

    kind: FaultKind
    message: str
    tool: str | None = None

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        told = {"event": "fault", "kind": self.kind, "message": str(redact(self.message))}
        return {**told, "tool": self.tool} if self.tool is not None else dict[str, object](told)


def _without(value: object, names: frozenset[str]) -> object:
    """`value` with `[redacted]` under these keys, at any depth."""
    if is_object(value):
        return {key: REDACTED if key in names else _without(item, names) for key, item in value.items()}
    return [_without(item, names) for item in value] if is_array(value) else value
