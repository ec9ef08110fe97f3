"""The work of `toolvet check envelope`: records in, findings out."""

import sys

from rich.console import Console
from rich.text import Text

from toolvet.cli.commands.check.input import read_records
from toolvet.cli.commands.check.verdicts import encode
from toolvet.cli.terminal import SEVERITY_STYLE, new_table
from toolvet.core.envelope import EnvelopeVerdict, check_envelope, find_envelopes
from toolvet.findings import Severity


def check_envelopes(file: str, fail_on: str, *, as_json: bool) -> int:
    """Check every envelope of every record; return 1 when a finding is as bad as `fail_on`, else 0."""
    failed = False
    table = new_table("#", "severity", "where", "what", "remedy", overflow="fold")
    for number, record in enumerate(read_records(file), start=1):
        members = record.members()
        if "envelope" in members:
            found = [("/envelope", members["envelope"])]
        else:
            # A record without an envelope in it is checked as one itself.
            found = [*(() if "success" in members else find_envelopes(members))] or [("", members)]
        for place, envelope in found:
            findings = check_envelope(envelope)
            failed = failed or (
                fail_on != "never" and any(finding.severity.reaches(Severity(fail_on)) for finding in findings)
            )
            if as_json:
                identity = {"id": members["id"]} if "id" in members and envelope is not members else {}
                line = {**identity, **({"place": place} if place else {}), **EnvelopeVerdict(findings).to_dict()}
                sys.stdout.buffer.write(encode(line))
            else:
                if not findings:
                    table.add_row(str(number), Text("ok", style="green"), Text(place), Text("keeps the contract"), "")
                for finding in findings:
                    table.add_row(
                        str(number),
                        Text(finding.severity, style=SEVERITY_STYLE[finding.severity]),
                        Text(place + finding.pointer),
                        Text(finding.message),
                        Text(finding.remedy),
                    )
    if not as_json:
        Console().print(table)
    return int(failed)
