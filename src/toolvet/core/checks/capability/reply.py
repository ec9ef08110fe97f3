"""The reply of a validator to one call: valid or not, and messages with their severity and place."""

from typing import Final, Literal

import msgspec

MessageSeverity = Literal["error", "warn", "info"]
"""In the words of the Interceptors proposal; the documented lists are `errors`, `warnings`, `suggestions`."""
SEVERITIES: Final[tuple[MessageSeverity, ...]] = ("error", "warn", "info")


class Message(msgspec.Struct, frozen=True):
    """One sentence about a call. `path` is the field that it is about, "" for the whole call."""

    message: str
    severity: MessageSeverity = "error"
    path: str = ""

    def to_dict(self) -> dict[str, object]:
        """The JSON form of the Interceptors proposal."""
        return {"path": self.path, "message": self.message, "severity": self.severity}


class Correction(msgspec.Struct, frozen=True):
    """A value that would be valid at `path`. Offered, never applied."""

    path: str
    value: object

    def to_dict(self) -> dict[str, object]:
        """The JSON form of the Interceptors proposal, where corrections are called suggestions."""
        return {"path": self.path, "value": self.value}


class ValidationReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to one call.

    The `errors`, `warnings` and `suggestions` of the documented form are the messages of the three severities, so both
    forms have the same content.
    """

    valid: bool
    messages: tuple[Message, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """Why the call must not be made."""
        return self._texts("error")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the call is made."""
        return self._texts("warn")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would improve the call."""
        return self._texts("info")

    @property
    def severity(self) -> MessageSeverity:
        """The highest severity of the messages; `info` for a valid call without messages."""
        if not self.valid:
            return "error"
        for severity in SEVERITIES:
            if self._texts(severity):
                return severity
        return "info"

    def to_dict(self) -> dict[str, object]:
        """The JSON form: the documented reply (`valid`, `errors`, …), with severities, places and corrections."""
        return {
            "valid": self.valid,
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "suggestions": list(self.suggestions),
            "severity": self.severity,
            "messages": [each.to_dict() for each in self.messages],
            "corrections": [correction.to_dict() for correction in self.corrections],
        }

    def to_interceptor_result(self) -> dict[str, object]:
        """The result of a validation interceptor (SEP-2624), where `suggestions` are the corrections."""
        return {
            "valid": self.valid,
            "severity": self.severity,
            "messages": [each.to_dict() for each in self.messages],
            "suggestions": [correction.to_dict() for correction in self.corrections],
        }

    def _texts(self, severity: MessageSeverity) -> tuple[str, ...]:
        return tuple(each.message for each in self.messages if each.severity == severity)
