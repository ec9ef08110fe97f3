"""Settings for all responses that are made while one request is answered: its id, and the contract its caller wants."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from toolvet.core.envelope.contract.vocabulary import ResponseContract
from toolvet.core.envelope.json_copy import copy_as_json, is_blank
from toolvet.errors import EnvelopeError, EnvelopeTypeError

_REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("toolvet_request_id", default=None)
_CONTRACT: Final[ContextVar[str]] = ContextVar("toolvet_response_contract", default=ResponseContract.V2)


def current_request_id() -> str | None:
    """The id that the surrounding `request_id(...)` has set, or None."""
    return _REQUEST_ID.get()


def current_contract() -> str:
    """The contract that the surrounding `response_contract(...)` has set; "v2" without one."""
    return _CONTRACT.get()


@contextmanager
def request_id(value: str) -> Generator[str]:
    """Put `value` as `meta.request_id` into every response made in this block that is not given another id.

    Holds for this thread or task, and for the tasks that it starts. Raises EnvelopeError for an empty id and
    EnvelopeTypeError for an id that is not a string.

    Example:
        >>> from toolvet import success_response
        >>> with request_id("req-7"):
        ...     response = success_response()
        >>> response.meta["request_id"]
        'req-7'
    """
    token = _REQUEST_ID.set(checked_id(value))
    try:
        yield value
    finally:
        _REQUEST_ID.reset(token)


@contextmanager
def response_contract(value: str) -> Generator[str]:
    """Write every response in this block by this contract, unless `to_dict` or `to_json` is given another.

    For a server that knows which contract its caller asked for. Holds for this thread or task, and for the tasks that
    it starts.

    Args:
        value: "v1" (the bare payload) or "v2" (the envelope).

    Raises:
        EnvelopeError: for any other value.

    Example:
        >>> from toolvet import success_response
        >>> with response_contract("v1"):
        ...     success_response({"ship": "Aurora"}).to_json()
        '{"ship":"Aurora"}'
    """
    if value not in tuple(ResponseContract):
        raise EnvelopeError("contract", f"must be v1 or v2, not {value!r:.60}")
    token = _CONTRACT.set(value)
    try:
        yield value
    finally:
        _CONTRACT.reset(token)


def checked_id(value: object) -> str:
    """`value` if it is a string that is not blank; raises EnvelopeError, naming `request_id`, for any other."""
    if not isinstance(value, str):
        raise EnvelopeTypeError("request_id", f"must be a string, not {type(value).__name__}")
    if is_blank(value):
        raise EnvelopeError("request_id", "must not be empty")
    if type(value) is str and value.isascii():
        return value
    text: str = copy_as_json(value, "request_id")
    return text
