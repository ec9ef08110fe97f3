"""What agents' frameworks ask: a guard with any policies, tools, arguments, results and messages; and `wrap`."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.targets.sessions import TOOL_SETTINGS

from toolvet import CallRefusedError, ToolShapeError, wrap
from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, trace_of
from toolvet.proxy.session import Note, Policies, ProxySettings

RUNS = ("run", "", "a b", "\x00", "run-7/2")


def check(draw: Draw) -> None:
    """Some calls of a few runs, and how they end."""
    notes: list[Note] = []
    table = {name: (lambda draw, values=values: draw.one(values)) for name, values in TOOL_SETTINGS.items()}
    policies = Policies(ProxySettings(**draw.options(table))) if draw.flag() else None
    guard = AgentGuard(policies, notes.append, answers=draw.one(("note", "retry", "off")))
    for number in range(draw.byte() % 8):
        run = draw.one(RUNS)
        match draw.byte() % 4:
            case 0:
                advice = guard.finished(run, draw.several(draw.message))
                holds(advice is None or bool(advice.strip()), "advice without words")
            case 1:
                _wrapped(draw, guard, run)
            case _:
                _called(draw, guard, run, str(number))
    for note in notes:
        json.dumps(note.to_dict())
    trace = trace_of(draw.text())
    holds(trace is None or trace_of(trace) == trace, "a trace id is not a trace id")


def _called(draw: Draw, guard: AgentGuard, run: str, call_id: str) -> None:
    arguments = draw.text() if draw.flag() else draw.members()
    try:
        found = guard.call(run, None if draw.byte() < 20 else draw.tool(), arguments, name=draw.text()[:50])
    except ToolShapeError:
        return
    if not isinstance(found, GuardedCall):
        holds(bool(found.text), "a refusal without words")
        return
    guard.keep(call_id, found)
    kept = guard.kept(call_id)
    holds(kept is found and guard.kept(call_id) is None, "a call that was kept is another")
    if draw.byte() < 30:
        found.raised(ValueError(draw.text()))
        return
    told = found.returned(draw.result() if draw.flag() else draw.value(), failed=draw.flag())
    holds(told is None or isinstance(told, str), "a result became no text")


def _wrapped(draw: Draw, guard: AgentGuard, run: str) -> None:
    result = draw.value()

    def tool(**arguments: object) -> object:
        del arguments
        return result

    try:
        checked = wrap(tool, tool=draw.tool(), guard=guard, conversation=run)
        found = checked(**{str(key): value for key, value in draw.members().items()})
    except (CallRefusedError, ToolShapeError):
        return
    holds(found is result or isinstance(found, str), "a result became no text")
