"""`propose_contracts`: a record of calls → an outputSchema for each tool that declares none.

Failed results, and those that report a failure as a success, are left out and counted. A result's structured content
counts, or else its texts, if all of them are objects or arrays of JSON.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from toolvet.assess.replay.recorded import REDACTED_ARGUMENTS, RecordedCall
from toolvet.assess.rules import Outcome
from toolvet.core.checks import check_result
from toolvet.core.contract import SchemaProposal, propose_for_parts
from toolvet.core.json_value import elements, is_array, is_object, members

LEAST_RESULTS: Final = 10


class ToolContract(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one tool in a record, and a schema for them. `proposal` is None for the reason in `why`.

    `results` counts the good results, `failed` those that were left out. `is_text` is true if the results are JSON as
    text: a server that declares the schema also has to send `structuredContent`.
    """

    tool: str
    results: int
    failed: int = 0
    is_text: bool = False
    proposal: SchemaProposal | None = None
    why: str = ""


def propose_contracts(
    calls: Iterable[RecordedCall],
    definitions: Iterable[Mapping[str, object]] = (),
    tools: Collection[str] = (),
    least: int = LEAST_RESULTS,
) -> tuple[ToolContract, ...]:
    """Return the contract of each recorded tool, sorted by name.

    Args:
        calls: The recorded calls, from `read_recorded`.
        definitions: The definitions of the tools. A tool that declares an outputSchema gets no other one.
        tools: The tools to look at, also those that declare an outputSchema; empty means all others.
        least: How many good results a tool needs.
    """
    known = {str(each.get("name")): each for each in definitions}
    failed = Counter[str]()
    # By tool: the arguments and the JSON of each good result. The same call with the same result counts once.
    good = defaultdict[str, dict[str, tuple[RecordedCall, list[object]]]](dict)
    for call in calls:
        if (tools and call.tool not in tools) or call.skip not in ("", REDACTED_ARGUMENTS):
            continue
        verdict = None
        if call.outcome is Outcome.RESULT and is_object(call.result):
            verdict = check_result(known.get(call.tool, {"name": call.tool}), call.arguments, call.result, shape="mcp")
        if verdict is None or verdict.is_error or verdict.error_without_flag or not verdict.is_valid:
            failed[call.tool] += 1
        else:
            good[call.tool][repr((call.arguments, call.result))] = call, list(_payloads(members(call.result)))
    return tuple(
        _contract(tool, [*good[tool].values()], failed[tool], known.get(tool, {}), least, is_wanted=tool in tools)
        for tool in sorted({*good, *failed})
    )


def _contract(
    tool: str,
    good: list[tuple[RecordedCall, list[object]]],
    failed: int,
    definition: Mapping[str, object],
    least: int,
    *,
    is_wanted: bool,
) -> ToolContract:
    plain = sum(not payloads for _, payloads in good)
    proposal: SchemaProposal | None = None
    is_text, why = False, ""
    if "outputSchema" in definition and not is_wanted:
        why = "declares an outputSchema"
    elif len(good) < least:
        why = f"{len(good)} different results, and {least} are needed"
    elif plain:
        why = f"{plain} of {len(good)} results are not JSON"
    else:
        seen = [(number, each) for number, (_, payloads) in enumerate(good) for each in payloads]
        proposal = propose_for_parts(seen, [call.arguments for call, _ in good])
        is_text = any(not is_object(members(call.result).get("structuredContent")) for call, _ in good)
    if proposal is not None and not proposal.schema:
        why = "; ".join(proposal.undecided.values())
        proposal, is_text = None, False
    return ToolContract(tool=tool, results=len(good), failed=failed, is_text=is_text, proposal=proposal, why=why)


def _payloads(result: Mapping[str, object]) -> Iterable[object]:
    """The JSON of a result: none if a part of it is not JSON."""
    if result.get("structuredContent") is not None:
        return [result["structuredContent"]]
    found: list[object] = []
    for block in elements(result.get("content")):
        text = members(block).get("text")
        try:
            value: object = msgspec.json.decode(text) if isinstance(text, str) else None
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            value = None
        if not (is_object(value) or is_array(value)):
            return ()
        found.append(value)
    return found
