"""A recorded call against the same call of today: any tools, arguments, results and errors on both sides."""

from typing import Any

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.assess.replay.compare import ResultOutline, best_of, compare_sides, live_side, recorded_side
from toolvet.assess.replay.recorded import RecordedCall
from toolvet.core.checks.result import ResultCheck
from toolvet.core.tool_rules.subject import ObservedCall, Outcome, ProtocolError, ToolDefinition, tool_definition

CHECK = ResultCheck()
OUTCOMES = tuple(Outcome)


def check(draw: Draw) -> None:
    """Two sides, compared in both directions and with themselves."""
    tool = tool_definition(draw.tool())
    sides = [_side(draw, tool) for _ in range(2)]
    usual = ResultOutline([side.call.result for side in sides])
    old, new = sides
    for one, other in ((old, new), (new, old)):
        comparison, changes = compare_sides(one, other, usual)
        holds((comparison == "same") is (not changes), "a difference without a change")
        holds(best_of([(comparison, changes, one)])[0] == comparison, "the best of one is another")
    for side in sides:
        holds(compare_sides(side, side, usual)[0] == "same", "a call differs from itself")
        holds(len(side.end.words) < 10_000, "the words of an end have no end")


def _side(draw: Draw, tool: ToolDefinition) -> Any:
    outcome = draw.one(OUTCOMES)
    error = (
        ProtocolError(code=-32603, message=draw.text(), data=draw.json()) if outcome is Outcome.PROTOCOL_ERROR else None
    )
    result = draw.result() if outcome is Outcome.RESULT else None
    issues = tuple(draw.several(draw.text, 2))
    if draw.flag():
        recorded = RecordedCall(
            number=1,
            tool=tool.name,
            arguments=draw.members(),
            outcome=outcome,
            result=result,
            error=error,
            issues=issues,
            output_issues=tuple(draw.several(draw.text, 2)),
            duration_ms=draw.one((None, 0.0, 5.5)),
        )
        return recorded_side(recorded, tool, CHECK)
    verdict = CHECK(tool.raw, {}, result, None, shape="mcp") if outcome is Outcome.RESULT else None
    call = ObservedCall(
        tool=tool,
        arguments=draw.members(),
        outcome=outcome,
        result=result,
        error=error,
        duration_ms=1.0,
        verdict=verdict,
    )
    return live_side(call)
