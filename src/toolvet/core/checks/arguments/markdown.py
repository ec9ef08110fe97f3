"""A report as Markdown for a model, in full or within a number of characters."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from toolvet.core.checks.arguments.correction import mask_arguments
from toolvet.core.checks.arguments.guide import Guide
from toolvet.core.checks.arguments.issue import Issue
from toolvet.core.checks.arguments.wording_table import as_json, cut, phrase, text as words
from toolvet.core.json_value import is_array, is_object
from toolvet.core.schema import Repair

_MOST_ISSUES: Final = 50
_LONGEST_CALL: Final = 6_000


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
    def unchecked(self) -> str | None:
        """What could not be checked, and why; None if everything was."""
        ...

    @property
    def description(self) -> str:
        """What the tool says of itself."""
        ...

    @property
    def repair(self) -> Repair | None:
        """The nearest valid call."""
        ...

    @property
    def own_example(self) -> object:
        """The arguments of a valid call, with the call's own values."""
        ...


def render_markdown(
    report: ReportParts, guide: Guide | None, max_chars: int | None, *, summary: str, suggestions: Sequence[str]
) -> str:
    """The text of a report, not longer than `max_chars` where that is given. Without a `guide` only its head."""
    head = f"❌ {summary}" if not report.valid else f"✅ {summary}"
    if report.valid or guide is None:
        text = f"{head}\n\n{words('not_checked', reason=report.unchecked)}" if report.unchecked else head
        return text if max_chars is None else cut(text, max(max_chars, 0))
    sections = {
        "issues": _render_issues(report.issues),
        "correction": _render_correction(report.repair),
        "schema": _render_schema(guide, report),
        "suggestions": _render_suggestions(suggestions),
        "example": _render_example(guide, report),
    }
    text = "\n\n".join([head, *filter(None, sections.values())])
    if max_chars is None or len(text) <= max_chars:
        return text
    return _render_within(head, sections, report.issues, max(max_chars, 0))


def _render_within(head: str, sections: dict[str, str], issues: Sequence[Issue], limit: int) -> str:
    left = dict(sections)
    omitted: list[str] = []
    for name in ("schema", "suggestions", "example", "correction"):
        if left.pop(name):
            omitted.append(words(f"part_{name}"))
        note = words("left_out", limit=limit, parts=", ".join(omitted))
        text = "\n\n".join([head, *filter(None, left.values()), note])
        if len(text) <= limit:
            return text
    for most in (160, 60, 0):
        lines = [_render_line(number, issue, most) for number, issue in enumerate(issues, 1)]
        note = words("left_out", limit=limit, parts=", ".join([*omitted, words("part_issues")]))
        text = "\n".join([head, "", *lines, "", note])
        if len(text) <= limit:
            return text
    lines = [head, ""]
    for number, issue in enumerate(issues, 1):
        line = f"{number}. **{cut(issue.field, 40)}**: {cut(issue.fix, 60)}"
        rest = words("more_issues", count=len(issues) - number + 1)
        if sum(map(len, lines)) + len(lines) + len(line) + len(rest) + 2 > limit:
            lines.append(rest)
            break
        lines.append(line)
    return cut("\n".join(lines), limit)


def _render_line(number: int, issue: Issue, most: int) -> str:
    if not most:
        return f"{number}. **{issue.field}**: {cut(issue.fix, 160)}"
    guess = f" {words('did_you_mean')}: {_join_or(issue.did_you_mean)}" if issue.did_you_mean else ""
    return f"{number}. **{issue.field}**: {cut(issue.problem, most)}. {cut(issue.fix, most * 2)}{guess}"


def _render_issues(issues: Sequence[Issue]) -> str:
    lines = [f"## {words('issues_heading')}"]
    received, expected, fix = words("received"), words("expected"), words("fix")
    for number, issue in enumerate(issues[:_MOST_ISSUES], 1):
        lines.append(
            f"\n{number}. **{issue.field}**: {issue.problem}\n   - {received}: {issue.received_text}\n"
            f"   - {expected}: {issue.expected}\n   - {fix}: {issue.fix}"
        )
        if issue.did_you_mean:
            lines.append(f"   - {words('did_you_mean')}: {_join_or(issue.did_you_mean)}")
        if issue.examples:
            lines.append(f"   - {words('example')}: {as_json(issue.examples[0])}")
    if len(issues) > _MOST_ISSUES:
        lines.append(f"\n{words('more_issues', count=len(issues) - _MOST_ISSUES)}.")
    return "\n".join(lines)


def _render_correction(repair: Repair | None) -> str:
    if repair is None:
        return ""
    call = mask_arguments(repair.arguments)
    steps = "\n".join(f"- {step}" for step in repair.steps[:_MOST_ISSUES])
    note = words("correction_note", confidence=repair.confidence)
    head = f"## {words('correction_heading')}\n\n{note}\n{steps}\n\n"
    shown = format_call(call)
    if len(shown) > _LONGEST_CALL:
        return f"{head}{words('correction_too_long')}"
    masked = "" if call is repair.arguments else f"\n\n{words('correction_masked')}"
    return f"{head}```json\n{shown}\n```{masked}"


def _join_or(values: Iterable[object]) -> str:
    return phrase("or").join(map(as_json, values))


def _render_schema(guide: Guide, report: ReportParts) -> str:
    description = report.description
    known = guide.texts.get("schema")
    if known is None:
        known = guide.texts["schema"] = _render_properties(guide)
    lines = [f"## {words('schema_heading')}"]
    if description:
        lines.append(f"**{words('description')}**: {cut(' '.join(description.split()), 2_000)}")
    if known:
        lines.append(known)
    return "\n\n".join(lines) if len(lines) > 1 else ""


def _render_properties(guide: Guide) -> str:
    found = guide.help
    blocks: list[str] = []
    if found.required:
        blocks.append(f"**{words('required_fields')}**: {', '.join(found.required)}")
    lines = [f"**{words('properties')}**:"]
    for name, each in found.properties.items():
        lines.append(f"- **{name}** ({each.type}){f': {each.description}' if each.description else ''}")
        if each.constraints:
            lines.append(f"  {words('constraints')}: {', '.join(each.constraints)}")
        if each.examples:
            lines.append(f"  {words('examples')}: {_list_examples(each.examples)}")
    if found.omitted:
        lines.append(f"- {words('more', count=found.omitted)}")
    if found.properties:
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _list_examples(examples: Sequence[object]) -> str:
    """Examples with commas between them; those that are arrays as one array, so that `["a"]` is not read as two."""
    return as_json(list(examples)) if any(map(is_array, examples)) else ", ".join(map(as_json, examples))


def _render_suggestions(suggestions: Sequence[str]) -> str:
    if not suggestions:
        return ""
    return "\n".join(
        [f"## {words('suggestions_heading')}\n", *(f"{number}. {each}" for number, each in enumerate(suggestions, 1))]
    )


def _render_example(guide: Guide, report: ReportParts) -> str:
    if not guide.example:
        return ""
    example = report.own_example
    if example is not guide.example[0]:
        return _format_example(example)
    known = guide.texts.get("example")
    if known is None:
        known = guide.texts["example"] = _format_example(example)
    return known


def _format_example(example: object) -> str:
    return f"## {words('example_heading')}\n\n```json\n{format_call(example)}\n```"


def format_call(value: object) -> str:
    """A call as JSON with a line for each outer member."""
    if not is_object(value) or not value:
        return as_json(value)
    return "{\n" + ",\n".join(f"  {as_json(key)}: {as_json(each)}" for key, each in value.items()) + "\n}"
