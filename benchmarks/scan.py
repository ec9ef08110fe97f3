"""Measure one pass over all phrases of the answer check, beside a loop of the same patterns in Node and in `re`.

python benchmarks/scan.py                     # all of it
python benchmarks/scan.py --patterns [N]      # the N most expensive patterns, each alone: for authors of phrases

All three run in turns in one process tree, and the best of the rounds counts. Node is started where it is installed; it
loops over precompiled regular expressions with the flags /iu.
"""
# ruff: noqa: RUF001 - Text in many scripts is the subject.

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from toolvet.checks.answer.phrases import phrases
from toolvet.matching import Pattern, PatternSet
from toolvet.prose import masks

PROMISED_MS = 5  # For 10 KB, in the document that describes such a check.
SENTENCES = {
    "English": "The harbour was quiet in the morning, and the ferries waited for the tide while the town woke up. ",
    "English, curly": "The harbour’s quiet in the morning, and “the ferry” waits for the tide while it’s early. ",
    "French": "Le port était calme le matin, et les ferrys attendaient la marée pendant que la ville s'éveillait. ",
    "Russian": "Гавань была тихой утром, и паромы ждали прилива, пока город медленно просыпался. ",
    "Arabic": "كان الميناء هادئا في الصباح، وانتظرت العبارات المد بينما استيقظت المدينة ببطء. ",
    "Hindi": "सुबह बंदरगाह शांत था, और नावें ज्वार का इंतज़ार कर रही थीं जबकि शहर जाग रहा था। ",
    "Chinese": "早晨的港口很安静，渡轮等待着潮水，小镇慢慢地醒来。在此之后，人们开始工作。",
    "Japanese": "港は朝静かで、フェリーは潮を待ち、町はゆっくりと目を覚ました。",
    "Persian, joiners": "بندر صبح آرام بود و کشتی‌ها منتظر جزر و مد بودند در حالی که شهر بیدار می‌شد. ",
    "French, in two parts": "Le port e\u0301tait calme le matin, et les ferrys attendaient la mare\u0301e. ",
}
HOSTILE = {
    "one letter": "a",
    "spaces": " ",
    "I cannot": "I cannot ",
    "I'm not sure but": "I’m not sure but ",
    "not not not": "not ",
    "near hits": "ich kann kanne nichts ",
    "не могут": "не могут ",
    "抱歉": "抱歉，",
    "accents": "e\u0301",
    "joiners": "\u200b",
}
NODE = """
const patterns = [];
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { text, repeats, sources } = JSON.parse(line);
  for (const source of sources ?? []) {
    try { patterns.push(new RegExp(source, "iu")); } catch { /* Node says no to it: left out. */ }
  }
  if (sources) return console.log(patterns.length);
  let hits = 0;
  const start = process.hrtime.bigint();
  for (let round = 0; round < repeats; round++) for (const pattern of patterns) if (pattern.exec(text)) hits++;
  console.log(Number(process.hrtime.bigint() - start) / 1e3 / repeats);
});
"""


