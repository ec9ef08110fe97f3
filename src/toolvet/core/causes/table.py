"""The table of causes: what went wrong, with its word in every vocabulary, and the codes that name it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

import msgspec

from toolvet.core.discover.toml import read_toml

GOOD_OUTCOMES: Final = frozenset({"success", "input_required", "task", "validated", "retrieved"})
"""Outcomes of calls in which nothing went wrong, as far as the protocol says."""

_PACKAGE: Final = "toolvet.core.causes"
_LONGEST_NAME: Final = 100


class ErrorKind(StrEnum):
    """The side at fault: the caller, whose call a working tool rejected, or the tool and its dependencies.

    `unknown` is an error whose text shows no refusal, crash or outage.
    """

    BUSINESS = "business"
    TOOL_FAILURE = "tool_failure"
    UNKNOWN = "unknown"


class Retry(StrEnum):
    """The advice to a caller about calling again."""

    FIX_ARGUMENTS = "fix_arguments"
    BACKOFF = "backoff"
    REAUTHENTICATE = "reauthenticate"
    NEVER = "never"


class RetryAdvice(StrEnum):
    """Whether the same call may succeed later, in the words of the contract response-v2."""

    NO = "no"
    MAYBE = "maybe"
    AFTER_DELAY = "after delay"
    BACKOFF = "backoff"


class State(StrEnum):
    """What went wrong: the causes, each a row of the table. The first nine are business logic."""

    NOT_FOUND = "not_found"
    INVALID_INPUT = "invalid_input"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    CONFLICT = "conflict"
    RULE = "rule"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    FEATURE_DISABLED = "feature_disabled"

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    CRASH = "crash"
    MISCONFIGURED = "misconfigured"
    UNSUPPORTED = "unsupported"
    INVALID_OUTPUT = "invalid_output"
    UNKNOWN = "unknown"

    # That of Enum is a function of Python: a tenth of a short error's time went to looking members up.
    __hash__ = str.__hash__

    @property
    def is_business(self) -> bool:
        """Whether an error of this state is business logic: the tool worked, and refused the call."""
        return self in _business_states()

    @property
    def retry(self) -> Retry | None:
        """The remedy; None if it is not known."""
        return cause_of(self).retry


class ErrorType(StrEnum):
    """The kind of a failure in an envelope, for clients that route by kind."""

    VALIDATION = "validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    RATE_LIMIT = "rate_limit"
    FEATURE_FLAG = "feature_flag"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"

    @property
    def state(self) -> State:
        """The default cause of a failure of this type: that of its most general code."""
        return self.default_code.state

    @property
    def http_status(self) -> int:
        """The HTTP status that a web service would answer with."""
        return cause_of(self.state).http_status

    @property
    def retry(self) -> RetryAdvice:
        """Whether the same call may succeed later."""
        return cause_of(self.state).again

    @property
    def grpc_status(self) -> str:
        """The name of the corresponding code in google.rpc.Status."""
        return cause_of(self.state).google_rpc

    @property
    def headline(self) -> str:
        """The reason phrase of that HTTP status."""
        return cause_of(self.state).http_reason

    @property
    def default_code(self) -> "ErrorCode":
        """The most general code of this type."""
        return _default_codes()[self]


class ErrorCode(StrEnum):
    """The documented codes of an envelope; a server may also have codes of its own."""

    VALIDATION_ERROR = "VALIDATION_ERROR"
    INVALID_FORMAT = "INVALID_FORMAT"
    MISSING_REQUIRED = "MISSING_REQUIRED"
    NOT_FOUND = "NOT_FOUND"
    SPEC_NOT_FOUND = "SPEC_NOT_FOUND"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    DUPLICATE_ENTRY = "DUPLICATE_ENTRY"
    CONFLICT = "CONFLICT"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    FEATURE_DISABLED = "FEATURE_DISABLED"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    UNAVAILABLE = "UNAVAILABLE"

    @property
    def state(self) -> State:
        """The cause that the code names."""
        return _table().code[self].cause

    @property
    def error_type(self) -> ErrorType:
        """The type that the code belongs to."""
        return cause_of(self.state).error_type

    @property
    def headline(self) -> str:
        """The failure in words that never change: the `title` of RFC 9457."""
        return _table().code[self].headline

    @property
    def aliases(self) -> tuple[str, ...]:
        """Names that other systems use for the same failure."""
        return _table().code[self].aliases

    @property
    def grpc_status(self) -> str:
        """The name of the corresponding code in google.rpc.Status."""
        return _table().code[self].google_rpc or cause_of(self.state).google_rpc


class _ReadCodes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    http_status: tuple[int, ...] = ()
    json_rpc: tuple[int, ...] = ()
    google_rpc: tuple[str, ...] = ()


class Honesty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words by which an answer honestly reports something, and the signal types that such a report withdraws."""

    words: frozenset[str] = frozenset()
    takes_back: frozenset[str] = frozenset()


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row of `causes.toml`, which explains the columns."""

    kind: ErrorKind
    says: str
    error_type: ErrorType
    error_code: str
    http_status: int
    http_reason: str
    google_rpc: str
    again: RetryAdvice
    json_rpc: int | None = None
    retry: Retry | None = None
    reads: _ReadCodes = _ReadCodes()
    words: frozenset[str] = frozenset()
    takes_back: frozenset[str] = frozenset()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    @property
    def honesty(self) -> Honesty:
        """The words by which an answer honestly reports this cause."""
        return Honesty(self.words, self.takes_back)

    @property
    def answer_label(self) -> str:
        """The signal of an answer that honestly reports it: "tool_failure", or "" if nothing is left open."""
        return "" if "tool_failure" in self.takes_back else "tool_failure"


class _CodeRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cause: State
    headline: str
    aliases: tuple[str, ...] = ()
    google_rpc: str | None = None


class _CauseTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cause: dict[State, Cause]
    found_nothing: Honesty
    stopped: dict[str, State]
    code: dict[ErrorCode, _CodeRow]


class _NamedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    state: State
    words: tuple[str, ...]


class _Codes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sqlstate: dict[str, State]
    errno: dict[str, State]
    names: tuple[_NamedState, ...]


def causes() -> Mapping[State, Cause]:
    """All rows of the table.

    >>> causes()[State.TIMEOUT].google_rpc
    'DEADLINE_EXCEEDED'
    """
    return _table().cause


def cause_of(state: State) -> Cause:
    """The row of one state."""
    return _table().cause[state]


def found_nothing() -> Honesty:
    """How an answer honestly reports a success that found nothing."""
    return _table().found_nothing


def stops() -> Mapping[str, State]:
    """The cause of each answer that toolvet gives in place of a tool, by the reason for the stop."""
    return _table().stopped


def state_of_stop(stop: str) -> State:
    """What went wrong where toolvet answers in place of a tool: `arguments`, `limits`, `unanswered` and others.

    >>> state_of_stop("arguments"), state_of_stop("unanswered")
    (<State.INVALID_INPUT: 'invalid_input'>, <State.UNAVAILABLE: 'unavailable'>)
    """
    return _table().stopped[stop]


def state_of_http(status: int) -> State | None:
    """Return the cause of an HTTP status; None below 400 and from 600 on.

    A 4xx without a row is invalid input; a 5xx without a row is internal (RFC 9110, section 15).

    >>> state_of_http(404), state_of_http(418), state_of_http(200)
    (<State.NOT_FOUND: 'not_found'>, <State.INVALID_INPUT: 'invalid_input'>, None)
    """
    if not 400 <= status < 600:
        return None
    return _readers().http_status.get(status, State.INVALID_INPUT if status < 500 else State.INTERNAL)


def state_of_json_rpc(code: int) -> State | None:
    """Return the cause of a JSON-RPC error code; None for a code that names no cause."""
    return _readers().json_rpc.get(code)


def state_of_google_rpc(name: str) -> State | None:
    """Return the cause of the name of a google.rpc code, which gRPC also uses; None for another name."""
    return _readers().google_rpc.get(name)


def google_rpc_names() -> Iterable[str]:
    """The names of google.rpc.Code that mean an error."""
    return _readers().google_rpc.keys()


def state_of_sqlstate(code: str) -> State | None:
    """Return the cause of an SQLSTATE, by the code itself or by its class; None for another code."""
    known = _codes().sqlstate
    return known.get(code) or known.get(code[:2])


def state_of_errno(name: str) -> State | None:
    """Return the cause of an errno name such as `ENOENT`; None for another name."""
    return _codes().errno.get(name)


@lru_cache(maxsize=1024)
def state_of_name(words: tuple[str, ...]) -> State | None:
    """Return the cause that the words of an error's name show, such as `msg`, `too`, `long`; None if they show none."""
    joined = f"+{'+'.join(words)}+"[:_LONGEST_NAME]
    for row in _codes().names:
        if any(f"+{word}+" in joined for word in row.words):
            return row.state
    return None


