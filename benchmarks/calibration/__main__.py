"""Measure whether a published probability means what it says: reliability tables and the expected calibration error.

    python -m benchmarks.calibration answers FOLDER      signals, assessments and scores of `check_answer`
    python -m benchmarks.calibration results FILE_OR_FOLDER …
    python -m benchmarks.calibration repairs FOLDER      slips of models in calls of real tools, and what comes back
    python -m benchmarks.calibration findings [FILE]     findings of `assess`, against those that a person read

`answers` and `repairs` print the table that the package ships, too. `results`: the `certainty` of `check_result`. A
folder has a `tool_response.jsonl` with `text`, `label` and `meta.tool`; a file has rows with `text`, `kind` (or
`label`), and perhaps `tool`, `arguments` and `source`, such as `conformance/errors/errors.jsonl`. Texts that the rules
were written beside say little: what counts are sources that were left out.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.calibration import answers, findings, repairs, results
from benchmarks.calibration.reliability import show


def show_answers(path: Path) -> None:
    found, scored = list(answers.signals(path)), list(answers.scores(path))
    for title, judged in {
        "signals": answers.left_out([each for each in found if each.kind]),
        "signals, whole sources left out": answers.left_out([each for each in found if each.kind], whole=True),
        "assessments, as published": answers.left_out(found, clean=answers.documented_clean()),
        "scores, read as the share of good answers": answers.scores_left_out(scored),
        "scores, whole sources left out": answers.scores_left_out(scored, whole=True),
    }.items():
        print(f"\n{title}")
        show(judged)
    print(f"\n{answers.written(path)}")


def show_repairs(path: Path) -> None:
    found = repairs.measure(path).repaired
    show(repairs.left_out(found))
    print(f"\n{repairs.written(found)}")


def show_findings(path: Path) -> None:
    for line in findings.table(path):
        print(line)


PARTS: dict[str, Callable[[Path], None]] = {
    "answers": show_answers,
    "results": lambda path: show(list(results.results(path))),
    "repairs": show_repairs,
    "findings": show_findings,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("data", type=Path, nargs="*", default=[findings.WILD])
    arguments = parser.parse_args()
    for path in arguments.data:
        print(f"\n{path}")
        PARTS[arguments.part](path)


if __name__ == "__main__":
    main()
