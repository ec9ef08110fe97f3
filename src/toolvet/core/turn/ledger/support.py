"""Whether the calls of a turn did what an answer claims."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from toolvet.core.matching import Hit
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.claims import MadeClaim, ids_in
from toolvet.core.turn.ledger.outcome import (
    Ability,
    CallOutcome,
    ability,
    bases_of,
    names,
    past_forms,
    verb_of,
    written,
)
from toolvet.core.turn.ledger.phrases import ANYTHING, SEARCH, STATE, families, phrases
from toolvet.core.turn.ledger.tokens import form_of, is_identifier

_WEIGHT_AFTER_FAILURE = 0.85
_WEIGHT_WITHOUT_CALL = 0.7
# The answer reports some failure, perhaps this one.
_WEIGHT_ADMITTED = 0.5
# A state may have come about without this turn's calls, and another tool may have done it on the side.
_WEIGHT_PASSIVE = 0.45
_WEIGHT_OTHER = 0.4
# A hint for a reader: a tool of another kind may have done it as well, or what was made is a text of the answer.
_WEIGHT_HINT = 0.2
_AROUND = 40
_BEFORE = 80
# What follows is not what was changed, but what it was changed to, like, or for.
_ASIDE = re.compile(r"\b(?:to|from|as|with|like|of|for|on|in|match\w*)\b|[.!?\n]")
_MOST_READ = 2_000_000
_STEM = 5
_NO_HIT = Hit("", 0, 0)
_SHORTEST_STEM = 3
# The families that results report as a state, in one word or another: an order is cancelled, a seat is booked.
_STATES = frozenset({"send", "delete", "pay", "book", "return", "exchange", "save", "run"})


COMMIT = "commit"
# A command or a script that may commit.
_COMMITS = re.compile(
    r"\b(?:git|gh|glab|hg|jj|svn|commit|push|make|just|npm|yarn|pnpm|release|deploy)\b|\.sh\b|\A(?:\{\}|null)?\Z"
)

_TESTS = frozenset({"test", "tests", "lint", "linter"})

# Actions that a program may have done before it ended with an error.
_PARTS = frozenset({"create", "update", "delete", "save"})


class Unfounded(msgspec.Struct, frozen=True):
    """The evidence of the calls against a claim: the one for it `failed`, or no call did it."""

    weight: float
    against: str
    failed: bool = False
    named: str = ""
    """The identifier of the thing that must be the claim's object or subject."""


