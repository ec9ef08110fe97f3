"""What is known of a call before it is made: valid or not, who said so, and why it was not the server."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from toolvet.checks.arguments import ArgumentReport
from toolvet.checks.capability import Correction, Level, Message, ValidationReply
from toolvet.errors import ToolvetError

Method = Literal["native", "schema"]
"""Who validated: the server, asked through the capability, or toolvet, with the tool's inputSchema."""


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one call.

    `announced` says whether the server announces the capability. `native_error` says why a server that does was not
    the one to judge; it is None when it judged, and when it never offered to. `levels` are those that were looked at,
    empty when a server judged that does not say. `notes` are ours, about how the verdict came about; they lead
    `warnings`. `report` has the details of a schema check.
    """

    tool: str
    method: Method
    reply: ValidationReply
    announced: bool
    native_error: str | None = None
    levels: tuple[Level, ...] = ()
    notes: tuple[str, ...] = ()
    report: ArgumentReport | None = None

    @property
    def valid(self) -> bool:
        """Whether the call may be made."""
        return self.reply.valid

    @property
    def errors(self) -> tuple[str, ...]:
        """Why it must not be made, a sentence each. Never empty when it is not valid."""
        return self.reply.errors or (
            () if self.valid else ("The server calls the arguments invalid and does not say why.",)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before it is made."""
        return (*self.notes, *self.reply.warnings)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would make it better."""
        return self.reply.suggestions

    @property
    def messages(self) -> tuple[Message, ...]:
        """Errors, warnings and suggestions with the field that each is about."""
        return self.reply.messages

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """Values that would do. Offered, never applied."""
        return self.reply.corrections

    def to_dict(self) -> dict[str, object]:
        """The documented reply (`valid`, `errors`, `warnings`, `suggestions`, …), and how it came about."""
        return {
            **self.reply.to_dict(),
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "tool": self.tool,
            "method": self.method,
            "announced": self.announced,
            "native_error": self.native_error,
            "levels": list(self.levels),
        }

    def to_text(self) -> str:
        """For a person or a model: what is wrong, and what to do. The whole report when the schema was checked."""
        if self.report is not None and not self.valid:
            return "\n\n".join([self.report.to_text(), *_section("Warnings", self.notes)])
        head = f"The arguments for '{self.tool}' are {'valid' if self.valid else 'not valid'}."
        sections = (("Errors", self.errors), ("Warnings", self.warnings), ("Suggestions", self.suggestions))
        return "\n\n".join([head, *(part for title, items in sections for part in _section(title, items))])


def _section(title: str, items: Sequence[str]) -> list[str]:
    return ["\n".join([f"{title}:", *(f"- {item}" for item in items)])] if items else []


class InvalidArgumentsError(ToolvetError, ValueError):
    """The call must not be made. Its text is for whoever can mend the call; `validation` has the parts of it."""

    exit_code = 1

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        super().__init__(validation.to_text())


class NativeValidationError(ToolvetError):
    """The server's own verdict was required. `announced` tells a validator that failed from one that is not there."""

    exit_code = 4

    def __init__(self, reason: str, *, tool: str, announced: bool) -> None:
        self.reason = reason
        self.tool = tool
        self.announced = announced
        super().__init__(f"'{tool}' was not validated by its server: {reason}")
