"""The labels that reviewers can give a verdict (the words of `labels.toml`), and how far the reviewers agree.

Agreement is the share of equal labels, and Cohen's kappa, which takes chance out of it. Cohen (1960): kappa =
(po - pe) / (1 - pe), where po is the share of items on which two reviewers agree, and pe the share on which they would
by chance, each with their own habits. More than two reviewers: the mean over all pairs (Light 1971), each pair weighing
as much as it has items.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from typing import Final, Protocol

import msgspec

from toolvet.core.checks import LABELS, SignalType
from toolvet.core.discover import read_toml
from toolvet.core.visible import shorten
from toolvet.errors import UsageError

MOST_NOTE: Final = 4_000
_MOST_SIGNALS: Final = 200
_OTHER: Final = "answer"


class LabelValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to say: the key on the keyboard, the value that is kept, its word, and what it means."""

    key: str
    value: str
    word: str
    meaning: str


class Vocabulary(msgspec.Struct, frozen=True):
    """What can be said of one kind of verdict, and of its signals. `question` has a place for `{verdict}`.

    `missed` are the types of the faults that a reviewer can add.
    """

    question: str
    values: tuple[LabelValue, ...]
    signals: tuple[LabelValue, ...]
    missed: tuple[str, ...] = ()

    def word(self, value: str) -> str:
        """Return the word for a value, or the value itself if toolvet does not have it."""
        return next((each.word for each in (*self.values, *self.signals) if each.value == value), value)


class _KindWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str = ""
    values: tuple[LabelValue, ...] = ()
    same_as: str | None = None


class _SignalWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    values: tuple[LabelValue, ...]


class _LabelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: dict[str, _KindWords]
    signals: _SignalWords


@cache
def vocabulary(kind: str) -> Vocabulary:
    """Return what can be said of verdicts of this kind.

    >>> [each.value for each in vocabulary("answer").values]
    ['right', 'wrong', 'unsure']
    """
    file = read_toml("toolvet.server.review", "labels.toml", _LabelFile)
    found = file.kinds.get(kind, file.kinds[_OTHER])
    if found.same_as is not None:
        found = file.kinds[found.same_as]
    missed = tuple(dict.fromkeys((*SignalType, *LABELS))) if kind == _OTHER else ()
    return Vocabulary(question=found.question, values=found.values, signals=file.signals.values, missed=missed)


def check_label(
    kind: str,
    value: str,
    signals: Mapping[str, str],
    known: Mapping[str, object],
    note: str = "",
    *,
    missed: Mapping[str, str] | None = None,
    text: str = "",
) -> None:
    """Raise UsageError, which names the fault, for a label that cannot be kept.

    Args:
        kind: The kind of the verdict.
        value: The label of the verdict.
        signals: The labels of its signals, by their keys.
        known: The signals that it has, by their keys.
        note: The reviewer's own words.
        missed: The faults that toolvet did not find: the words that show each, by its type.
        text: The judged text; it must have these words.
    """
    words = vocabulary(kind)
    _check_word("value", value, words.values)
    for key, said in signals.items():
        if key not in known:
            has = ", ".join(list(known)[:_MOST_SIGNALS]) or "none"
            raise UsageError(
                f"signals: the verdict has no signal {key!r}; it has {has}. Name a fault that was missed in `missed`"
            )
        _check_word(f"signals.{key}", said, words.signals)
    said = _plain(text)
    for type_, quoted in (missed or {}).items():
        if type_ not in words.missed:
            known_types = ", ".join(words.missed) or f"possible for a verdict on {kind}"
            raise UsageError(f"missed: {type_!r} is not one of {known_types}")
        if _plain(quoted) not in said:
            raise UsageError(f"missed.{type_}: the answer does not contain {shorten(quoted, 80)!r}; quote its words")
    if len(note) > MOST_NOTE:
        raise UsageError(f"note: {len(note):,} characters; at most {MOST_NOTE:,} are allowed")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _check_word(name: str, value: str, values: tuple[LabelValue, ...]) -> None:
    if all(each.value != value for each in values):
        raise UsageError(f"{name}: {value!r} is not one of {', '.join(each.value for each in values)}")


class _Label(Protocol):
    @property
    def item(self) -> str: ...
    @property
    def reviewer(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def final(self) -> bool: ...


class PairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two reviewers: on how many items both spoke, the share (0 to 1) on which they agree, and Cohen's kappa.

    `kappa` is None if it is not defined: both gave every item the same label.
    """

    first: str
    second: str
    items: int
    agreed: float
    kappa: float | None


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """All reviewers. `items` were seen by two or more of them; the figures are means over the pairs, by their items."""

    items: int = 0
    agreed: float | None = None
    kappa: float | None = None
    pairs: tuple[PairAgreement, ...] = ()
    disputed: tuple[str, ...] = ()


def measure_agreement(labels: Iterable[_Label]) -> Agreement:
    """Return how far the reviewers agree on the verdicts. `disputed` are the items on which they do not."""
    by_item: dict[str, dict[str, str]] = {}
    for label in labels:
        if not label.final:
            by_item.setdefault(label.item, {})[label.reviewer] = label.value
    shared = {item: said for item, said in by_item.items() if len(said) > 1}
    said_of: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for said in shared.values():
        for first, second in combinations(sorted(said), 2):
            said_of.setdefault((first, second), []).append((said[first], said[second]))
    pairs: list[PairAgreement] = []
    for (first, second), both in sorted(said_of.items()):
        agreed = sum(one == other for one, other in both) / len(both)
        kappa = cohens_kappa(both)
        pairs.append(PairAgreement(first=first, second=second, items=len(both), agreed=agreed, kappa=kappa))
    return Agreement(
        items=len(shared),
        agreed=_mean([(each.agreed, each.items) for each in pairs]),
        kappa=_mean([(each.kappa, each.items) for each in pairs if each.kappa is not None]),
        pairs=tuple(pairs),
        disputed=tuple(item for item, said in shared.items() if len(set(said.values())) > 1),
    )


def cohens_kappa(pairs: Iterable[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two reviewers; None if chance alone explains everything, or nothing was said.

    >>> cohens_kappa([("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15)
    0.4
    """
    return kappa_of_counts(Counter(pairs))


def kappa_of_counts(counts: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa where each pair of values was said so often: as of `cohens_kappa`."""
    total = sum(counts.values())
    if not total:
        return None
    agreed = sum(number for (first, second), number in counts.items() if first == second)
    firsts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for (first, second), number in counts.items():
        firsts[first] += number
        seconds[second] += number
    # In whole numbers until the last step, so that the figure is exact.
    by_chance = sum(number * seconds[value] for value, number in firsts.items())
    if by_chance == total * total:
        return None
    return (agreed * total - by_chance) / (total * total - by_chance)


def _mean(values: list[tuple[float, int]]) -> float | None:
    weight = sum(number for _, number in values)
    return sum(value * number for value, number in values) / weight if weight else None
