"""The heavy half of `toolvet check envelope`: records in, findings out."""

import sys
from collections.abc import Iterator, Mapping

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.cli.commands.check.records import records
from toolvet.envelope import check_envelope
from toolvet.envelope.check.sightings import find_sightings
from toolvet.findings import Finding, Severity

_STYLE = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def check_envelopes(file: str, fail_on: str, *, as_json: bool) -> int:
    """Check every envelope of every record; 1 when a finding is as grave as `fail_on`."""
    failed = False
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("#", "severity", "where", "what", "remedy"):
        table.add_column(heading, overflow="fold")
    for number, record in enumerate(records(file), start=1):
        members = record.members()
        for place, envelope in _envelopes(members):
            findings = check_envelope(envelope)
            failed = failed or (
                fail_on != "never" and any(finding.severity.reaches(Severity(fail_on)) for finding in findings)
            )
            if as_json:
                identity = {"id": members["id"]} if "id" in members and envelope is not members else {}
                line = {**identity, **({"place": place} if place else {}), **_document(findings)}
                sys.stdout.buffer.write(orjson.dumps(line) + b"\n")
            else:
                _add(table, str(number), place, findings)
    if not as_json:
        Console().print(table)
    return int(failed)


def _envelopes(record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The envelopes of a record and where they stand in it: none in a tool result is a record that is no envelope."""
    if "envelope" in record:
        yield "/envelope", record["envelope"]
        return
    found = () if "success" in record else find_sightings(record)
    yield from found or [("", record)]


def _document(findings: tuple[Finding, ...]) -> dict[str, object]:
    told = [
        {
            "id": finding.id,
            "severity": finding.severity,
            "confidence": finding.confidence,
            "pointer": finding.pointer,
            "message": finding.message,
            "evidence": finding.evidence,
            "remedy": finding.remedy,
        }
        for finding in findings
    ]
    return {"valid": all(finding.severity is not Severity.ERROR for finding in findings), "findings": told}


def _add(table: Table, number: str, place: str, findings: tuple[Finding, ...]) -> None:
    if not findings:
        table.add_row(number, Text("ok", style="green"), Text(place), Text("keeps the contract"), "")
    for finding in findings:
        table.add_row(
            number,
            Text(finding.severity, style=_STYLE[finding.severity]),
            Text(place + finding.pointer),
            Text(finding.message),
            Text(finding.remedy),
        )
