"""One field that is wrong, among several."""

from typing import Any

import msgspec

from toolvet.envelope.builders.arguments import mapping, several, text
from toolvet.errors import EnvelopeTypeError


class FieldError(msgspec.Struct, frozen=True):
    """What is wrong with one field of the input.

    `pointer` is a JSON Pointer into the arguments, `field` the same place in the caller's own notation, `reason` a
    code for programs. All but the message may be missing.
    """

    message: str
    field: str | None = None
    pointer: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, str]:
        """The JSON form, without what is missing."""
        parts = {"field": self.field, "pointer": self.pointer, "message": self.message, "reason": self.reason}
        return {name: part for name, part in parts.items() if part is not None}


def field_errors(errors: object) -> list[dict[str, Any]]:
    """`details.errors`: FieldError or objects with a `message`. Raises EnvelopeError for one without a message."""
    written: list[dict[str, Any]] = []
    for index, error in enumerate(several(errors, "errors")):
        place = f"errors/{index}"
        parts = mapping(error.to_dict() if isinstance(error, FieldError) else error, place)
        parts["message"] = text(parts.get("message"), f"{place}/message")
        for name in ("field", "pointer", "reason"):
            if name in parts and not isinstance(parts[name], str):
                raise EnvelopeTypeError(f"{place}/{name}", f"must be a string, not {type(parts[name]).__name__}")
        written.append(parts)
    return written
