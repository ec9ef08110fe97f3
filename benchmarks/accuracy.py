"""Measure how often `check_answer` is right on labelled JSONL: `python -m benchmarks.accuracy DATA > docs/accuracy.md`.

A row has `id, text, label, dataset, lang, license, meta`; a file is a task (`TASKS`). Our figures are taken twice from
one run: with the learned model, and with the phrases and rules alone. Beside them are the peers of `benchmarks.peers`,
and figures on texts that the authors had not read, from `first_figures.toml`. The data are not part of the project.
"""

import argparse
import gzip
import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import listed, tfidf
from benchmarks.ratchet import grounding
from benchmarks.tasks import TASKS, Task, source_of, text_of_row

from toolvet import AnswerQuality, check_answer, check_result
from toolvet.core.checks.answer.model.classifier import shipped
from toolvet.core.turn.check import verdict

# Their texts are shown by id only: completions under their providers' terms, and a share-alike licence.
IDS_ONLY = ("xstest", "szeged_wiki")
OPEN_LICENCES = ("Apache", "MIT", "CC-BY-4.0", "CC-BY ")
EXCERPT = 110
WEIGHS = 0.25
SHOWN = 8  # Examples of one kind of mistake in one source.


class Judged(NamedTuple):
    row: Mapping[str, Any]
    truth: bool
    full: AnswerQuality
    rules: AnswerQuality


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder of labelled JSONL")
    folder = parser.parse_args().data
    if not any((folder / f"{task.file}.jsonl").exists() for task in TASKS.values()):
        sys.exit(f"{folder} has none of the files of a labelled set, such as refusal.jsonl")
    judged = {
        name: list(judge(folder, task)) for name, task in TASKS.items() if (folder / f"{task.file}.jsonl").exists()
    }
    print("\n".join(page(folder, judged)))


def page(folder: Path, judged: Mapping[str, list[Judged]]) -> Iterator[str]:
    yield INTRODUCTION
    yield from summary(judged)
    for name, cases in judged.items():
        yield from section(name, TASKS[name], cases)
    yield from against_calls(folder)
    yield from claims(folder)
    yield from triage(folder)
    yield from confidence(folder)
    yield from evasion(folder)
    yield from hallucination(folder)
    yield from model_tier()
    yield from examples(judged)


def rows(folder: Path, name: str) -> Iterator[Mapping[str, Any]]:
    path = folder / f"{name}.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())


def judge(folder: Path, task: Task) -> Iterator[Judged]:
    for row in rows(folder, task.file):
        positive = row["label"] in task.positive
        is_open = row.get("meta", {}).get("contested", False)  # The text alone cannot settle these.
        if not is_open and (positive or task.negative is None or row["label"] in task.negative):
            full = check_answer(row["text"], min_length=task.min_length)
            yield Judged(row, positive, full, without_model(full))


def without_model(quality: AnswerQuality) -> AnswerQuality:
    return verdict([signal for signal in quality.signals if signal.source != "model"])


class Rates(NamedTuple):
    found: int
    missed: int
    alarms: int
    silent: int

    @property
    def precision(self) -> float | None:
        return self.found / (self.found + self.alarms) if self.found else None

    @property
    def recall(self) -> float | None:
        return self.found / (self.found + self.missed) if self.found + self.missed else None

    @property
    def f1(self) -> float | None:
        total = 2 * self.found + self.missed + self.alarms
        return 2 * self.found / total if self.found + self.missed else None

    @property
    def false_alarms(self) -> float | None:
        return self.alarms / (self.alarms + self.silent) if self.alarms + self.silent else None


def rates(cases: Iterable[Judged], says: Callable[[AnswerQuality], bool], *, which: str) -> Rates:
    count = Counter((case.truth, says(case.full if which == "full" else case.rules)) for case in cases)
    return Rates(count[True, True], count[True, False], count[False, True], count[False, False])


