"""The verdict on a call before it is made, and the exceptions that carry one."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from toolvet.core.checks import ArgumentReport, Correction, Level, Message, ValidationReply
from toolvet.errors import ToolvetError

Method = Literal["native", "schema"]
"""How a call was validated: by the server ("native"), or by toolvet with the tool's inputSchema ("schema")."""


class ValidationProgress(msgspec.Struct, frozen=True):
    """How far a server has come with a request: `done` of `total` steps, and what it found in the last one.

    `tools` are those of the calls that were asked about; `total` is None if the server does not say it.
    """

    tools: tuple[str, ...]
    done: float
    total: float | None
    message: str


OnValidationProgress = Callable[[ValidationProgress], object]
"""A function, sync or async, that gets the progress of validations. Its exceptions are only logged."""


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one call.

    `announced` is whether the server announces the capability. `native_error` is the reason why such a server did not
    judge; None if it did, or if it does not announce. `levels` are those that were checked, empty if a server
    judged that does not announce levels. `notes` are sentences of toolvet about how the verdict was reached; they are
    the first `warnings`. `report` has the details of a schema check.
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
        """Why the call must not be made, one sentence each. Never empty for a call that is not valid."""
        return self.reply.errors or (
            () if self.valid else ("The server calls the arguments invalid and does not say why.",)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the call is made."""
        return (*self.notes, *self.reply.warnings)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would improve the call."""
        return self.reply.suggestions

    @property
    def messages(self) -> tuple[Message, ...]:
        """Errors, warnings and suggestions, each with the field that it is about."""
        return self.reply.messages

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """Values that would be valid. Offered, never applied."""
        return self.reply.corrections

    def to_dict(self) -> dict[str, object]:
        """The JSON form: the documented reply (`valid`, `errors`, …), and how the verdict was reached."""
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
        """The verdict for a person or a model; for a failed schema check the whole report."""
        if self.report is not None and not self.valid:
            return "\n\n".join([self.report.to_text(), *_section("Warnings", self.notes)])
        head = f"The arguments for '{self.tool}' are {'valid' if self.valid else 'not valid'}."
        sections = (("Errors", self.errors), ("Warnings", self.warnings), ("Suggestions", self.suggestions))
        return "\n\n".join([head, *(part for title, items in sections for part in _section(title, items))])


def _section(title: str, items: Sequence[str]) -> list[str]:
    return ["\n".join([f"{title}:", *(f"- {item}" for item in items)])] if items else []


class InvalidArgumentsError(ToolvetError, ValueError):
    """The call must not be made. The text says how to fix it; `validation` has the parts of the text."""

    exit_code = 1

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        super().__init__(validation.to_text())


class NativeValidationError(ToolvetError):
    """`require_native`: the server gave no verdict of its own.

    `reason` is why, and `announced` whether the server announces validation at all.
    """

    exit_code = 4

    def __init__(self, reason: str, *, tool: str, announced: bool) -> None:
        self.reason = reason
        self.tool = tool
        self.announced = announced
        super().__init__(f"'{tool}' was not validated by its server: {reason}")
