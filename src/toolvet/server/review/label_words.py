"""What reviewers can say of a verdict and of its signals: the words of `labels.toml`."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import msgspec

from toolvet.core.discover import read_toml
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
    """What can be said of one kind of verdict, and of its signals. `question` has a place for `{verdict}`."""

    question: str
    values: tuple[LabelValue, ...]
    signals: tuple[LabelValue, ...]

    def word(self, value: str) -> str:
        """Return the word for a value, or the value itself where it is none of ours."""
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
    return Vocabulary(question=found.question, values=found.values, signals=file.signals.values)


def check_label(kind: str, value: str, signals: Mapping[str, str], known: Mapping[str, object], note: str = "") -> None:
    """Raise UsageError, which names what is wrong, for a label that cannot be kept.

    Args:
        kind: The kind of the verdict.
        value: What is said of it.
        signals: What is said of its signals, by their keys.
        known: The signals that it has, by their keys.
        note: The reviewer's own words.
    """
    words = vocabulary(kind)
    _check_word("value", value, words.values)
    for key, said in signals.items():
        if key not in known:
            has = ", ".join(list(known)[:_MOST_SIGNALS]) or "none"
            raise UsageError(f"signals: the verdict has no signal {key!r}; it has {has}")
        _check_word(f"signals.{key}", said, words.signals)
    if len(note) > MOST_NOTE:
        raise UsageError(f"note: {len(note):,} characters, and {MOST_NOTE:,} fit")


def _check_word(name: str, value: str, values: tuple[LabelValue, ...]) -> None:
    if all(each.value != value for each in values):
        raise UsageError(f"{name}: {value!r} is none of {', '.join(each.value for each in values)}")
