"""`check_arguments`: a tool and the arguments of a call in, a report out. Total and pure."""

import json
from typing import cast

import orjson

from toolvet.checks.arguments.correction import correction, correction_of_text, is_hopeless
from toolvet.checks.arguments.guide import guide_of
from toolvet.checks.arguments.issue_collector import issues_of, syntax_issue
from toolvet.checks.arguments.report import ArgumentReport
from toolvet.schema import Repair, Schema, compiled
from toolvet.schema.json_value import is_object
from toolvet.tool import input_schema_of


def check_arguments(tool: object, arguments: object) -> ArgumentReport:
    """Check the arguments of a call before it goes out.

    `tool` is a tool definition with an `inputSchema`: a mapping, or an object of the official SDK or FastMCP.
    `arguments` is any value; a JSON text that holds an object counts as that object. Nothing is dereferenced, fetched
    or changed. A tool without a usable schema lets every call pass, and `unchecked` says so. Never raises.
    """
    schema = input_schema_of(tool)
    if schema is None:
        return ArgumentReport(tool, None, arguments)
    ready = compiled(schema)
    if ready.is_valid(arguments):
        return ArgumentReport(tool, ready, arguments)
    if isinstance(arguments, str | bytes | bytearray):
        return _of_text(tool, ready, arguments)
    return _of_value(tool, ready, arguments)


def _of_value(tool: object, ready: Schema, arguments: object) -> ArgumentReport:
    """The report of arguments that are not valid."""
    guide = guide_of(ready)
    violations = ready.violations(arguments)
    issues = issues_of(guide, violations) or (syntax_issue(guide, "unexplained", arguments, ""),)
    return ArgumentReport(tool, ready, arguments, issues, None if is_hopeless(violations) else correction)


def _of_text(tool: object, ready: Schema, sent: str | bytes | bytearray) -> ArgumentReport:
    """Arguments that are text: the object that it holds, or why it holds none."""
    text = sent if isinstance(sent, str) else bytes(sent).decode(errors="replace")
    try:
        value = _parsed(text)
    except (ValueError, RecursionError) as problem:
        if text.lstrip().startswith(("{", "```")) or correction_of_text(ready, text) is not None:
            issue = syntax_issue(guide_of(ready), "json", text, _told(problem))
            return ArgumentReport(tool, ready, text, (issue,), _recovered)
        return _of_value(tool, ready, text)
    if not is_object(value):
        return _of_value(tool, ready, text)
    if ready.is_valid(value):
        return ArgumentReport(tool, ready, value)
    return _of_value(tool, ready, value)


def _recovered(ready: Schema, arguments: object) -> Repair | None:
    return correction_of_text(ready, str(arguments))


def _told(problem: Exception) -> str:
    """What the parser says, in one line."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg} at line {problem.lineno}, column {problem.colno}"
    return "nested too deeply" if isinstance(problem, RecursionError) else str(problem)


def _parsed(text: str) -> object:
    try:
        return cast("object", orjson.loads(text))
    except ValueError:
        # Whole numbers beyond 64 bits; what JSON does not know (NaN) stays refused.
        return cast("object", json.loads(text, parse_constant=_refuse))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")
