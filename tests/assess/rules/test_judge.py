"""How what rules saw becomes findings."""

from toolvet.assess.rules import (
    ObservedCall,
    Outcome,
    ProtocolError,
    cards,
    judge_call,
    judge_tool,
    merge,
    tool_definition,
)
from toolvet.findings import Finding, Severity


def finding(severity: Severity, tool: str = "a", pointer: str = "", message: str = "m") -> Finding:
    return Finding(id="x", severity=severity, tool=tool, pointer=pointer, message=message)


def test_of_findings_with_one_fingerprint_the_gravest_is_kept_with_the_count() -> None:
    found = merge(
        [
            finding(Severity.INFO, message="first"),
            finding(Severity.ERROR, message="second"),
            finding(Severity.ERROR, message="third"),
            finding(Severity.ERROR, tool="b"),
            finding(Severity.ERROR, pointer="/p"),
        ]
    )
    assert [(entry.message, entry.occurrences) for entry in found] == [("second", 3), ("m", 1), ("m", 1)]


def test_a_finding_carries_why_and_remedy_of_its_card() -> None:
    (found,) = judge_tool(tool_definition({"name": "a", "inputSchema": {"type": "object"}}))
    card = cards()["tool-undescribed"]
    assert (found.id, found.why, found.remedy, found.tool) == (card.id, card.why, card.remedy, "a")


def test_a_secret_in_a_servers_words_is_in_no_finding() -> None:
    tool = tool_definition({"name": "a", "description": "d", "inputSchema": {"type": "object"}})
    error = ProtocolError(code=-32603, message="TypeError at postgres://app:hunter2@db/x with api_key=abc123")
    (found,) = judge_call(ObservedCall(tool=tool, arguments={}, outcome=Outcome.PROTOCOL_ERROR, error=error))
    assert "hunter2" not in found.message + found.evidence
    assert "abc123" not in found.message + found.evidence
