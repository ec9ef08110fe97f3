"""The words of a verdict, from `wording.toml`."""

from collections.abc import Sequence
from functools import cache

import msgspec

from toolvet.core.checks.answer.quality import Action, FailureSignal
from toolvet.core.discover.toml import read_toml

_LONGEST_QUOTE = 60
_MOST_SENTENCES = 3


class SignalWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one kind of signal."""

    name: str = ""
    feedback: str = ""
    advice: str = ""
    action: Action | None = None


@cache
def wording() -> dict[str, SignalWording]:
    """A signal type, or `type.label`, to what is said of it."""
    return read_toml("toolvet.core.checks.answer", "wording.toml", dict[str, SignalWording])


def reason(signals: Sequence[FailureSignal], score: float, *, escalate: bool) -> str:
    """Why an answer should or need not be looked at, in a sentence."""
    names = list(dict.fromkeys(words_of(signal, "name") for signal in signals))
    quoted = quote(signals[0].evidence)
    found = f"Detected {_joined(names)}" + (f' ("{quoted}")' if quoted else "")
    return f"{found}; escalation {'recommended' if escalate else 'not needed'} (score {score:g})."


def feedback(signals: Sequence[FailureSignal]) -> str:
    """What to change, in a sentence for each kind of signal, the gravest first and three at most."""
    return " ".join(_sentences(signals, "feedback"))


def advice(signals: Sequence[FailureSignal]) -> list[str]:
    """What the next attempt should do, in a sentence for each kind of signal."""
    return _sentences(signals, "advice")


def action_of(signals: Sequence[FailureSignal]) -> Action:
    """What to do with an answer that has these signals: the action of the gravest one, which is the first."""
    return next((action for action in map(_action, signals) if action is not None), Action.RETRY)


def _action(signal: FailureSignal) -> Action | None:
    own = _of_label(signal)
    return (own.action if own is not None else None) or wording()[signal.type.value].action


def _sentences(signals: Sequence[FailureSignal], what: str) -> list[str]:
    seen: dict[str, None] = {}
    for signal in signals:
        sentence = words_of(signal, what)
        seen[
            sentence.replace("{evidence}", quote(signal.evidence)).replace("{against}", quote(signal.against or ""))
        ] = None
    return list(seen)[:_MOST_SENTENCES]


def words_of(signal: FailureSignal, what: str) -> str:
    """The words of the signal's label, or of its type where the label has none of its own."""
    own = _of_label(signal)
    words: str = getattr(own, what) if own is not None else ""
    return words or str(getattr(wording()[signal.type.value], what))


def _of_label(signal: FailureSignal) -> SignalWording | None:
    """The entry of the signal's label, or of the first word of the label."""
    table = wording()
    label = signal.label or ""
    return table.get(f"{signal.type.value}-{label}") or table.get(f"{signal.type.value}-{label.partition('_')[0]}")


def turn_words(key: str) -> str:
    """What is said of the turn: `question`, `returned`, `failed`."""
    return wording()[f"turn-{key}"].advice


def quote(words: str) -> str:
    """The words on one line, and not many of them."""
    line = " ".join(words[: 4 * _LONGEST_QUOTE].split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