class ClaimSupport:
    """The calls of a turn, asked whether they did what an answer claims."""

    def __init__(self, outcomes: Sequence[CallOutcome]) -> None:
        self._outcomes = outcomes
        self._read: list[str] | None = None

    def unfounded(
        self, text: str, claims: Sequence[MadeClaim], *, admits: bool
    ) -> Iterator[tuple[MadeClaim, Unfounded]]:
        """Yield the claims of `text` that no call supports; `admits` is whether the answer reports a failure."""
        seen: set[tuple[bool, str]] = set()
        judged: dict[MadeClaim, Unfounded | None] = {}
        for claim in claims:
            alike = msgspec.structs.replace(claim, hit=_NO_HIT)
            if alike not in judged:
                judged[alike] = self._against(claim, admits=admits)
            found = judged[alike]
            if found is None or (found.failed, claim.family) in seen:
                continue
            if not found.named or _is_object(text, claim.hit, found.named):
                seen.add((found.failed, claim.family))
                yield claim, found

    def _against(self, claim: MadeClaim, *, admits: bool) -> Unfounded | None:
        outcomes = self._outcomes
        if claim.family == STATE:
            return self._against_state(claim, admits=admits)
        if not outcomes:
            weight = _WEIGHT_PASSIVE if claim.passive else _WEIGHT_WITHOUT_CALL
            return None if claim.text_work else Unfounded(weight, "no tool was called")
        if claim.family == SEARCH:
            return None
        abilities: list[tuple[CallOutcome, Ability]] = []
        for outcome in outcomes:
            name = outcome.call.name
            is_named = claim.verb and claim.verb in past_forms(verb_of(name))
            can = Ability.THIS if is_named else ability(name, claim.family)
            if (
                can is Ability.ANYTHING
                and claim.family == COMMIT
                and (not _COMMITS.search(written(outcome.call.arguments)) or _TESTS.intersection(words_of(name)))
            ):
                can = Ability.OTHER
            abilities.append((outcome, can))
        able = [outcome for outcome, each in abilities if each in (Ability.THIS, Ability.ANYTHING)]
        meant = self._meant(able, claim)
        if any(not outcome.failed for outcome in meant):
            apart = self._other_thing(claim, [outcome for outcome in able if not outcome.failed])
            if apart is None:
                return None
            did, named = apart
            return Unfounded(_WEIGHT_OTHER, f"{did}, and no call with {named}", named=named)
        failed = meant[-1] if meant else None
        if failed is None and all(outcome.failed for outcome in outcomes):
            failed = outcomes[-1]
        if claim.passive and self._is_reported(claim, failed):
            return None
        if failed is not None:
            if (admits and claim.text_work) or (failed.went_on and claim.family in _PARTS):
                return None
            return Unfounded(_WEIGHT_ADMITTED if admits else _WEIGHT_AFTER_FAILURE, failed.quoted(), failed=True)
        if claim.text_work:
            # What speaks against work that may have been done to a text of the answer: all the calls only read.
            if not claim.emphatic or any(can is not Ability.READS for _, can in abilities):
                return None
            return Unfounded(_WEIGHT_HINT, f"only {names(self._outcomes)} was called")
        other = any(each is Ability.OTHER and not outcome.failed for outcome, each in abilities)
        if other and self._is_reported(claim, None):
            return None
        weight = _WEIGHT_PASSIVE if claim.passive else _WEIGHT_WITHOUT_CALL
        if other:
            # A change of another kind may do this by itself.
            weight = (
                _WEIGHT_HINT
                if (claim.passive and not claim.echo)
                or not families().family[claim.family].aside.isdisjoint(claim.things)
                else _WEIGHT_OTHER
            )
        return Unfounded(weight, f"only {names(outcomes)} was called")

    def _other_thing(self, claim: MadeClaim, did: Sequence[CallOutcome]) -> tuple[str, str] | None:
        """The call with another identifier of the form of the claimed one ("order W1 is cancelled"), and that one."""
        named = [each for each in claim.ids if is_identifier(each)]
        marks = frozenset(mark for outcome in did for mark in outcome.marks)
        forms = [form for each in named if (form := form_of(each)) is not None]
        alike = sorted(mark for mark in marks for form in forms if form.fullmatch(mark))
        if not alike or any(each in text for each in named for text in (*marks, *map(_brought, did))):
            return None
        if self._is_reported(claim, None):
            return None
        return f"{did[-1].call.name} was called with {alike[0]}", named[0]

    def _against_state(self, claim: MadeClaim, *, admits: bool) -> Unfounded | None:
        """The calls that named it failed, and no other result has it; an error that repeats it does not count."""
        asked = [outcome for outcome in self._outcomes if not claim.ids.isdisjoint(outcome.marks)]
        if not asked or not all(outcome.failed for outcome in asked):
            return None
        if any(each in text for each in claim.ids for text in self._texts()):
            return None
        return Unfounded(_WEIGHT_ADMITTED if admits else _WEIGHT_AFTER_FAILURE, asked[-1].quoted(), failed=True)

    def _meant(self, able: Sequence[CallOutcome], claim: MadeClaim) -> Sequence[CallOutcome]:
        """Those that name its identifier or thing; a later call of another thing may have done the same."""
        marks = [outcome.marks for outcome in able]
        own = [place for place, mark in enumerate(marks) if not claim.ids.isdisjoint(mark)]
        if any(not able[place].failed for place in own):
            return able
        kind = core_family(claim.verb) if claim.verb else claim.family
        groups = [own]
        for thing in claim.things:
            # "bag" is in "baggage".
            is_stem = len(thing) >= _SHORTEST_STEM
            groups.append(
                [
                    place
                    for place, mark in enumerate(marks)
                    if thing in mark or (is_stem and any(word.startswith(thing) for word in mark))
                ]
            )
        groups.append([place for place, outcome in enumerate(able) if kind_of(outcome.call.name) == kind])
        for places in groups:
            # A call of another kind, which succeeded later, may have done the same.
            if places and all(able[place].failed for place in (*places, *range(places[-1], len(able)))):
                return [able[place] for place in places]
        return able

    def _is_reported(self, claim: MadeClaim, failed: CallOutcome | None) -> bool:
        """Whether a result without error says the same; if a call `failed`, it must be about the same thing."""
        texts = self._texts()
        ids = claim.ids or (frozenset() if failed is None else ids_in(written(failed.call.arguments)[:4_000]))
        named = [text for text in texts if any(each in text for each in ids)]
        if claim.echo and failed is None and claim.verb:
            # `"invites_sent": []` reports that nothing was sent.
            stems = "|".join(map(re.escape, (claim.verb[:_STEM], *bases_of(claim.verb))))
            stem = re.compile(rf"(?:{stems})(?!\w{{0,20}}\W{{0,2}}:\s?(?:\[\]|\{{\}}|null|false|\"\"))")
            if any(stem.search(text) for text in texts):
                return True
        own = _said_by(claim.family, claim.verb, synonyms=False)
        if any(own.search(text) for text in named or texts):
            return True
        # A synonym counts only beside the thing: a delivered order is not a sent message.
        alike = _said_by(claim.family, claim.verb, synonyms=True)
        about = named or [text for text in texts if not claim.things or any(thing in text for thing in claim.things)]
        return any(alike.search(text) for text in about)

    def _texts(self) -> list[str]:
        if self._read is None:
            left = _MOST_READ
            self._read = []
            for outcome in self._outcomes:
                if not outcome.failed and left > 0:
                    text = "\n".join(outcome.texts)[:left].lower()
                    left -= len(text)
                    self._read.append(text)
        return self._read


