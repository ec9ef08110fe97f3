"""A report as Markdown for a model, in full or within a number of characters.

The example of a refusal, with the call's own values wherever they are right.

An example made from the schema alone says `"ticket": 1` beside a call for ticket 12, and a model may copy it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import msgspec
import orjson

from toolvet.core.checks.arguments.guide import Guide
from toolvet.core.checks.arguments.issue import Issue
from toolvet.core.checks.arguments.wording import as_json, cut, holds_secret, phrase, text as words
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import is_array, is_object, members, number, pointer_steps
from toolvet.core.redact import REDACTED, may_hold_secrets, redact
from toolvet.core.schema import Repair, Schema, Violation
from toolvet.core.schema.repairs.context import Confidence
from toolvet.core.schema.repairs.search import repair_by

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
        """The tool's own description."""
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
    """Return the text of a report, at most `max_chars` long if given. Without a `guide` only its head."""
    head = f"❌ {summary}" if not report.valid else f"✅ {summary}"
    if report.valid or guide is None:
        text = f"{head}\n\n{words('not_checked', reason=report.unchecked)}" if report.unchecked else head
        return text if max_chars is None else cut(text, max(max_chars, 0))
    numbered = "\n".join(f"{number}. {each}" for number, each in enumerate(suggestions, 1))
    sections = {
        "issues": _render_issues(report.issues),
        "correction": _render_correction(report.repair),
        "schema": _render_schema(guide, report),
        "suggestions": f"## {words('suggestions_heading')}\n\n{numbered}" if suggestions else "",
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
        lines: list[str] = []
        for position, issue in enumerate(issues, 1):
            if most:
                guess = f" {words('did_you_mean')}: {_join_or(issue.did_you_mean)}" if issue.did_you_mean else ""
                said = f"{cut(issue.problem, most)}. {cut(issue.fix, most * 2)}{guess}"
            else:
                said = cut(issue.fix, 160)
            lines.append(f"{position}. **{issue.field}**: {said}")
        note = words("left_out", limit=limit, parts=", ".join([*omitted, words("part_issues")]))
        text = "\n".join([head, "", *lines, "", note])
        if len(text) <= limit:
            return text
    lines = [head, ""]
    for position, issue in enumerate(issues, 1):
        line = f"{position}. **{cut(issue.field, 40)}**: {cut(issue.fix, 60)}"
        rest = words("more_issues", count=len(issues) - position + 1)
        if sum(map(len, lines)) + len(lines) + len(line) + len(rest) + 2 > limit:
            lines.append(rest)
            break
        lines.append(line)
    return cut("\n".join(lines), limit)


def _render_issues(issues: Sequence[Issue]) -> str:
    lines = [f"## {words('issues_heading')}"]
    received, expected, fix = words("received"), words("expected"), words("fix")
    for position, issue in enumerate(issues[:_MOST_ISSUES], 1):
        lines.append(
            f"\n{position}. **{issue.field}**: {issue.problem}\n   - {received}: {issue.received_text}\n"
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
            # Arrays are shown as one array, so that `["a"]` is not read as two examples.
            as_one = any(map(is_array, each.examples))
            examples = as_json(list(each.examples)) if as_one else ", ".join(map(as_json, each.examples))
            lines.append(f"  {words('examples')}: {examples}")
    if found.omitted:
        lines.append(f"- {words('more', count=found.omitted)}")
    if found.properties:
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


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


_LONGEST: Final = 200
_DEEPEST: Final = 60
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})


def find_correction(ready: Schema, arguments: object, violations: Sequence[Violation]) -> Repair | None:
    """The nearest valid call that invents nothing, or None; `violations` are those of the arguments, if known."""
    return repair_by(ready, arguments, violations)


def is_hopeless(violations: Iterable[Violation]) -> bool:
    """Whether no repair can exist, because a number out of its bounds is never clamped. Saves the search."""
    for each in violations:  # noqa: SIM110 - a generator would cost three times as much, for each report.
        if each.keyword in _BOUNDS and number(each.instance) is not None:
            return True
    return False


class ShownRepair(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """A repair as documents show it. Secrets and long texts are masked; then `masked` is true."""

    _sparse = ("masked",)

    arguments: object
    patch: tuple[Mapping[str, object], ...]
    confidence: Confidence
    certainty: float
    steps: tuple[str, ...]
    masked: bool = False


def shown_repair(found: Repair) -> ShownRepair:
    """Return the repair without secrets and long texts."""
    arguments = mask_arguments(found.arguments)
    patch: list[dict[str, object]] = []
    for operation in found.patch:
        masked = dict(operation)
        if "value" in masked:
            secret = holds_secret(pointer_steps(str(masked.get("path", ""))))
            masked["value"] = REDACTED if secret and masked["value"] is not None else mask_arguments(masked["value"])
        patch.append(masked)
    return ShownRepair(
        arguments=arguments,
        patch=tuple(patch),
        confidence=found.confidence,
        certainty=found.certainty,
        steps=found.steps,
        masked=arguments is not found.arguments,
    )


def mask_arguments(arguments: object) -> object:
    """Arguments without secrets and long texts; the same object if nothing had to be masked."""
    try:
        # Few calls hold a secret, and searching their JSON takes a fifth of the time of a walk.
        safe = not may_hold_secrets(orjson.dumps(arguments).decode())
    except (TypeError, RecursionError):
        safe = False
    return _mask_long(arguments if safe else redact(arguments), 0)


def _mask_long(value: object, depth: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"[as sent: {len(value)} characters]"
    if depth > _DEEPEST:
        return "[as sent]"
    if is_object(value):
        members = {name: _mask_long(item, depth + 1) for name, item in value.items()}
        return members if any(members[name] is not item for name, item in value.items()) else value
    if is_array(value):
        items = [_mask_long(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


# A call with more members than this is too long for an example.
_MOST_MEMBERS: Final = 64


def with_own_values(
    example: object, arguments: object, issues: Sequence[Issue], repair: Repair | None, ready: Schema
) -> object:
    """Return the example with the values of the call, or of its repair, that are valid; secrets are not taken over.

    Args:
        example: A valid call, made from the schema.
        arguments: The arguments as sent.
        issues: The problems of the arguments.
        repair: The nearest valid call, if toolvet found one; the example must not contradict it.
        ready: The schema.

    Returns:
        A valid call; the same `example` object if no value can be taken over.
    """
    own = arguments if repair is None else repair.arguments
    if not is_object(example) or not is_object(own) or not own or len(own) > _MOST_MEMBERS:
        return example
    wrong = set[str]() if repair is not None else {step for each in issues for step in pointer_steps(each.pointer)[:1]}
    # Of the tool's own arguments alone: a member that the schema only lets pass may be one of them under a wrong name.
    kept = {
        name: value for name, value in own.items() if name in example and name not in wrong and example[name] != value
    }
    if not kept:
        return example
    shown = mask_arguments(kept)
    if shown is not kept:
        masked = members(shown)
        kept = {name: value for name, value in kept.items() if masked.get(name) == value}
    merged = {**example, **kept}
    return merged if ready.is_valid(merged) else example
