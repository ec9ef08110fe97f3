"""Measure the time of `check_answer` with all languages on: clean, failing and hostile texts, and a stream of chunks.

The peers are a loop of the same phrases in Python's `re` and, where `node` is on the path, in JavaScript; all run in
turns. The document that the check comes from promises less than 5 ms for 10 KB.

python benchmarks/answer.py
"""

# ruff: noqa: RUF001 - texts in several scripts

import json
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from toolvet import AnswerStream, check_answer
from toolvet.checks.answer.phrases import phrases
from toolvet.matching.dialect import translate
from toolvet.matching.engine_re import ReEngine

PROSE = (
    "The harbour was quiet in the morning, and the ferries waited for the tide while the town woke up slowly. "
    "Two of the boats had been repaired over the winter; their owners expect a good season and many visitors. "
)
GERMAN = "Der Hafen war am Morgen ruhig, und die Fähren warteten auf die Flut, während die Stadt langsam erwachte. "
CHINESE = "清晨的港口很安静，渡轮在等待涨潮，而小镇正在慢慢醒来。"
FAILING = "I'm sorry, but I cannot help with that request. "


def sized(unit: str, size: int) -> str:
    """So many characters, ending with a whole sentence."""
    return (unit * (size // len(unit) + 1))[: size - 1].rstrip() + "."


CASES = {
    "1 KB clean": sized(PROSE, 1_000),
    "10 KB clean": sized(PROSE, 10_000),
    "100 KB clean": sized(PROSE, 100_000),
    "1 KB clean, German": sized(GERMAN, 1_000),
    "10 KB clean, German": sized(GERMAN, 10_000),
    "1 KB clean, Chinese": sized(CHINESE, 333),
    "10 KB clean, Chinese": sized(CHINESE, 3_333),
    "1 KB, a refusal": FAILING + sized(PROSE, 950),
    "10 KB, a refusal": FAILING + sized(PROSE, 9_950),
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
const { patterns, texts, budget } = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
const compiled = patterns.map((each) => { try { return new RegExp(each, 'iu'); } catch { return null; } });
const usable = compiled.filter((each) => each);
const scan = (text) => { let hits = 0; for (const each of usable) if (each.exec(text)) hits++; return hits; };
const result = { usable: usable.length, us: {} };
for (const [name, text] of Object.entries(texts)) {
  const rounds = []; const end = performance.now() + budget; scan(text);
  while (performance.now() < end || rounds.length < 3) {
    const start = performance.now(); scan(text); rounds.push(1000 * (performance.now() - start));
  }
  rounds.sort((one, other) => one - other); result.us[name] = rounds[rounds.length >> 1];
}
console.log(JSON.stringify(result));
"""


def median_us(run: Callable[[], object], budget: float = 0.25) -> float:
    run()
    start = time.perf_counter()
    run()
    repeats = max(1, min(2_000, int(0.02 / max(time.perf_counter() - start, 1e-7))))
    rounds: list[float] = []
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(rounds) < 3:
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        rounds.append((time.perf_counter() - start) / repeats)
    return statistics.median(rounds) * 1e6


def in_node(patterns: list[str], texts: dict[str, str]) -> dict[str, float]:
    """Median µs per text of a loop of precompiled expressions in Node, for as many as its dialect knows."""
    node = shutil.which("node")
    if node is None:
        print("no node on the path: its column is empty")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        script, given = Path(folder, "loop.js"), Path(folder, "given.json")
        script.write_text(NODE, encoding="utf-8")
        given.write_text(json.dumps({"patterns": patterns, "texts": texts, "budget": 150}), encoding="utf-8")
        done = subprocess.run([node, script, given], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    print(f"node runs {told['usable']} of them")
    return {name: float(us) for name, us in told["us"].items()}


def main() -> None:
    known = phrases().by_id.values()
    print(f"{len(known)} phrases, {len(phrases().languages)} languages")
    matches = [each.phrase.match for each in known]
    loop = ReEngine([translate(match, re.IGNORECASE, spans=False) for match in matches])
    node = in_node(matches, {name: text for name, text in CASES.items() if len(text) < 20_000})
    print(f"\n{'':24}{'check_answer':>14}{'phrases alone':>15}{'node loop':>12}{'ratio':>7}{'re loop':>12}{'ratio':>8}")
    for name, text in CASES.items():
        ours = median_us(partial(check_answer, text))
        scan = median_us(partial(phrases().scan, text))
        line = f"{name:24}{ours:11.1f} µs{scan:12.1f} µs"
        if name in node:
            python = median_us(partial(loop.find, text), budget=0.1)
            line += f"{node[name]:9.0f} µs{node[name] / ours:6.0f}x{python:9.0f} µs{python / ours:7.0f}x"
        print(line)
    print(f"\nhostile texts{'':18}100 KB     200 KB     400 KB     growth per doubling")
    for name, unit in HOSTILE.items():
        times = [
            median_us(partial(check_answer, unit * (size // len(unit))), 0.05) for size in (100_000, 200_000, 400_000)
        ]
        growth = " ".join(f"{after / before:.1f}" for before, after in pairwise(times))
        print(f"{name:24}" + "".join(f"{each / 1000:8.2f} ms" for each in times) + f"     {growth}")
    stream(PROSE)


def stream(unit: str) -> None:
    """One more chunk of 20 characters after 1 KB, 10 KB, 100 KB and 1 MB."""
    print("\none more chunk of a stream")
    for size in (1_000, 10_000, 100_000, 1_000_000):
        answer = AnswerStream()
        for start in range(0, size, 500):
            answer.feed(sized(unit, size)[start : start + 500])
        print(f"after {size:9,} characters{median_us(partial(answer.feed, 'the ferries waited. '), 0.1):11.1f} µs")


if __name__ == "__main__":
    main()
