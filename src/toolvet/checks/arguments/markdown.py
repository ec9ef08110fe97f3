"""The report as Markdown for a model, whole or within a number of characters."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from toolvet.checks.arguments.correction import shown_call
from toolvet.checks.arguments.guide import Guide, SchemaHelp
from toolvet.checks.arguments.issue import Issue
from toolvet.checks.arguments.wording_table import as_json, cut, wording
from toolvet.schema import Repair
from toolvet.schema.json_value import is_object

_MOST_ISSUES = 50
_LONGEST_CALL = 6_000


class ReportParts(Protocol):
    """The parts of an `ArgumentReport` that its text shows."""

    @property
    def valid(self) -> bool:
        """Whether the call may go out."""
        ...

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Everything that is wrong."""
        ...

    @property
    def summary(self) -> str:
        """One sentence."""
        ...

    @property
    def unchecked(self) -> str | None:
        """What could not be checked, and why."""
        ...

    @property
    def schema(self) -> SchemaHelp:
        """What the tool takes."""
        ...

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What to look at, by kind of mistake."""
        ...

    @property
    def repair(self) -> Repair | None:
        """The nearest valid call."""
        ...


def written(report: ReportParts, guide: Guide | None, max_chars: int | None) -> str:
    """The text of a report; at most `max_chars` long, if that is given."""
    head = f"❌ {report.summary}" if not report.valid else f"✅ {report.summary}"
    if report.valid or guide is None:
        told = f"{head}\n\n(Not checked: {report.unchecked}.)" if report.unchecked else head
        return told if max_chars is None else cut(told, max(max_chars, 0))
    sections = {
        "issues": _issues(report.issues),
        "corrected call": _corrected(report.repair),
        "schema help": _schema(guide, report),
        "suggestions": _suggestions(report.suggestions),
        "valid example": _example(guide),
    }
    whole = "\n\n".join([head, *filter(None, sections.values())])
    if max_chars is None or len(whole) <= max_chars:
        return whole
    return _fitted(head, sections, report.issues, max(max_chars, 0))


def _fitted(head: str, sections: dict[str, str], issues: Sequence[Issue], limit: int) -> str:
    left = dict(sections)
    gone: list[str] = []
    for name in ("schema help", "suggestions", "valid example", "corrected call"):
        if left.pop(name):
            gone.append(name)
        note = wording().text["left_out"].format(limit=limit, parts=", ".join(gone))
        text = "\n\n".join([head, *filter(None, left.values()), note])
        if len(text) <= limit:
            return text
    for most in (160, 60, 0):
        lines = [_short(number, issue, most) for number, issue in enumerate(issues, 1)]
        note = wording().text["left_out"].format(limit=limit, parts=", ".join([*gone, "parts of the issues"]))
        text = "\n".join([head, "", *lines, "", note])
        if len(text) <= limit:
            return text
    lines = [head, ""]
    for number, issue in enumerate(issues, 1):
        line = f"{number}. **{cut(issue.field, 40)}**: {cut(issue.fix, 60)}"
        rest = f"… and {len(issues) - number + 1} more issues"
        if sum(map(len, lines)) + len(lines) + len(line) + len(rest) + 2 > limit:
            lines.append(rest)
            break
        lines.append(line)
    return cut("\n".join(lines), limit)


def _short(number: int, issue: Issue, most: int) -> str:
    if not most:
        return f"{number}. **{issue.field}**: {cut(issue.fix, 160)}"
    guess = f" Did you mean: {_or(issue.did_you_mean)}" if issue.did_you_mean else ""
    return f"{number}. **{issue.field}**: {cut(issue.problem, most)}. {cut(issue.fix, most * 2)}{guess}"


def _issues(issues: Sequence[Issue]) -> str:
    lines = ["## Issues Found:"]
    for number, issue in enumerate(issues[:_MOST_ISSUES], 1):
        lines.append(
            f"\n{number}. **{issue.field}**: {issue.problem}\n   - Received: {issue.received_text}\n"
            f"   - Expected: {issue.expected}\n   - Fix: {issue.fix}"
        )
        if issue.did_you_mean:
            lines.append(f"   - Did you mean: {_or(issue.did_you_mean)}")
        if issue.examples:
            lines.append(f"   - Example: {as_json(issue.examples[0])}")
    if len(issues) > _MOST_ISSUES:
        lines.append(f"\n… and {len(issues) - _MOST_ISSUES} more issues.")
    return "\n".join(lines)


def _corrected(repair: Repair | None) -> str:
    if repair is None:
        return ""
    call = shown_call(repair.arguments)
    steps = "\n".join(f"- {step}" for step in repair.steps[:_MOST_ISSUES])
    told = f"## Corrected Call:\n\nNot applied, only offered; confidence: {repair.confidence}.\n{steps}\n\n"
    shown = pretty(call)
    if len(shown) > _LONGEST_CALL:
        return f"{told}(The corrected call is too long to show: apply these steps to yours.)"
    masked = (
        ""
        if call is repair.arguments
        else "\n\nWhat stands in [brackets] is hidden here: keep the value that you sent."
    )
    return f"{told}```json\n{shown}\n```{masked}"


def _or(values: Iterable[object]) -> str:
    return " or ".join(map(as_json, values))


def _schema(guide: Guide, report: ReportParts) -> str:
    description = report.schema.description
    known = guide.texts.get("schema")
    if known is None:
        known = guide.texts["schema"] = _properties(guide)
    lines = ["## Tool Schema:"]
    if description:
        lines.append(f"**Description**: {cut(' '.join(description.split()), 2_000)}")
    if known:
        lines.append(known)
    return "\n\n".join(lines) if len(lines) > 1 else ""


def _properties(guide: Guide) -> str:
    found = guide.help
    blocks: list[str] = []
    if found.required:
        blocks.append(f"**Required fields**: {', '.join(found.required)}")
    lines = ["**Properties**:"]
    for name, each in found.properties.items():
        lines.append(f"- **{name}** ({each.type}){f': {each.description}' if each.description else ''}")
        if each.constraints:
            lines.append(f"  Constraints: {', '.join(each.constraints)}")
        if each.examples:
            lines.append(f"  Examples: {', '.join(map(as_json, each.examples))}")
    if found.omitted:
        lines.append(f"- … and {found.omitted} more")
    if found.properties:
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _suggestions(suggestions: Sequence[str]) -> str:
    if not suggestions:
        return ""
    return "\n".join(["## Suggestions:\n", *(f"{number}. {each}" for number, each in enumerate(suggestions, 1))])


def _example(guide: Guide) -> str:
    if not guide.example:
        return ""
    known = guide.texts.get("example")
    if known is None:
        known = guide.texts["example"] = f"## Valid Example:\n\n```json\n{pretty(guide.example[0])}\n```"
    return known


def pretty(value: object) -> str:
    """JSON with the outer members on lines of their own, as the text shows calls."""
    if not is_object(value) or not value:
        return as_json(value)
    return "{\n" + ",\n".join(f"  {as_json(key)}: {as_json(each)}" for key, each in value.items()) + "\n}"
