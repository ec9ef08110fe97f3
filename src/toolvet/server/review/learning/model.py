"""`learn_model`: retrains the model of answers from labels, and holds it against the one before on answers held back.

It goes on from the model that is in use: the labels of one team are few, and say nothing of most words. Needs NumPy.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from toolvet.core.checks import (
    LABELS,
    NEVER,
    Label,
    LabelHead,
    LabelledText,
    Model,
    TrainingSettings,
    judge,
    read_phrases,
    train,
)
from toolvet.core.turn import AnswerCheck
from toolvet.errors import UsageError
from toolvet.server.review.learning.labels import LabelledVerdict, split_held_back
from toolvet.version import __version__

FEWEST_LEARNED: Final = 20
"""The fewest answers with a label, and the fewest without it, from which the label is learned."""

FEWEST_HELD_BACK: Final = 5
"""The fewest answers with a label that must be held back: fewer prove nothing."""

ALL: Final = "all"
OWN_SENTENCES: Final = "toolvet's own sentences"
_SETTINGS: Final = TrainingSettings(
    penalty=1e-4, precision=0.95, alarms=0.004, fewest=10, unmeasured=frozenset({OWN_SENTENCES})
)
_WHOLE, _ALONE = "the whole check", "the model alone"


class LabelOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How one label did on one source of the answers held back, before and after.

    `by` says what judged: the whole check (rules, and the model where they leave it open) or the model alone. Of
    `texts` answers `positive` have the label.
    """

    by: str
    label: Label
    source: str
    texts: int
    positive: int
    found_before: int
    found_after: int
    alarms_before: int
    alarms_after: int

    @property
    def errors_before(self) -> int:
        """How many were missed or reported wrongly by the model before."""
        return self.positive - self.found_before + self.alarms_before

    @property
    def errors_after(self) -> int:
        """How many are missed or reported wrongly now."""
        return self.positive - self.found_after + self.alarms_after


class LearnedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A retrained model, what it was learned from, and how it did.

    `relearned` are the labels whose weights are new; the others are those of the model before. `refused` says why it
    should not be installed, None if it may be.
    """

    model: Model
    relearned: tuple[Label, ...]
    kept: tuple[str, ...]
    learned_from: int
    held_back: int
    sources: tuple[tuple[str, int], ...]
    digest: str
    outcomes: tuple[LabelOutcome, ...]
    refused: str | None


def learn_model(rows: Sequence[LabelledVerdict], base: Model) -> LearnedModel:
    """Return a model that goes on from `base`, and whether it is better.

    A quarter of the answers is held back (`split_held_back`), and both models are measured on it. A label keeps its
    old state if it has more errors than before, by itself or in the whole check, or if the whole check has more false
    alarms. The model is refused if nothing is left, or if no label has fewer errors.
    Raises UsageError if there are too few labels to learn from.
    """
    rated = [row for row in rows if row.is_rated]
    learned, held = split_held_back(rated)
    usable: list[Label] = [
        label
        for label in LABELS
        if sum(label in row.there for row in learned) >= FEWEST_LEARNED
        and sum(label in row.not_there for row in learned) >= FEWEST_LEARNED
        and sum(label in row.there for row in held) >= FEWEST_HELD_BACK
        and sum(label in row.not_there for row in held) >= FEWEST_LEARNED
    ]
    if not usable:
        counts = ", ".join(
            f"{label} {sum(label in row.there for row in (*learned, *held))} with and"
            f" {sum(label in row.not_there for row in (*learned, *held))} without"
            for label in LABELS
        )
        raise UsageError(
            f"too few labels to learn from ({counts}): a label needs about {FEWEST_LEARNED * 4 // 3 + 1} different"
            f" answers that have it and {FEWEST_LEARNED * 4} that do not"
        )
    trained = train([*_texts(learned, usable), *_own_texts(usable)], _SETTINGS, base=base).model
    model, relearned, kept = _put_together(base, trained, usable)
    outcomes = _measure(base, model, held, relearned)
    worse = {each.label: words for each in outcomes if (words := _worse(each)) is not None}
    if worse and set(relearned) - set(worse):
        # What got worse stays as it was, and the rest is measured again without it.
        rest: list[Label] = [label for label in usable if label not in worse]
        model, relearned, kept = _put_together(base, trained, rest)
        kept = tuple(words for words in kept if words.partition(":")[0] not in worse)
        kept += tuple(f"{label}: {words}" for label, words in worse.items())
        outcomes = _measure(base, model, held, relearned)
    still_worse = next((words for each in outcomes if (words := _worse(each)) is not None), None)
    refused = None
    if not relearned:
        refused = "no label could be learned well enough"
    elif still_worse is not None:
        refused = still_worse
    elif not any(each.source == ALL and each.errors_after < each.errors_before for each in outcomes):
        refused = "no better than the one before on the answers held back"
    texts = "\0".join(f"{row.text}\1{','.join(sorted(row.there))}" for row in learned)
    return LearnedModel(
        model=model,
        relearned=relearned,
        kept=kept,
        learned_from=len(learned),
        held_back=len(held),
        sources=_counts(rated),
        digest=hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest(),
        outcomes=tuple(outcomes),
        refused=refused,
    )


def _measure(
    base: Model, model: Model, held: Sequence[LabelledVerdict], relearned: Sequence[Label]
) -> list[LabelOutcome]:
    before, after = _whole(base), _whole(model)
    # The near misses of toolvet's own phrases, which a new model must not report.
    misses = [
        LabelledVerdict(text=each.text, source=OWN_SENTENCES, not_there=frozenset(LABELS) - each.unsure)
        for each in _own_texts(relearned)
        if not each.wrong
    ]
    return [
        *_outcomes(_ALONE, held, lambda text: _labels_alone(text, base), lambda text: _labels_alone(text, model)),
        *_outcomes(_WHOLE, held, before, after),
        *(
            msgspec.structs.replace(each, source=OWN_SENTENCES)
            for each in _outcomes(_WHOLE, misses, before, after)
            if each.source == ALL
        ),
    ]


def _texts(rows: Sequence[LabelledVerdict], usable: Sequence[Label]) -> list[LabelledText]:
    divided = len({row.source for row in rows}) < 2
    every, learnable = frozenset(LABELS), frozenset(usable)
    found: list[LabelledText] = []
    for row in rows:
        source = row.source
        if divided:
            half = 1 + hashlib.sha256((row.group or row.text).encode("utf-8", "replace")).digest()[1] % 2
            source = f"{source} {half}"
        found.append(
            LabelledText(
                text=row.text,
                source=source,
                wrong=row.there & learnable,
                unsure=every - ((row.there | row.not_there) & learnable),
            )
        )
    return found


def _put_together(
    base: Model, trained: Model, usable: Sequence[Label]
) -> tuple[Model, tuple[Label, ...], tuple[str, ...]]:
    heads: list[LabelHead] = []
    planes: list[bytes] = []
    relearned: list[Label] = []
    kept: list[str] = []
    for place, label in enumerate(LABELS):
        if label not in usable:
            kept.append(f"{label}: too few labels")
        elif trained.heads[place].threshold >= NEVER:
            kept.append(f"{label}: nowhere precise enough on sources that were left out")
        else:
            relearned.append(label)
        source = trained if label in relearned else base
        heads.append(source.heads[place])
        planes.append(source.planes[place])
    return Model(heads, planes), tuple(relearned), tuple(kept)


def _labels_alone(text: str, model: Model) -> frozenset[str]:
    return frozenset(each.label for each in judge(text, model=model))


def _whole(model: Model) -> Callable[[str], frozenset[str]]:
    check = AnswerCheck(model=model, min_length=1)

    def labels(text: str) -> frozenset[str]:
        signals = check(text).signals
        return frozenset(signal.label or "" for signal in signals) | {signal.type.value for signal in signals}

    return labels


def _outcomes(
    by: str,
    rows: Sequence[LabelledVerdict],
    before: Callable[[str], frozenset[str]],
    after: Callable[[str], frozenset[str]],
) -> list[LabelOutcome]:
    judged = [(row, before(row.text), after(row.text)) for row in rows]
    sources = [ALL, *(name for name, _ in _counts(rows))] if len({row.source for row in rows}) > 1 else [ALL]
    found: list[LabelOutcome] = []
    for label in LABELS:
        rated = [each for each in judged if label in each[0].there or label in each[0].not_there]
        for source in sources:
            having = [
                (label in row.there, label in old, label in new)
                for row, old, new in rated
                if source in (ALL, row.source)
            ]
            if not having:
                continue
            found.append(
                LabelOutcome(
                    by=by,
                    label=label,
                    source=source,
                    texts=len(having),
                    positive=sum(there for there, _, _ in having),
                    found_before=sum(there and old for there, old, _ in having),
                    found_after=sum(there and new for there, _, new in having),
                    alarms_before=sum(old and not there for there, old, _ in having),
                    alarms_after=sum(new and not there for there, _, new in having),
                )
            )
    return found


def _own_texts(labels: Sequence[Label]) -> Iterator[LabelledText]:
    every = frozenset(LABELS)
    for known in read_phrases().values():
        names = (known.phrase.label, known.type.value)
        label: Label | None = next((each for each in LABELS if each in names), None)
        if label is not None and label in labels and not known.phrase.cue:
            wrong: frozenset[Label] = frozenset({label})
            for hit in known.phrase.hits:
                yield LabelledText(text=hit, source=OWN_SENTENCES, wrong=wrong, unsure=every - wrong)
            for miss in known.phrase.misses:
                yield LabelledText(text=miss, source=OWN_SENTENCES, unsure=every - wrong)


def _worse(each: LabelOutcome) -> str | None:
    """Return in what a label is worse than before; None if it is not. Single sources are too few to decide."""
    if each.source not in (ALL, OWN_SENTENCES):
        return None
    where = f"{each.label}, {each.by}, {each.texts} texts of {each.source}"
    if each.by == _WHOLE and each.alarms_after > each.alarms_before:
        return f"more false alarms than before ({where}): {each.alarms_before} before, {each.alarms_after} after"
    if each.errors_after > each.errors_before:
        return f"more errors than before ({where}): {each.errors_before} before, {each.errors_after} after"
    return None


def _counts(rows: Sequence[LabelledVerdict]) -> tuple[tuple[str, int], ...]:
    names = sorted({row.source for row in rows})
    return tuple((name, sum(row.source == name for row in rows)) for name in names)


def render_card(learned: LearnedModel, *, base: bytes, date: str) -> str:
    """Return the card. `base` is the file of the model that it goes on from, `date` the day as it should be shown."""
    content = learned.model.to_bytes()
    sources = "\n".join(f"| {_cell(name)} | {count} |" for name, count in learned.sources)
    kept = "\n".join(f"- As it was: {words}." for words in learned.kept) or "- No label stayed as it was."
    return f"""# A learned model of answers

