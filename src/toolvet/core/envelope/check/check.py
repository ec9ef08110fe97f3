"""`check_envelope`: the findings of an envelope, from the contract and from what it recommends."""

from collections.abc import Callable

import msgspec

from toolvet.core.bounds import is_endless
from toolvet.core.envelope.check.advice import find_advice
from toolvet.core.envelope.contract.shapes import ABSENT, ContractViolation, describe_value
from toolvet.core.envelope.contract.table import CONDITIONS, ENVELOPE
from toolvet.core.envelope.contract.vocabulary import ResponseContract
from toolvet.core.envelope.json_copy import copy_as_json, copy_bounded
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_value import is_object
from toolvet.core.redact import redact_text
from toolvet.core.schema.document import JsonForm
from toolvet.errors import EnvelopeError
from toolvet.findings import Finding, Severity


def check_envelope(obj: object) -> tuple[Finding, ...]:
    """Check an envelope against the contract response-v2.

    Args:
        obj: an Envelope, or the JSON object of a response. Any other value is a finding, too: nothing is raised.

    Returns:
        One finding for each problem, with a JSON Pointer into `obj` and a remedy. An error is what the published schema
        refuses, or what JSON cannot hold; warnings and infos are advice beyond the schema. Empty for an envelope that
        clients can rely on.

    Example:
        >>> for finding in check_envelope({"success": True, "data": {}, "error": None}):
        ...     print(finding.pointer, finding.message)
        /meta meta is missing.
    """
    envelope = obj.to_dict(ResponseContract.V2) if isinstance(obj, Envelope) else obj
    found: list[Finding] = []
    if is_endless(envelope):
        return tuple(_check_encodable(envelope, copy_as_json))
    if not ENVELOPE.holds(envelope):
        found += [_error("envelope-malformed", violation) for violation in ENVELOPE.violations(envelope, "")]
    if is_object(envelope):
        for condition in CONDITIONS:
            for violation in condition.violations(envelope):
                found.append(_error(condition.id, violation))
        for id_, severity, violation, confidence in find_advice(envelope):
            found.append(_finding(id_, severity, violation, confidence))
    if not isinstance(obj, Envelope) and not found:
        found += _check_encodable(envelope, copy_bounded)
    return tuple(found)


class EnvelopeVerdict(JsonForm, msgspec.Struct, frozen=True):
    """The verdict on an envelope, as documents show it."""

    _adds = ("valid",)

    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether the envelope keeps the contract: no finding is an error."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)


def _check_encodable(envelope: object, copy: Callable[[object, str], object]) -> list[Finding]:
    """A finding for a value that no encoder can write. Looked for last, because it reads the whole payload."""
    try:
        copy(envelope, "")
    except EnvelopeError as refused:
        violation = ContractViolation(
            refused.argument, f"the value {refused.problem}", "Give JSON's own types: they reach every client."
        )
        return [_error("envelope-malformed", violation)]
    return []


def _error(id_: str, violation: ContractViolation) -> Finding:
    return _finding(id_, Severity.ERROR, violation, 100)


def _finding(id_: str, severity: Severity, violation: ContractViolation, confidence: int) -> Finding:
    return Finding(
        id=id_,
        severity=severity,
        confidence=confidence,
        message=redact_text(f"{violation.problem}."),
        pointer=violation.pointer,
        evidence="" if violation.value is ABSENT else redact_text(describe_value(violation.value)),
        remedy=violation.remedy,
    )
