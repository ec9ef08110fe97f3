"""The table of words that stand for values and of keys that only wrap; as data in `words.toml`."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from toolvet.discover import data_file
from toolvet.schema.repairs.confidence import Confidence

Meaning = Literal["null", "true", "false", "wrapping", "value", "envelope"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One row: words, what they mean, and how sure that is. Its proof: `hits` and `misses`."""

    meaning: Meaning
    confidence: Confidence
    words: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@lru_cache(maxsize=1)
def rows() -> tuple[Word, ...]:
    """Every row, in the order of the file."""
    content = data_file("toolvet.schema.repairs", "words.toml")
    return msgspec.convert(tomllib.loads(content.decode())["word"], tuple[Word, ...])


@lru_cache(maxsize=1)
def _meanings() -> Mapping[tuple[Meaning, str], Confidence]:
    return {(row.meaning, word): row.confidence for row in rows() for word in map(_bare, row.words)}


def meant(text: str, meaning: Meaning) -> Confidence | None:
    """How sure it is that `text` means this, or None."""
    return _meanings().get((meaning, _bare(text))) if len(text) <= _LONGEST else None


_LONGEST = 40


def _bare(text: str) -> str:
    return text.strip().casefold().replace("_", "").replace("-", "")
