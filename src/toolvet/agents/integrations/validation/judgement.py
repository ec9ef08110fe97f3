"""The judgement on one call: by the schema of the tool, and by the validators of its author."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from toolvet.core.checks import EXTENSION_ID, ArgumentReport, Correction, Message, ValidationReply, check_arguments
from toolvet.core.json_value import is_object, pointer_steps, type_name
from toolvet.core.schema import Repair


class CallJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the schema check, with the messages and corrections of the validators."""

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
        """The judgement as a reply of the validation protocol."""
        if self.report.valid:
            return ValidationReply(valid=self.valid, messages=self.messages, corrections=self.corrections)
        repair = self.report.repair if isinstance(self.report.repair, Repair) else None
        problems = tuple(
            Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer)
            for issue in self.report.issues
        )
        advice = (*(repair.steps if repair is not None else ()), *self.report.suggestions)
        messages = (*problems, *(Message(text, "info") for text in advice))
        return ValidationReply(valid=False, messages=messages, corrections=_corrections(repair))

    def with_findings(self, messages: tuple[Message, ...], corrections: tuple[Correction, ...]) -> "CallJudgement":
        """A copy with the findings of validators added."""
        return msgspec.structs.replace(
            self, messages=(*self.messages, *messages), corrections=(*self.corrections, *corrections)
        )

    def to_text(self) -> str:
        """Why the call is refused and what to do, for a model that sees only this text."""
        if not self.report.valid:
            return self.report.to_text()
        errors = [message for message in self.messages if message.severity == "error"]
        lines = [f"❌ Tool '{self.tool}' cannot be called with these arguments. {len(errors)} problem(s) found."]
        lines += ["", "## Issues Found:", ""]
        for number, message in enumerate(errors, 1):
            lines.append(f"{number}. {self._with_field(message)}")
            lines += [f"   - Fix: Use {_json(value)}." for value in self._values_for(message.path)]
        others = [message for message in self.messages if message.severity != "error"]
        if others:
            lines += ["", "## Suggestions:", ""]
            lines += [f"{number}. {self._with_field(message)}" for number, message in enumerate(others, 1)]
        return "\n".join(lines)

    def to_result(self, era: Literal["legacy", "modern"]) -> dict[str, object]:
        """A tool result with `isError: true` (SEP-1303): the text for the model, and the JSON form in `_meta`."""
        if not self.report.valid:
            return dict(self.report.to_result(era))
        result: dict[str, object] = {
            "content": [{"type": "text", "text": self.to_text()}],
            "isError": True,
            "_meta": {EXTENSION_ID: self.reply.to_dict()},
        }
        return {**result, "resultType": "complete"} if era == "modern" else result

    def _with_field(self, message: Message) -> str:
        return f"**{_field(message.path)}**: {message.message}" if message.path else message.message

    def _values_for(self, path: str) -> list[object]:
        return [correction.value for correction in self.corrections if path and correction.path == path]


def judge_by_schema(tool: Mapping[str, object], arguments: object) -> CallJudgement:
    """Judge the arguments by the schema of the tool; a part of it that could not be checked is a warning."""
    name = str(tool.get("name", ""))
    report = check_arguments(tool, arguments, unchecked="pass")
    messages: list[Message] = []
    if report.valid and not is_object(arguments):
        # JSON text, or any value for a tool without a schema: a call must carry an object (CallToolRequest).
        messages.append(Message(f"The arguments of '{name}' must be an object, not {type_name(arguments)}."))
    if report.unchecked:
        messages.append(Message(f"The arguments of '{name}' were not checked: {report.unchecked}.", "warn"))
    return CallJudgement(tool=name, arguments=arguments, report=report, messages=tuple(messages))


def _corrections(repair: Repair | None) -> tuple[Correction, ...]:
    """The repair as values at places; none if it also moves or removes a member, because half a repair is not one."""
    steps = repair.patch if repair is not None else ()
    if not all(step.get("op") in ("add", "replace") for step in steps):
        return ()
    return tuple(Correction(str(step["path"]), step["value"]) for step in steps)


def _field(pointer: str) -> str:
    """`/items/0/id` as `items.0.id`."""
    return ".".join(pointer_steps("/" + pointer.removeprefix("/")))


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.EncodeError):
        return repr(value)
