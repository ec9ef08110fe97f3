"""`check_arguments`: a tool and the arguments of a call → a report. Total and pure."""

import json
from collections.abc import Callable, Sequence
from typing import Final, Literal, cast

import msgspec
import orjson

from toolvet.core.checks.arguments.guide import Guide, SchemaHelp, guide_of
from toolvet.core.checks.arguments.issue import Issue, collect_issues, syntax_issue
from toolvet.core.checks.arguments.markdown import (
    ShownRepair,
    find_correction,
    is_hopeless,
    render_markdown,
    shown_repair,
    with_own_values,
)
from toolvet.core.checks.arguments.wording import Wording, show_name, text, worded, wording
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import is_endless, is_object
from toolvet.core.meta import META_PREFIX
from toolvet.core.schema import Repair, Schema, Violation, compiled, repair_text
from toolvet.core.schema.weight import MOST_STEPS
from toolvet.core.tools import ToolHandle, input_schema_of, view_of

META_KEY: Final = f"{META_PREFIX}arguments"
"""The key of a report in the `_meta` of a tool result."""
NO_SCHEMA: Final = "the tool has no inputSchema"
_NO_HELP: Final = SchemaHelp("", {}, (), ())
_MOST_FIELDS: Final = 30


class ReportedFault(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """The problems of a call as documents show them. `valid_example` is absent if toolvet found none.

    The report has the other members under the same names; `repair` is masked here.
    """

    type: Literal["validation"] = "validation"
    summary: str
    issues: tuple[Issue, ...]
    schema: SchemaHelp
    suggestions: tuple[str, ...]
    valid_example: object = None
    repair: ShownRepair | None = None


class ArgumentReport(JsonForm, msgspec.Struct, eq=False):
    """The problems of a call, and valid alternatives. `check_arguments` makes it; everything is read-only.

    All but `valid` and `issues` is computed when it is first read, so a valid call costs very little. `repair` reads
    the arguments at that time, so they must not be changed before. `trace_id` is the id of the turn, if given. The JSON
    form, `to_dict()`, is `{"valid": true}` or `{"valid": false, "error": {…}}`, without secrets, with `unchecked` where
    something could not be checked, and with `trace_id`.

    Example:
        >>> from toolvet import check_arguments
        >>> schema = {"type": "object", "properties": {"port": {"enum": ["Lisbon", "Porto"]}}}
        >>> report = check_arguments({"name": "sail", "inputSchema": schema}, {"port": "lisbon"})
        >>> report.valid, report.issues[0].did_you_mean, report.repair.arguments
        (False, ('Lisbon',), {'port': 'Lisbon'})
    """

    _adds = ("valid", "error", "unchecked")

    # A Struct, because one is made for every call: a class with slots takes three times as long to make.
    _tool: object
    _ready: Schema | None
    _arguments: object
    _issues: tuple[Issue, ...] = ()
    _correct: Callable[[Schema, object, Sequence[Violation]], Repair | None] | None = None
    _repair: Repair | None = None
    _wording: Wording | None = None
    trace_id: str | None = None
    # Kept until the search for a repair has ended, so that it need not find them a second time.
    _violations: tuple[Violation, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the call may be sent. Also true if the schema of the tool cannot be used: see `is_checked`."""
        return not self._issues

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Everything that is wrong, in the order of the call; empty for a valid call."""
        return self._issues

    @property
    def summary(self) -> str:
        """The report in one sentence."""
        with worded(self._wording):
            return self._summarize()

    def _summarize(self) -> str:
        outcome = "valid" if self.valid else "unchecked" if self._ready is None else "invalid"
        return text(f"summary_{outcome}", tool=show_name(view_of(self._tool).name), count=len(self._issues))

    @property
    def unchecked(self) -> str | None:
        """What could not be checked, and why; None if everything was."""
        if self._ready is None:
            return NO_SCHEMA
        if self._ready.problem is not None:
            return f"the inputSchema cannot be used: {self._ready.problem.message}"
        if self._is_beyond(self._ready):
            return "the inputSchema is recursive, and this call too deep for it: no budget suffices to check it"
        return "; ".join(self._ready.notes) or None

    def _is_beyond(self, ready: Schema) -> bool:
        return self.valid and ready.effort(self._arguments) > MOST_STEPS

    @property
    def is_checked(self) -> bool:
        """Whether the arguments were compared with a schema: False for a tool without one that can be used."""
        return self._ready is not None and self._ready.problem is None and not self._is_beyond(self._ready)

    @property
    def description(self) -> str:
        """The tool's own description; "" if it has none."""
        return view_of(self._tool).description

    @property
    def schema(self) -> SchemaHelp:
        """The arguments of the tool: description, all properties, required ones, a valid example."""
        with worded(self._wording):
            found = guide_of(self._ready).help if self._ready is not None else _NO_HELP
        return msgspec.structs.replace(found, description=self.description)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """General advice for each kind of mistake; empty for a valid call."""
        with worded(self._wording):
            return suggestions_for(self._issues, None if self._ready is None else guide_of(self._ready))

    @property
    def valid_example(self) -> object:
        """The arguments of a valid call, made from the schema alone and always the same; None if none was found."""
        with worded(self._wording):
            found = guide_of(self._ready).example if self._ready is not None else ()
        return found[0] if found else None

    @property
    def own_example(self) -> object:
        """`valid_example` with the call's own values where these are right; text and JSON show this one."""
        found = self.valid_example
        if self.valid or self._ready is None or found is None:
            return found
        return with_own_values(found, self._arguments, self._issues, self.repair, self._ready)

    @property
    def repair(self) -> Repair | None:
        """The nearest valid call that invents nothing, with the values as sent; None if there is none.

        It is only offered: the arguments are not changed.
        """
        if self._correct is not None:
            if self._ready is not None:
                self._repair = self._correct(self._ready, self._arguments, self._violations)
            self._correct = None
            self._violations = ()
        return self._repair

    def without_repair(self) -> "ArgumentReport":
        """The same report, which offers no correction."""
        return msgspec.structs.replace(self, _correct=None, _repair=None, _violations=())

    @property
    def error(self) -> "ReportedFault | None":
        """Every problem of the call in its JSON form, without secrets; None for a valid call."""
        if self.valid:
            return None
        return ReportedFault(
            summary=self.summary,
            issues=self._issues,
            schema=self.schema,
            suggestions=self.suggestions,
            valid_example=self.own_example,
            repair=None if self.repair is None else shown_repair(self.repair),
        )

    def to_text(self, max_chars: int | None = None) -> str:
        """The report for a model, as Markdown: summary, issues, corrected call, schema, suggestions, example.

        Args:
            max_chars: the largest number of characters; None for no limit. The schema is left out first, then
                suggestions and example; the issues are shortened last. The text says what was left out.
        """
        with worded(self._wording):
            guide = None if self._ready is None else guide_of(self._ready)
            suggestions = suggestions_for(self._issues, guide)
            return render_markdown(self, guide, max_chars, summary=self._summarize(), suggestions=suggestions)

    def to_result(self, era: Literal["legacy", "modern"] = "modern") -> dict[str, object]:
        """The report as an MCP tool result (`isError: true`): text for the model, and the JSON form in `_meta`.

        Args:
            era: "modern" (MCP 2026-07-28 and later) adds `resultType`.

        Raises:
            ValueError: for a valid call, which should be passed on.
        """
        if self.valid:
            raise ValueError("the call is valid: pass it on instead of answering it")
        result: dict[str, object] = {
            "content": [{"type": "text", "text": self.to_text()}],
            "isError": True,
            "_meta": {META_KEY: self.to_dict()},
        }
        return {"resultType": "complete", **result} if era == "modern" else result

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle only what the report needs of the tool: a function or class of the caller may not be picklable.
        view = view_of(self._tool)
        tool = {"name": view.name, "description": view.description}
        rest = (self._issues, self._correct, self._repair, self._wording, self.trace_id)
        return ArgumentReport, (tool, self._ready, self._arguments, *rest)

    def __repr__(self) -> str:
        verdict = "valid" if self.valid else f"{len(self._issues)} issues"
        return f"<ArgumentReport of {view_of(self._tool).name!r}: {verdict}>"


def suggestions_for(issues: Sequence[Issue], guide: Guide | None) -> tuple[str, ...]:
    """One suggestion for each kind of mistake among the issues, and one to look at the valid example."""
    if not issues:
        return ()
    advice = wording().suggestion
    fields: dict[str, dict[str, None]] = {}
    for issue in issues:
        known = fields.get(issue.kind)
        if known is None:
            fields[issue.kind] = {issue.field: None}
        else:
            known[issue.field] = None
    suggestions = [
        template.format(fields=", ".join(list(fields[kind])[:_MOST_FIELDS])) if "{" in template else template
        for kind, template in advice.items()
        if kind in fields
    ]
    if guide is not None and guide.example:
        suggestions.append(advice["general"])
    return tuple(suggestions)


Unchecked = Literal["refuse", "pass"]


def check_arguments(
    tool: object,
    arguments: object,
    *,
    unchecked: Unchecked = "refuse",
    wording: Wording | None = None,
    trace: str | None = None,
) -> ArgumentReport:
    """Check the arguments of a call before it goes out.

    Nothing is fetched or changed.

    Args:
        tool: a tool in any of the usual shapes (docs/shapes.md): a definition as JSON of MCP, OpenAI, Anthropic, Gemini
            or Bedrock, a JSON Schema, an object of a framework, a pydantic model, a dataclass, a TypedDict, a function;
            or the handle that `tool` made of one, which halves the cost of a valid call.
        arguments: any value. A JSON text of an object counts as that object.
        unchecked: what to do with a tool without a schema: "refuse" reports an issue of the kind `unchecked`; "pass"
            lets the call pass and never raises, which is for tools of a peer.
        wording: the texts of the report, from `read_wording`; None for those of toolvet.
        trace: the id of the turn, which becomes the report's `trace_id`.

    Returns:
        The report. A tool whose schema cannot be used lets every call pass; `unchecked` says why.

    Raises:
        ToolShapeError: `tool` is in no shape that is read (a TypeError), and `unchecked` is "refuse".

    Example:
        >>> tool = {"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}
        >>> check_arguments(tool, {"port": "Lisbon"}).valid
        True
        >>> check_arguments(tool, {}).issues[0].fix
        "Add 'port': provide any value."
    """
    if type(tool) is ToolHandle:
        ready = tool.ready
    else:
        schema = input_schema_of(tool) if unchecked == "refuse" else view_of(tool).input_schema
        ready = None if schema is None else compiled(schema)
    endless = is_endless(arguments)
    if ready is not None and not endless and ready.is_valid(arguments):
        # Nearly all calls: a call of one more function would be felt here.
        report = ArgumentReport(tool, ready, arguments)
    elif wording is None:
        report = _report_unusual(tool, ready, arguments, unchecked=unchecked, endless=endless)
    else:
        with worded(wording):
            report = _report_unusual(tool, ready, arguments, unchecked=unchecked, endless=endless)
    if wording is not None:
        # The later texts are made by the same wording.
        report = msgspec.structs.replace(report, _wording=wording)
    if trace is not None:
        report.trace_id = trace
    return report


def _report_unusual(
    tool: object, ready: Schema | None, arguments: object, *, unchecked: Unchecked, endless: bool
) -> ArgumentReport:
    """The report of arguments that are not valid as they are, or that no schema judges."""
    if endless:
        issue = syntax_issue(guide_of(compiled(True)), "unexplained", None, "")  # noqa: FBT003 - a JSON Schema
        return ArgumentReport(tool, ready, None, _issues=(issue,))
    if ready is None:
        if unchecked == "pass":
            return ArgumentReport(tool, None, arguments)
        issue = syntax_issue(guide_of(compiled(True)), "unchecked", arguments, NO_SCHEMA)  # noqa: FBT003 - a JSON Schema
        return ArgumentReport(tool, None, arguments, _issues=(issue,))
    if isinstance(arguments, str | bytes | bytearray):
        return _check_text(tool, ready, arguments)
    return _report_invalid(tool, ready, arguments)


class ArgumentCheck:
    """`check_arguments` with the same wording for many calls; `Settings.argument_check` makes one.

    Example:
        >>> check = ArgumentCheck()
        >>> check({"name": "sail", "inputSchema": {"type": "object"}}, {}).valid
        True
    """

    def __init__(self, wording: Wording | None = None) -> None:
        self._wording = wording

    def __call__(self, tool: object, arguments: object, *, unchecked: Unchecked = "refuse") -> ArgumentReport:
        """Check the arguments of one call; see `check_arguments`."""
        return check_arguments(tool, arguments, unchecked=unchecked, wording=self._wording)


def _report_invalid(tool: object, ready: Schema, arguments: object) -> ArgumentReport:
    """The report of invalid arguments."""
    guide = guide_of(ready)
    violations = ready.explain(arguments)
    issues = collect_issues(guide, violations) or (syntax_issue(guide, "unexplained", arguments, ""),)
    correct = None if is_hopeless(violations) else find_correction
    return ArgumentReport(tool, ready, arguments, _issues=issues, _correct=correct, _violations=violations)


def _check_text(tool: object, ready: Schema, sent: str | bytes | bytearray) -> ArgumentReport:
    """The report of arguments that are text: about the object in it, or about why it contains none."""
    text = sent if isinstance(sent, str) else bytes(sent).decode(errors="replace")
    try:
        try:
            value = cast("object", orjson.loads(text))
        except ValueError:
            # Whole numbers beyond 64 bits; what JSON does not know (NaN) stays refused.
            value = cast("object", json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError) as problem:
        if text.lstrip().startswith(("{", "```")) or repair_text(ready, text) is not None:
            # The parser's message in one line.
            if isinstance(problem, json.JSONDecodeError):
                words = f"{problem.msg} at line {problem.lineno}, column {problem.colno}"
            else:
                words = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
            issue = syntax_issue(guide_of(ready), "json", text, words)
            return ArgumentReport(tool, ready, text, _issues=(issue,), _correct=_recover)
        return _report_invalid(tool, ready, text)
    if not is_object(value):
        return _report_invalid(tool, ready, text)
    if ready.is_valid(value):
        return ArgumentReport(tool, ready, value)
    return _report_invalid(tool, ready, value)


def _recover(ready: Schema, arguments: object, _violations: Sequence[Violation]) -> Repair | None:
    return repair_text(ready, str(arguments))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value")
