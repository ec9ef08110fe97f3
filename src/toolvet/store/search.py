"""Full text search over tools, reasons and texts: words → a condition on the table of verdicts."""

import re
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, func, literal_column, or_, text, true
from sqlalchemy.sql.expression import bindparam

from toolvet.store.tables.verdicts import VERDICTS

_MOST_WORDS: Final = 16
_WORD: Final = re.compile(r"\w+")
# Scripts that are written without blanks: the index knows only their whole sentences.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def words_condition(connection: Connection, words: str) -> ColumnElement[bool]:
    """Return the condition that a verdict has all these words; the last may be the beginning of one."""
    found = _WORD.findall(words)[:_MOST_WORDS]
    if not found:
        return true()
    if any(_UNSPACED.search(word) for word in found):
        columns = (VERDICTS.c.tool, VERDICTS.c.reason, VERDICTS.c.text)
        return and_(*(or_(*(column.contains(word, autoescape=True) for column in columns)) for word in found))
    if connection.dialect.name == "postgresql":
        query = " & ".join([*(f"'{word}'" for word in found[:-1]), f"'{found[-1]}':*"])
        return and_(
            or_(VERDICTS.c.reason.is_not(None), VERDICTS.c.text.is_not(None)),
            _VECTOR.op("@@")(func.to_tsquery(literal_column("'simple'"), query)),
        )
    query = " ".join([*(f'"{word}"' for word in found[:-1]), f'"{found[-1]}"*'])
    rows = text("SELECT rowid FROM verdict_words WHERE verdict_words MATCH :words_of_search").bindparams(
        bindparam("words_of_search", query)
    )
    return VERDICTS.c.seq.in_(rows.columns(VERDICTS.c.seq))


_VECTOR: Final[ColumnElement[object]] = literal_column(
    "to_tsvector('simple', coalesce(verdicts.tool, '') || ' ' || coalesce(verdicts.reason, '')"
    " || ' ' || coalesce(verdicts.text, ''))"
)
