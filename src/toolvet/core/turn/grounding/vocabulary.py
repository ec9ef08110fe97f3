"""What the tools of a turn let an answer claim: the verbs and the things that their names and parameters mention.

`approve_expense(report_id)` makes "I've approved the expense" and "the report was approved" claims of an action,
although no list of toolvet has the verb.
"""

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import is_object
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.grounding.outcome import CallOutcome, verb_of
from toolvet.core.turn.grounding.phrases import families

_VOWELS = "aeiou"
_LONGEST_WORD = 24
_MOST_CALLS = 200
_MOST_KEYS = 40
# What parameters and names are made of, which is no thing that an action is done to.
_NO_THINGS = frozenset(
    {
        *("id", "name", "type", "value", "key", "data", "detail", "info", "result", "list", "all", "by", "query"),
        *("text", "content", "body", "tool", "api"),
    }
)


class _VerbForms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    past: dict[str, frozenset[str]]


@cache
def _irregular() -> dict[str, frozenset[str]]:
    return read_toml("toolvet.core.turn.grounding", "verb_forms.toml", _VerbForms).past


@lru_cache(maxsize=4096)
def past_forms(verb: str) -> frozenset[str]:
    """The preterite and the participle of an English verb, such as `cancelled` and `canceled` of `cancel`."""
    irregular = _irregular().get(verb)
    if irregular is not None:
        return irregular
    if not verb.isascii() or not verb.isalpha() or not 1 < len(verb) <= _LONGEST_WORD:
        return frozenset()
    if verb.endswith("e"):
        return frozenset({f"{verb}d"})
    if verb[-1] == "y" and verb[-2] not in _VOWELS:
        return frozenset({f"{verb[:-1]}ied"})
    doubles = verb[-1] not in f"{_VOWELS}wxy" and verb[-2] in _VOWELS and verb[-3:-2] not in tuple(_VOWELS)
    return frozenset({f"{verb}ed", f"{verb}{verb[-1]}ed"} if doubles else {f"{verb}ed"})


class TurnVocabulary:
    """The words that the calls of one turn teach."""

    def __init__(self, outcomes: Sequence[CallOutcome]) -> None:
        self._outcomes = outcomes[:_MOST_CALLS]

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The past forms of the verbs of its tools."""
        return frozenset(form for name in self._names for form in past_forms(verb_of(name)))

    @cached_property
    def things(self) -> frozenset[str]:
        """The nouns of its tools and of their parameters, in the singular."""
        found = {word for name in self._names for word in words_of(name)}
        for outcome in self._outcomes:
            arguments = outcome.call.arguments
            if is_object(arguments):
                found.update(
                    word for key in list(arguments)[:_MOST_KEYS] for word in words_of(str(key)[:_LONGEST_WORD])
                )
        return frozenset(found - _NO_THINGS - families().reads)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(outcome.call.name[:120] for outcome in self._outcomes)


NO_VOCABULARY = TurnVocabulary(())
"""That of a turn without calls."""
