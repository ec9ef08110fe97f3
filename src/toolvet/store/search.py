"""Full text search over tools, reasons and texts: words → a condition on the table of verdicts, or their places."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, cast, func, literal_column, or_, select, text, true
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.expression import bindparam

from toolvet.store.tables.blocks import BLOCK
from toolvet.store.tables.verdicts import VERDICTS

_MOST_WORDS: Final = 16
_WORD: Final = re.compile(r"\w+")
# Scripts that are written without blanks: the index knows only their whole sentences.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Memory for the places of five million verdicts; with less, whole pages are noted, and all of their texts read again.
_WORK_MEMORY: Final = "16MB"

HAS_WORDS: Final = VERDICTS.c.reason.is_not(None) | VERDICTS.c.text.is_not(None)
"""Verdicts that the index of words knows."""


def words_of(searched: str) -> Sequence[str]:
    """Return the words of a search, at most sixteen."""
    return _WORD.findall(searched)[:_MOST_WORDS]


def is_indexed(words: Sequence[str]) -> bool:
    """Return whether the index finds these words: not those of scripts without blanks."""
    return not any(_UNSPACED.search(word) for word in words)


def words_condition(
    connection: Connection, searched: str, columns: ReadOnlyColumnCollection[str, Any] = VERDICTS.c
) -> ColumnElement[bool]:
    """Return the condition that a verdict has all these words; the last may be the beginning of one.

    `columns` are those to look at in place of the table's, for words that the index does not know.
    """
    found = words_of(searched)
    if not found:
        return true()
    if not is_indexed(found):
        texts = [columns[name] for name in ("tool", "reason", "text")]
        return and_(*(or_(*(column.contains(word, autoescape=True) for column in texts)) for word in found))
    if connection.dialect.name == "postgresql":
        return and_(
            HAS_WORDS,
            _VECTOR.op("@@")(func.to_tsquery(literal_column("'simple'"), _tsquery(found, has_beginning=True))),
        )
    rows = text("SELECT rowid FROM verdict_words WHERE verdict_words MATCH :words_of_search").bindparams(
        bindparam("words_of_search", _match(found, has_beginning=True))
    )
    return VERDICTS.c.seq.in_(rows.columns(VERDICTS.c.seq))


class SearchedWords(msgspec.Struct, frozen=True):
    """Words to look up in the index. With `has_beginning` the last is the beginning of a word."""

    words: Sequence[str]
    has_beginning: bool = False


_PLACES: Final = (
    "SELECT rowid FROM verdict_words WHERE verdict_words MATCH :words AND rowid > :low AND rowid < :high ORDER BY rowid"
)
_NEWEST: Final = text(f"{_PLACES} DESC LIMIT :most")
_OLDEST: Final = text(f"{_PLACES} ASC LIMIT :most")


def places_of_words(
    connection: Connection, searched: SearchedWords, low: int, high: int, most: int, *, newest: bool
) -> Sequence[int]:
    """Return the first places of verdicts with these words, between `low` and `high`, in order. For SQLite."""
    query = _NEWEST if newest else _OLDEST
    words = _match(searched.words, has_beginning=searched.has_beginning)
    given = {"words": words, "low": low, "high": high, "most": most}
    return [int(place) for place in connection.execute(query, given).scalars()]


def places_in_blocks(
    connection: Connection, searched: SearchedWords, blocks: range | None, most: int
) -> Sequence[int] | None:
    """Return the places of verdicts with these words in some blocks, or in all. For PostgreSQL.

    None if there are more than `most`, because the selection among them would be left to chance.
    """
    words = _tsquery(searched.words, has_beginning=searched.has_beginning)
    query: ColumnElement[Any] = func.to_tsquery(literal_column("'simple'"), words)
    if blocks is not None:
        # As a word that no text can have.
        query = query.op("&&")(cast(" | ".join(f"'#{block}'" for block in blocks), TSQUERY))
    # Without an order: with one, the planner may walk over all verdicts.
    found = select(VERDICTS.c.seq).where(HAS_WORDS, _VECTOR.op("@@")(query)).limit(most + 1)
    with _only_the_index(connection):
        places = [int(place) for place in connection.execute(found).scalars()]
    return places if len(places) <= most else None


def block_of(place: int) -> int:
    """Return the block that a place is in."""
    return place // BLOCK


@contextmanager
def _only_the_index(connection: Connection) -> Generator[None]:
    """Let PostgreSQL use the index of words within the block: its guesses about words are wild."""
    names = ("enable_seqscan", "enable_indexscan", "enable_indexonlyscan")
    setting = "SELECT " + ", ".join(f"set_config('{name}', :given, true)" for name in names)
    memory = ", set_config('work_mem', :memory, true)"
    connection.execute(text(setting + memory), {"given": "off", "memory": _WORK_MEMORY})
    yield
    connection.execute(text(setting), {"given": "on"})


def _tsquery(words: Sequence[str], *, has_beginning: bool) -> str:
    return " & ".join(f"'{word}'" for word in words) + (":*" if has_beginning else "")


def _match(words: Sequence[str], *, has_beginning: bool) -> str:
    return " ".join(f'"{word}"' for word in words) + ("*" if has_beginning else "")


_VECTOR: Final[ColumnElement[object]] = literal_column(
    "(to_tsvector('simple', coalesce(verdicts.tool, '') || ' ' || coalesce(verdicts.reason, '')"
    " || ' ' || coalesce(verdicts.text, '')) || array_to_tsvector(ARRAY['#' || (verdicts.seq / 8192)::text]))"
)
