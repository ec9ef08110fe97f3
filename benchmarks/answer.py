"""Measure the time of `check_answer` with all languages on: clean, failing and hostile texts, and a stream of chunks.

The peers are the same phrases in a loop of Python's `re` and, where `node` is on the path, of JavaScript's `RegExp`;
and the list of phrases by which much of the literature counts refusals. Node has the flag `i` alone, with which it is
up to four times as fast as with `iu`; a pattern that is refused so has both.

python -m benchmarks.answer
"""

# ruff: noqa: RUF001 - texts in several scripts

import re
from functools import partial
from itertools import pairwise

from benchmarks.harness import Job, Report, Way, here
from benchmarks.node import NodeProcess, node, node_version
from benchmarks.peers import GCG_LIST

from toolvet import AnswerStream, check_answer
from toolvet.core.checks.answer.phrases import phrases
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_re import ReEngine

PROSE = (
    "The harbour was quiet in the morning, and the ferries waited for the tide while the town woke up slowly. "
    "Two of the boats had been repaired over the winter; their owners expect a good season and many visitors. "
)
GERMAN = "Der Hafen war am Morgen ruhig, und die Fähren warteten auf die Flut, während die Stadt langsam erwachte. "
CHINESE = "清晨的港口很安静，渡轮在等待涨潮，而小镇正在慢慢醒来。"
FAILING = "I'm sorry, but I cannot help with that request. "


def sized(unit: str, size: int) -> str:
    """A text of `size` characters that ends with a whole sentence."""
    return (unit * (size // len(unit) + 1))[: size - 1].rstrip() + "."


CASES = {
    "1 KB, English, nothing wrong": sized(PROSE, 1_000),
    "10 KB, English, nothing wrong": sized(PROSE, 10_000),
    "1 KB, German, nothing wrong": sized(GERMAN, 1_000),
    "10 KB, German, nothing wrong": sized(GERMAN, 10_000),
    "1 KB, Chinese, nothing wrong": sized(CHINESE, 333),
    "10 KB, Chinese, nothing wrong": sized(CHINESE, 3_333),
    "1 KB, a refusal": FAILING + sized(PROSE, 950),
    "1 KB, cut off": sized(PROSE, 1_000)[:-1] + " and the",
}
HOSTILE = {
    "letters": "a",
    "quotes": '"',
    "nested quotes": "«“„",
    "fences": "```\n",
    "refusals": FAILING,
    "half phrases": "I cannot I cannot ",
    "apologies": "sorry sorry ",
    "spaces": " ",
    "surrogates": "\ud800x",
}
NODE = """
const { patterns, texts, list } = given;
const made = (each) => {
  for (const flags of ["i", "iu"]) try { return new RegExp(each, flags); } catch { /* the next */ }
  return null;
};
const usable = patterns.map(made).filter((each) => each);
const joined = new RegExp(list.join("|"));  // They have no special letters.
return {
  usable: () => usable.length,
  loop: (number) => { let hits = 0; for (const each of usable) if (each.test(texts[number])) hits++; return hits; },
  list: (number) => joined.test(texts[number]),
};
"""
LOST = "no start of a hit, no quotations, no verdict"
LITERATURE = "English refusals alone; no quotations, no verdict"


def beside(report: Report, process: NodeProcess | None) -> None:
    """Each text, by all."""
    matches = [each.phrase.match for each in phrases().by_id.values()]
    # `re` of Python 3.11 does not know the end of the text as `\\z`.
    loop = [re.compile(match.replace("\\z", "\\Z"), re.IGNORECASE) for match in matches]
    slow = ReEngine([translate(match, re.IGNORECASE, spans=False) for match in matches])
    about = f"{len(matches):,} phrases in {len(phrases().languages)} languages, on one or two sentences, repeated"
    for number, (name, text) in enumerate(CASES.items()):
        ways = [
            Way("toolvet", partial(check_answer, text)),
            Way("its pass over the phrases", partial(phrases().scan, text), lost="no verdict"),
        ]
        if process:
            clocks = [process.clock("loop", number)], [process.clock("list", number)]
            process.warm([clock for each in clocks for clock in each])
            usable = process.result("usable")
            lost = LOST if usable == len(matches) else f"{LOST}; {len(matches) - int(str(usable))} phrases"
            ways.append(Way.timed("the same phrases, Node", clocks[0], lost=lost))
            ways.append(Way.timed(f"{len(GCG_LIST)} phrases of the literature, Node", clocks[1], lost=LITERATURE))
        ways.append(Way("the same phrases, `re`", partial(searched, loop, text), lost="no quotations, no verdict"))
        ways.append(Way("our engine where hyperscan is not", partial(slow.find, text), lost="no verdict"))
        ways.append(Way(f"{len(GCG_LIST)} phrases of the literature, `in`", partial(listed, text), lost=LITERATURE))
        report.compare("One answer", name, ways, about=about, case_s=5)


def searched(loop: list[re.Pattern[str]], text: str) -> int:
    return sum(each.search(text) is not None for each in loop)


def listed(text: str) -> bool:
    return any(phrase in text for phrase in GCG_LIST)


def hostile(report: Report) -> None:
    """How the time grows with the length."""
    rows = []
    for name, unit in HOSTILE.items():
        texts = [unit * (size // len(unit)) for size in (100_000, 200_000, 400_000)]
        times = [least(partial(check_answer, text)) for text in texts]
        growth = ", ".join(f"{after / before:.1f}" for before, after in pairwise(times))
        rows.append([name, *(f"{each * 1e3:.2f} ms" for each in times), growth])
    columns = ["of", "100 KB", "200 KB", "400 KB", "growth"]
    report.table("Hostile answers", columns, rows, about="CPU time, the least of five")


def least(job: Job) -> float:
    """The CPU seconds of the quickest of a few runs."""
    clock = here(job)
    return min(clock(1).cpu for _ in range(5))


def stream(report: Report) -> None:
    """One more chunk of 20 characters after 1 KB, 10 KB, 100 KB and 1 MB."""
    for size in (1_000, 10_000, 100_000, 1_000_000):
        answer = AnswerStream()
        text = sized(PROSE, size)
        for start in range(0, size, 500):
            answer.feed(text[start : start + 500])
        ways = [Way("toolvet", partial(answer.feed, "the ferries waited. "))]
        if size <= 10_000:
            ways.append(Way("`check_answer` of the whole so far", partial(check_answer, text)))
        report.compare("One more chunk of a clean stream", f"after {size:,} characters", ways)


def main() -> None:
    texts = list(CASES.values())
    given = {"patterns": [each.phrase.match for each in phrases().by_id.values()], "texts": texts, "list": GCG_LIST}
    with Report("answer") as report, node(NODE, given) as process:
        if process:
            report.versions["Node"] = node_version()
        beside(report, process)
        stream(report)
        hostile(report)


if __name__ == "__main__":
    main()