def state_of_failure(code: str, kind: str) -> State | None:
    """Return the cause from the `error_code` and `error_type` of a failure's envelope; pass "" for a missing one.

    The type decides. The code refines it if the code belongs to that type: `error_code: "TIMEOUT"` with `error_type:
    "unavailable"` is a timeout. Without a documented type the code decides. Returns None if neither is known.

    >>> state_of_failure("TASK_NOT_FOUND", ""), state_of_failure("SHIP_LOST", "conflict")
    (<State.NOT_FOUND: 'not_found'>, <State.CONFLICT: 'conflict'>)
    """
    return _state_of_failure(code[:_LONGEST_NAME].strip().upper(), kind[:_LONGEST_NAME].strip().lower())


@lru_cache(maxsize=1024)
def _state_of_failure(code: str, kind: str) -> State | None:
    type_ = _TYPES.get(kind)
    table = _table()
    named = next((row.cause for own, row in table.code.items() if code == own or code in row.aliases), None)
    if named is None:
        named = next((state for state, cause in table.cause.items() if cause.error_code == code), None)
    if named is None:
        words = tuple(word.lower() for word in code.split("_") if word)
        named = state_of_google_rpc(code) or state_of_name(words)
    if type_ is None:
        return named
    return named if named is not None and cause_of(named).error_type is type_ else type_.state


