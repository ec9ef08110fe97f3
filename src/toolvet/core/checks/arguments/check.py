"""`check_arguments`: a tool and the arguments of a call → a report. Total and pure."""

import json
from collections.abc import Sequence
from typing import Literal, cast

import msgspec
import orjson

from toolvet.core.bounds import is_endless
from toolvet.core.checks.arguments.guide import guide_of
from toolvet.core.checks.arguments.issue import collect_issues, syntax_issue
from toolvet.core.checks.arguments.markdown import find_correction, find_correction_of_text, is_hopeless
from toolvet.core.checks.arguments.report import NO_SCHEMA, ArgumentReport
from toolvet.core.checks.arguments.wording import Wording, worded
from toolvet.core.json_value import is_object
from toolvet.core.schema import Repair, Schema, Violation, compiled
from toolvet.core.tools import ToolHandle, input_schema_of, view_of

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
        value = _parse(text)
    except (ValueError, RecursionError) as problem:
        if text.lstrip().startswith(("{", "```")) or find_correction_of_text(ready, text) is not None:
            issue = syntax_issue(guide_of(ready), "json", text, _describe(problem))
            return ArgumentReport(tool, ready, text, _issues=(issue,), _correct=_recover)
        return _report_invalid(tool, ready, text)
    if not is_object(value):
        return _report_invalid(tool, ready, text)
    if ready.is_valid(value):
        return ArgumentReport(tool, ready, value)
    return _report_invalid(tool, ready, value)


def _recover(ready: Schema, arguments: object, _violations: Sequence[Violation]) -> Repair | None:
    return find_correction_of_text(ready, str(arguments))


def _describe(problem: Exception) -> str:
    """The parser's message in one line."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg} at line {problem.lineno}, column {problem.colno}"
    return "nested too deeply" if isinstance(problem, RecursionError) else str(problem)


def _parse(text: str) -> object:
    try:
        return cast("object", orjson.loads(text))
    except ValueError:
        # Whole numbers beyond 64 bits; what JSON does not know (NaN) stays refused.
        return cast("object", json.loads(text, parse_constant=_refuse))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")
