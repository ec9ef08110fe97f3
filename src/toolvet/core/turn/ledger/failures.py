"""Calls that failed: those that an answer keeps silent about, and those that it honestly reports.

    call     transfer(amount=500) returned "Insufficient funds": a business error, of the state `rule`
    answer   The transfer could not be completed because your balance is too low.

By its text the answer reports a tool's failure ("could not be completed"). But the tool worked: it refused the call,
and "too low" reports a `rule`. So the signal of the text is taken back, and nothing is unmentioned.
A column of the table of causes lists the honest words for each error.
"""

import itertools
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from toolvet.core.causes import cause_of, found_nothing
from toolvet.core.checks.answer import CallFailure, FailureSignal, SignalType
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.announcing import announces
from toolvet.core.turn.ledger.claims import AnswerClaims
from toolvet.core.turn.ledger.clause import QUESTION_MARKS, WORD
from toolvet.core.turn.ledger.outcome import (
    CallOutcome,
    CallStatus,
    names,
    says_what_it_does,
    signal_of,
    words_of_tool,
    written,
)
from toolvet.core.turn.ledger.phrases import TECHNICAL, families, phrases
from toolvet.core.turn.ledger.tokens import spoken

UNMENTIONED = "unmentioned_failure"
_WEIGHT_NOTHING_ELSE = 0.7
# Another call returned something: the answer may rest on that alone.
_WEIGHT_BESIDE = 0.2
_FAILURES = frozenset({SignalType.TOOL_FAILURE, SignalType.REFUSAL, SignalType.CONFUSION})
_OPENING = re.compile(r"[^\n.!?。\uff01\uff1f]{1,120}")
_LONG_WORD = re.compile(r"[^\W\d_]{6,}")
_NUMBER = re.compile(r"\d{3,}")
# An exit code other than 0, shown or told.
_EXIT = re.compile(r"\bexit(?:ed)?(?: with)?(?: the)?[ _]?(?:code|status)?\W{1,6}[1-9]\d{0,2}\b")
_MOST_WORDS = 12
_LONGEST_EMPTY = 400
_NEXT_CALLS = 100
_EMPTY = re.compile(
    r"\s*(?:|\[\s*\]|\{\s*\}|null|none|\{[^{}\[\]]{0,200}\[\s*\][^{}\[\]]{0,100}\}"
    r"|(?:no|0|zero) (?:\w+ ){0,3}(?:results?|matches|records?|entries|items?|rows?|data|events?|files?|flights?|found)"
    r"\b.{0,200})\s*",
    re.IGNORECASE,
)


