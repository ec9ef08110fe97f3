"""The envelopes that a tool answers with, and their findings: each `envelope-…` rule yields those under its own id."""

from collections.abc import Iterator, Sequence

from toolvet.envelope import check_envelope
from toolvet.envelope.check.sightings import Sighting, find_sightings
from toolvet.findings import Card, Finding
from toolvet.rules.subject import ObservedCall


def envelopes(calls: Sequence[ObservedCall]) -> Iterator[tuple[ObservedCall, Sighting]]:
    """The envelopes in the results of a tool.

    A tool answers with envelopes when one of its results says so by `meta.version`. From then on every result with
    the keys of an envelope is held to the contract; before, `success` and `data` may be any other format. An excerpt
    of an envelope would break the contract where the whole does not, so it is left out.
    """
    whole = (call for call in calls if call.excerpt is None)
    found = [(call, sighting) for call in whole for sighting in find_sightings(call.result)]
    if any(sighting.claims for _, sighting in found):
        yield from found


def judge_envelopes(calls: Sequence[ObservedCall], card: Card) -> Iterator[Finding]:
    """The findings of `check_envelope` under the id of `card`; their pointers lead into the envelope.

    `check_envelope` has already removed secrets from what it quotes.
    """
    for _, (place, envelope) in envelopes(calls):
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
