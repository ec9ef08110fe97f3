"""How often signals of an answer and assessments are right, and which share of the answers of a score is good.

For each part of the data every table is fitted without that part, and judged on it. A part is a source or, where a
task has one source only, the models of one vendor: without its one source a task has no faults left to be found.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.calibration.reliability import Judged

from toolvet import AnswerQuality, SignalType, check_answer
from toolvet.core.checks.answer.certainty import certainty_of, key_of

UNMEASURED = frozenset({"custom", "semantics", "calls"})


class Found(NamedTuple):
    """A signal of one answer under the question of its file; `kind` is empty for an answer that has none."""

    part: str
    type: str
    kind: str
    right: bool


class Scored(NamedTuple):
    """The score of one answer, and whether it has a fault by any of its labels."""

    part: str
    score: float
    is_faulty: bool


class Question(NamedTuple):
    """The subject of a file of labelled answers: labels with the fault and without, and types of signals."""

    faulty: frozenset[str]
    fine: frozenset[str]
    types: frozenset[SignalType]
    by_vendor: bool = False


REFUSALS = frozenset({SignalType.REFUSAL})
UNSURE = frozenset({SignalType.LOW_CONFIDENCE, SignalType.CONFUSION, SignalType.HALLUCINATION_RISK})
CUT = frozenset({SignalType.INCOMPLETE_REASONING})
FAILED = frozenset({SignalType.TOOL_FAILURE})
QUESTIONS = {
    "refusal": Question(frozenset({"refusal", "partial_refusal"}), frozenset({"compliance"}), REFUSALS),
    "uncertainty": Question(frozenset({"uncertain"}), frozenset({"other"}), UNSURE, by_vendor=True),
    "truncation": Question(frozenset({"truncated"}), frozenset({"complete"}), CUT, by_vendor=True),
    "answer_tool_failure": Question(frozenset({"tool_failure_report"}), frozenset({"ok"}), FAILED),
    # Many of these were cut by a limit of tokens, and are still good answers.
    "good_answer": Question(frozenset(), frozenset({"ok", "compliance", "informative"}), frozenset(SignalType) - CUT),
}
# Refusals only, so that nothing follows for answers without a signal; and sentences of an encyclopedia.
NO_ANSWERS = frozenset({"polyrefuse_outputs", "szeged_wiki"})
MOST_OF_A_KIND = 200  # Signals of one part that count for a kind: a large source must not outvote the others.
FEWEST = 3  # Faults that a kind or a type needs: with fewer, nothing was there to be found.
DRAWN_BY = 10  # Kinds with few signals are drawn to their type, and types to all, as by this many signals more.
BANDS = (0.0, 0.3, 0.7, 0.85, 1.0)

Table = Mapping[str, float]


def asked(folder: Path) -> Iterator[tuple[dict[str, Any], Question, AnswerQuality]]:
    """Each labelled answer with the question of its file and the verdict on it."""
    for name, question in QUESTIONS.items():
        path = folder / f"{name}.jsonl"
        for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else ():
            row: dict[str, Any] = json.loads(line) if line else {}
            if not row or row["dataset"] in NO_ANSWERS or row.get("meta", {}).get("contested"):
                continue
            if row["label"] in question.faulty or row["label"] in question.fine:
                yield row, question, check_answer(row["text"], min_length=0)


def part_of(row: Mapping[str, Any], question: Question) -> str:
    vendor = f" {str(row.get('meta', {}).get('model', '')).partition('/')[0]}" if question.by_vendor else ""
    return f"{row['dataset'].replace('_us_', '_').replace('_eu_', '_')}{vendor}"


def signals(folder: Path) -> Iterator[Found]:
    """Each signal of a labelled answer, and each answer without one; the same text counts once for a kind.

    A mild signal colours an answer, and a good answer may have it ("I don't have real-time data; as of 2023 it was …"):
    an answer that is good for another reason does not refute it.
    """
    seen: set[tuple[str, str]] = set()
    for row, question, quality in asked(folder):
        is_faulty = row["label"] in question.faulty
        kinds: dict[str, str] = {}
        for each in quality.signals:
            if each.type in question.types and each.source not in UNMEASURED:
                kinds[key_of(each.type.value, each.label, each.source, each.weight)] = each.type.value
        if not kinds:
            kinds[""] = ""
        for kind, type_ in kinds.items():
            is_open = kind.endswith(", mild") and not question.faulty
            if not is_open and (row["text"], kind) not in seen:
                seen.add((row["text"], kind))
                yield Found(part_of(row, question), type_, kind, bool(kind) is is_faulty)


def scores(folder: Path) -> Iterator[Scored]:
    """The score of each labelled answer, and whether any of its labels says that it has a fault."""
    found: dict[str, Scored] = {}
    for row, question, quality in asked(folder):
        if row["label"] == "other":  # An answer that was not unsure may have refused.
            continue
        before = found.get(row["text"])
        is_faulty = row["label"] in question.faulty or (before is not None and before.is_faulty)
        part = before.part if before is not None else part_of(row, question)
        found[row["text"]] = Scored(part, quality.score, is_faulty)
    yield from found.values()


def fitted(found: Sequence[Found]) -> dict[str, float]:
    """The share of right signals of each kind and type, and under "" that of answers without a signal that are good."""
    own = [each for each in found if each.kind]
    everything = _share([*own], lambda _: "all", {"all": 0.5})
    types = _share(own, lambda each: each.type, defaultdict(lambda: everything.get("all", 0.5)))
    kinds = _share(own, lambda each: each.kind, {each.kind: types[each.type] for each in own})
    with_fault = Counter(each.kind for each in own if each.right)
    clean = [each.right for each in found if not each.kind]
    of_types = Counter(each.type for each in own if each.right)
    table = {type_: share for type_, share in types.items() if of_types[type_] >= FEWEST}
    table |= {kind: share for kind, share in kinds.items() if with_fault[kind] >= FEWEST}
    return table | {"": sum(clean) / len(clean)} if clean else table


def _share(found: Sequence[Found], key: Callable[[Found], str], prior: Mapping[str, float]) -> dict[str, float]:
    parts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for each in found:
        parts[key(each), each.part].append(each.right)
    count: dict[str, float] = defaultdict(float)
    right: dict[str, float] = defaultdict(float)
    for (name, _), part in parts.items():
        counted = min(len(part), MOST_OF_A_KIND)
        count[name] += counted
        right[name] += counted * sum(part) / len(part)
    return {name: (right[name] + DRAWN_BY * prior[name]) / (count[name] + DRAWN_BY) for name in count}


def left_out(found: Sequence[Found], *, clean: float | None = None, whole: bool = False) -> list[Judged]:
    """Each signal and each answer without one, judged by a table that was fitted without its part.

    `clean` is the certainty of answers without a signal, None for the measured one. `whole` leaves out whole sources.
    A signal whose type is not measured in the others is not judged.
    """
    return [judged for part in left_out_by_type(found, clean=clean, whole=whole).values() for judged in part]


def left_out_by_type(
    found: Sequence[Found], *, clean: float | None = None, whole: bool = False
) -> dict[str, list[Judged]]:
    """The same, by the type of the signal; under "" the answers without one."""
    judged: dict[str, list[Judged]] = defaultdict(list)
    for part, own, others in _parts(found, whole=whole):
        table = fitted(others)
        for each in own:
            said = table.get(each.kind, table.get(each.type)) if each.kind else clean or table[""]
            if said is not None:
                judged[each.type].append(Judged(part, said, each.right))
    return dict(sorted(judged.items()))


def good_by_band(found: Sequence[Scored]) -> dict[float, float]:
    """The share of good answers in each band of the score; of two bands in the wrong order the mean of both."""
    bands = [(band, *_counted(found, band)) for band in BANDS]
    groups = [([band], count, good) for band, count, good in bands if count]
    at = 0
    while at + 1 < len(groups):
        (low, low_count, low_good), (high, high_count, high_good) = groups[at : at + 2]
        if low_good / low_count <= high_good / high_count:
            at += 1
            continue
        groups[at : at + 2] = [(low + high, low_count + high_count, low_good + high_good)]
        at = max(at - 1, 0)
    return {band: good / count for names, count, good in groups for band in names}


def by_band(found: Sequence[Scored]) -> Iterator[tuple[float, int, int, float]]:
    """Each band of the score: from where, how many answers, how many with a fault, and the share of good ones said."""
    table = good_by_band(found)
    for band in BANDS:
        own = [each.is_faulty for each in found if band_of(each.score) == band]
        if own:
            yield band, len(own), sum(own), table[band]


def _counted(found: Sequence[Scored], band: float) -> tuple[float, float]:
    own = [each for each in found if band_of(each.score) == band]
    return float(len(own)), float(sum(not each.is_faulty for each in own))


def band_of(score: float) -> float:
    return max(band for band in BANDS if score >= band)


def scores_left_out(found: Sequence[Scored], *, whole: bool = False) -> list[Judged]:
    """How likely each answer is good by its score, fitted on the other parts, and whether it is good."""
    return [
        Judged(part, table[band_of(each.score)], not each.is_faulty)
        for part, own, others in _parts(found, whole=whole)
        for table in [good_by_band(others)]
        for each in own
        if band_of(each.score) in table
    ]


def _parts(found: Sequence[Any], *, whole: bool) -> Iterator[tuple[str, list[Any], list[Any]]]:
    def name(each: Any) -> str:
        return str(each.part).split(maxsplit=1)[0] if whole else str(each.part)

    for part in sorted({name(each) for each in found}):
        yield part, [each for each in found if name(each) == part], [each for each in found if name(each) != part]


def written(folder: Path) -> str:
    """The tables for `checks/answer/certainty.toml`."""
    found = list(signals(folder))
    table = fitted(found)
    types = sorted({each.type for each in found if each.type} & table.keys())
    kinds = sorted({each.kind for each in found if each.kind} & table.keys())
    lines = ["[type]", *(f"{type_} = {table[type_]:.2f}" for type_ in types), "", "[signal]"]
    lines += [f'"{kind}" = {table[kind]:.2f}' for kind in kinds]
    for band, good in good_by_band(list(scores(folder))).items():
        lines += ["", "[[score]]", f"least = {band}", f"good = {good:.2f}"]
    return "\n".join(lines)


def documented_clean() -> float:
    """The documented certainty of an answer without signals."""
    return certainty_of(())