class Node:
    """A loop over the patterns in Node."""

    def __init__(self, program: str, sources: list[str]) -> None:
        self._process = subprocess.Popen(
            [program, "-e", NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.patterns = int(self._answer({"sources": sources}))

    def _answer(self, question: dict[str, object]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def us(self, text: str) -> float:
        """Microseconds for one round over `text`."""
        return float(self._answer({"text": text, "repeats": 3}))

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


def of_size(sentence: str, size: int) -> str:
    """About `size` bytes of it."""
    return (sentence * (size // len(sentence.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")


def us(run: Callable[[], object], seconds: float = 0.02) -> float:
    start = time.perf_counter()
    run()
    repeats = max(1, min(2_000, int(seconds / max(time.perf_counter() - start, 1e-7))))
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats * 1e6


def compare(scan: Callable[[str], object], sources: list[str]) -> None:
    program = shutil.which("node")
    node = Node(program, sources) if program else None
    # `re` of Python 3.11 does not know the end of the text as `\\z`.
    loop = [re.compile(source.replace("\\z", "\\Z"), re.IGNORECASE) for source in sources]
    print(f"{len(sources)} phrases; Node: {f'{node.patterns} of them' if node else 'not installed'}\n")
    print(f"{'clean text':16}{'size':>8}{'one pass':>12}{'Node loop':>14}{'re loop':>14}{'x Node':>9}{'x re':>8}")
    for name in ("English", "Russian", "Chinese"):
        for size in (1_000, 10_000, 100_000):
            text = of_size(SENTENCES[name], size)
            ours, theirs, pythons = [], [], []
            for number in range(9):
                ours.append(us(partial(scan, text)))
                if node and number < 3:
                    theirs.append(node.us(text))
                if number < 1:
                    pythons.append(us(lambda text=text: [each.search(text) for each in loop], 0))  # type: ignore[misc]
            best, by_re = min(ours), min(pythons)
            by_node = min(theirs) if theirs else float("nan")
            print(f"{name:16}{size:8}{best:9.1f} µs{by_node:11.0f} µs{by_re:11.0f} µs", end="")
            print(f"{by_node / best:8.0f}x{by_re / best:7.0f}x", end="")
            times = PROMISED_MS * 1000 / best
            print(f"   {times:.0f} times under the promised {PROMISED_MS} ms" if size == 10_000 else "")
    if node:
        node.end()


def in_languages(scan: Callable[[str], object]) -> None:
    print(f"\n{'one pass, 10 KB':24}{'scan':>10}{'masks':>12}   (masks are asked for only where something hit)")
    for name, sentence in SENTENCES.items():
        text = of_size(sentence, 10_000)
        best = min(us(partial(scan, text)) for _ in range(9))
        masked = min(us(partial(masks, text)) for _ in range(5))
        print(f"{name:24}{best:7.1f} µs{masked:9.0f} µs")


def worst(scan: Callable[[str], object]) -> None:
    print(f"\n{'hostile text, scan + masks':28}{'25 KB':>10}{'50 KB':>13}{'100 KB':>13}     growth per doubling")

    def both(text: str) -> None:
        scan(text)
        masks(text)

    for name, unit in HOSTILE.items():
        times = [min(us(partial(both, of_size(unit, size))) for _ in range(3)) for size in (25_000, 50_000, 100_000)]
        growth = " ".join(f"{after / before:.1f}" for before, after in pairwise(times))
        print(f"{name:24}" + "".join(f"{each:10.0f} µs" for each in times) + f"     {growth}")


def cold(scan: Callable[[str], object]) -> None:
    """After 20 ms of rest and with the processor's caches full of something else."""
    taken: dict[int, list[float]] = {1_000: [], 10_000: []}
    rubbish = bytes(range(256)) * 250_000
    for _ in range(9):
        for size, times in taken.items():
            text = of_size(SENTENCES["English"], size)
            time.sleep(0.02)
            rubbish.count(b"x")
            start = time.perf_counter()
            scan(text)
            times.append((time.perf_counter() - start) * 1e6)
    print("\ncold: " + ", ".join(f"{size // 1000} KB {sorted(times)[4]:.0f} µs" for size, times in taken.items()))


def dearest(many: int) -> None:
    """Return the time of each pattern alone over 10 KB of English, above that of a pattern that is never found."""
    text = of_size(SENTENCES["English"], 10_000)
    floor = min(us(partial(PatternSet([Pattern("x", "zzqqzzqq")]).scan, text)) for _ in range(9))
    costs: list[tuple[float, str]] = []
    for identifier, known in phrases().by_id.items():
        alone = PatternSet([Pattern(identifier, known.phrase.match)])
        costs.append((min(us(partial(alone.scan, text), 0.002) for _ in range(3)) - floor, identifier))
    costs.sort(reverse=True)
    print(f"µs above {floor:.1f}")
    for cost, identifier in costs[:many]:
        print(f"{cost:7.1f}  {identifier:32} {phrases().by_id[identifier].phrase.match[:100]}")


def main() -> None:
    if "--patterns" in sys.argv:
        dearest(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
        return
    sources = [known.phrase.match for known in phrases().by_id.values()]
    scan = PatternSet(Pattern(str(number), source) for number, source in enumerate(sources)).scan
    compare(scan, sources)
    in_languages(scan)
    worst(scan)
    cold(scan)


if __name__ == "__main__":
    main()
