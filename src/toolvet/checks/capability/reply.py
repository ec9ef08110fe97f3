"""What a validator says of one call: valid or not, and every message with its place and weight."""

from typing import Final, Literal

import msgspec

MessageSeverity = Literal["error", "warn", "info"]
"""In the words of the Interceptors proposal; the documented lists are `errors`, `warnings`, `suggestions`."""
SEVERITIES: Final[tuple[MessageSeverity, ...]] = ("error", "warn", "info")


class Message(msgspec.Struct, frozen=True):
    """One sentence. `path` is the field that it is about, "" for the call as a whole."""

    message: str
    severity: MessageSeverity = "error"
    path: str = ""

    def to_dict(self) -> dict[str, object]:
        """As in the Interceptors proposal."""
        return {"path": self.path, "message": self.message, "severity": self.severity}


class Correction(msgspec.Struct, frozen=True):
    """A value that would do at `path`. Offered, never applied."""

    path: str
    value: object

    def to_dict(self) -> dict[str, object]:
        """As in the Interceptors proposal, where these are called suggestions."""
        return {"path": self.path, "value": self.value}


class ValidationReply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one call.

    Errors, warnings and suggestions of the documented form are the messages of the three severities, so that both
    forms say the same and neither can say more.
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
        """What to know before it is made."""
        return self._texts("warn")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would make it better."""
        return self._texts("info")

    @property
    def severity(self) -> MessageSeverity:
        """The gravest severity; a call that is valid without a word is `info`."""
        if not self.valid:
            return "error"
        for severity in SEVERITIES:
            if self._texts(severity):
                return severity
        return "info"

    def to_dict(self) -> dict[str, object]:
        """The documented reply (`valid`, `errors`, `warnings`, `suggestions`), and what sentences alone cannot hold."""
        return {
            "valid": self.valid,
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "suggestions": list(self.suggestions),
            "severity": self.severity,
            "messages": [told.to_dict() for told in self.messages],
            "corrections": [correction.to_dict() for correction in self.corrections],
        }

    def to_interceptor_result(self) -> dict[str, object]:
        """The same as the result of a validation interceptor (SEP-2624), where `suggestions` are the corrections."""
        return {
            "valid": self.valid,
            "severity": self.severity,
            "messages": [told.to_dict() for told in self.messages],
            "suggestions": [correction.to_dict() for correction in self.corrections],
        }

    def _texts(self, severity: MessageSeverity) -> tuple[str, ...]:
        return tuple(told.message for told in self.messages if told.severity == severity)
