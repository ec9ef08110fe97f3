"""Measure one pass over all phrases of the answer check, by languages and on hostile texts.

benchmarks/answer.py has the peers on the same phrases. The floor is reading the text as UTF-8, which any scanner needs.

python -m benchmarks.scan                     # all of it
python -m benchmarks.scan --patterns [N]      # the N most expensive patterns, each alone: for authors of phrases
"""
# ruff: noqa: RUF001 - Text in many scripts is the subject.

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from benchmarks.harness import Report, Way, here, shown

from toolvet.core.checks.answer.phrases import phrases
from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.prose import masks

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


def of_size(sentence: str, size: int) -> str:
    """About `size` bytes of it."""
    return (sentence * (size // len(sentence.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")


def us(run: Callable[[], object], repeats: int = 1) -> float:
    """CPU time of a run, in microseconds."""
    return here(run)(repeats).cpu / repeats * 1e6


def in_languages(report: Report, scan: Callable[[str], object]) -> None:
    for name, sentence in SENTENCES.items():
        text = of_size(sentence, 10_000)
        ways = [
            Way("one pass", partial(scan, text)),
            Way("masks", partial(masks, text), lost="asked for only where a hit may count"),
            Way("`str.encode`", partial(text.encode, "utf-8", "replace"), lost="looks for nothing"),
        ]
        report.compare("One pass over all phrases", f"10 KB, {name}", ways, about="one sentence, repeated", rounds=11)


def worst(report: Report, scan: Callable[[str], object]) -> None:
    def both(text: str) -> None:
        scan(text)
        masks(text)

    rows = []
    for name, unit in HOSTILE.items():
        times = [min(us(partial(both, of_size(unit, size))) for _ in range(3)) for size in (25_000, 50_000, 100_000)]
        growth = ", ".join(f"{after / before:.1f}" for before, after in pairwise(times))
        rows.append([name, *map(shown, times), growth])
    columns = ["of", "25 KB", "50 KB", "100 KB", "growth"]
    report.table("Hostile texts, one pass and masks", columns, rows, about="CPU time, the least of three")


def cold(report: Report, scan: Callable[[str], object]) -> None:
    """After 20 ms of rest and with the processor's caches full of something else."""
    taken: dict[int, list[float]] = {1_000: [], 10_000: []}
    rubbish = bytes(range(256)) * 250_000
    for _ in range(9):
        for size, times in taken.items():
            text = of_size(SENTENCES["English"], size)
            time.sleep(0.02)
            rubbish.count(b"x")
            times.append(us(partial(scan, text)))
    rows = [[f"{size // 1000} KB, English", shown(statistics.median(times))] for size, times in taken.items()]
    report.table("One pass with cold caches", ["", "CPU time, median of 9"], rows, about="after 20 ms of rest")


def dearest(many: int) -> None:
    """Return the time of each pattern alone over 10 KB of English, above that of a pattern that is never found."""
    text = of_size(SENTENCES["English"], 10_000)
    floor = min(us(partial(PatternSet([Pattern("x", "zzqqzzqq")]).scan, text), 100) for _ in range(9))
    costs: list[tuple[float, str]] = []
    for identifier, known in phrases().by_id.items():
        alone = PatternSet([Pattern(identifier, known.phrase.match)])
        costs.append((min(us(partial(alone.scan, text), 20) for _ in range(3)) - floor, identifier))
    costs.sort(reverse=True)
    print(f"µs above {floor:.1f}")
    for cost, identifier in costs[:many]:
        print(f"{cost:7.1f}  {identifier:32} {phrases().by_id[identifier].phrase.match[:100]}")


def main() -> None:
    if "--patterns" in sys.argv:
        dearest(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
        return
    scan = phrases().scan
    with Report("scan") as report:
        in_languages(report, scan)
        worst(report, scan)
        cold(report, scan)


if __name__ == "__main__":
    main()