def moot_families(outcomes: Sequence[CallOutcome]) -> frozenset[str]:
    """The families of claims against which these calls can say nothing, so they need not be looked for.

    Any call may have been a search, and a state is only doubted if a call that asked for it failed.
    """
    found = {SEARCH} if outcomes else set[str]()
    if not any(outcome.failed for outcome in outcomes):
        found.add(STATE)
    return frozenset(found)


@lru_cache(maxsize=1024)
def _said_by(family: str, verb: str, *, synonyms: bool) -> re.Pattern[str]:
    """The words by which a result says that an action happened: the verb in its spellings, or others of its family."""
    known = families().family
    says: frozenset[str] = known[family].says if family in known else frozenset()
    words: set[str]
    if not verb or not core_family(verb):
        # Results are in English more often than answers.
        words = {*says, *([verb] if verb else ())}
    elif not synonyms:
        words = {verb, *(word for word in says if word[:_STEM] == verb[:_STEM])}
    else:
        words = set(says) if family == "send" or (family in _STATES and core_family(verb) == ANYTHING) else set()
    plain = "|".join(sorted((re.escape(word) for word in words if word.isascii()), key=len, reverse=True)) or r"(?!)"
    other = "|".join(re.escape(word) for word in words if not word.isascii()) or r"(?!)"
    # A state ("status": "cancelled", "has been cancelled", "Order cancelled."), and no word of a page ("a cancelled
    # flight").
    state = (
        rf"(?:[\":=>]\s{{0,3}}|\b(?:is|are|was|were|been|be|now|status|state|successfully)\W{{1,4}})(?:{plain})(?!\w)"
    )
    return re.compile(rf"{state}|(?<!\w)(?:{plain})\s{{0,2}}(?:[.!?\",;\n}})\]]|\Z)|(?:{other})")


@lru_cache(maxsize=4096)
def core_family(verb: str) -> str:
    """The family of a past form, as the English claims have it; "" for one that they do not have."""
    grammar = phrases().grammar.get("en")
    for verbs in (grammar.verbs, grammar.text_verbs, grammar.states) if grammar is not None else ():
        match = verbs.fullmatch(verb)
        if match is not None:
            return match.lastgroup or ANYTHING
    return ""


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The family of the verb of a tool's name, as the English claims have it."""
    return next((kind for form in sorted(past_forms(verb_of(name))) if (kind := core_family(form))), "")


def _is_object(text: str, hit: Hit, named: str) -> bool:
    """Whether a claim is about the thing of this name, which is in it, before it, or directly after it."""
    lower = text.lower()
    if lower.find(named, max(0, hit.start - _BEFORE), hit.end) >= 0:
        return True
    at = lower.find(named, hit.end, hit.end + _AROUND)
    return at >= 0 and _ASIDE.search(lower, hit.end, at) is None


def _brought(outcome: CallOutcome) -> str:
    return "\n".join(outcome.texts)[:_MOST_READ].lower()
