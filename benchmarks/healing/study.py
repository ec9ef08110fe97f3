"""The study: each broken call at each library, each error text with each healer, up to three steps."""

import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.healing import rules, search
from benchmarks.healing.calls import Broken, Tool
from benchmarks.healing.edits import edits
from benchmarks.healing.libraries import Arguments, Judged, Library
from benchmarks.healing.ranker import Example, Ranker
from benchmarks.healing.values import written

from toolvet.core.json_value import same
from toolvet.core.schema import compiled

STEPS: Final = 3
_EXAMPLES: Final = 1_000  # That one ranker is trained on.

Heal = Callable[[Any, str, Collection[str]], Any]


class Outcome(NamedTuple):
    """After how many steps the call was accepted, and whether as it was meant; never: `step` is None."""

    step: int | None
    meant: bool


class Study:
    """One run: the calls, the libraries, and their judgements so far."""

    def __init__(self, tools: Sequence[Tool], rows: Sequence[Broken], libraries: Sequence[Library]) -> None:
        self.tools, self.rows, self.libraries = tools, rows, libraries
        self._judged: dict[tuple[str, int, str], Judged] = {}

    async def judge(self, library: Library, tool: int, arguments: Arguments) -> Judged:
        """The judgement of the library, kept: healers often make the same call."""
        key = (library.name, tool, json.dumps(arguments))
        if key not in self._judged:
            self._judged[key] = await library.judge(tool, arguments)
        return self._judged[key]

    async def first(self, library: Library) -> list[Judged]:
        """Its judgements of the calls as they were sent. It must accept each call as it was meant."""
        for row in self.rows:
            meant = await self.judge(library, row.tool, row.call)
            assert meant.text is None, f"{library.name} refuses the call that was meant: {row.call} {meant.text}"
        return [await self.judge(library, row.tool, row.sent) for row in self.rows]

    async def outcome(self, library: Library, row: Broken, heal: Heal) -> Outcome:
        """The outcome of one call."""
        call: Any = row.sent
        tried = {written(call)}
        for step in range(STEPS + 1):
            judged = await self.judge(library, row.tool, call)
            if judged.text is None:
                meant = await self.judge(library, row.tool, row.call)
                return Outcome(step, as_meant(judged.received, meant.received, row.open_members()))
            if step < STEPS:
                call = heal(call, _news(judged.text, row.tool, call), tried)
                if not isinstance(call, dict) or written(call) in tried:
                    break  # It has no further idea.
                tried.add(written(call))
        return Outcome(None, meant=False)

    async def outcomes(self, library: Library, healer: Callable[[Broken], Heal]) -> list[Outcome]:
        """The outcome of each call."""
        return [await self.outcome(library, row, healer(row)) for row in self.rows]

    async def rankers(self) -> Callable[[Library], Callable[[Broken], Heal]]:
        """For each library the rankers that were trained on the texts of other families.

        Those for calls of tools with an even number learned from tools with an odd one, and the other way round.
        """
        pool: list[tuple[str, int, Broken, str]] = []
        for library in self.libraries:
            judged = await self.first(library)
            pool += [
                (library.family, row.tool % 2, row, _news(each.text, row.tool, row.sent))
                for row, each in zip(self.rows, judged, strict=True)
                if each.text is not None
            ]
        trained: dict[tuple[str, int], Ranker] = {}
        for family in {library.family for library in self.libraries}:
            for half in (0, 1):
                chosen = [(row, text) for other, part, row, text in pool if other != family and part != half]
                rng = random.Random(f"{family} {half}")  # noqa: S311 - the same examples in each run
                chosen = rng.sample(chosen, min(_EXAMPLES, len(chosen)))
                trained[family, half] = Ranker()
                trained[family, half].train([self._example(row, text) for row, text in chosen], half)
        return lambda library: lambda row: trained[library.family, row.tool % 2].heal

    def _example(self, row: Broken, text: str) -> Example:
        ready = compiled(self.tools[row.tool].schema)
        opened = row.open_members()
        changes = [
            (edit, as_meant(edit.call, row.call, opened) and (not opened or ready.is_valid(edit.call)))
            for edit in edits(row.sent, text)
        ]
        return Example(row.sent, changes)


def _news(text: str, tool: int, call: Any) -> str:
    """The text without what the caller knows, the name of the tool and the call as a whole: they are not hints."""
    for known in (f"tool_{tool}", str(call), json.dumps(call)):
        text = text.replace(known, "")
    return text


def as_meant(received: Any, meant: Any, undetermined: set[str]) -> bool:
    """Whether the same was received; members whose value is not determined only have to be there."""
    if not isinstance(received, dict) or not isinstance(meant, dict) or not undetermined:
        return same(received, meant)
    if not undetermined & meant.keys() <= received.keys():
        return False
    left, right = (
        {name: item for name, item in each.items() if name not in undetermined} for each in (received, meant)
    )
    return same(left, right)


HEALERS: Final[Mapping[str, Heal]] = {"rules": lambda call, text, _: rules.heal(call, text), "search": search.heal}
