"""`Envelope`, a response in the shape of the contract, and `ResponseError`, the exception that carries one."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from toolvet.core.envelope.json_copy import copy_json, encode_json
from toolvet.core.envelope.request import current_contract
from toolvet.errors import EnvelopeError, EnvelopeTypeError, ToolvetError


class Envelope(msgspec.Struct, frozen=True):
    """One response of a tool. `success_response`, `error_response` and the helpers for single failures return it.

    `data` is the payload of a success, and the structured context of an error. `error` is the message of a failure, and
    None exactly when `success` is true. `meta` holds everything about the response that is not its payload. `to_dict()`
    gives the JSON object, where other classes have `dataclasses.asdict`.

    Example:
        >>> from toolvet import success_response
        >>> success_response({"ship": "Aurora"}).to_dict()
        {'success': True, 'data': {'ship': 'Aurora'}, 'error': None, 'meta': {'version': 'response-v2'}}
    """

    success: bool
    data: Mapping[str, Any]
    error: str | None
    meta: Mapping[str, Any]

    def to_dict(self, contract: str | None = None) -> dict[str, Any]:
        """The JSON object to send, as an independent copy.

        Args:
            contract: "v2" is the envelope. "v1" is the bare payload, for clients that asked for it: the data, and for
                an error the message beside it as `error`. Where the data has an `error` of its own, the data moves to
                the member `data`. v1 has no place for `meta`. None takes the contract of the surrounding
                `response_contract(...)`, else "v2".

        Raises:
            EnvelopeError: for any other contract.
        """
        return copy_json(self._document(contract))

    def to_json(self, contract: str | None = None) -> str:
        """The same as compact JSON: the text that `fit_response` counts and that a tool result holds."""
        return encode_json(self._document(contract)).decode()

    def _document(self, contract: str | None) -> Mapping[str, Any]:
        chosen = current_contract() if contract is None else contract
        if chosen == "v2":
            return msgspec.structs.asdict(self)
        if chosen == "v1":
            if self.success:
                return self.data
            return (
                {"error": self.error, "data": self.data} if "error" in self.data else {**self.data, "error": self.error}
            )
        raise EnvelopeError("contract", f"must be v1 or v2, not {contract!r:.60}")


class ResponseError(ToolvetError):
    """Raise it anywhere inside an enveloped tool, and the tool answers with `response`.

    Args:
        response: the envelope of a failure.

    Raises:
        EnvelopeError: for the envelope of a success (return it instead).
        EnvelopeTypeError: for a response that is not an Envelope.

    Example:
        >>> from toolvet import not_found_error
        >>> raise ResponseError(not_found_error("Ship", "Aurora"))
        Traceback (most recent call last):
        toolvet.core.envelope.response.ResponseError: Ship 'Aurora' not found
    """

    exit_code = 1

    def __init__(self, response: Envelope) -> None:
        if not isinstance(cast("object", response), Envelope):
            raise EnvelopeTypeError("response", f"must be an Envelope, not {type(response).__name__}")
        if response.success:
            raise EnvelopeError("response", "must be a failure: return a success instead")
        self.response = response
        super().__init__(response.error)
