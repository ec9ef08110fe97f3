"""A record → the calls in it: what was sent, and what came back.

- a store of the proxy (record.db, calls.jsonl, a PostgreSQL URL): its calls, where the policy was `record = "calls"`
- a store of `toolvet assess --store`: the scenarios of its latest assessment
- a JSON report of `toolvet assess --report json=FILE`: its scenarios
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from toolvet.assess.exchange import CUT_MARK
from toolvet.assess.report import load
from toolvet.assess.report.document import Report
from toolvet.assess.rules import Outcome, ProtocolError
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import REDACTED
from toolvet.errors import UsageError
from toolvet.store import Store, VerdictFilter, VerdictRecord
from toolvet.store.lines import read_line_records
from toolvet.store.records import AssessmentRecord

_PAGE: Final = 1_000
_HOW: Final = (
    'it has verdicts only, without arguments and results. Set `record = "calls"` under [proxy] in toolvet.toml, and '
    "record the calls again"
)
REDACTED_ARGUMENTS: Final = "its arguments were redacted in the record"
_NOT_COMPARABLE: Final = {
    "refused": "the proxy answered it, the server never saw it",
    "validated": "the proxy answered it, the server never saw it",
    "lost": "its answer is not in the record",
    "cancelled": "the client cancelled it",
    "input_required": "the server asked back, which a replay cannot answer",
    "task": "it ran as a task",
}


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a record. `number` counts the calls of the record from 1, in the order in which they were made.

    `conversation` is the connection that it was made on, `issues` the faults of its arguments at the time, and
    `output_issues` the faults of its result by the tool's outputSchema. `duration_ms` is None if it was not measured.
    `skip` is why it cannot be compared, or "".
    """

    number: int
    tool: str
    arguments: Mapping[str, object]
    outcome: Outcome
    result: object = None
    error: ProtocolError | None = None
    issues: tuple[str, ...] = ()
    output_issues: tuple[str, ...] = ()
    conversation: str = ""
    duration_ms: float | None = None
    skip: str = ""


def read_recorded(place: str) -> tuple[RecordedCall, ...]:
    """Return the calls of a record, those of one conversation together, in the order in which they were made.

    Args:
        place: A file or the URL of a store, or a JSON report of `toolvet assess`.

    Raises:
        UsageError: There is no such record, or it has no call with its arguments. The error says what to set.

    Example:
        calls = read_recorded("record.db")
    """
    path = Path(place)
    if path.suffix == ".json":
        if not path.is_file():
            raise UsageError(f"{place}: there is no such file")
        return _of_reports(load(path.read_bytes(), place))
    verdicts, assessments = _read_store(place)
    if verdicts:
        verdicts.sort(key=lambda each: (each.at, each.seq))
        # A conversation takes the place of its first call; within it the calls keep their order.
        first = dict[str, int]()
        for position, verdict in enumerate(verdicts):
            first.setdefault(verdict.connection, position)
        verdicts.sort(key=lambda each: first[each.connection])
        if not any("arguments" in each.detail for each in verdicts):
            raise UsageError(f"{place}: {_HOW}")
        return tuple(_of_verdict(number, each) for number, each in enumerate(verdicts, start=1))
    if not assessments:
        raise UsageError(f"{place}: it has no calls. `toolvet proxy --store {place} -- COMMAND` records them")
    newest = max(assessments, key=lambda each: (each.at, each.id))
    return _of_reports(load(bytes(newest.document), place))


def _read_store(source: str) -> tuple[list[VerdictRecord], list[AssessmentRecord]]:
    if source.endswith(".jsonl"):
        if not Path(source).is_file():
            raise UsageError(f"{source}: there is no such file")
        records = [record for batch in read_line_records(Path(source)) for record in batch]
        calls = [each for each in records if isinstance(each, VerdictRecord) and each.kind == "call"]
        return calls, [each for each in records if isinstance(each, AssessmentRecord)]
    verdicts = list[VerdictRecord]()
    with Store(source, missing="refuse") as store:
        wanted = VerdictFilter(kind="call")
        while page := store.verdicts(wanted, limit=_PAGE, order="oldest", after=verdicts[-1].seq if verdicts else None):
            verdicts += page
        return verdicts, store.assessments(limit=1)