Made by `toolvet review learn` of toolvet {__version__} on {date}. It is used with `model` under
`[checks.answer]`.

## Description

toolvet's linear model of hashed n-grams (its card comes with the package), retrained from reviewers' labels: it goes on
from the model before (SHA-256 `{hashlib.sha256(base).hexdigest()}`).

- Relearned: {", ".join(learned.relearned) or "nothing"}.
{kept}

## Data

{learned.learned_from} different answers were learned from, {learned.held_back} held back. No text of them is in the
file. SHA-256 of the texts and labels `{learned.digest}`, of the model `{hashlib.sha256(content).hexdigest()}`.

| source | labelled answers |
|---|---|
{sources}

## Figures

On the answers held back. Which labels to relearn was decided on them as well, so they flatter a little. The last
rows are near misses of toolvet's own phrases, which were learned from as well: no more of them than before may be
reported.

{outcome_table(learned)}
Verdict: {"refused: " + learned.refused if learned.refused else "better than the one before"}.

## Uses to avoid

- Judging people, or texts written by people.
- Answers that look different from those that were labelled: what the reviewers never saw, it was not measured on.
- Telling whether what an answer says is true, safe or harmful.
"""


def outcome_table(learned: LearnedModel) -> str:
    """Return the figures as a table: what was found and falsely reported before and after."""
    lines = [
        "| judged by | label | source | found | found before | false alarms | before |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in learned.outcomes:
        if each.source not in (ALL, OWN_SENTENCES) and not each.positive and not each.alarms_after + each.alarms_before:
            continue
        without = each.texts - each.positive
        lines.append(
            f"| {each.by} | {each.label} | {_cell(each.source)} | {each.found_after} of {each.positive} |"
            f" {each.found_before} | {each.alarms_after} of {without} | {each.alarms_before} |"
        )
    return "\n".join(lines) + "\n"


def _cell(words: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in words)
    return shown.replace("|", "/").replace("<", "(")
