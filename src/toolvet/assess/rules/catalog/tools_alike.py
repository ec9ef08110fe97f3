"""Tools that a model cannot tell apart, because their names and their descriptions say the same.

    search_notes(text)   "Search the notes for a text."       name: search note   description: search note text
    find_notes(text)     "Finds notes that match a text."     name: search note   description: search note text

No model is asked. Words with one meaning count as one (`tools_alike.toml`), and their order counts (`rgb_to_hex`,
`hex_to_rgb`). Two tools with other parameters are never alike.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import msgspec

from toolvet.assess.rules.quote import list_names, quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.discover import read_toml
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedServer, ToolDefinition
from toolvet.findings import Card, Finding, Severity

TOOLS_ALIKE = Card(
    id="tools-alike",
    title="Tools that a model cannot tell apart",
    severity=Severity.WARNING,
    looks_for=(
        "Tools with the same parameters whose names say the same in other words (`search_notes`, `find_notes`) and "
        "whose descriptions have the same words; or whose descriptions are the same to the letter and say all that the "
        "names do."
    ),
    why="A model picks one of them by chance, and a wrong choice is never noticed.",
    remedy=(
        "Make them one tool. If they differ, say in the first sentence of each when to use it, and name the other."
    ),
)
_LONGEST: Final = 4_000  # Characters of a description that are compared.
_FEWEST: Final = 4  # Words of a description that is the same by more than chance.
_WORD: Final = re.compile(r"[^\W_]+")


@of_server(TOOLS_ALIKE)
def check_tools_alike(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each group of such tools, about the first of them."""
    groups: dict[tuple[object, ...], list[ToolDefinition]] = {}
    for tool in server.tools:
        for key in _keys(tool):
            groups.setdefault(key, []).append(tool)
    met = set[str]()
    for group in groups.values():
        names = list(dict.fromkeys(tool.name for tool in group))
        if len(names) > 1 and not met.issuperset(names):
            met.update(names)
            yield TOOLS_ALIKE.finding(
                message=f"{list_names(names)} have the same parameters, and their names and descriptions say the same.",
                evidence="\n".join(f"{quote(tool.name, 60)}: {quote(tool.description, 160)}" for tool in group[:3]),
                pointer="/description",
                confidence=75,
                tool=names[0],
            )


def _keys(tool: ToolDefinition) -> Iterator[tuple[object, ...]]:
    """What two tools that are alike have in common, in one of two ways."""
    parameters, text = frozenset(tool.properties), tool.description[:_LONGEST].strip()
    name, spoken = _meanings(word_segments(tool.name)), _WORD.findall(text.lower())
    said = _meanings(spoken)
    if name:
        yield (parameters, name, said)
    if len(spoken) >= _FEWEST and set(name) <= set(said) and "or" not in spoken:
        yield (parameters, text)


def _meanings(words: Iterable[str]) -> tuple[str, ...]:
    """The words that mean something, each as the first of those with its meaning and without a plural."""
    known = _load_words()
    return tuple(meaning for word in words if (meaning := known.get(_stem(word), _stem(word))))


def _stem(word: str) -> str:
    if word.endswith(("ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


class AlikeSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`tools_alike.toml`: words with one meaning, words without any, and pairs of tools as hits and misses."""

    same: tuple[tuple[str, ...], ...]
    empty: tuple[str, ...]
    hits: tuple[tuple[str, str], ...]
    misses: tuple[tuple[str, str], ...]


@cache
def read_alike_source() -> AlikeSource:
    """The words as they are written in the file."""
    return read_toml("toolvet.assess.rules.catalog", "tools_alike.toml", AlikeSource)


@cache
def _load_words() -> dict[str, str]:
    source = read_alike_source()
    return {**{_stem(word): group[0] for group in source.same for word in group}, **dict.fromkeys(source.empty, "")}
