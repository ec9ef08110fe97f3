"""The section of docs/accuracy.md about confidence: each published number beside what was true, on parts left out."""

import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.calibration import answers, findings, repairs, results
from benchmarks.calibration.reliability import Judged, expected_error, reliability

from toolvet.core.schema.repairs.search import StepKind

MEANING = """## Meaning of a confidence

Every number that toolvet publishes about its own judgement is one of two things: a **probability**, measured and held
against data that were left out, or a **cost**, which is documented and only says what is worse than what.
"""
NUMBERS = Path(__file__).parent / "numbers.toml"
ERROR = (
    "\nExpected calibration error (ECE): the mean distance between what was said and what was true, over ten bins.\n"
)

ANSWERS = """### Answers

The tables were made again for each part of the data without that part: a source or, where a task has one source only,
the models of one vendor. The last column leaves out whole sources. Then `do_not_answer` takes nearly all unsure answers
with it: their signals have no figure, and their scores are read as those of better answers. A mild signal colours
an answer, and a good answer may have it, so good answers do not refute it. Rare kinds are drawn to their type
(`checks/answer/certainty.toml` says how).
"""

SCORES = """
The score of each answer, and the share of those that have a fault by their labels. Good answers that are cut off count
as good, as their labels say.
"""

REPAIRS = """### Repairs

Calls of the tools of {servers} real servers and of {functions} data sets of functions (BFCL), broken by {slips} slips
of models: the families of ToolScan and BFCL (a wrong name, type, value, format), in the forms that issue trackers
report, each as often as the schemas allow. Models make some more often than others, so the shares are about slips, not
about calls. The author of the slips had read the code of the repairs. Of {made} slips {repaired} got a repair. The
table of one half of the sources is held against the other half, both ways.
"""

FINDINGS = """### Findings of `assess`

Findings about 14 published servers, read one by one: *right*, *doubtful* (true, and of little use), or *wrong*.
The first table has what these servers get now, the last columns of the second the verdicts when they were first read,
one for each server and reason. Both are **seen**: the faults have been fixed since. A level with fewer than
ten findings, and nearly every single check, has too few to say more than that nothing contradicts it. That a property
has no description is a fact, which needs no reader to confirm it.
"""


def section(folder: Path) -> Iterator[str]:
    yield MEANING
    yield "| number | what it is |\n|---|---|"
    for number in tomllib.loads(NUMBERS.read_text(encoding="utf-8"))["number"]:
        yield f"| {number['name']} | {number['is']} |"
    yield ERROR
    yield from _answers(folder)
    if (folder / "tool_response.jsonl").exists():
        yield "### Results\n"
        yield "Seen: the rules were written beside these texts. [Results](results.md) has the first look at texts that"
        yield "were not.\n"
        yield from reliability_table(list(results.results(folder)), "verdicts")
    yield from _repairs(folder)
    yield FINDINGS
    yield from findings.table()
    yield ""


def _answers(folder: Path) -> Iterator[str]:
    found, scored = list(answers.signals(folder)), list(answers.scores(folder))
    if not found:
        return
    own = [each for each in found if each.kind]
    yield ANSWERS
    yield "| number | judged | ECE, parts left out | ECE, whole sources left out |\n|---|---|---|---|"
    clean = answers.documented_clean()
    for name, parts, whole in (
        ("`certainty` of a signal", answers.left_out(own), answers.left_out(own, whole=True)),
        ("`likely_good`", answers.scores_left_out(scored), answers.scores_left_out(scored, whole=True)),
        (
            "`assessment_confidence`, with 0.9 for answers without a signal",
            answers.left_out(found, clean=clean),
            answers.left_out(found, clean=clean, whole=True),
        ),
    ):
        yield f"| {name} | {len(parts)} | {expected_error(parts):.3f} | {expected_error(whole):.3f} of {len(whole)} |"
    yield "\n`certainty` of signals, parts left out:\n"
    yield from reliability_table(answers.left_out(own), "signals")
    yield "By type (said and right on parts left out):\n"
    yield "| type | signals | mean said | right |\n|---|---|---|---|"
    for type_, part in answers.left_out_by_type(own).items():
        said, right = (sum(getattr(each, name) for each in part) / len(part) for name in ("probability", "right"))
        yield f"| `{type_}` | {len(part)} | {said:.3f} | {right:.3f} |"
    yield SCORES
    yield "| score | answers | with a fault | `likely_good` |\n|---|---|---|---|"
    bands = (*answers.BANDS, None)
    for band, above, (_, count, faulty, good) in zip(bands, bands[1:], answers.by_band(scored), strict=False):
        name = f"{band:g}" if above is None else f"{band:g} to {above:g}"
        yield f"| {name} | {count} | {100 * faulty / count:.1f} % | {good:.2f} |"
    yield ""


