"""A response in the shape of the contract, before it is written."""

from collections.abc import Mapping
from typing import Any

import msgspec

from toolvet.envelope.json_copy import copied, written
from toolvet.envelope.request import current_contract
from toolvet.errors import EnvelopeError


class Envelope(msgspec.Struct, frozen=True):
    """One response: what `success_response`, `error_response` and the helpers give.

    `data` is the payload of a success, the structured context of an error. `error` is None exactly when `success`.
    """

    success: bool
    data: Mapping[str, Any]
    error: str | None
    meta: Mapping[str, Any]

    def to_dict(self, contract: str | None = None) -> dict[str, Any]:
        """The JSON object to send, a copy of its own.

        `contract="v1"` gives the bare payload, for clients that asked for it: the data, and for an error the message
        beside it as `error`; where the data has an `error` of its own, it stands whole under `data`. A v1 response has
        no place for `meta`. Without a contract it is that of the surrounding `response_contract(...)`, else v2. Raises
        EnvelopeError for any other.
        """
        return copied(self._shaped(contract))

    def to_json(self, contract: str | None = None) -> bytes:
        """The same as compact JSON in UTF-8: what `fit_response` counts, and what goes into the text of a result."""
        return written(self._shaped(contract))

    def _shaped(self, contract: str | None) -> Mapping[str, Any]:
        chosen = current_contract() if contract is None else contract
        if chosen == "v2":
            return {"success": self.success, "data": self.data, "error": self.error, "meta": self.meta}
        if chosen == "v1":
            if self.success:
                return self.data
            return (
                {"error": self.error, "data": self.data} if "error" in self.data else {**self.data, "error": self.error}
            )
        raise EnvelopeError("contract", f"must be v1 or v2, not {contract!r:.60}")
