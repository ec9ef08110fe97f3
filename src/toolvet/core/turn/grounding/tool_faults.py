"""A tool of the turn that an answer calls out of order, in words of the tool's own name.

    call     convert_currency(...) returned "upstream timed out"
    answer   I'm afraid the currency converter isn't responding.

The text alone cannot know that a currency converter is a tool here and no subject of the answer. The name of the call
says it: a converter is what converts, and "currency" is what this one converts. Only calls that all failed are looked
at, so a turn without failures costs nothing, nor does an answer without a word by which one of them may be called.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.grounding.clause import QUESTION_MARKS, WORD
from toolvet.core.turn.grounding.outcome import CallOutcome, says_what_it_does, words_of_tool
from toolvet.core.turn.grounding.phrases import phrases
from toolvet.core.turn.grounding.prose import spoken

LABEL = "unavailable"
_WEIGHT = 0.7
_AROUND = 40
_MOST_LOOKED_AT = 100
_REACH = 60
_AFTER = 200
_MOST_WORDS = 4
_VOWELS = "aeiou"
_SENTENCE_START = re.compile(r"[.!?;:\n](?=\s)|\n")
# Verbs that are nouns as they are: "the flight search timed out".
_NOUNS_TOO = frozenset({"search", "lookup", "query", "fetch"})


def tool_faults(text: str, outcomes: Sequence[CallOutcome]) -> list[FailureSignal]:
    """At most one signal: the answer says of a tool, all of whose calls failed, that it does not work."""
    worked = {outcome.call.name for outcome in outcomes if not outcome.failed}
    failed = {outcome.call.name: outcome for outcome in outcomes if outcome.failed and outcome.call.name not in worked}
    if failed:
        lower = text.lower()
        failed = {name: outcome for name, outcome in failed.items() if _may_be_called(name, lower)}
    found = next(_found(text, failed), None) if failed else None
    return [] if found is None else [found]


def _found(text: str, failed: dict[str, CallOutcome]) -> Iterator[FailureSignal]:
    prose = spoken(text)
    for grammar in phrases().grammar.values():
        if not grammar.file.faults:
            continue
        for place, match in enumerate(grammar.faults.finditer(prose)):
            if place >= _MOST_LOOKED_AT:
                break
            floor = max(0, match.start() - _REACH)
            cuts = list(_SENTENCE_START.finditer(prose, floor, match.start()))
            begin = cuts[-1].end() if cuts else floor
            subject = prose[begin : match.start()]
            if grammar.fault_unless.search(subject) or _is_question(prose, match.end()):
                continue
            named = list(WORD.finditer(subject))
            openers = [at for at, word in enumerate(named) if grammar.fault_openers.fullmatch(word[0])]
            named = named[openers[-1] + 1 if openers else 0 :]
            words = [word[0].lower() for word in named]
            name = next((name for name in failed if _is_called(words, name)), None)
            if name is not None:
                yield _signal(text, begin + named[0].start(), match.end(), failed[name])


def _is_question(prose: str, end: int) -> bool:
    after = re.search(r"[.!?\n\uff1f\u061f]", prose[end : end + _AFTER])
    return after is not None and after[0] in QUESTION_MARKS


def _is_called(words: Sequence[str], name: str) -> bool:
    """Whether these words, up to the head of a noun phrase, call a tool by its own name."""
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    others = {each for word in words[:-1] for each in words_of(word)}
    return words[-1] in _heads(name) and others <= set(words_of_tool(name))


def _may_be_called(name: str, lower: str) -> bool:
    """Whether a word that calls this tool is anywhere in a text in lower case."""
    return any(not head.isascii() or head in lower for head in _heads(name))


@lru_cache(maxsize=4096)
def _heads(name: str) -> frozenset[str]:
    """The nouns that call a tool: what does what its name says, or the last word of a name that is that of a thing."""
    of_tool = words_of_tool(name)
    if says_what_it_does(name):
        return _agents(of_tool[0])
    # What is out of order is what the name ends in, as in `currency_converter`.
    return frozenset(of_tool[-1:])


@lru_cache(maxsize=4096)
def _agents(verb: str) -> frozenset[str]:
    """What does it: `converter` of `convert`, `calculator` of `calculate`, `planner` of `plan`."""
    stems = {verb.removesuffix("e")}
    if len(verb) > 2 and verb[-1] not in f"{_VOWELS}wxy" and verb[-2] in _VOWELS:
        stems.add(f"{verb}{verb[-1]}")
    found = {f"{stem}{end}" for stem in stems for end in ("er", "or")}
    return frozenset(found | ({verb} & _NOUNS_TOO))


def _signal(text: str, start: int, end: int, outcome: CallOutcome) -> FailureSignal:
    return FailureSignal(
        type=SignalType.TOOL_FAILURE,
        evidence=text[start:end],
        weight=_WEIGHT,
        position=start,
        context=text[max(0, start - _AROUND) : end + _AROUND],
        label=LABEL,
        source="calls",
        against=outcome.quoted(),
    )
