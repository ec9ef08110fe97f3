"""Train the answer model from a folder of labelled JSONL: `python training/train_answer_model.py DATA [--write]`.

A thin wrapper over `toolvet.core.checks.answer.model.training.train`, which knows the files and what their labels mean.
Rows of `xstest` and `szeged_wiki` are never used (completions under their providers' terms; share-alike), nor those
with no licence stated or one that forbids commerce. Refusals alone would teach that their language is a refusal, so
only the English rows of `polyrefuse_outputs` are used. The hits and misses of the phrases are used as well: they are
our own sentences, and give the model its languages.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from toolvet.core.checks.answer.model.classifier import LABELS, Label, Model, judge
from toolvet.core.checks.answer.model.training import LabelledText, Trained, TrainingSettings, train
from toolvet.core.checks.answer.phrases import read_phrases
from toolvet.core.checks.answer.read import counting, find
from toolvet.core.prose import masks

NEVER_TRAINED_ON = ("xstest", "szeged_wiki")
NO_LICENCE = ("none stated", "CC-BY-NC", "CC BY-NC", "CC-BY-SA", "CC BY-SA")
REFUSALS_ONLY = "polyrefuse_outputs"
WEIGHTS = Path(__file__).parent.parent / "src/toolvet/core/checks/answer/model/weights.bin"

# The meaning of each file's labels: those that say yes, and those that the file leaves open.
MEANINGS: dict[tuple[str, str], tuple[set[Label], set[Label]]] = {
    ("refusal", "refusal"): ({"refusal"}, {"evasive"}),
    ("refusal", "partial_refusal"): (set(), {"refusal", "evasive"}),
    ("refusal", "evasive"): ({"evasive"}, {"refusal"}),
    ("refusal", "incapable_or_uncertain"): ({"incapable"}, {"evasive"}),
    ("refusal", "refutation"): (set(), {"evasive"}),
    ("refusal", "compliance"): (set(), set()),
    ("good_answer", "ok"): (set(), set()),
    ("good_answer", "compliance"): (set(), set()),
    ("good_answer", "informative"): (set(), set()),
    ("answer_tool_failure", "ok"): (set(), set()),
    ("answer_tool_failure", "no_result_report"): (set(), {"tool_failure", "incapable", "refusal", "evasive"}),
    ("answer_tool_failure", "tool_failure_report"): ({"tool_failure"}, {"incapable", "refusal", "evasive"}),
}
PHRASES = "phrases"
DECIDING = 0.3  # The cost of a signal that makes the model superfluous, as checks/answer/read.py has it.
LEFT_OUT_BY_MODEL = ("do_not_answer",)
# The same questions asked of the same models, about other governments.
LEFT_OUT_TOGETHER = {"speechmap_us_criticism": "speechmap_en", "speechmap_eu_criticism": "speechmap_en"}


def labelled(folder: Path) -> list[LabelledText]:
    """The rows of the folder's files that have a meaning here, each text once."""
    seen: dict[str, LabelledText] = {}
    for task in ("refusal", "answer_tool_failure", "good_answer"):
        path = folder / f"{task}.jsonl"
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            meaning = MEANINGS.get((task, row["label"])) if is_usable(row) else None
            if meaning and row["text"] not in seen:
                wrong, unsure = meaning
                seen[row["text"]] = LabelledText(
                    text=row["text"], source=source(row), wrong=frozenset(wrong), unsure=frozenset(unsure)
                )
    return list(seen.values())


def is_usable(row: dict[str, Any]) -> bool:
    """Whether a row may be learned from, or measured on."""
    if row["dataset"] in NEVER_TRAINED_ON:
        return True  # It is measured on; `main` leaves it out of what is learned from.
    if row["dataset"] == REFUSALS_ONLY and row["lang"] != "en":
        return False
    return not row["license"].startswith(NO_LICENCE) and not row["meta"].get("contested")


def source(row: dict[str, Any]) -> str:
    """Return the group that is left out together: a data set, or one model's answers where only one set has a label."""
    if row["dataset"] in LEFT_OUT_BY_MODEL:
        return f"{row['dataset']}/{row['meta']['model']}"
    name: str = row["dataset"]
    return LEFT_OUT_TOGETHER.get(name, name)


def own_sentences() -> list[LabelledText]:
    """The hits and misses of every phrase, by the meaning of the phrase."""
    rows: dict[str, LabelledText] = {}
    for known in read_phrases().values():
        if known.phrase.cue:
            continue
        name = known.phrase.label if known.phrase.label in LABELS else known.type.value
        wrong = frozenset(label for label in LABELS if label == name)
        for hit in known.phrase.hits if wrong else ():
            rows[hit] = LabelledText(text=hit, source=PHRASES, wrong=wrong, unsure=frozenset(LABELS) - wrong)
        for miss in known.phrase.misses:
            # A near miss of this phrase may be a hit of another.
            rows.setdefault(miss, LabelledText(text=miss, source=PHRASES, unsure=frozenset(LABELS) - wrong))
    return list(rows.values())


def left_open(text: str) -> bool:
    """Whether a cue is found in `text` and nothing that decides: then the model is asked."""
    found = find(text)
    told, undecided = counting(found, len(text), masks(text) if found else None)
    return undecided and not any(signal.weight > DECIDING for signal in told)


def report(trained: Trained) -> None:
    for head in trained.model.heads:
        print(f"{head.label}: reported from {head.threshold}")
        for each in trained.measured:
            if each.label == head.label:
                found = (
                    f"{each.found:3} of {each.positive:3} found, {each.false_alarms:2} false alarms in {each.texts:4}"
                )
                open_found = f"{each.open_found} of {each.open_positive}, {each.open_false_alarms} in {each.open_texts}"
                print(f"   {each.source:30} {found}; left open by the rules: {open_found}; AUC {each.auc}")


def held_out(model: Model, rows: list[LabelledText]) -> None:
    for label in LABELS:
        told = [row for row in rows if label not in row.unsure]
        reported = [any(each.label == label for each in judge(row.text, model=model)) for row in told]
        positive = [label in row.wrong for row in told]
        if any(positive) or any(reported):
            found = sum(p and r for p, r in zip(positive, reported, strict=True))
            print(
                f"   held out, {label}: {len(told)} texts, {sum(positive)} positive, {found} found, "
                f"{sum(reported) - found} false alarms"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="folders of labelled JSONL")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    arguments = parser.parse_args()
    every = [row for folder in arguments.data for row in labelled(folder)]
    rows = [row for row in every if row.source not in NEVER_TRAINED_ON] + own_sentences()
    trained = train(rows, TrainingSettings(unmeasured=frozenset({PHRASES})), left_open=left_open)
    report(trained)
    held_out(trained.model, [row for row in every if row.source in NEVER_TRAINED_ON])
    content = trained.model.to_bytes()
    digest = hashlib.sha256("\0".join(row.text for row in rows).encode("utf-8", "surrogatepass")).hexdigest()
    print(f"{len(rows)} texts, sha256 {digest}")
    print(f"{len(content)} bytes of weights, sha256 {hashlib.sha256(content).hexdigest()}")
    if arguments.write:
        WEIGHTS.write_bytes(content)


if __name__ == "__main__":
    main()
