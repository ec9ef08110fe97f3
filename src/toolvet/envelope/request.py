"""What holds for all responses made while one request is answered: its id, and the contract that its caller wants."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from toolvet.envelope.json_copy import plain
from toolvet.envelope.contract.vocabulary import ResponseContract
from toolvet.errors import EnvelopeError, EnvelopeTypeError

_CURRENT: ContextVar[str | None] = ContextVar("toolvet_request_id", default=None)
current_request_id = _CURRENT.get
_CONTRACT: ContextVar[str] = ContextVar("toolvet_response_contract", default=ResponseContract.V2)
current_contract = _CONTRACT.get


@contextmanager
def request_id(value: str) -> Generator[str]:
    """Responses made inside carry `value` as `meta.request_id`, unless they are given another.

    Holds for this thread or task and for the tasks that it starts. Raises EnvelopeError for an empty id.
    """
    token = _CURRENT.set(named_id(value, "request_id"))
    try:
        yield value
    finally:
        _CURRENT.reset(token)


@contextmanager
def response_contract(value: str) -> Generator[str]:
    """Responses written inside are written by this contract, "v1" or "v2", unless they are told otherwise.

    For a server that knows what its caller asked for. Holds as `request_id` does. Raises EnvelopeError for any other.
    """
    if value not in tuple(ResponseContract):
        raise EnvelopeError("contract", f"must be v1 or v2, not {value!r:.60}")
    token = _CONTRACT.set(value)
    try:
        yield value
    finally:
        _CONTRACT.reset(token)


def named_id(value: object, argument: str) -> str:
    """`value` as an id: a string with something in it."""
    if not isinstance(value, str):
        raise EnvelopeTypeError(argument, f"must be a string, not {type(value).__name__}")
    if not value or value.isspace():
        raise EnvelopeError(argument, "must not be empty")
    if type(value) is str and value.isascii():
        return value
    text: str = plain(value, argument)
    return text
