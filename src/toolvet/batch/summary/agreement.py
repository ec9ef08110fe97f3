"""`describe_labels`: counts for each label → how verdicts agree with them."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from toolvet.assess.report import CalibrationBin, CalibrationCurve, LabelledWord, LabelReport
from toolvet.batch.summary.labels import BINS, LabelCounts, LabelTally, meanings
from toolvet.batch.summary.statistics import share
from toolvet.batch.summary.tallies import MICRO
from toolvet.server.review import kappa_of_counts

_MOST_WORDS: Final = 20
_NAMED: Final = 5


def describe_labels(
    tally: LabelTally, column: str, bad: Sequence[str] | None, good: Sequence[str] | None
) -> LabelReport:
    """Return how far verdicts and labels agree. `bad` and `good` are labels as of `meanings`."""
    means = meanings(tally.words, bad, good)
    words = sorted(tally.words.items(), key=lambda each: (-each[1].rows, each[0]))
    told = {word: counts for word, counts in words if means[word] is not None}
    bads = [counts for word, counts in told.items() if means[word]]
    goods = [counts for word, counts in told.items() if not means[word]]
    labelled = sum(each.rows for each in told.values())
    shown = words[:_MOST_WORDS]
    report = LabelReport(
        column=column,
        labelled=labelled,
        unlabelled=tally.unlabelled,
        unknown=tally.labelled - labelled,
        words=[_word(word, counts, means[word]) for word, counts in shown],
        other_words=tally.labelled - sum(counts.rows for _, counts in shown),
        note=_note(tally, [word for word, _ in words], means, bad, good),
    )
    if not labelled:
        return report
    return _with_figures(report, bads, goods, tally.probabilities)


def _word(word: str, counts: LabelCounts, meaning: bool | None) -> LabelledWord:  # noqa: FBT001 - None is the third
    verdicts = dict(sorted(counts.verdicts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_WORDS])
    return LabelledWord(
        word=word,
        meaning="unknown" if meaning is None else "bad" if meaning else "good",
        flagged=share(counts.flagged, counts.rows),
        verdicts=verdicts,
    )


def _note(
    tally: LabelTally,
    words: Sequence[str],
    means: Mapping[str, bool | None],
    bad: Sequence[str] | None,
    good: Sequence[str] | None,
) -> str:
    if not tally.labelled:
        return "no judged row has a label"
    known = set(means.values()) - {None}
    named = ", ".join(repr(word) for word in words[:_NAMED]) + (", …" if len(words) > _NAMED else "")
    if not known:
        if bad is None and good is None:
            return f"none of the labels ({named}) says by itself what is bad: give --bad LABEL,… or --good LABEL,…"
        return f"no row has a label that was given as bad or good; the labels are {named}"
    if len(known) == 1:
        which = "bad" if True in known else "good"
        return f"all known labels say {which}; precision and recall need both"
    return ""


def _with_figures(
    report: LabelReport, bads: Sequence[LabelCounts], goods: Sequence[LabelCounts], probabilities: Sequence[str]
) -> LabelReport:
    found, alarms = sum(each.flagged for each in bads), sum(each.flagged for each in goods)
    bad, good = sum(each.rows for each in bads), sum(each.rows for each in goods)
    missed, passed = bad - found, good - alarms
    counts = {("b", "b"): found, ("b", "g"): alarms, ("g", "b"): missed, ("g", "g"): passed}
    kappa = kappa_of_counts(counts)
    flags = 2 * found + alarms + missed
    replaced = {
        "flagged_bad": found,
        "flagged_good": alarms,
        "passed_bad": missed,
        "passed_good": passed,
        "precision": share(found, found + alarms),
        "recall": share(found, bad),
        "false_alarms": share(alarms, good),
        "accuracy": share(found + passed, bad + good),
        "f1": round(2 * found / flags, 6) if flags else None,
        "kappa": None if kappa is None else round(kappa, 6),
        "calibration": [
            curve for place, name in enumerate(probabilities) if (curve := _curve(place, name, bads, goods)) is not None
        ],
    }
    return replace(report, **replaced)


def _curve(place: int, name: str, bads: Sequence[LabelCounts], goods: Sequence[LabelCounts]) -> CalibrationCurve | None:
    bins: list[CalibrationBin] = []
    error = 0.0
    total = 0
    for number in range(BINS):
        good = sum(int(each.said[place, number]) for each in goods)
        rows = good + sum(int(each.said[place, number]) for each in bads)
        if not rows:
            continue
        said = sum(int(each.sums[place, number]) for each in (*bads, *goods)) / MICRO / rows
        bins.append(
            CalibrationBin(low=number / BINS, high=(number + 1) / BINS, said=round(said, 6), good=share(good, rows))
        )
        error += rows * abs(said - good / rows)
        total += rows
    return CalibrationCurve(column=name, rows=total, ece=round(error / total, 6), bins=bins) if total else None