class FailedCalls:
    """The calls of a turn that failed and that no later call made good, and what an answer reports about them."""

    def __init__(self, text: str, outcomes: Sequence[CallOutcome]) -> None:
        self._text = text
        self._outcomes = outcomes
        self._open = [
            outcome for place, outcome in enumerate(outcomes) if outcome.failed and not _done_later(place, outcomes)
        ]

    @property
    def open_calls(self) -> tuple[CallFailure, ...]:
        """The calls that failed, as the verdict lists them."""
        return tuple(
            CallFailure(
                tool=each.call.name,
                state=each.state,
                error_code=each.error_code,
                retry=None if each.state is None else each.state.retry,
            )
            for each in self._open
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(hit.id for hit in phrases().report(spoken(self._text)))

    def kept(self, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
        """Return the `signals` of the text without those that honestly report the results of the calls."""
        if not signals:
            return []
        # What may honestly be said of calls that ended in these states, or of a success that found nothing.
        rows = [cause_of(each.state).honesty for each in self._open if each.rejected and each.state is not None]
        if len(rows) < len(self._open):
            return list(signals)
        if not self._open and self._outcomes and _is_empty(self._outcomes[-1]):
            rows.append(found_nothing())
        if not rows:
            return list(signals)
        takes_back = frozenset[str].intersection(*(row.takes_back for row in rows))
        if not takes_back or not any(_names(signal, takes_back) for signal in signals):
            return list(signals)
        if not any(self._words & row.words for row in rows) and not self._is_echoed(self._open):
            # A business error in vague words is not a failure of the tool, unless the answer calls it one.
            vague = self._open and TECHNICAL not in self._words
            takes_back &= frozenset({SignalType.TOOL_FAILURE.value} if vague else ())
        return [signal for signal in signals if not _names(signal, takes_back)]

    def unmentioned(self, said: AnswerClaims, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
        """Return at most one signal: calls failed, and the answer does not report it in any words.

        `signals` are those of the text alone. A question to the person counts as saying so after a call that was
        rejected, not after one that crashed.
        """
        failed = [outcome for outcome in self._open if not (said.asks and outcome.rejected)]
        if not failed or reports_failure(said, signals) or self._is_echoed(failed):
            return []
        # A refusal may be reported in words for its state.
        is_reported = all(
            each.rejected and each.state is not None and not self._words.isdisjoint(cause_of(each.state).words)
            for each in failed
        )
        # An answer that announces another attempt knows that this one failed.
        if is_reported or announces(self._text):
            return []
        text = self._text
        opening = _OPENING.search(text)
        if opening is None:
            return []
        words = opening[0].strip() or opening[0]
        start = opening.start() + opening[0].index(words)
        nothing_else = all(outcome.failed for outcome in self._outcomes)
        quoted = failed[-1].quoted()
        against = quoted if len(failed) == 1 else f"{len(failed)} calls failed ({names(failed)}), the last: {quoted}"
        return [
            signal_of(
                text,
                (start, start + len(words)),
                UNMENTIONED,
                _WEIGHT_NOTHING_ELSE if nothing_else else _WEIGHT_BESIDE,
                against,
                # Resting on nothing, the answer is a tool's failure in disguise; beside other results it is a risk.
                kind=SignalType.TOOL_FAILURE if nothing_else else SignalType.HALLUCINATION_RISK,
            )
        ]

    def _is_echoed(self, failed: Sequence[CallOutcome]) -> bool:
        return any(_echoed(self._text, outcome) for outcome in failed)


def reports_failure(said: AnswerClaims, signals: Sequence[FailureSignal]) -> bool:
    """Whether an answer says that something did not work, by the signals that its text gives or in plain words."""
    return said.admits or any(signal.type in _FAILURES for signal in signals)


def _names(signal: FailureSignal, kinds: frozenset[str]) -> bool:
    return signal.type.value in kinds or signal.label in kinds


def _done_later(place: int, outcomes: Sequence[CallOutcome]) -> bool:
    """Whether a later call did it: its like, or one with the same arguments; for one that only reads, any."""
    failed = outcomes[place]
    kind = _kind(failed.call.name)
    sent = failed.sent[:_LONGEST_EMPTY]
    # Bounded: of a thousand calls the next hundred are enough.
    for later in outcomes[place + 1 : place + 1 + _NEXT_CALLS]:
        if not later.failed and (
            later.call.name == failed.call.name
            or "reads" in kind
            or kind & _kind(later.call.name)
            or (len(sent) > len('{"id":1}') and sent == later.sent[:_LONGEST_EMPTY])
        ):
            return True
    return False


def _kind(name: str) -> frozenset[str]:
    words = words_of(name)
    known = families()
    if words and words[0] in known.reads:
        return frozenset({"reads"})
    return frozenset(kind for kind, family in known.family.items() if words and words[0] in family.tools)


def _is_empty(outcome: CallOutcome) -> bool:
    if outcome.ending is not CallStatus.DONE:
        return False
    texts = outcome.texts
    return not texts or (len(texts) == 1 and len(texts[0]) <= _LONGEST_EMPTY and _EMPTY.fullmatch(texts[0]) is not None)


def _echoed(text: str, outcome: CallOutcome) -> bool:
    """Whether the answer uses words or figures of the error, other than those that the call itself sent."""
    sent = outcome.sent
    words = {word for each in _LONG_WORD.findall(outcome.words)[:_MOST_WORDS] if (word := each.lower()) not in sent}
    lower = text.lower()
    if _EXIT.search(lower) and _EXIT.search(
        outcome.words.lower() + written(outcome.call.result)[-_LONGEST_EMPTY:].lower()
    ):
        return True
    if any(number in text for number in _NUMBER.findall(outcome.words) if number not in sent):
        return True
    return sum(word in lower for word in words) > max(1, len(words) // 2)


UNAVAILABLE = "unavailable"
_WEIGHT = 0.7
_MOST_LOOKED_AT = 100
_REACH = 60
_AFTER = 200
_MOST_NAME_WORDS = 4
_VOWELS = "aeiou"
_SENTENCE_END = re.compile(r"[.!?\n\uff1f\u061f]")
_SENTENCE_START = re.compile(r"[.!?;:\n](?=\s)|\n")
# Verbs that are nouns as they are: "the flight search timed out".
_NOUNS_TOO = frozenset({"search", "lookup", "query", "fetch"})


def tool_faults(text: str, outcomes: Sequence[CallOutcome]) -> list[FailureSignal]:
    """Return at most one signal: the answer says that a tool whose calls all failed does not work."""
    worked = {outcome.call.name for outcome in outcomes if not outcome.failed}
    failed = {outcome.call.name: outcome for outcome in outcomes if outcome.failed and outcome.call.name not in worked}
    if failed:
        lower = text.lower()
        # A word that calls the tool has to be in the text.
        failed = {
            name: outcome
            for name, outcome in failed.items()
            if any(not head.isascii() or head in lower for head in _heads(name))
        }
    if not failed:
        return []
    prose = spoken(text)
    for grammar in phrases().grammar.values():
        if not grammar.file.faults:
            continue
        for match in itertools.islice(grammar.faults.finditer(prose), _MOST_LOOKED_AT):
            floor = max(0, match.start() - _REACH)
            cuts = list(_SENTENCE_START.finditer(prose, floor, match.start()))
            begin = cuts[-1].end() if cuts else floor
            subject = prose[begin : match.start()]
            if grammar.fault_unless.search(subject):
                continue
            ending = _SENTENCE_END.search(prose, match.end(), match.end() + _AFTER)
            if ending is not None and ending[0] in QUESTION_MARKS:
                continue
            named = list(WORD.finditer(subject))
            openers = [at for at, word in enumerate(named) if grammar.fault_openers.fullmatch(word[0])]
            named = named[openers[-1] + 1 if openers else 0 :]
            if not 0 < len(named) <= _MOST_NAME_WORDS:
                continue
            # Up to its head, the noun phrase calls a tool by the tool's own name.
            *qualifiers, head = (word[0].lower() for word in named)
            others = {each for word in qualifiers for each in words_of(word)}
            name = next((name for name in failed if head in _heads(name) and others <= set(words_of_tool(name))), None)
            if name is not None:
                start = begin + named[0].start()
                against = failed[name].quoted()
                kind = SignalType.TOOL_FAILURE
                return [signal_of(text, (start, match.end()), UNAVAILABLE, _WEIGHT, against, kind=kind)]
    return []


@lru_cache(maxsize=4096)
def _heads(name: str) -> frozenset[str]:
    """Return the nouns for a tool: the agent of the verb in its name, or the last word of a name that names a thing."""
    of_tool = words_of_tool(name)
    if says_what_it_does(name):
        return _agents(of_tool[0])
    # The broken thing is the last word of the name, as in `currency_converter`.
    return frozenset(of_tool[-1:])


@lru_cache(maxsize=4096)
def _agents(verb: str) -> frozenset[str]:
    """Return the agents of a verb: `converter` of `convert`, `calculator` of `calculate`, `planner` of `plan`."""
    stems = {verb.removesuffix("e")}
    if len(verb) > 2 and verb[-1] not in f"{_VOWELS}wxy" and verb[-2] in _VOWELS:
        stems.add(f"{verb}{verb[-1]}")
    found = {f"{stem}{end}" for stem in stems for end in ("er", "or")}
    return frozenset(found | ({verb} & _NOUNS_TOO))
