"""The actions that an answer claims, and whether its calls did them."""

import re
from collections.abc import Callable, Sequence

import msgspec

from toolvet.checks.answer import FailureSignal, SignalType
from toolvet.matching import Hit
from toolvet.turn.grounding.outcome import Ability, CallOutcome, ability, names
from toolvet.turn.grounding.phrases import ADMITS, ASKS, Claim, ClaimPhrases, families, phrases
from toolvet.turn.grounding.prose import spoken

_AROUND = 40
_CLAUSE_ENDS = re.compile(r"[.!?…](?=\s|$)|[\n,;。\uff01\uff1f؟।、\uff0c\uff1b]|: | [-\u2013\u2014] ")
_SENTENCE_ENDS = re.compile(r"[.!?…](?=\s|$)|[\n。\uff01\uff1f؟।]")
_LONGEST_SENTENCE = 600
_LEADING = ".!?\n* "
_MOST_CLAIMS = 200
_SUFFIX = 6
_MOST_SIGNALS = 8
AFTER_FAILURE = "claimed_success_after_failure"
WITHOUT_CALL = "claimed_without_call"
_WEIGHT_AFTER_FAILURE = 0.85
_WEIGHT_WITHOUT_CALL = 0.7
# The answer reports some failure, perhaps this one.
_WEIGHT_ADMITTED = 0.5
# A state may have come about without this turn's calls, and another tool may have done it on the side.
_WEIGHT_PASSIVE = 0.45
_WEIGHT_OTHER = 0.4
_WEIGHT_READ = 0.25
_REST = re.compile(r"[^.,;:!?\n\u3002\uff01\uff1f\uff0c\u0964]{0,60}")


class Said(msgspec.Struct, frozen=True):
    """What an answer says of itself: its claims of action, whether it reports a failure, and whether it asks back."""

    claims: list[tuple[Claim, Hit]]
    admits: bool
    asks: bool


def said(text: str, known: ClaimPhrases | None = None) -> Said:
    """What `text` says of itself; `known` are the claims to look for, by default all of toolvet's."""
    prose = spoken(text)
    known = known or phrases()
    claims: list[tuple[Claim, Hit]] = []
    admits = False
    asks = any(mark in prose for mark in "?\uff1f\u061f")
    for hit in known.scan(prose):
        claim = known.claims.get(hit.id)
        if claim is None:
            admits |= hit.id.startswith(ADMITS)
            asks |= hit.id.startswith(ASKS)
        elif len(claims) < _MOST_CLAIMS and _is_made(prose, hit, known.unless[hit.id.partition(":")[0]]):
            claims.append((claim, hit))
    return Said(claims, admits, asks)


def _is_made(prose: str, hit: Hit, unless: re.Pattern[str]) -> bool:
    """Whether a claim is made: not taken back by a word of its clause, and no question."""
    matched = prose[hit.start : hit.end]
    # The match may begin with the end of the sentence before.
    start = hit.start + len(matched) - len(matched.lstrip(_LEADING))
    ends = _CLAUSE_ENDS.finditer(prose, max(0, start - _LONGEST_SENTENCE), start)
    clause = max((end.end() for end in ends), default=max(0, start - _LONGEST_SENTENCE))
    if unless.search(prose[clause : hit.end].replace("\u2019", "'")) or unless.match(
        prose[hit.end : hit.end + _SUFFIX]
    ):
        # Where verbs end the clause, the condition is glued to them.
        return False
    if matched[-1:] in "!.。\uff01।":
        return True
    end = _SENTENCE_ENDS.search(prose, hit.end, hit.end + _LONGEST_SENTENCE)
    return end is None or end[0] not in "?\uff1f؟"


def unfounded(
    text: str, found: Said, outcomes: Sequence[CallOutcome], says: Callable[[frozenset[str]], bool], *, admits: bool
) -> list[FailureSignal]:
    """The claims that no call supports.

    `says` returns whether a result contains one of some words; `admits` is whether the answer reports a failure.
    """
    signals: list[FailureSignal] = []
    seen: set[tuple[str, str]] = set()
    for claim, hit in found.claims:
        verdict = _against(claim, outcomes, says, admits=admits)
        if verdict is None or (verdict.label, claim.family) in seen:
            continue
        seen.add((verdict.label, claim.family))
        signals.append(_signal(text, hit, verdict))
        if len(signals) >= _MOST_SIGNALS:
            break
    return signals


class _ClaimVerdict(msgspec.Struct, frozen=True):
    label: str
    weight: float
    against: str


def _against(
    claim: Claim, outcomes: Sequence[CallOutcome], says: Callable[[frozenset[str]], bool], *, admits: bool
) -> _ClaimVerdict | None:
    """What speaks against a claim, or None."""
    if not outcomes:
        return None if claim.text_work else _ClaimVerdict(WITHOUT_CALL, _weight(claim), "no tool was called")
    if claim.family == "search":
        return None
    abilities = [(outcome, ability(outcome.call.name, claim.family)) for outcome in outcomes]
    if any(not outcome.failed and able in (Ability.THIS, Ability.ANYTHING) for outcome, able in abilities):
        return None
    words = families().family[claim.family].says
    if claim.passive and says(words):
        return None
    failed = _failed(abilities)
    if failed is not None:
        if admits and (claim.text_work or claim.passive):
            return None
        weight = _WEIGHT_ADMITTED if admits else _WEIGHT_AFTER_FAILURE
        return _ClaimVerdict(AFTER_FAILURE, weight, failed.quoted())
    if claim.text_work:
        return None
    other = any(able is Ability.OTHER and not outcome.failed for outcome, able in abilities)
    if other and says(words):
        return None
    # A result may have reported the state in words that are not listed.
    weight = _WEIGHT_OTHER if other else _WEIGHT_READ if claim.passive else _WEIGHT_WITHOUT_CALL
    return _ClaimVerdict(WITHOUT_CALL, weight, f"only {names(outcomes)} was called")


def _failed(abilities: Sequence[tuple[CallOutcome, Ability]]) -> CallOutcome | None:
    """The failed call that the claim is about: of its kind, else one that changes things, else any if all failed."""
    for wanted in (Ability.THIS, Ability.ANYTHING):
        found = [outcome for outcome, able in abilities if able is wanted and outcome.failed]
        if found:
            return found[-1]
    return abilities[-1][0] if all(outcome.failed for outcome, _ in abilities) else None


def _weight(claim: Claim) -> float:
    return _WEIGHT_PASSIVE if claim.passive else _WEIGHT_WITHOUT_CALL


def _signal(text: str, hit: Hit, verdict: _ClaimVerdict) -> FailureSignal:
    evidence = text[hit.start : hit.end]
    rest = None if evidence[-1:] in ".,!:" else _REST.match(text, hit.end)
    end = hit.end if rest is None else rest.end()
    start = hit.start + len(evidence) - len(evidence.lstrip(_LEADING))
    return FailureSignal(
        type=SignalType.HALLUCINATION_RISK,
        evidence=text[start:end].rstrip(),
        weight=verdict.weight,
        position=start,
        context=text[max(0, start - _AROUND) : end + _AROUND],
        label=verdict.label,
        language=hit.id.partition(":")[0],
        source="calls",
        against=verdict.against,
    )
