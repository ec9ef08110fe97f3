"""The table of words that mean values, such as "none" and "yes", and of keys that only wrap: `words.toml`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.schema.repairs.confidence import Confidence

Meaning = Literal["null", "true", "false", "wrapping", "value", "envelope", "remark"]


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
    return read_toml("toolvet.core.schema.repairs", "words.toml", dict[str, tuple[Word, ...]])["word"]


@lru_cache(maxsize=1)
def _meanings() -> Mapping[tuple[Meaning, str], Confidence]:
    return {(row.meaning, word): row.confidence for row in rows() for word in map(_normalize, row.words)}


def meant(text: str, meaning: Meaning) -> Confidence | None:
    """Return how sure it is that `text` means this, or None where it does not."""
    return _meanings().get((meaning, _normalize(text))) if len(text) <= _LONGEST else None


_LONGEST = 40


def _normalize(text: str) -> str:
    return text.strip().casefold().replace("_", "").replace("-", "")
