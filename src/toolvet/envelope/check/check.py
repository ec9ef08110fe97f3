"""`check_envelope`: whether a JSON object keeps the contract, and what to do where it does not."""

from toolvet.envelope.check.advice import advice
from toolvet.envelope.contract.table import CONDITIONS, ENVELOPE
from toolvet.envelope.json_copy import plain
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.shapes import ABSENT, ContractViolation, is_members, told
from toolvet.envelope.contract.vocabulary import ResponseContract
from toolvet.errors import EnvelopeError
from toolvet.findings import Finding, Severity
from toolvet.redact import redact_text


def check_envelope(obj: object) -> tuple[Finding, ...]:
    """Every breach of the contract response-v2 in `obj`, each with a JSON Pointer into it and a remedy.

    An error is what the published schema refuses, or what JSON cannot hold; warnings and infos are what the contract
    recommends beyond it. The empty tuple means that clients can rely on it. Total: any object, nested or not.
    """
    envelope = obj.to_dict(ResponseContract.V2) if isinstance(obj, Envelope) else obj
    found: list[Finding] = []
    if not ENVELOPE.holds(envelope):
        found += [_error("envelope-malformed", breach) for breach in ENVELOPE.breaches(envelope, "")]
    if is_members(envelope):
        for condition in CONDITIONS:
            for breach in condition.breaches(envelope):
                found.append(_error(condition.id, breach))
        for id_, severity, breach, confidence in advice(envelope):
            found.append(_finding(id_, severity, breach, confidence))
    if not isinstance(obj, Envelope) and not found:
        found += _not_json(envelope)
    return tuple(found)


def _not_json(envelope: object) -> list[Finding]:
    """What no encoder writes: asked last, since it goes through the whole payload."""
    try:
        plain(envelope, "")
    except EnvelopeError as refused:
        breach = ContractViolation(
            refused.argument, f"the value {refused.problem}", "Give JSON's own types: they reach every client."
        )
        return [_error("envelope-malformed", breach)]
    return []


def _error(id_: str, breach: ContractViolation) -> Finding:
    return _finding(id_, Severity.ERROR, breach, 100)


def _finding(id_: str, severity: Severity, breach: ContractViolation, confidence: int) -> Finding:
    return Finding(
        id=id_,
        severity=severity,
        confidence=confidence,
        message=redact_text(f"{breach.problem}."),
        pointer=breach.pointer,
        evidence="" if breach.value is ABSENT else redact_text(told(breach.value)),
        remedy=breach.remedy,
    )
