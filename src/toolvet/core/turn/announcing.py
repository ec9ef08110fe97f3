"""Whether a text announces what its author does next: "Let me fetch the data:"."""

import re
from functools import cache
from typing import Final, Literal

import msgspec

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.discover.toml import read_toml

_LAST_SENTENCE: Final = re.compile(r"(?:[.!?。！？][\s*_]+|\n)(?=\S)")  # noqa: RUF001 - full-width marks
_END_MARKS: Final = ".!…:：。！ *_"  # noqa: RUF001 - full-width marks
_OPENING_MARKS: Final = " \t\n*_>#-•"
_LONGEST: Final = 300
ANNOUNCED: Final = "announced_not_done"
_WEIGHT: Final = 0.4


class Announcing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one language announces what its speaker does next; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]
    steps: str = ""
    """A further condition for an announcement that ends a turn to count as a step that was not made."""
    step_hits: list[str] = []
    step_misses: list[str] = []


def announces(text: str) -> bool:
    """Whether the last sentence of a text announces what its author does next ("Let me check the log:").

    Example:
        >>> announces("The order is not there. Let me search for it by name:")
        True
        >>> announces("The order is not there. Let me explain:")
        False
    """
    last = _last_sentence(text)
    return bool(last) and any(pattern.match(last) for pattern in _patterns("match"))


def announced_step(text: str) -> FailureSignal | None:
    """Return a signal if an answer that ends its turn ends by announcing a step.

    Example:
        >>> announced_step("The order is not there. I'll now look at the logs and get back to you.").label
        'announced_not_done'
        >>> announced_step("The order is not there. I'll check the logs once you confirm.")
    """
    last = _last_sentence(text)
    if not last or not announces(text) or not any(pattern.match(last) for pattern in _patterns("steps")):
        return None
    at = text.rfind(last)
    return FailureSignal(
        type=SignalType.INCOMPLETE_REASONING,
        evidence=last,
        weight=_WEIGHT,
        position=at,
        context=text[max(0, at - 40) :][:200],
        label=ANNOUNCED,
        source="calls",
        against="no call follows",
    )


def _last_sentence(text: str) -> str:
    end = text.rstrip()
    # The end mark of the sentence itself does not begin another sentence.
    tail = end[-_LONGEST:].rstrip(_END_MARKS)
    starts = [match.end() for match in _LAST_SENTENCE.finditer(tail)]
    if not starts and len(end) > _LONGEST:
        return ""
    return tail[starts[-1] if starts else 0 :].lstrip(_OPENING_MARKS)


@cache
def announcements() -> dict[str, Announcing]:
    """How each language announces, from `announcing.toml`."""
    return read_toml("toolvet.core.turn", "announcing.toml", dict[str, Announcing])


@cache
def _patterns(field: Literal["match", "steps"]) -> tuple[re.Pattern[str], ...]:
    every = [each.match if field == "match" else each.steps for each in announcements().values()]
    return tuple(re.compile(each, re.IGNORECASE) for each in every if each)
