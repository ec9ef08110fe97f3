"""`check_arguments`: a tool and the arguments of a call in, a report out. Total and pure."""

import json

import orjson

from toolvet.checks.arguments.guide import guide_of
from toolvet.checks.arguments.issue import Issue, issues_of, syntax_issue
from toolvet.checks.arguments.report import ArgumentReport
from toolvet.schema import Schema, compiled
from toolvet.tool import ToolView, view_of


def check_arguments(tool: object, arguments: object) -> ArgumentReport:
    """Check the arguments of a call before it goes out.

    `tool` is a tool definition with an `inputSchema`: a mapping, or an object of the official SDK or FastMCP.
    `arguments` is any value; a JSON text that holds an object counts as that object. Nothing is dereferenced, fetched
    or changed. A tool without a usable schema lets every call pass, and `unchecked` says so. Never raises.
    """
    view = view_of(tool)
    if view.input_schema is None:
        return ArgumentReport(view, None, arguments, ())
    ready = compiled(view.input_schema)
    if ready.is_valid(arguments):
        return ArgumentReport(view, ready, arguments, ())
    if isinstance(arguments, str | bytes | bytearray):
        return _of_text(view, ready, arguments)
    return ArgumentReport(view, ready, arguments, _issues(ready, arguments))


def _issues(ready: Schema, arguments: object) -> tuple[Issue, ...]:
    guide = guide_of(ready)
    found = issues_of(guide, ready.violations(arguments))
    return found or (syntax_issue(guide, "unexplained", "unexplained", "", ""),)


def _of_text(view: ToolView, ready: Schema, text: str | bytes | bytearray) -> ArgumentReport:
    """Arguments that are text: the object that it holds, or why it holds none."""
    words = text if isinstance(text, str) else bytes(text).decode(errors="replace")
    if not words.lstrip().startswith(("{", "```")):
        return ArgumentReport(view, ready, words, _issues(ready, words))
    try:
        value = _parsed(words)
    except (ValueError, RecursionError) as problem:
        told = str(problem).split(": line", 1)[0]
        return ArgumentReport(view, ready, words, (syntax_issue(guide_of(ready), "json", "json", words, told),))
    return ArgumentReport(view, ready, value, () if ready.is_valid(value) else _issues(ready, value))


def _parsed(text: str) -> object:
    try:
        return orjson.loads(text)
    except ValueError:
        # Whole numbers beyond 64 bits; what JSON does not know (NaN) stays refused.
        return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")
