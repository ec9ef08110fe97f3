"""Everything that is known against one call: by the schema of the tool, and by the validators of its author."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from toolvet.checks.arguments import ArgumentReport, check_arguments
from toolvet.checks.capability import EXTENSION_ID, Correction, Message, ValidationReply
from toolvet.schema.json_value import members


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the schema check, and what the validators said beside it."""

    tool: str
    arguments: object
    report: ArgumentReport
    messages: tuple[Message, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the call may be made."""
        return self.report.valid and not any(message.severity == "error" for message in self.messages)

    @property
    def reply(self) -> ValidationReply:
        """The same in the words of the validation protocol."""
        if self.report.valid:
            return ValidationReply(valid=self.valid, messages=self.messages, corrections=self.corrections)
        problems = tuple(
            Message(f"{issue.field}: {issue.problem} {issue.fix}", "error", issue.pointer)
            for issue in self.report.issues
        )
        advice = tuple(Message(text, "info") for text in self.report.suggestions)
        return ValidationReply(valid=False, messages=(*problems, *advice), corrections=_repairs(self.report))

    def joined(self, messages: tuple[Message, ...], corrections: tuple[Correction, ...]) -> "Judgement":
        """With what validators found."""
        return msgspec.structs.replace(self, messages=messages, corrections=corrections)

    def to_text(self) -> str:
        """Why the call is refused, and what to do: for a model that has nothing else to go by."""
        if not self.report.valid:
            return self.report.to_text()
        errors = [message for message in self.messages if message.severity == "error"]
        lines = [f"❌ Tool '{self.tool}' cannot be called with these arguments. {len(errors)} problem(s) found."]
        lines += ["", "## Issues Found:", ""]
        for number, message in enumerate(errors, 1):
            lines.append(f"{number}. {self._placed(message)}")
            lines += [f"   - Fix: Use {_json(value)}." for value in self._corrected(message.path)]
        others = [message for message in self.messages if message.severity != "error"]
        if others:
            lines += ["", "## Suggestions:", ""]
            lines += [f"{number}. {self._placed(message)}" for number, message in enumerate(others, 1)]
        return "\n".join(lines)

    def to_result(self, era: Literal["legacy", "modern"]) -> dict[str, object]:
        """A tool result with `isError: true` (SEP-1303): text for the model, everything else in `_meta`."""
        if not self.report.valid:
            return dict(self.report.to_result(era))
        result: dict[str, object] = {
            "content": [{"type": "text", "text": self.to_text()}],
            "isError": True,
            "_meta": {EXTENSION_ID: self.reply.to_dict()},
        }
        return {**result, "resultType": "complete"} if era == "modern" else result

    def _placed(self, message: Message) -> str:
        return f"**{_field(message.path)}**: {message.message}" if message.path else message.message

    def _corrected(self, path: str) -> list[object]:
        return [correction.value for correction in self.corrections if path and correction.path == path]


def judgement(tool: Mapping[str, object], arguments: object) -> Judgement:
    """What the schema of the tool says of the arguments."""
    name = tool.get("name")
    return Judgement(
        tool=name if isinstance(name, str) else "", arguments=arguments, report=check_arguments(tool, arguments)
    )


def _repairs(report: ArgumentReport) -> tuple[Correction, ...]:
    """The steps of the repair that put a value somewhere."""
    if report.repair is None:
        return ()
    steps = [members(step) for step in report.repair.patch]
    return tuple(
        Correction(path, step["value"])
        for step in steps
        if step.get("op") in ("add", "replace") and isinstance(path := step.get("path"), str)
    )


def _field(pointer: str) -> str:
    """`/items/0/id` as `items.0.id`."""
    return ".".join(part.replace("~1", "/").replace("~0", "~") for part in pointer.removeprefix("/").split("/"))


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.EncodeError):
        return repr(value)
