"""`check_result`, `ResultCheck` and what reads results, with every option."""

import json

import msgspec
from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import RESULT

from toolvet import (
    ResultCheck,
    check_result,
    extract_metadata,
    find_steering,
    is_business_logic_error,
    overall_confidence,
    steering_in,
)
from toolvet.core.checks.result_settings import ResultSettings


def check(draw: Draw) -> None:
    """One result of one tool; wrong options are a ValueError."""
    tool, arguments = draw.tool(), draw.json() if draw.flag() else draw.value()
    result, options = draw.result(), draw.options(RESULT) if draw.byte() > 200 else {}
    try:
        verdict = check_result(tool, arguments, result, **options)
    except ValueError:
        # Documented for options, and for nothing else.
        check_result(tool, arguments, result, trace=options.get("trace"), shape=options.get("shape", "any"))
        holds(
            options.keys() - {"trace", "shape", "category", "any_response", "expects_validation", "draft_outputs"},
            "no option is bad",
        )
        return
    form = json.dumps(verdict.to_dict())
    holds(json.dumps(check_result(tool, arguments, result, **options).to_dict()) == form, "another verdict")
    holds(verdict.trace_id == options.get("trace"), "another trace")
    holds(0 <= verdict.confidence <= 100, "a confidence beyond 0 to 100")
    holds(verdict.certainty is None or 0 <= verdict.certainty <= 1, "a certainty beyond 0 to 1")
    holds(0 <= overall_confidence([verdict, verdict]) <= 100, "a confidence beyond 0 to 100")
    for leak in verdict.leaks:
        holds(0 <= leak.start < leak.end, "a leak has no place")
    json.dumps(extract_metadata(tool, result).to_dict())
    text = draw.text()
    for found in (*find_steering(text, others={"send_mail"}), *(each for _, each in steering_in(tool))):
        holds(found.says and found.evidence, "steering without words")
    extra, strong = options.get("extra_patterns", ()), options.get("strong_patterns", ())
    is_business_logic_error(tool, arguments, result, extra, strong)
    if draw.byte() > 225:
        _settled(draw, tool, arguments, result)


def _settled(draw: Draw, tool: object, arguments: object, result: object) -> None:
    """The same by settings: for all tools, and for those of a pattern."""
    table = {name: make for name, make in RESULT.items() if name in ResultSettings.__struct_fields__}
    given = draw.options(table)
    if "factors" in given:
        given["factors"] = {name: {"pattern": pattern, "weight": 1} for name, (pattern, _) in given["factors"].items()}
    if "strong_patterns" in given and draw.flag():
        given["strong_patterns"] = [{"regex": pattern} for pattern in given["strong_patterns"]]
    settings = msgspec.convert({**given, "tools": {draw.one(("s*", "sail", "", "[")): given}}, ResultSettings)
    try:
        judge = ResultCheck(settings)
    except ValueError:
        return
    json.dumps(judge(tool, arguments, result).to_dict())
