"""Measure `off_topic` and `contradictions`: `python -m benchmarks.semantics DATA`, labelled JSONL with `meta.prompt`.

Good answers are compared with their own question (calling one off topic is a false alarm) and with another question of
the same source (calling one off topic is a hit); two good answers to one question are compared with each other, and
need not contradict each other.
"""

import json
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from toolvet.agents.integrations.embedding import WordLlamaEmbedder
from toolvet.core.turn.consistency import contradictions, off_topic

GOOD = ("ok", "informative", "compliance")
FILES = ("good_answer", "refusal")
NOT_ENGLISH_OR_WITHHELD = ("xstest", "speechmap_zh_china_criticism")


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: {sys.argv[0]} DATA, a folder of labelled JSONL")
    embedder = WordLlamaEmbedder()
    sources: dict[str, dict[str, str]] = defaultdict(dict)
    for file in FILES:
        path = Path(sys.argv[1]) / f"{file}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            if row["label"] in GOOD and row["dataset"] not in NOT_ENGLISH_OR_WITHHELD and row["meta"].get("prompt"):
                sources[row["dataset"]][row["text"]] = row["meta"]["prompt"]
    total: Counter[str] = Counter()
    for source, asked in sorted(sources.items()):
        count: Counter[str] = Counter()
        questions = list(asked.values())
        for place, (answer, question) in enumerate(asked.items()):
            own = off_topic(question, answer, embedder)
            if own.state == "checked":
                other = questions[(place + len(questions) // 3) % len(questions)]
                count["answers"] += 1
                count["false alarms"] += own.signal is not None
                count["found"] += off_topic(other, answer, embedder).signal is not None
        answers: dict[str, list[str]] = defaultdict(list)
        for answer, question in asked.items():
            answers[question].append(answer)
        for question, same in answers.items():
            for one, two in pairwise(same):
                count["pairs"] += 1
                count["clashes"] += bool(contradictions([(question, one), (question, two)], embedder).contradictions)
        print(f"{source:28} {report(count)}")
        total += count
    print(f"{'all':28} {report(total)}")


def report(count: Counter[str]) -> str:
    answers = count["answers"] or 1
    return (
        f"{count['answers']} answers: {count['false alarms'] / answers:.1%} off topic, of others' questions "
        f"{count['found'] / answers:.0%}; {count['pairs']} pairs, {count['clashes']} clash"
    )


if __name__ == "__main__":
    main()
