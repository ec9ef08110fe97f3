"""Rule: no valid call of a tool succeeded, so its real work was never seen."""

from collections.abc import Iterator, Sequence
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.cause import mask_values
from toolvet.rules.ending import REFUSALS, Ending, ending, words_of
from toolvet.rules.exercise import fails_by_itself, is_plain
from toolvet.rules.outage import outage_of_call
from toolvet.rules.quote import list_names, quote
from toolvet.rules.subject import ObservedCall, ServerSeen

CARD = Card(
    id="never-succeeded",
    title="No valid call succeeded",
    severity=Severity.INFO,
    looks_for=(
        "A tool all of whose calls with valid arguments were refused (not found, not allowed, not accepted), so that "
        "no success was ever seen. Tools that were refused alike are one finding."
    ),
    why=(
        "Refusing politely counts as working, but then the report says little: the tool's real work was never reached, "
        "and refusals of wrong arguments may have been about something else."
    ),
    remedy=(
        "Give toolvet arguments that exist where the server runs: `[[fixtures.TOOL]]` for one tool, or `[values]` for "
        "a parameter of many, in toolvet.toml. Examples in the schema itself help models as well."
    ),
)


_REFUSED: Final = frozenset({*REFUSALS, Ending.FAILURE, Ending.PROTOCOL_FAILURE})  # Unless the tool is at fault.
_MOST_CAUSES: Final = 4


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """A finding for each tool with a cause of its own, and one for all tools that share theirs."""
    causes: dict[str, list[tuple[str, str, int]]] = {}
    for name, valid in _refused_tools(server.calls):
        words = quote(words_of(valid[0]), 200)
        causes.setdefault(mask_values(words, name), []).append((name, words, len(valid)))
    shared = [tools for tools in causes.values() if len(tools) > 1]
    for (name, words, number), *others in causes.values():
        if not others:
            many = f"All {number} valid calls were refused" if number > 1 else "The valid call was refused"
            yield CARD.finding(message=f'{many}: "{words}"', evidence=words, tool=name, confidence=80)
    if shared:
        shared.sort(key=len, reverse=True)
        parts = [
            f'"{quote(tools[0][1], 120)}" ({len(tools)} tools: {list_names([name for name, _, _ in tools], 6)})'
            for tools in shared[:_MOST_CAUSES]
        ]
        more = f"; and {len(shared) - _MOST_CAUSES} more causes" if len(shared) > _MOST_CAUSES else ""
        yield CARD.finding(
            message=f"All valid calls of several tools were refused alike: {'; '.join(parts)}{more}.",
            evidence=shared[0][0][1],
        )


def _refused_tools(calls: Sequence[ObservedCall]) -> Iterator[tuple[str, list[ObservedCall]]]:
    """The tools all of whose valid calls were refused, with these calls; what met an outage was not refused."""
    by_tool: dict[str, list[ObservedCall]] = {}
    for call in calls:
        if is_plain(call):
            by_tool.setdefault(call.tool.name, []).append(call)
    for name, valid in by_tool.items():
        refused = all(ending(call) in _REFUSED and not fails_by_itself(call) for call in valid)
        if refused and outage_of_call(valid[0]) is None:
            yield name, valid
