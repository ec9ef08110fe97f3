"""Tools that look the same to a model, because their names and their descriptions say the same.

    search_notes(text)   "Search the notes for a text."       search note, search note text
    find_notes(text)     "Finds notes that match a text."     search note, search note text

Words with one meaning count as one (`tools_alike.toml`), in their order: `rgb_to_hex` is not `hex_to_rgb`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from toolvet.assess.rules.quote import list_names, quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.discover import read_toml
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import ObservedServer
from toolvet.findings import Card, Finding, Severity

TOOLS_ALIKE = Card(
    id="tools-alike",
    title="Tools that look the same to a model",
    severity=Severity.WARNING,
    looks_for=(
        "Tools with the same parameters whose names and descriptions say the same in the same or in other words: "
        "`search_notes` and `find_notes`."
    ),
    why="A model picks one of them by chance, and a wrong choice is never noticed.",
    remedy=(
        "Make them one tool. If they differ, say in the first sentence of each when to use it, and name the other."
    ),
)
_LONGEST: Final = 4_000  # Characters of a description that are compared.


@of_server(TOOLS_ALIKE)
def check_tools_alike(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each group of such tools, about the first of them."""
    groups: dict[tuple[object, ...], dict[str, str]] = {}
    for tool in server.tools:
        text = tool.description[:_LONGEST]
        # Words of other languages are not known.
        name, said = _meanings(tool.name), _meanings(text) if text.isascii() else (text,)
        if name:
            groups.setdefault((frozenset(tool.properties), name, said), {})[tool.name] = tool.description
    for group in groups.values():
        if len(group) > 1:
            yield TOOLS_ALIKE.finding(
                message=f"{list_names(list(group))} have the same parameters, and their names and descriptions say "
                "the same.",
                evidence="; ".join(f"{quote(name, 60)}: {quote(said, 160)}" for name, said in [*group.items()][:3]),
                pointer="/description",
                confidence=75,
                tool=next(iter(group)),
            )


def _meanings(text: str) -> tuple[str, ...]:
    """The words that mean something, without a plural, each as the first of those with its meaning."""
    known = _load_words()
    stems = (word[:-1] if len(word) > 3 and word.endswith("s") else word for word in word_segments(text))
    return tuple(meaning for stem in stems if (meaning := known.get(stem, stem)))


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
    return {**{word: group[0] for group in source.same for word in group}, **dict.fromkeys(source.empty, "")}
