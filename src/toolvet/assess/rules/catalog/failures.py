"""Calls that the tool, the server or its surroundings let fail."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.ending import (
    REFUSALS,
    Ending,
    Missing,
    cause_of,
    ending,
    fails_by_itself,
    is_bad,
    is_plain,
    mask_values,
    outage_of_call,
    verdict_of,
    words_of,
)
from toolvet.assess.rules.quote import list_names, quote, show_answer, show_sent
from toolvet.assess.rules.rule import of_call, of_server
from toolvet.core.causes import State
from toolvet.core.tool_rules import ObservedCall, ObservedServer
from toolvet.findings import Card, Finding, Severity

VALID_CALL_FAILED = Card(
    id="valid-call-failed",
    title="A valid call failed",
    severity=Severity.ERROR,
    looks_for=(
        "Arguments that satisfy the tool's own schema, answered with a failure of the tool: a crash, an internal "
        "error, an error without words. A tool without parameters fails with any message that names no state which a "
        "caller could change. A missing backend, program or credential is "
        "`environment-outage`, and an unknown argument that crashes the tool is `bad-arguments-crash`."
    ),
    why="The model did everything right and can do nothing better. It will retry, give up, or make something up.",
    remedy=(
        "Reproduce the call with the command below and handle the case: return a result, or an error that says what "
        "the caller can do. If the tool cannot take these arguments, its schema should not allow them."
    ),
)
_FAILURES: Final = frozenset({Ending.FAILURE, Ending.WORDLESS, Ending.PROTOCOL_FAILURE})


@of_call(VALID_CALL_FAILED)
def check_valid_call_failed(call: ObservedCall) -> Iterator[Finding]:
    """Report a failure on valid arguments; a warning where its words are unclear and may be meant as a refusal."""
    ended = ending(call)
    if ended not in _FAILURES or is_bad(call) or call.intended is not None or not fails_by_itself(call):
        return
    verdict = verdict_of(call)
    unclear = ended is Ending.FAILURE and verdict is not None and verdict.state is State.UNKNOWN
    words = quote(words_of(call), 140)
    problem = (
        f"an error without words, for {show_sent(call, call.arguments, 80)}"
        if ended is Ending.WORDLESS
        else f'"{words}"'
    )
    form = f"protocol error {call.error.code}: " if call.error is not None else ""
    yield VALID_CALL_FAILED.finding(
        message=f"A call that the schema allows failed: {form}{problem}",
        severity=Severity.WARNING if unclear and call.tool.properties else None,
        confidence=60 if unclear else 75,
        evidence=quote(words_of(call), 300) or show_answer(call.result),
        cause=cause_of(call) or "an error without words",
    )


NEVER_SUCCEEDED = Card(
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
    many="{count} tools refused every valid call",
)
_REFUSALS: Final = frozenset({*REFUSALS, Ending.FAILURE, Ending.PROTOCOL_FAILURE})  # Unless the tool is at fault.


@of_server(NEVER_SUCCEEDED)
def check_never_succeeded(server: ObservedServer) -> Iterator[Finding]:
    """A finding for each tool, with the words of the first refusal as its cause."""
    by_tool: dict[str, list[ObservedCall]] = {}
    for call in server.calls:
        if is_plain(call):
            by_tool.setdefault(call.tool.name, []).append(call)
    for name, valid in by_tool.items():
        refused = all(ending(call) in _REFUSALS and not fails_by_itself(call) for call in valid)
        # What met an outage was not refused.
        if refused and outage_of_call(valid[0]) is None:
            words = quote(words_of(valid[0]), 200)
            many = f"All {len(valid)} valid calls were refused" if len(valid) > 1 else "The valid call was refused"
            yield NEVER_SUCCEEDED.finding(
                message=f'{many}: "{words}"',
                evidence=words,
                tool=name,
                confidence=80,
                cause=mask_values(words, name),
            )


ENVIRONMENT_OUTAGE = Card(
    id="environment-outage",
    title="Something the server needs is missing",
    severity=Severity.INFO,
    looks_for=(
        "Answers that say the surroundings failed: an unreachable host, a missing program, variable or credential, a "
        "folder of the server's own that it cannot make or write. One finding for the server names what is missing "
        "and the tools that met it. A warning when no tool could be exercised at all."
    ),
    why=(
        "This is a fact about where the assessment ran. It is held against no tool: such calls count neither in the "
        "score nor as error messages, and a tool that met nothing else is not exercised."
    ),
    remedy=(
        "Start what the server depends on, or give it its configuration and credentials (--env, --header), then assess "
        "again. For the server: check at its start that they are there."
    ),
)


@of_server(ENVIRONMENT_OUTAGE)
def check_environment_outage(server: ObservedServer) -> Iterator[Finding]:
    """One finding, with what is missing and which tools said so."""
    causes: dict[Missing, list[str]] = {}
    words, silent = "", dict[str, None]()
    for call in server.calls:
        if call.outage_nearby:
            silent[call.tool.name] = None
            continue
        # `error-without-flag` reports, and quotes, an outage that calls itself a success.
        missing = None if ending(call) is Ending.UNFLAGGED_ERROR else outage_of_call(call)
        if missing is not None:
            tools = causes.setdefault(missing, [])
            words = words or quote(words_of(call), 300)
            if call.tool.name not in tools:
                tools.append(call.tool.name)
    if not causes:
        return
    parts = [
        f"{quote(str(missing), 100)} (said by {list_names(tools, 6)})"
        for missing, tools in sorted(causes.items(), key=lambda cause: -len(cause[1]))[:5]
    ]
    if silent:
        parts.append(f"probably also why others gave no answer or no clear one ({list_names(list(silent), 6)})")
    none_worked = not any(ending(call) is Ending.SUCCESS for call in server.calls)
    yield ENVIRONMENT_OUTAGE.finding(
        message=f"Missing where the server was assessed: {'; '.join(parts)}.",
        severity=Severity.WARNING if none_worked else None,
        evidence=words,
        confidence=85,
    )


CALL_TIMEOUT = Card(
    id="call-timeout",
    title="A call was not answered in time",
    severity=Severity.ERROR,
    looks_for=(
        "A call that brought neither a result nor an error within the time limit. Where other tools report that a host "
        "or a service does not answer, a tool that never succeeded waited for it (`environment-outage`)."
    ),
    why=(
        "The client gives up, the model learns nothing, and the agent waits until the client's "
        "time limit. A retry usually meets the same fate."
    ),
    remedy=(
        "Set a timeout inside the tool, shorter than the client's, on every network call, lock and subprocess, and "
        "answer with isError and a sentence when it strikes. Await what blocks in a thread "
        "(`anyio.to_thread.run_sync`), so that one slow call does not stop the others; send progress notifications "
        "for work that takes long. If the tool is meant to be slow, raise --timeout."
    ),
)


@of_call(CALL_TIMEOUT)
def check_call_timeout(call: ObservedCall) -> Iterator[Finding]:
    """A warning for extreme values, which may ask for much work; an error for ordinary ones."""
    if ending(call) is Ending.TIMEOUT and not call.outage_nearby:
        asked_for_it = call.category in {"edge_case", "boundary"} or is_bad(call)
        waited = f" within {call.duration_ms / 1000:.3g} s" if call.duration_ms > 0 else ""
        yield CALL_TIMEOUT.finding(
            message=f"No answer{waited}.",
            severity=Severity.WARNING if asked_for_it else None,
            confidence=80 if asked_for_it else 95,
            evidence=f"arguments: {show_sent(call, call.arguments)}",
        )


SERVER_DIED = Card(
    id="server-died",
    title="The server ended during a call",
    severity=Severity.ERROR,
    looks_for="A call during which the server's process ended or its connection broke.",
    why=(
        "Every tool of the server is gone with it, for every conversation that uses it, and clients seldom start it "
        "again by themselves."
    ),
    remedy=(
        "Catch what the tool raises and answer with isError; the SDKs do this for ordinary exceptions, so look for "
        "`sys.exit`, `process.exit`, unhandled promise rejections, native crashes, and memory that runs out."
    ),
)


@of_call(SERVER_DIED)
def check_server_died(call: ObservedCall) -> Iterator[Finding]:
    """Quote the last words of the server, or else the arguments."""
    if ending(call) is Ending.DIED:
        first, *_ = [*call.detail.strip().splitlines(), ""]
        yield SERVER_DIED.finding(
            message=f"The server ended while it worked on this call{f': {quote(first, 160)}' if first else ''}.",
            evidence=quote(call.detail, 400) or f"arguments: {show_sent(call, call.arguments)}",
        )


DISK_FILLED = Card(
    id="disk-filled",
    title="The server fills the disk",
    severity=Severity.ERROR,
    looks_for="During one assessment the server's working, home and temporary folders grow beyond --max-disk-mib.",
    why=(
        "A server runs for days beside the user's files. If it never stops writing, it fills the disk, "
        "and a full disk breaks programs that have nothing to do with the server."
    ),
    remedy=(
        "Bound caches, logs and downloads by size and not by time alone; delete temporary files when the call that "
        "made them ends; refuse arguments that ask for files of any size. If the server needs that much, "
        "raise --max-disk-mib."
    ),
)


@of_server(DISK_FILLED)
def check_disk_filled(server: ObservedServer) -> Iterator[Finding]:
    """One finding, with how much there was when the server was ended."""
    if server.overfilled:
        yield DISK_FILLED.finding(message=f"The server {server.overfilled}, and was ended.")
