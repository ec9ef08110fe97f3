"""The healer that learns: a perceptron ranks the same small changes, by words that it has seen in texts of others.

It is trained on the texts of all families but the one that it heals, on calls of other tools. So it knows what words
such as "required" meant elsewhere.
"""

import random
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from benchmarks.healing.edits import Edit, edits
from benchmarks.healing.values import NOTHING, at, kind, written

_ROUNDS: Final = 3
_MOST_WORDS: Final = 12


class Example(NamedTuple):
    """A call, its error text, and the changes with whether each is what was meant."""

    call: Any
    changes: Sequence[tuple[Edit, bool]]


def features(call: Any, edit: Edit) -> list[str]:
    """The features of a change."""
    start = f"{edit.way} {edit.near:d}"
    return [
        edit.way,
        f"{start} named={edit.named:d}",
        f"{start} alike={edit.alike * 5:.0f}",
        f"{start} from={'' if (value := at(call, edit.path)) is NOTHING else kind(value)}",
        f"{start} members={min(len(call), 3)}",
        *(f"{start} {word}" for word in _words(edit.window)),
    ]


@lru_cache(maxsize=20_000)
def _words(window: str) -> Sequence[str]:
    return list(dict.fromkeys(re.findall(r"[a-z]{3,}", window.lower())))[:_MOST_WORDS]


class Ranker:
    """The weights of what it sees; all zero before it is trained."""

    def __init__(self) -> None:
        self.weights: dict[str, float] = defaultdict(float)

    def score(self, call: Any, edit: Edit) -> float:
        """How much speaks for it."""
        return sum(self.weights.get(each, 0.0) for each in features(call, edit))

    def train(self, examples: Sequence[Example], seed: int) -> None:
        """An averaged perceptron: the best right change shall be before the best wrong one."""
        rng = random.Random(seed)  # noqa: S311 - the same weights for the same seed
        sums: dict[str, float] = defaultdict(float)
        seen = 0
        usable = [
            (
                [list(features(example.call, edit)) for edit, right in example.changes if right],
                [list(features(example.call, edit)) for edit, right in example.changes if not right],
            )
            for example in examples
        ]
        usable = [each for each in usable if each[0] and each[1]]
        for _ in range(_ROUNDS):
            for right, wrong in rng.sample(usable, len(usable)):
                seen += 1
                best, worst = max(right, key=self._sum), max(wrong, key=self._sum)
                if self._sum(best) <= self._sum(worst) + 1:
                    for each, sign in [*((name, 1) for name in best), *((name, -1) for name in worst)]:
                        self.weights[each] += sign
                        sums[each] += sign * seen
        self.weights = {name: value - sums[name] / (seen + 1) for name, value in self.weights.items()}

    def _sum(self, names: Sequence[str]) -> float:
        return sum(self.weights.get(name, 0.0) for name in names)

    def heal(self, call: Any, text: str, tried: Collection[str]) -> Any:
        """The call after the change that it ranks first among those that were not tried before."""
        found = [edit for edit in edits(call, text) if written(edit.call) not in tried]
        return max(found, key=lambda edit: self.score(call, edit)).call if found else call
