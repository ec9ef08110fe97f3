"""The response envelopes that a tool answers with: each rule yields what `check_envelope` finds under its id."""

from collections.abc import Iterator, Sequence

from toolvet.assess.rules.rule import of_calls
from toolvet.core.envelope import FoundEnvelope, check_envelope, find_envelopes
from toolvet.core.json_value import members
from toolvet.core.tool_rules import ObservedCall, ToolDefinition
from toolvet.findings import Card, Finding, Severity

ENVELOPE_MALFORMED = Card(
    id="envelope-malformed",
    title="A response envelope is malformed",
    severity=Severity.ERROR,
    looks_for=(
        'An answer with `meta.version: "response-v2"` that the contract does not allow: a key that is missing '
        "or not known, a value of the wrong type, an error without a message, a level or a severity that does "
        "not exist."
    ),
    why=(
        "Clients read `success`, `error` and `meta` without looking at the tool. A value in another place "
        "is lost, or taken for something else."
    ),
    remedy=(
        "Build responses with `success_response` and `error_response`, which refuse what the contract does "
        "not allow, or check them with `toolvet check envelope`."
    ),
)


@of_calls(ENVELOPE_MALFORMED)
def check_envelope_malformed(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id."""
    return _judge_envelopes(calls, ENVELOPE_MALFORMED)


ENVELOPE_CONTRADICTION = Card(
    id="envelope-contradiction",
    title="A response envelope contradicts itself",
    severity=Severity.ERROR,
    looks_for=(
        "An envelope with two members that exclude each other: an error on success, an `error_code` of "
        "another `error_type`, dropped items at full fidelity, two retry delays, or `success: true` in a "
        "result that says isError."
    ),
    why=(
        "Programs look at one of the two, people at the other: one retries what will never work, or reports a "
        "success that was none."
    ),
    remedy="Let the library derive the type from the code, and set `success` by what happened.",
)


@of_calls(ENVELOPE_CONTRADICTION)
def check_envelope_contradiction(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id, and compare each envelope with the result around it."""
    yield from _judge_envelopes(calls, ENVELOPE_CONTRADICTION)
    for call, (place, envelope) in _envelopes(calls):
        # `error-without-flag` reports the reverse: a failure without the flag.
        if members(call.result).get("isError") is True and envelope.get("success") is True:
            yield ENVELOPE_CONTRADICTION.finding(
                message=f"The result says isError, and the envelope in {place[1:]} says success.",
                evidence="success: true",
                pointer="/success",
            )


ENVELOPE_CODE_UNCLEAR = Card(
    id="envelope-code-unclear",
    title="An error code is misspelt or missing",
    severity=Severity.WARNING,
    looks_for=(
        "An `error_code`, `error_type` or warning code that is nearly a documented one, another name for it, "
        "not in SCREAMING_SNAKE_CASE, or missing."
    ),
    why=(
        "Clients decide by the code whether to correct the call, to wait or to give up. They treat a code that "
        "they do not know as an unknown error."
    ),
    remedy=(
        "Use the documented code if one fits; write your own codes in SCREAMING_SNAKE_CASE and give their `error_type`."
    ),
)


@of_calls(ENVELOPE_CODE_UNCLEAR)
def check_envelope_code_unclear(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id."""
    return _judge_envelopes(calls, ENVELOPE_CODE_UNCLEAR)


ENVELOPE_FIDELITY_UNCLEAR = Card(
    id="envelope-fidelity-unclear",
    title="A shortened response does not say so properly",
    severity=Severity.WARNING,
    looks_for=(
        "Dropped items without `content_fidelity`, a level below full without "
        "`content_fidelity_schema_version`, an id dropped twice, an archive hash that is not whole."
    ),
    why=(
        "A reader who does not see that something is missing answers from the rest as if it were all, and "
        "cannot fetch what was left out."
    ),
    remedy="Set `content_fidelity` and its schema version whenever something was left out, and give whole hashes.",
)


@of_calls(ENVELOPE_FIDELITY_UNCLEAR)
def check_envelope_fidelity_unclear(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id."""
    return _judge_envelopes(calls, ENVELOPE_FIDELITY_UNCLEAR)


ENVELOPE_HINT_UNUSABLE = Card(
    id="envelope-hint-unusable",
    title="A hint for the next call cannot be followed",
    severity=Severity.WARNING,
    looks_for="`has_more: true` without a cursor, or a `reset_at` that is a bare number.",
    why="The client knows that there is more, or that it has to wait, but not how to continue.",
    remedy="Give the cursor of the next page, and moments as RFC 3339 has them.",
)


@of_calls(ENVELOPE_HINT_UNUSABLE)
def check_envelope_hint_unusable(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id."""
    return _judge_envelopes(calls, ENVELOPE_HINT_UNUSABLE)


ENVELOPE_METADATA_MISPLACED = Card(
    id="envelope-metadata-misplaced",
    title="Envelope metadata is in the wrong place",
    severity=Severity.WARNING,
    looks_for=(
        "Members of `data` that the contract keeps in `meta` (`pagination`, `rate_limit`, `has_more`, …), and "
        "members of `meta` that are misspelt reserved names."
    ),
    why="A client that pages, waits or warns by `meta` does not see them, and a model takes them for the answer.",
    remedy="Move them into `meta` under their reserved names.",
)


@of_calls(ENVELOPE_METADATA_MISPLACED)
def check_envelope_metadata_misplaced(_: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Yield the findings of `check_envelope` with this id."""
    return _judge_envelopes(calls, ENVELOPE_METADATA_MISPLACED)


def _judge_envelopes(calls: Sequence[ObservedCall], card: Card) -> Iterator[Finding]:
    """What `check_envelope`, which removes secrets, finds; the pointers lead into the envelope."""
    for _, (place, envelope) in _envelopes(calls):
        for finding in check_envelope(envelope):
            if finding.id == card.id:
                yield card.finding(
                    message=f"In the envelope in {place[1:]}: {finding.message}",
                    evidence=finding.evidence,
                    pointer=finding.pointer,
                    confidence=finding.confidence,
                    severity=finding.severity,
                    remedy=finding.remedy,
                )


def _envelopes(calls: Sequence[ObservedCall]) -> Iterator[tuple[ObservedCall, FoundEnvelope]]:
    """The envelopes in the results of a tool.

    A tool answers with envelopes when one of its results says so by `meta.version`. From then on every result with
    the keys of an envelope is held to the contract; before, `success` and `data` may be any other format. An excerpt
    of an envelope would break the contract where the whole does not, so it is left out.
    """
    whole = (call for call in calls if call.excerpt is None)
    found = [(call, sighting) for call in whole for sighting in find_envelopes(call.result)]
    if any(sighting.claims for _, sighting in found):
        yield from found
