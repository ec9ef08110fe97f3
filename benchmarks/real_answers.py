"""Measure `check_answer` and `AnswerStream` on real answers, by kind: clean, typical, hit-rich, code, Chinese.

python -m benchmarks.real_answers [--rounds N] [--json]

The answers are the labelled rows beside the project (`shared/data`) where they stand, a sample with a fixed seed:

- clean: good answers in which no phrase is found;
- typical: good answers as they come, of 500 characters or more;
- hit-rich: good answers in which three or more phrases are found, and refusals;
- code and tables: good answers with a fence, or with three or more rows of a table;
- Chinese: answers in Chinese as they come.

Where that folder is missing, similar texts are put together: prose, code blocks and tables from the project's own
documentation, Chinese texts and texts with findings from the examples of the phrase files (`hits`). The table says
which of the two were measured.

Beside each figure stands the pass of the engine alone over the same texts, the least that any check costs, and the one
with `languages=["en"]`. All are CPU
time of the thread, in rounds that take turns, and the median of the rounds counts: that bears a busy machine.
"""

# ruff: noqa: S311, SLF001 - Samples, chosen by a seed; the pass alone is no public call.

import json
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.harness import Report, shown
from benchmarks.hostile import report_worst

from toolvet import AnswerStream, check_answer
from toolvet.core.checks.answer.phrases import phrases, read_phrases
from toolvet.core.checks.answer.read import find
from toolvet.core.matching.engine_hyperscan import HyperscanEngine
from toolvet.core.matching.letters import as_ascii

PROJECT = Path(__file__).resolve().parents[1]
DATA = PROJECT.parent / "shared" / "data"
SAMPLE = 200
STREAMS = 12
TOKEN = re.compile(r"\s?\S{1,12}|\s")
TABLE = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)

WHAT = ("raw", "English", "check", "stream")

Texts = dict[str, list[str]]


def rows(name: str) -> list[dict[str, str]]:
    path = DATA / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def is_code(text: str) -> bool:
    return "```" in text or len(TABLE.findall(text)) >= 3


def real() -> Texts:
    """The kinds, of real answers."""
    good = [row["text"] for name in ("good_answer", "truncation") for row in rows(name) if row["label"] != "truncated"]
    good += [row["text"] for row in rows("refusal") if row["label"] == "compliance" and row["lang"] == "en"]
    long = [text for text in good if len(text) >= 500]
    refusals = [row["text"] for row in rows("refusal") if row["label"] == "refusal"]
    found = {text: len(find(text)) for text in long}
    return {
        "clean": [text for text in long if not found[text]],
        "typical": long,
        "hit-rich": [text for text in long if found[text] >= 3] + refusals,
        "code and tables": [text for text in long if is_code(text)],
        "Chinese": [row["text"] for row in rows("refusal") if row["lang"] == "zh"],
    }


def made() -> Texts:
    """The kinds, of the project's own pages and proofs."""
    rest = random.Random(7)
    pages = [
        path.read_text(encoding="utf-8") for path in sorted(PROJECT.glob("*.md")) + sorted(PROJECT.glob("docs/*.md"))
    ]
    blocks = [block for page in pages for block in re.split(r"\n(?=#)", page) if len(block) > 400]
    known = [each for each in read_phrases().values() if not each.phrase.cue]
    english = [text for each in known if each.language == "en" for text in each.phrase.hits]
    chinese = [
        text
        for each in known
        if each.language == "zh"
        for text in (*each.phrase.misses, *each.phrase.misses, *each.phrase.hits)
    ]
    prose = [block for block in blocks if not is_code(block)]
    return {
        "clean": [block for block in prose if not find(block)],
        "typical": blocks,
        "hit-rich": [
            f"{rest.choice(english)} {block} {rest.choice(english)}\n\n{rest.choice(english)}" for block in prose
        ],
        "code and tables": [block for block in blocks if is_code(block)],
        "Chinese": ["\n".join(rest.sample(chinese, 12)) for _ in range(SAMPLE)],
    }


def kinds() -> tuple[str, Texts]:
    texts = real() if DATA.exists() else made()
    chosen = {kind: random.Random(16).sample(every, min(SAMPLE, len(every))) for kind, every in texts.items() if every}
    return "real answers" if DATA.exists() else "the project's own pages and proofs", chosen


def cpu_us(run: Callable[[], object]) -> float:
    """CPU time of this thread, in µs."""
    start = time.thread_time_ns()
    run()
    return (time.thread_time_ns() - start) / 1000


def raw(engine: HyperscanEngine, texts: Sequence[str]) -> None:
    """The pass of the engine alone."""
    for text in texts:
        engine._ends(as_ascii(text).encode("utf-8", "replace"))


def checked(texts: Sequence[str]) -> None:
    for text in texts:
        check_answer(text)


def streamed(tokens: Sequence[Sequence[str]]) -> None:
    for each in tokens:
        stream = AnswerStream()
        for token in each:
            stream.feed(token)


def main() -> None:
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 7
    source, texts = kinds()
    engine, english = (each._engine for each in (phrases().pattern_set, phrases().only(frozenset({"en"}))))
    assert isinstance(engine, HyperscanEngine)
    assert isinstance(english, HyperscanEngine)
    tokens = {kind: [TOKEN.findall(text) for text in every[:STREAMS]] for kind, every in texts.items()}
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for kind, every in texts.items():
            for what, run, parts in (
                ("raw", partial(raw, engine, every), len(every)),
                ("English", partial(raw, english, every), len(every)),
                ("check", partial(checked, every), len(every)),
                ("stream", partial(streamed, tokens[kind]), sum(map(len, tokens[kind]))),
            ):
                us = cpu_us(run) / parts
                if number:  # The first round warms up.
                    taken.setdefault((kind, what), []).append(us)
    median = {key: statistics.median(each) for key, each in taken.items()}
    if "--json" in sys.argv:
        print(json.dumps({kind: {what: median[kind, what] for what in WHAT} for kind in texts}))
        return
    rows = []
    for kind, every in texts.items():
        letters = statistics.mean(map(len, every))
        one, english_alone, whole, token = (median[kind, what] for what in WHAT)
        figures = (*map(shown, (one, english_alone, whole)), f"{whole / one:.1f}", shown(token))
        rows.append([kind, len(every), f"{letters:,.0f}", *figures])
    with Report("real_answers") as report:
        columns = [
            "kind",
            "answers",
            "letters",
            "one pass",
            "English alone",
            "check",
            "times one pass",
            "a token, streamed",
        ]
        about = f"{source}, CPU time, median of {rounds} rounds"
        report.table("Answers as they come", columns, rows, about=about)
        report_worst(report)


if __name__ == "__main__":
    main()
