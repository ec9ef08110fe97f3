"""`check_arguments` and `ArgumentCheck`: any tool, any arguments, every option."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import ARGUMENTS

from toolvet import ArgumentCheck, ToolShapeError, check_arguments
from toolvet.core.checks.capability import announcement, parse_reply, parse_request
from toolvet.core.tools import view_of


def check(draw: Draw) -> None:
    """One call against one tool; sometimes a foreign announcement or answer of a validator instead."""
    if draw.byte() > 230:
        value = draw.value()
        announcement(value)
        parse_reply(value)
        parse_request(value)
        return
    tool, options = draw.tool(), draw.options(ARGUMENTS)
    arguments = draw.value() if draw.flag() else draw.json() if draw.flag() else draw.text()
    view_of(tool)
    try:
        report = check_arguments(tool, arguments, **options)
    except ToolShapeError:
        holds(options.get("unchecked") != "pass", "a tool was refused that should pass")
        return
    holds(report.valid is not bool(report.issues), "valid, and yet issues")
    form = json.dumps(report.to_dict())
    holds(report.trace_id == options.get("trace"), "another trace")
    for most in (200, 2_000):
        holds(len(report.to_text(max_chars=most)) <= most, "a text is longer than asked for")
    repr(report)
    report.to_text()
    holds(report.without_repair().repair is None, "a repair is left")
    for era in ("modern", "legacy"):
        if not report.valid:
            json.dumps(report.to_result(era))
    again = check_arguments(tool, arguments, **options)
    holds(json.dumps(again.to_dict()) == form, "the same arguments, another report")
    if report.repair is not None and options.get("unchecked") != "pass":
        mended = check_arguments(tool, report.repair.arguments)
        holds(mended.valid, "what a repair gives is not valid")
    ArgumentCheck(options.get("wording"))(tool, arguments, unchecked="pass")