def _repairs(folder: Path) -> Iterator[str]:
    measured = repairs.measure(folder)
    if not measured.repaired:
        return
    sources = {each.source for each in measured.repaired}
    yield REPAIRS.format(
        servers=sum(not source.startswith("bfcl") for source in sources),
        functions=sum(source.startswith("bfcl") for source in sources),
        slips=len(measured.made),
        made=sum(measured.made.values()),
        repaired=len(measured.repaired),
    )
    yield from reliability_table(repairs.left_out(measured.repaired), "repairs")
    other = repairs.elsewhere()
    yield f"On {len(other)} repairs of other slips, in other schemas (`tests/core/schema/repair/ways.py`, written "
    yield f"beside the repairs), the ECE of the published table is {expected_error(other):.3f}.\n"
    yield "| confidence | step | repairs | right | `certainty` |\n|---|---|---|---|---|"
    table = repairs.fitted(measured.repaired)
    for level in repairs.LEVELS:
        for kind in StepKind:
            own = [each for each in measured.repaired if each.kinds == frozenset({kind}) and each.confidence == level]
            if own:
                share = sum(each.right for each in own) / len(own)
                yield f"| {level} | {kind.value} | {len(own)} | {share:.3f} | {min(table[kind, level], 0.99):.2f} |"
    yield "\n| slip | made | repaired | of these right |\n|---|---|---|---|"
    for slip, made in measured.made.items():
        rights = [each.right for each in measured.repaired if each.slip == slip]
        share_right = f"{100 * sum(rights) / len(rights):.1f} %" if rights else "\u2013"
        yield f"| {slip} | {made} | {len(rights)} | {share_right} |"
    yield ""


def reliability_table(judged: Sequence[Judged], what: str) -> Iterator[str]:
    yield f"| said | {what} | mean said | right |\n|---|---|---|---|"
    for part in reliability(judged):
        yield f"| {part.low:.1f} to {part.low + 0.1:.1f} | {part.verdicts} | {part.said:.3f} | {part.true:.3f} |"
    yield f"\nExpected calibration error: {expected_error(judged):.3f}.\n"


def figures(folder: Path) -> dict[str, dict[str, Any]]:
    """The figures that the ratchet keeps: the calibration errors on parts left out, and the order of the score."""
    found, scored = list(answers.signals(folder)), list(answers.scores(folder))
    own = [each for each in found if each.kind]
    shares = [faulty / count for _, count, faulty, _ in answers.by_band(scored)]
    steps = list(pairwise(shares))
    return {
        "signals": {"ece": round(expected_error(answers.left_out(own)), 4)},
        "scores": {
            "ece": round(expected_error(answers.scores_left_out(scored)), 4),
            "in_order": round(sum(low > high for low, high in steps) / max(len(steps), 1), 4),
        },
    }


def repair_figures(folder: Path) -> dict[str, dict[str, Any]]:
    """The calibration error of repairs, and the share of repairs of high confidence that were right."""
    found = repairs.measure(folder).repaired
    sure = [each.right for each in found if each.confidence == "high"]
    return {
        "ALL": {"ece": round(expected_error(repairs.left_out(found)), 4), "precision": round(sum(sure) / len(sure), 4)}
    }
