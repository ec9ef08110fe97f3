"""What is wrong with the envelopes that a tool answers with: each rule about them tells its own part."""

from collections.abc import Iterator, Sequence

from toolvet.envelope import check_envelope
from toolvet.envelope.check.sightings import Sighting, find_sightings
from toolvet.rules.judge import Observation
from toolvet.rules.subject import ObservedCall


def envelopes(calls: Sequence[ObservedCall]) -> Iterator[tuple[ObservedCall, Sighting]]:
    """The envelopes in the results of a tool.

    A tool answers with envelopes when one of its results says so by `meta.version`. From then on every result with
    the keys of an envelope is held to the contract; before, `success` and `data` may be anybody's format.
    """
    found = [(call, sighting) for call in calls for sighting in find_sightings(call.result)]
    if any(sighting.claims for _, sighting in found):
        yield from found


def seen(calls: Sequence[ObservedCall], check: str) -> Iterator[Observation]:
    """The findings of `check_envelope` under the id `check`; their pointers lead into the envelope."""
    for _, (place, envelope) in envelopes(calls):
        for finding in check_envelope(envelope):
            if finding.id == check:
                yield Observation(
                    message=f"In the envelope in {place[1:]}: {finding.message}",
                    evidence=finding.evidence,
                    pointer=finding.pointer,
                    confidence=finding.confidence,
                    severity=finding.severity,
                    remedy=finding.remedy,
                )
