"""`LabelledVerdict`: an answer, what toolvet said of it, and what people said."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from toolvet.core.checks import LABELS, Label
from toolvet.errors import UsageError
from toolvet.server.review.evidence import review_signals

# One in this many texts is held back.
_ONE_OF: Final = 4
_GOOD: Final = "ok"
# The model's label for a type of signal, if the signal has none of the model's own.
_OF_TYPE: Final[Mapping[str, Label]] = {"refusal": "refusal", "tool_failure": "tool_failure"}


class LabelledVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that people labelled.

    `there` are the labels of the model that hold, `not_there` those that do not; of the others no person said anything.
    `bad` says whether a person should see the answer, None if that is not known. `score` is what toolvet gave it
    and `found` what it found: the type of each signal and whether people confirmed it. `named` are the faults that it
    missed: the words that show each, by its type. `source` is where the answer is
    from, `group` what must stay together when some are held back (a conversation, a turn).
    """

    text: str
    source: str = ""
    there: frozenset[Label] = frozenset()
    not_there: frozenset[Label] = frozenset()
    bad: bool | None = None
    score: float | None = None
    found: tuple[tuple[str, bool], ...] = ()
    named: Mapping[str, str] = {}
    group: str = ""

    @property
    def is_rated(self) -> bool:
        """Whether something is known that a model can learn."""
        return bool(self.there or self.not_there)


class _LabelledLine(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    label: str | tuple[str, ...]
    source: str = ""
    group: str = ""
    score: float | None = None


def read_labelled_line(line: str | bytes, source: str) -> LabelledVerdict:
    """Return the labelled answer in a line of JSON. Raises UsageError for a line that is none.

    `label` is one or several of `refusal`, `incapable`, `tool_failure`, `evasive`, or `ok`; what is not named does not
    hold.

    >>> sorted(read_labelled_line('{"text": "I cannot help.", "label": "refusal"}', "file").there)
    ['refusal']
    """
    try:
        row = msgspec.json.decode(line, type=_LabelledLine)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"not a labelled answer: {error}") from error
    given = (row.label,) if isinstance(row.label, str) else row.label
    unknown = [name for name in given if name not in (*LABELS, _GOOD)]
    if unknown or (_GOOD in given and len(given) > 1):
        raise UsageError(f"label: {', '.join(given)!r} is not {_GOOD}, nor one or several of {', '.join(LABELS)}")
    there: frozenset[Label] = frozenset(label for label in LABELS if label in given)
    return LabelledVerdict(
        text=row.text,
        source=row.source or source,
        there=there,
        not_there=frozenset(LABELS) - there,
        bad=bool(there),
        score=row.score,
        group=row.group,
    )


class Labelled(Protocol):
    """What one reviewer said of a verdict: of it (`value`) and of its signals by their keys."""

    @property
    def value(self) -> str:
        """`right`, `wrong` or `unsure`."""
        ...

    @property
    def signals(self) -> Mapping[str, str]:
        """`right` or `wrong` by the keys of `review_signals`."""
        ...

    @property
    def missed(self) -> Mapping[str, str]:
        """The words that show a fault that toolvet missed, by its type."""
        ...

    @property
    def final(self) -> bool:
        """Whether it decides where reviewers differ."""
        ...


def labelled_verdict(verdict: Any, labels: Sequence[Labelled]) -> LabelledVerdict | None:
    """Return a stored verdict on an answer with what its reviewers say; None for another kind, or without its text.

    The majority decides about the verdict, each signal and each fault that was missed. With equal numbers, nothing is
    known. A reviewer who found the verdict right and did not name a fault counts against the fault. A final label
    decides instead, and reviewers who differ from it do not count.
    """
    if verdict.kind != "answer" or not verdict.text:
        return None
    final = next((label for label in labels if label.final), None)
    if final is not None:
        labels = [label for label in labels if label.value == final.value]
    signals = review_signals(verdict)
    value = _majority(label.value for label in labels if label.value in ("right", "wrong"))
    # Of a verdict that lets an answer pass, nothing follows for its signals: it may be right although they are, too.
    said_of_all = value if verdict.escalate else None
    # Where people said nothing of a signal, what they said of the verdict holds for the only one.
    otherwise = said_of_all if len(signals) == 1 or said_of_all == "right" else None
    said: dict[str, str | None] = {}
    there: set[Label] = set()
    denied: set[Label] = set()
    for signal in signals:
        heard = [final] if final is not None and signal.key in final.signals else labels
        own = [word for each in heard if (word := each.signals.get(signal.key)) in ("right", "wrong")]
        said[signal.key] = _majority(own) if own else otherwise
        label = _label_of(signal.label, signal.type)
        if label is not None and said[signal.key] is not None:
            (there if said[signal.key] == "right" else denied).add(label)
    named: dict[str, str] = {}
    for type_ in sorted({type_ for each in labels for type_ in each.missed}):
        words = [each.missed[type_] for each in labels if type_ in each.missed]
        against = sum(each.value == "right" and type_ not in each.missed for each in labels)
        if len(words) > against:
            # The longest has all that others quote of the same place.
            named[type_] = max(words, key=len)
            there |= {label} if (label := _label_of(type_, type_)) is not None else set()
    if value == "right" and not verdict.escalate and not signals and not named:
        denied = set(LABELS)
    return LabelledVerdict(
        text=verdict.text,
        source=verdict.model or verdict.variant or verdict.server or "store",
        there=frozenset(there),
        not_there=frozenset(denied - there),
        bad=None if value is None else verdict.escalate == (value == "right"),
        score=verdict.score,
        found=tuple((signal.type, said[signal.key] == "right") for signal in signals if said[signal.key] is not None),
        named=named,
        group=verdict.conversation or verdict.trace or "",
    )


def _label_of(name: str, type_: str) -> Label | None:
    return next((each for each in LABELS if each == name), None) or _OF_TYPE.get(type_)


def _majority(words: Iterable[str]) -> str | None:
    counts = Counter(words)
    right, wrong = counts["right"], counts["wrong"]
    return None if right == wrong else "right" if right > wrong else "wrong"


def split_held_back(rows: Sequence[LabelledVerdict]) -> tuple[list[LabelledVerdict], list[LabelledVerdict]]:
    """Return the rows to learn from and those held back, about a quarter. The same rows always fall the same way.

    A conversation is never divided, nor are equal texts; a text counts once.
    """
    seen: dict[str, LabelledVerdict] = {}
    for row in rows:
        seen.setdefault(" ".join(unicodedata.normalize("NFKC", row.text).casefold().split()), row)
    learned: list[LabelledVerdict] = []
    held: list[LabelledVerdict] = []
    for text, row in seen.items():
        digest = hashlib.sha256((row.group or text).encode("utf-8", "replace")).digest()
        (held if digest[0] % _ONE_OF == 0 else learned).append(row)
    return learned, held