def _of_verdict(number: int, verdict: VerdictRecord) -> RecordedCall:
    detail = verdict.detail
    said = members(detail.get("verdict"))
    issues = tuple(
        f"{issue.get('field', '')}: {issue.get('problem', '')}"
        for issue in map(members, elements(detail.get("issues")))
    )
    error = None
    outcome = Outcome.RESULT
    if verdict.outcome == "protocol_error":
        code = detail.get("code")
        outcome = Outcome.PROTOCOL_ERROR
        error = ProtocolError(code=code if isinstance(code, int) else 0, message=verdict.reason or "", data=None)
    elif verdict.outcome == "unreadable":
        outcome = Outcome.INVALID_MESSAGE
    arguments = detail.get("arguments")
    skip = _NOT_COMPARABLE.get(verdict.outcome, "")
    if not skip and not is_object(arguments):
        skip = "its arguments are not in the record"
    elif not skip and _holds(arguments, _is_redacted):
        skip = REDACTED_ARGUMENTS
    elif not skip and verdict.outcome in ("success", "tool_error") and not is_object(detail.get("result")):
        skip = "its result is not in the record"
    return RecordedCall(
        number=number,
        tool=verdict.tool or "",
        arguments=members(arguments),
        outcome=outcome,
        result=detail.get("result"),
        error=error,
        issues=issues,
        output_issues=tuple(_about_output(said)),
        conversation=verdict.connection,
        duration_ms=None if verdict.duration is None else round(1000 * verdict.duration, 3),
        skip=skip,
    )


def _of_reports(reports: Iterable[Report]) -> tuple[RecordedCall, ...]:
    calls = list[RecordedCall]()
    for report in reports:
        for tool in report.tools:
            for scenario in tool.scenarios:
                if scenario.same_as or scenario.outcome not in set(Outcome):
                    continue
                error = members(members(scenario.result).get("error"))
                code = error.get("code")
                skip = "its arguments were cut in the report" if _holds(scenario.arguments, _is_cut) else ""
                if _holds(scenario.arguments, _is_redacted):
                    skip = REDACTED_ARGUMENTS
                if _holds(scenario.result, _is_cut):
                    skip = "its result was cut in the report"
                verdict = scenario.verdict
                calls.append(
                    RecordedCall(
                        number=len(calls) + 1,
                        tool=tool.name,
                        arguments=members(scenario.arguments),
                        outcome=Outcome(scenario.outcome),
                        result=scenario.result,
                        error=ProtocolError(
                            code=code if isinstance(code, int) else 0, message=str(error.get("message", "")), data=None
                        )
                        if Outcome(scenario.outcome) is Outcome.PROTOCOL_ERROR
                        else None,
                        issues=(f"it breaks {scenario.breaks} on purpose",) if scenario.breaks else (),
                        output_issues=tuple(_about_output(msgspec.to_builtins(verdict))),
                        conversation=report.server.name,
                        duration_ms=scenario.duration_ms,
                        skip=skip,
                    )
                )
    return tuple(calls)


def _about_output(verdict: Mapping[str, object] | None) -> Iterator[str]:
    for issue in elements((verdict or {}).get("issues")):
        if isinstance(issue, str) and is_about_output(issue):
            yield issue


def is_about_output(issue: str) -> bool:
    """Whether an issue of a verdict says that a result breaks the tool's outputSchema."""
    return "outputschema" in issue.lower().replace(" ", "")


def _is_redacted(text: str) -> bool:
    return REDACTED in text


def _is_cut(text: str) -> bool:
    return "more characters" in text or CUT_MARK.search(text) is not None


def _holds(value: object, is_wanted: Callable[[str], bool]) -> bool:
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            if is_wanted(here):
                return True
        elif is_object(here):
            pending += [*here, *here.values()]
        elif is_array(here):
            pending += here
    return False
