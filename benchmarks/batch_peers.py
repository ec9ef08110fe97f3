"""Other programs that look for the same phrases in many rows: two processes of each, which read a number of texts.

- `scan`: one pass of our engine over each text, with the same databases: the least that looking costs;
- `re`: each phrase of the answer check as a regular expression of Python, searched in each text;
- Node: the same in JavaScript.

The expressions are compiled before, and the texts are in memory: neither reads Parquet, finds the start of a hit, knows
a quotation from a statement, or writes a verdict. benchmarks/answer.py has the same peers on single texts.

    python -m benchmarks.batch_peers scan|re TEXTS    a process: for each line {"number": 7} on stdin 7 further texts
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.answer import searched
from benchmarks.harness import Taken
from benchmarks.node import NodeProcess, node

from toolvet.core.checks.answer.phrases import phrases
from toolvet.core.matching.patterns import RowScan

PROCESSES: Final = 2
NODE: Final = """
const { patterns, texts } = given;
const made = (each) => {
  for (const flags of ["i", "iu"]) try { return new RegExp(each, flags); } catch { /* the next */ }
  return null;
};
const usable = patterns.map(made).filter((each) => each);
let at = 0;
return {
  usable: () => usable.length,
  search: (number) => {
    let hits = 0;
    for (let turn = 0; turn < number; turn++) {
      const text = texts[at++ % texts.length];
      for (const each of usable) if (each.test(text)) hits++;
    }
    return hits;
  },
};
"""


def matches() -> list[str]:
    """The phrases, as they are written."""
    return [each.phrase.match for each in phrases().by_id.values()]


def scanner() -> Callable[[str], object]:
    """One pass of the engine."""
    scan = RowScan(phrases().pattern_set)
    return lambda text: scan.scan(text.encode())


def searcher() -> Callable[[str], object]:
    """Each phrase by itself. `re` of Python 3.11 does not know the end of the text as `\\z`."""
    loop = [re.compile(match.replace("\\z", "\\Z"), re.IGNORECASE) for match in matches()]
    return lambda text: searched(loop, text)


HOW: Final = {"scan": scanner, "re": searcher}


class Pair:
    """Two processes of one kind."""

    def __init__(self, processes: Sequence[NodeProcess]) -> None:
        self.processes = processes
        self._threads = ThreadPoolExecutor(len(processes))

    def __call__(self, rows: int) -> Taken:
        """The time both took together for `rows` rows, each a half of them at the same time."""
        each = max(1, rows // len(self.processes))
        taken = [*self._threads.map(lambda process: process.clock("search", each)(1), self.processes)]
        return Taken(sum(one.cpu for one in taken), max(one.wall for one in taken))


@contextmanager
def pairs(texts: Sequence[str], folder: Path) -> Iterator[dict[str, Pair]]:
    """The peers by name, each ready and warm. Node is omitted if it is not installed."""
    path = folder / "texts.json"
    path.write_text(json.dumps(list(texts)), encoding="utf-8")
    root = str(Path(__file__).parents[1])
    with ExitStack() as open_ones:
        found = {}
        for how in HOW:
            command = [sys.executable, "-m", "benchmarks.batch_peers", how, str(path)]
            processes = [NodeProcess(command, root) for _ in range(PROCESSES)]
            for process in processes:
                open_ones.callback(process.end)
            found[how] = Pair(processes)
        given = {"patterns": matches(), "texts": list(texts)}
        nodes = [open_ones.enter_context(node(NODE, given)) for _ in range(PROCESSES)]
        there = [process for process in nodes if process is not None]
        if len(there) == PROCESSES:
            found["node"] = Pair(there)
        for each in found.values():
            each(PROCESSES)
        yield found


def main(how: str, path: str) -> None:
    """Serve one of the pair."""
    texts: list[str] = json.loads(Path(path).read_text(encoding="utf-8"))
    look = HOW[how]()
    at = 0
    for line in sys.stdin:
        number: int = json.loads(line)["number"]
        chosen = [texts[place % len(texts)] for place in range(at, at + number)]
        at += number
        wall, cpu = time.perf_counter(), time.process_time()
        for text in chosen:
            look(text)
        told = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "result": number}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