@cache
def _business_states() -> frozenset[State]:
    return frozenset(state for state, cause in _table().cause.items() if cause.kind is ErrorKind.BUSINESS)


@cache
def _table() -> _CauseTable:
    return read_toml(_PACKAGE, "causes.toml", _CauseTable)


@cache
def _codes() -> _Codes:
    return read_toml(_PACKAGE, "codes.toml", _Codes)


class _Readers(msgspec.Struct, frozen=True):
    http_status: dict[int, State]
    json_rpc: dict[int, State]
    google_rpc: dict[str, State]


@cache
def _readers() -> _Readers:
    """Return the cause of each code. If several causes share a code, the row that lists it under `reads` wins."""
    found = _Readers({}, {}, {})
    rows = _table().cause.items()
    for state, row in rows:
        found.http_status.setdefault(row.http_status, state)
        found.google_rpc.setdefault(row.google_rpc, state)
        if row.json_rpc is not None:
            found.json_rpc.setdefault(row.json_rpc, state)
    for state, row in rows:
        found.http_status.update(dict.fromkeys(row.reads.http_status, state))
        found.json_rpc.update(dict.fromkeys(row.reads.json_rpc, state))
        found.google_rpc.update(dict.fromkeys(row.reads.google_rpc, state))
    return found


@cache
def _default_codes() -> dict[ErrorType, ErrorCode]:
    """Of each type the code that a cause is written with: the most general one."""
    rows = _table().cause.values()
    return {row.error_type: ErrorCode(row.error_code) for row in reversed(list(rows)) if row.error_code in _DOCUMENTED}


_TYPES: Final = {kind.value: kind for kind in ErrorType}
_DOCUMENTED: Final = frozenset(code.value for code in ErrorCode)
