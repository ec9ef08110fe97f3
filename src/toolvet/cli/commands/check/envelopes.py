"""The work of `toolvet check envelope`: records in, findings out."""

import sys
from collections.abc import Iterator, Mapping

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolvet.cli.commands.check.input import read_records
from toolvet.cli.terminal import SEVERITY_STYLE, new_table
from toolvet.core.envelope import EnvelopeVerdict, check_envelope, find_sightings
from toolvet.findings import Finding, Severity


def check_envelopes(file: str, fail_on: str, *, as_json: bool) -> int:
    """Check every envelope of every record; return 1 when a finding is as bad as `fail_on`, else 0."""
    failed = False
    table = new_table("#", "severity", "where", "what", "remedy", overflow="fold")
    for number, record in enumerate(read_records(file), start=1):
        members = record.members()
        for place, envelope in _find_envelopes(members):
            findings = check_envelope(envelope)
            failed = failed or (
                fail_on != "never" and any(finding.severity.reaches(Severity(fail_on)) for finding in findings)
            )
            if as_json:
                identity = {"id": members["id"]} if "id" in members and envelope is not members else {}
                line = {**identity, **({"place": place} if place else {}), **EnvelopeVerdict(findings).to_dict()}
                sys.stdout.buffer.write(orjson.dumps(line) + b"\n")
            else:
                _add_rows(table, str(number), place, findings)
    if not as_json:
        Console().print(table)
    return int(failed)


def _find_envelopes(record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the envelopes of a record and their places in it. A record without any is checked as an envelope itself."""
    if "envelope" in record:
        yield "/envelope", record["envelope"]
        return
    found = () if "success" in record else find_sightings(record)
    yield from found or [("", record)]


def _add_rows(table: Table, number: str, place: str, findings: tuple[Finding, ...]) -> None:
    if not findings:
        table.add_row(number, Text("ok", style="green"), Text(place), Text("keeps the contract"), "")
    for finding in findings:
        table.add_row(
            number,
            Text(finding.severity, style=SEVERITY_STYLE[finding.severity]),
            Text(place + finding.pointer),
            Text(finding.message),
            Text(finding.remedy),
        )