def percent(value: float | None) -> str:
    return "\u2013" if value is None else f"{100 * value:.1f} %"


def ratio(value: float | None) -> str:
    return "\u2013" if value is None else f"{value:.3f}"


def groups(cases: list[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    yield "all", cases
    for key in ("dataset", "lang"):
        parts: dict[str, list[Judged]] = defaultdict(list)
        for case in cases:
            parts[str(case.row.get(key))].append(case)
        if len(parts) > 1:
            yield from ((f"`{name}`", part) for name, part in sorted(parts.items()))


def summary(judged: Mapping[str, list[Judged]]) -> Iterator[str]:
    yield "| task | rows | F1, rules alone | F1, with the model | false alarms, rules alone | with the model |"
    yield "|---|---|---|---|---|---|"
    for name, cases in judged.items():
        rules, full = (rates(cases, TASKS[name].says, which=which) for which in ("rules", "full"))
        yield (
            f"| [{name}](#{name.lower().replace(' ', '-').replace(chr(39), '')}) | {len(cases)} | {ratio(rules.f1)} | "
            f"{ratio(full.f1)} | {percent(rules.false_alarms)} | {percent(full.false_alarms)} |"
        )
    yield ""


def section(name: str, task: Task, cases: list[Judged]) -> Iterator[str]:
    yield f"## {name}\n\n{task.question}\n"
    peers = {} if task.part_of is None else {"TF-IDF, left out": peer_of(task, cases)}
    peers |= {peer: listed([case.row for case in cases], phrases) for peer, phrases in task.lists.items()}
    columns = ("source or language", "rows", "positive", "precision", "recall", "F1, seen", "false alarms, seen")
    yield f"| {' | '.join((*columns, 'F1, rules alone', *(f'F1 (alarms), {peer}' for peer in peers)))} |"
    yield "|---" * (len(columns) + 1 + len(peers)) + "|"
    for group, part in groups(cases):
        full, rules = (rates(part, task.says, which=which) for which in ("full", "rules"))
        cells = (
            *(str(len(part)), str(full.found + full.missed), percent(full.precision), percent(full.recall)),
            *(ratio(full.f1), percent(full.false_alarms), ratio(rules.f1)),
            *(peer_cell(part, said) for said in peers.values()),
        )
        yield f"| {group} | {' | '.join(cells)} |"
    yield ""
    yield from first_figures(name)


def peer_of(task: Task, cases: list[Judged]) -> dict[str, bool]:
    truth = {str(case.row["id"]): case.truth for case in cases}
    if task.part_of is None:
        return {}
    return tfidf([case.row for case in cases], lambda row: truth[str(row["id"])], task.part_of, task.text_of)


def peer_cell(cases: list[Judged], said: Mapping[str, bool]) -> str:
    """The figures of a peer on the rows that it judged: F1, and its false alarms."""
    known = [case for case in cases if str(case.row["id"]) in said]
    if not known:
        return "\u2013"
    count = Counter((case.truth, said[str(case.row["id"])]) for case in known)
    found = Rates(count[True, True], count[True, False], count[False, True], count[False, False])
    return f"{ratio(found.f1)} ({percent(found.false_alarms)})"


def first_figures(name: str) -> Iterator[str]:
    """The first figures on texts that the authors of the rules had not read."""
    path = Path(__file__).parent / "first_figures.toml"
    entries = [each for each in tomllib.loads(path.read_text(encoding="utf-8"))["figure"] if each["task"] == name]
    if entries:
        yield "Unseen, before anybody read the texts; a later figure on the same rows is no longer unseen:\n"
        yield "| unseen source | rows | first figure | afterwards | when |\n|---|---|---|---|---|"
        for each in entries:
            cells = (each["source"], each.get("rows", "\u2013"), each["first"], each.get("after", ""), each["when"])
            yield f"| {' | '.join(map(str, cells))} |"
        yield ""


def against_calls(folder: Path) -> Iterator[str]:
    """How many true answers the calls of their turn make escalate."""
    path = folder / "grounding.jsonl.gz"
    if not path.exists():
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = grounding([json.loads(line) for line in file], folder)
    yield "## Answers held against their calls\n"
    yield "Messages of agents with all their calls and results, nearly all of them true: how many do the calls make"
    yield "escalate? (Seen; [grounding](grounding.md) has what is found where a true answer is altered.)\n"
    yield "| messages | rows | escalated |\n|---|---|---|"
    for name, figures in found.items():
        of = name.replace(": escalated by grounding", "").removeprefix("dataset=").replace("ALL", "all")
        yield f"| {of} | {figures['n']} | {percent(figures['share'])} |"
    yield ""
    yield from first_figures("Answers held against their calls")


def claims(folder: Path) -> Iterator[str]:
    """The shares of false successes that are found, by data set and by kind."""
    path = folder / "turn_claims.jsonl.gz"
    if not path.exists():
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        turns = [json.loads(line) for line in file]
    yield CLAIMS
    yield "| source | what is false | turns | as it ran | turns read back | with a read-back |"
    yield "|---|---|---|---|---|---|"
    parts: dict[tuple[str, str], list[tuple[bool, bool | None]]] = defaultdict(list)
    for row in turns:
        ran, read = escalates(row, row["calls"]), escalates(row, [*row["calls"], *row["probes"]])
        false = row["label"] == "false_success"
        names = ("all of them", row["meta"]["kind"]) if false else ("nothing: false alarms",)
        for name in names:
            parts[row["dataset"], name].append((ran, read if row["probes"] else None))
    for (dataset, name), found in sorted(parts.items()):
        read_back = [read for _, read in found if read is not None]
        shares = [
            percent(sum(each) / len(each)) if each else "\u2013" for each in ([ran for ran, _ in found], read_back)
        ]
        yield f"| `{dataset}` | {name} | {len(found)} | {shares[0]} | {len(read_back)} | {shares[1]} |"
    yield PUBLISHED
    yield from first_figures("False successes")


def escalates(row: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the calls make this answer escalate."""
    given = [{key: call[key] for key in ("name", "arguments", "result") if call.get(key) is not None} for call in calls]
    quality = check_answer(row["text"], calls=given, question=row["question"])
    return quality.should_escalate and any(
        signal.source == "calls" and signal.weight >= WEIGHS for signal in quality.signals
    )


def triage(folder: Path) -> Iterator[str]:
    """Whose fault an error was, beside a TF-IDF model that never saw the source."""
    errors = [
        row
        for row in rows(folder, "tool_response")
        if row["label"] != "success" and not row["meta"].get("contested", False)
    ]
    if not errors:
        return
    truth = {str(row["id"]): row["label"] == "tool_failure" for row in errors}
    ours = {str(row["id"]): _is_failure(row) for row in errors}
    peer = tfidf(errors, lambda row: truth[str(row["id"])], source_of, text_of_row)
    yield "## Errors: business or failure\n"
    yield "Did the tool fail, or did it work and refuse the call? Balanced accuracy is the mean of the shares of both"
    yield "that were recognised. [Results](results.md) has more.\n"
    yield "| source | errors | failures | balanced accuracy, seen | TF-IDF, left out |\n|---|---|---|---|---|"
    parts: dict[str, list[str]] = defaultdict(list)
    for row in errors:
        parts["all"].append(str(row["id"]))
        parts[f"`{row['dataset']}`"].append(str(row["id"]))
    for name, ids in parts.items():
        both = [ratio(balanced([(truth[each], said[each]) for each in ids if each in said])) for said in (ours, peer)]
        yield f"| {name} | {len(ids)} | {sum(truth[each] for each in ids)} | {both[0]} | {both[1]} |"
    yield ""
    yield from first_figures("Errors: business or failure")


def _is_failure(row: Mapping[str, Any]) -> bool:
    meta = row["meta"]
    answer = {"isError": True, "content": [{"type": "text", "text": row["text"]}]}
    verdict_on = check_result({"name": meta.get("tool") or "tool"}, meta.get("arguments") or {}, answer)
    return verdict_on.error_kind == "tool_failure"


def balanced(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """The mean of the recalls of both kinds; None where one of them is missing."""
    of_kind = [[said == truth for truth, said in pairs if truth is kind] for kind in (True, False)]
    return None if not all(of_kind) else sum(sum(each) / len(each) for each in of_kind) / 2


def confidence(folder: Path) -> Iterator[str]:
    """What each published confidence means, beside what was true."""
    from benchmarks.calibration.tables import section as calibrated  # noqa: PLC0415

    yield from calibrated(folder)


def evasion(folder: Path) -> Iterator[str]:
    evasive = [row for row in rows(folder, "refusal") if row["label"] == "evasive"]
    if evasive:
        flagged = sum(bool(check_answer(row["text"]).signals) for row in evasive)
        yield "## Evasive answers\n"
        yield f"Of {len(evasive)} answers that people found evasive, {flagged} have any signal. Most"
        yield "evade by what they leave out, in whole and polite sentences; a text alone rarely shows that.\n"


def hallucination(folder: Path) -> Iterator[str]:
    scored = [
        (check_answer(row["text"]).score, row["label"] == "hallucination") for row in rows(folder, "hallucination")
    ]
    wrong = [score for score, truth in scored if truth]
    right = [score for score, truth in scored if not truth]
    if wrong and right:
        wins = sum((one < two) + 0.5 * (one == two) for one in wrong for two in right)
        yield "## Hallucination, from the text alone\n"
        auc = wins / len(wrong) / len(right)
        yield f"AUC of the score over {len(scored)} answers: {auc:.3f}, where 0.5 is chance. toolvet claims nothing"
        yield "here: a text alone does not show whether it is true. Give it the turn's `calls`.\n"


def model_tier() -> Iterator[str]:
    yield "## The learned tier\n"
    yield "Asked only where a cue is found and nothing that decides. Below its threshold a label is not reported, and"
    yield "one that left-out sources give no ground for never is. How it was trained and measured:"
    yield "[the model's card](../src/toolvet/core/checks/answer/model/CARD.md).\n"
    yield "| label | reported from a probability of |\n|---|---|"
    for head in shipped().heads:
        yield f"| {head.label} | {head.threshold if head.threshold <= 1 else 'never'} |"
    yield ""


def examples(judged: Mapping[str, list[Judged]]) -> Iterator[str]:
    yield "## What remains wrong\n"
    yield f"The first {SHOWN} of each kind in each source, by id; with an excerpt where the licence allows.\n"
    for name, cases in judged.items():
        wrong: dict[tuple[str, str], list[Judged]] = defaultdict(list)
        for case in cases:
            said = TASKS[name].says(case.full)
            if said != case.truth:
                wrong["missed" if case.truth else "false alarm", str(case.row["dataset"])].append(case)
        if not wrong:
            continue
        yield f"### {name}\n\n| id | label | what we said | why | excerpt |\n|---|---|---|---|---|"
        for (kind, dataset), mistakes in sorted(wrong.items()):
            yield f"| **{dataset}** | {len(mistakes)} {kind} | | | |"
            yield from (
                example(case, TASKS[name]) for case in sorted(mistakes, key=lambda case: str(case.row["id"]))[:SHOWN]
            )
        yield ""


def example(case: Judged, task: Task) -> str:
    """One mistake, with the signal that made it or, where something was missed, the gravest that there is."""
    signals = case.full.signals
    guilty = [signal for signal in signals if task.says(verdict([signal]))]
    top = next(iter((*guilty, *signals)), None)
    said = "nothing" if top is None else f"{top.type.value}{f' ({top.label})' if top.label else ''}, by {top.source}"
    shown = case.row["dataset"] not in IDS_ONLY and str(case.row.get("license", "")).startswith(OPEN_LICENCES)
    why = plain(top.evidence, 60) if top is not None and shown else ""
    start = max(0, (top.position or 0) - 30) if top is not None else 0
    excerpt = plain(case.row["text"][start:], EXCERPT) if shown else ""
    return f"| {case.row['id']} | {case.row['label']} | {said} | {why} | {excerpt} |"


def plain(text: str, most: int) -> str:
    """Text for a cell of a table, on one line."""
    line = " ".join(text[: 2 * most].split())
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return "".join(f"\\{character}" if character in "|`*_<>[]\\" else character for character in line)


INTRODUCTION = """# How right the answer check is

Written by `make accuracy DATA=folder` (`benchmarks/accuracy.py`) from a folder of labelled JSONL; don't edit.

The rows are real answers from public sources, labelled by people or by two judges who agree: `do_not_answer` (LibrAI),
`xstest`, SpeechMap (`speechmap_*`: essays critical of governments, asked of many models), HaluEval
(`halueval_general`), TruthfulQA (`truthfulqa_info`), ToolBench answers, transcripts of agents (`agentdojo_luna`,
`tau2_toolorchestra_gpt5`, `toolathlon_trajs`), refusals in many languages (`polyrefuse_outputs`), and the Szeged
uncertainty corpus (`szeged_wiki`). They are not part of toolvet. Up to 4 % of the labels are wrong.

Three kinds of figures are kept apart:

- **seen**: rows of the tables below. Phrases are families of grammar and not rows, but their authors saw the mistakes
  on these rows. Expect less on texts from elsewhere.
- **left out**: a model that was trained on all sources but the one of the row. The TF-IDF columns are a peer of that
  kind: words and pairs of words, a logistic regression, five minutes of work. The published lists are those by which
  the literature counts refusals (GCG, Zou et al. 2023); they were not fitted to these rows.
- **unseen**: texts on which the finished rules were run before anybody read them. That first figure is the one to
  trust, and stays as it was. [held-out.md](held-out.md) has more of them.
"""

CLAIMS = """## False successes

Answers that say that something was done, held against the request and the calls. claimcheck-bench v1 (Apache-2.0; the
train split) is synthetic: four domains with injected falsehoods. agenthallu-bench (MIT; three of its models) has
answers that claim an action although the agent chose no tool. **As it ran** means that only the calls of the agent are
given. **With a read-back** means that they are followed by calls that read the state afterwards, if the set has them.
As it ran, 10 of the 72 false turns of claimcheck-bench do not differ from true ones: a call ended with `pending` or
`accepted`, as in true turns, or sent a value that the request does not name. (Seen.)
"""

PUBLISHED = """
On the other split of claimcheck-bench (48 false, 72 true turns), whose texts were not read, others found this many,
without a false alarm. The rules and the cascade need claims that are already structured, and declared rules; toolvet
reads the free text. The judges ask a model.

| | found of 48 | who measured |
|---|---|---|
| agent-claimcheck 0.1.1, its rules | 36 | its authors |
| the same, logistic regression | 32 | its authors |
| the same, cascade without a judge | 41 | its authors |
| qwen3-235b as the judge | 31 | its authors |
| mistral-small as the judge | 26 | its authors |
| deepseek-v4-flash as the judge | 0 | its authors |
| agentguard-eval 0.3.2 | 0 | we |
| toolvet before it compared the request, calls and answer | 7 | we |

τ-bench, airline, gpt-4o (1,290 messages, nearly all true): toolvet escalates none because of the calls, and finds 250
of 250 changed identifiers and 221 of 234 changed amounts. agentguard-eval 0.3.2 flags 3 messages, and finds 250 and
209.
"""


if __name__ == "__main__":
    main()
