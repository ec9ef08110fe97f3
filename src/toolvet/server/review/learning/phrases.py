"""Phrases that separate: runs of words that answers with a label share and others do not.

    missed:  "I have no way of opening your file."  "We have no way of reaching the shop."  …
    good:    "There is no way of knowing, but trains leave at nine."
    → "have no way of", 3 hits, 0 misses; the good answer is a near miss ("no way of")

Answers in a language (or about a subject) of which there are no good ones suggest nothing: what they share is the
language. They are suggestions: a person reads them, writes the rule, and decides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from toolvet.core.checks import LABELS
from toolvet.server.review.learning.labels import LabelledVerdict

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_SENTENCE: Final = re.compile(r"[^.!?\n\u3002\uff01\uff1f]+[.!?\u3002\uff01\uff1f]*")
_LONGEST: Final = 6
_SHORTEST: Final = 2
_FEWEST: Final = 3
# Where much was missed, what few of the answers share is their subject.
_ONE_OF: Final = 50
_MOST_WORDS: Final = 400
_BREAK: Final = ""
# An answer can be compared if this share of its words is known, each from one in `_ONE_IN` answers without the label.
_MOST_KNOWN: Final = 0.5
_ONE_IN: Final = 500
_MOST_SHOWN: Final = 5
_MOST_CHARACTERS: Final = 200


class SuggestedPhrase(msgspec.Struct, frozen=True, kw_only=True):
    """A run of words to look at, for the phrases of `label`.

    `count` answers with the label have it, `misses_count` without. `hits` are sentences of the former. `misses` are
    sentences without the label that have all its words but the first or the last, or all of them, if there are any.
    There is always a miss: a phrase that nothing comes near is not proven to separate.
    """

    words: str
    label: str
    count: int
    misses_count: int
    hits: tuple[str, ...]
    misses: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """The words as a pattern of the language files."""
        return r"\b" + r"\s+".join(re.escape(word).replace("'", "['\u2019]") for word in self.words.split()) + r"\b"


def suggest_phrases(
    rows: Sequence[LabelledVerdict], label: str, *, missed: Iterable[int] | None = None, most: int = 20
) -> list[SuggestedPhrase]:
    """Return runs of two to six words that at least three answers with the label share, and almost none without it.

    Of many answers, at least one in fifty must share it. Where a reviewer quoted the words that show the fault, only
    these are looked at. A run without a near miss is not suggested.

    Args:
        rows: Labelled answers. The more good ones, the better: each is looked at for a false alarm.
        label: The label, or the type of a fault that reviewers named.
        missed: The places in `rows` of those that toolvet missed; None takes all with the label.
        most: How many to return, those that cover most first; each covers an answer that none before it covers.
    """
    wanted = {place for place in (range(len(rows)) if missed is None else missed) if has_fault(rows[place], label)}
    words = [_words(row.text) for row in rows]
    # Of types that the model has no label for, answers without any fault are the good ones.
    of_model = label in LABELS
    without = {
        place
        for place, row in enumerate(rows)
        if (label in row.not_there if of_model else not row.named and row.not_there.issuperset(LABELS))
    }
    fewest = max(_FEWEST, len(wanted) // _ONE_OF)
    wanted = _comparable(words, wanted, without)
    quoted = [_words(row.named.get(label, "")) or own for row, own in zip(rows, words, strict=True)]
    hits = _places(quoted, wanted)
    others = _places(words, without, only=hits)
    allowed = max(0, len(without) // 200)
    kept = {
        run: places
        for run, places in hits.items()
        if len(places) >= fewest and len(others.get(run, ())) <= min(allowed, len(places) // 10)
    }
    chosen: list[SuggestedPhrase] = []
    covered: set[int] = set()
    while kept and len(chosen) < most:
        # What covers most that is not covered yet; then the shortest, which says more than its extensions.
        run = min(kept, key=lambda each: (-len(kept[each] - covered), len(each), each))
        new = kept.pop(run) - covered
        if len(new) < fewest:
            break
        false = sorted(others.get(run, ()))
        parts = (run[1:], run[:-1])
        rest = [place for place in sorted(without) if place not in false]
        near = [*false, *(place for place in rest if any(_has(words[place], part) for part in parts))]
        if not near:
            continue
        covered |= new
        chosen.append(
            SuggestedPhrase(
                words=" ".join(run),
                label=label,
                count=len(hits[run]),
                misses_count=len(false),
                hits=tuple(_sentence(rows[place].text, run) for place in sorted(hits[run])[:_MOST_SHOWN]),
                misses=tuple(_sentence(rows[place].text, run) for place in near[:_MOST_SHOWN]),
            )
        )
    return chosen


def has_fault(row: LabelledVerdict, label: str) -> bool:
    """Whether people say that an answer has this fault: a label of the model, or a type that they named."""
    return label in row.there or label in row.named


def _words(text: str) -> list[str]:
    found: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        if found and not text[end : match.start()].isspace():
            found.append(_BREAK)
        found.append(match.group().casefold().replace("\u2019", "'"))
        end = match.end()
        if len(found) >= _MOST_WORDS:
            break
    return found


def _comparable(words: Sequence[Sequence[str]], wanted: Iterable[int], without: Iterable[int]) -> set[int]:
    """Return those of `wanted` most of whose words are known from answers without the label."""
    good = [set(words[place]) - {_BREAK} for place in without]
    counts = Counter(word for known in good for word in known)
    enough = 1 + len(good) // _ONE_IN
    found: set[int] = set()
    for place in wanted:
        own = set(words[place]) - {_BREAK}
        if own and sum(counts[word] >= enough for word in own) >= len(own) * _MOST_KNOWN:
            found.add(place)
    return found


def _places(
    words: Sequence[Sequence[str]], places: Iterable[int], only: Mapping[tuple[str, ...], object] | None = None
) -> dict[tuple[str, ...], set[int]]:
    found: dict[tuple[str, ...], set[int]] = {}
    for place in places:
        own = words[place]
        for length in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(own) - length + 1):
                run = tuple(own[start : start + length])
                if _BREAK not in run and (only is None or run in only):
                    found.setdefault(run, set()).add(place)
    return found


def _has(words: Sequence[str], run: tuple[str, ...]) -> bool:
    return any(tuple(words[start : start + len(run)]) == run for start in range(len(words) - len(run) + 1))


def _sentence(text: str, run: tuple[str, ...]) -> str:
    best, most = text, -1
    for match in _SENTENCE.finditer(text):
        own = _words(match.group())
        shared = max((len(part) for part in (run, run[1:], run[:-1]) if part and _has(own, part)), default=0)
        if shared > most:
            best, most = match.group(), shared
    return " ".join(best.split())[:_MOST_CHARACTERS]
