"""The server compared with its lock: changes that break callers, and results that leave their contract."""

from collections.abc import Iterator

from toolvet.assess.rules.ending import Ending, ending
from toolvet.assess.rules.quote import quote, show
from toolvet.assess.rules.rule import of_call, of_server
from toolvet.core.checks import contract_drift
from toolvet.core.tool_rules import ObservedCall, ObservedServer
from toolvet.findings import Card, Finding, Severity

CONTRACT_BROKEN = Card(
    id="contract-broken",
    title="A change breaks callers of the earlier version",
    severity=Severity.ERROR,
    looks_for=(
        "With `--lock`: a tool or prompt that was removed, arguments that the locked inputSchema accepts and the "
        "present one refuses, a result that the present outputSchema allows and the locked one does not, or "
        "`readOnlyHint: true` or `destructiveHint: true` that is gone. A change that no counter-example proves is "
        "reported as information."
    ),
    why=(
        "Clients, prompts and tests of callers rely on the earlier definition. A call that worked is refused now, or a "
        "client no longer asks before a tool that changes something."
    ),
    remedy=(
        "Keep accepting what was accepted: make new parameters optional, keep old names as aliases, widen types. "
        "If the break is meant, publish a new major version and write the lock again with `toolvet lock`."
    ),
)


@of_server(CONTRACT_BROKEN)
def check_contract_broken(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each change that breaks a caller or has to be read."""
    for change in server.changes:
        if change.verdict == "compatible":
            continue
        shown = "" if change.counter_example is None else f"counter-example: {show(change.counter_example, 200)}"
        yield CONTRACT_BROKEN.finding(
            message=f"Since the lock: {quote(change.reason, 200)}.",
            severity=None if change.verdict == "breaking" else Severity.INFO,
            pointer=change.pointer,
            evidence=shown,
            tool=change.tool if change.kind == "tool" else None,
            item=None if change.kind == "tool" else (change.kind, change.tool),
        )


CONTRACT_LEFT = Card(
    id="contract-left",
    title="A result leaves the contract that earlier results kept",
    severity=Severity.WARNING,
    looks_for=(
        "With `--lock` and a file of `toolvet contract`: a successful result that breaks the schema which the file has "
        "for the results of this tool. Errors are not compared, and members that the schema does not know are allowed."
    ),
    why=(
        "The tool declares no outputSchema, so programs and prompts rely on what its results have looked like. A "
        "member that is renamed, gone or of another type breaks them silently."
    ),
    remedy=(
        "Return what was returned before, under the same names. If the change is meant, record the new version and "
        "run `toolvet contract` again; better, declare the schema as the tool's outputSchema."
    ),
)


@of_call(CONTRACT_LEFT)
def check_contract_left(call: ObservedCall) -> Iterator[Finding]:
    """Judge whole results only: an excerpt may lack what the schema demands."""
    if call.tool.contract is None or call.excerpt is not None or ending(call) is not Ending.SUCCESS:
        return
    drift = contract_drift(call.tool.contract, call.result)
    if drift:
        yield CONTRACT_LEFT.finding(
            message=f"The result leaves the tool's contract: {quote(drift, 300)}", evidence=show(call.result, 200)
        )
