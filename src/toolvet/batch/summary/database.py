"""`verdict_database`: outputs of `toolvet batch` as views of a DuckDB database, which reports and comparisons query.

DuckDB reads Parquet files on this machine directly. Outputs in other formats or places are first copied to Parquet in a
temporary folder, with only the columns that are read. Queries that need more than the memory limit use the same folder.
"""

import glob
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from toolvet.batch.executors.executor import cores
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.summary.columns import SummaryLayout
from toolvet.batch.verdict_file import VerdictFile, column_types
from toolvet.errors import OutputError, UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOT_JUDGED: Final = "not judged"
_MEMORY: Final = "256MiB"
_MOST_THREADS: Final = 4
_LAST_DAY: Final = (date(2199, 12, 31) - date(1970, 1, 1)).days

_FLOATS: Final = ("float", "double")
_NUMBERS: Final = (
    *(f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big")),
    "integer",
    "uinteger",
)
_NESTED: Final = ("list", "array", "struct", "map")
_ZONED: Final = ("timestamp with time zone", "timestamptz_ns")
_MOMENTS: Final = ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns")

# Days in UTC since 1970. A text is taken at its word: of "2026-03-01T23:30:00-05:00" it is the first of March.
_DAY_OF_TEXT: Final = r"""
CASE
WHEN regexp_matches({0}, '^\s*(\d{{4}}-\d\d-\d\d|\d{{4}}-W\d\d-\d|\d{{8}}$)') THEN epoch_ms(
    try_strptime(regexp_extract({0}, '^\s*(.{{1,10}})', 1), ['%Y-%m-%d', '%G-W%V-%u', '%Y%m%d'])
) // 86400000
WHEN regexp_matches({0}, '^\s*\d{{10}}') THEN CAST(regexp_extract({0}, '\d{{10}}') AS BIGINT) // 86400
END
"""
# Seconds up to the year 2199 have at most ten digits; milliseconds, micro- and nanoseconds three more each.
_DAY_OF_NUMBER: Final = """
CASE WHEN isfinite(CAST({0} AS DOUBLE)) THEN floor(
    {0} / CASE WHEN abs({0}) < 1e10 THEN 1 WHEN abs({0}) < 1e13 THEN 1e3 WHEN abs({0}) < 1e16 THEN 1e6 ELSE 1e9 END
    / 86400
) END
"""

_VIEW: Final = """
CREATE VIEW {name} AS
WITH found AS (
    SELECT *, CAST({marks} AS STRUCT(name VARCHAR, evidence VARCHAR, detail VARCHAR, weight DOUBLE)[]) AS found
    FROM ({source})
),
named AS (
    SELECT *, [left(coalesce(nullif(mark.name, ''), 'unnamed'), 100) FOR mark IN found] AS names FROM found
)
SELECT
    * EXCLUDE (found, day),
    {problem} IS NULL AS is_judged,
    {problem} IS NULL AND coalesce({flag} IN ({flagged}), false) AS is_flagged,
    CASE WHEN {problem} IS NULL THEN coalesce({word}, '{not_judged}') ELSE '{not_judged}' END AS verdict,
    CASE WHEN day BETWEEN 0 AND {last_day} THEN CAST(day AS INTEGER) END AS day,
    [{{
        name: names[place],
        place: place,
        is_first: list_position(names, names[place]) = place,
        evidence: coalesce(mark.evidence, ''),
        detail: coalesce(mark.detail, ''),
        weight: CASE WHEN isfinite(mark.weight) THEN mark.weight ELSE 0 END
    }} FOR mark, place IN found] AS marks
FROM named
"""


@contextmanager
def verdict_database() -> Generator["VerdictDatabase"]:
    """Open a database in memory, with a temporary folder for what does not fit.

    It loads no extension and needs no network.
    """
    duckdb = import_module("duckdb")
    with TemporaryDirectory(prefix="toolvet-verdicts-") as folder:
        config = {
            "memory_limit": _MEMORY,
            "threads": min(_MOST_THREADS, cores()),
            "temp_directory": folder,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
        }
        with duckdb.connect(config=config) as connection:
            yield VerdictDatabase(connection, Path(folder))


class VerdictDatabase:
    """Outputs as views, and queries on them."""

    def __init__(self, connection: "DuckDBPyConnection", folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._given: list[str] = []
        self._copies = self._views = 0

    def add(
        self,
        name: str,
        files: Sequence[VerdictFile],
        layout: SummaryLayout,
        *,
        time: str | None = None,
        label: str | None = None,
    ) -> None:
        """Make a view of all rows of an output, whose files may differ in their columns.

        The view has the columns of the layout, null if a file lacks one, and for each row: `is_judged`,
        `is_flagged`, the `verdict` in words, `names` and `marks` (what was found), the `day` of the column `time`, and
        the `label`.

        Raises:
            UsageError: A file cannot be read to its end.
            OutputError: The temporary folder has no room for a copy.
        """
        wanted = [*layout.columns, *(each for each in (time, label) if each is not None)]
        alike: dict[str, tuple[Sequence[str], list[str]]] = {}
        for file in files:
            self._given.append(file.given)
            self._copies += 1
            copy = self._folder / f"{self._copies}.parquet"
            path, schema = file.in_parquet(copy, wanted, layout.kind)
            shape = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
            # DuckDB takes a name for a pattern.
            alike.setdefault(shape, (schema.names, []))[1].append(glob.escape(str(path)))
        empty = self._connection.from_arrow(column_types(layout.kind, layout.columns).empty_table())
        types = dict(zip(empty.columns, map(str, empty.types), strict=True))
        parts = [self._columns(paths, names, types, time, label) for names, paths in alike.values()]
        flag = layout.subject.flag
        self.run(
            _VIEW.format(
                name=name,
                source=" UNION ALL ".join(parts),
                marks=layout.marks,
                problem=PROBLEM,
                flag=flag,
                flagged=", ".join(repr(each) for each in layout.subject.flagged),
                word=_word(layout),
                not_judged=NOT_JUDGED,
                last_day=_LAST_DAY,
            )
        )

    def run(self, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Run SQL with parameters by name, and return all rows of its result.

        Raises:
            UsageError: A file cannot be read to its end: a report on some of its rows would be taken for one on all.
            OutputError: The temporary folder has no room.
        """
        with self._reported():
            found: list[tuple[Any, ...]] = self._connection.execute(sql, parameters or None).fetchall()
        return found

    @contextmanager
    def _reported(self) -> Generator[None]:
        duckdb = import_module("duckdb")
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            # The lines behind the first are advice on DuckDB's settings.
            raise OutputError(f"the folder for temporary files: {f'{error}'.splitlines()[0]}") from error
        except duckdb.Error as error:
            raise UsageError(f"{', '.join(self._given[:3])}: cannot be read to its end: {error}") from error

    def _columns(
        self, paths: list[str], names: Sequence[str], types: Mapping[str, str], time: str | None, label: str | None
    ) -> str:
        self._views += 1
        with self._reported():
            files = self._connection.read_parquet(paths, binary_as_string=True, hive_partitioning=False)
            files.create_view(f"files_{self._views}")
        # By place: "Score" and "score" are one name to DuckDB, which then gives the second column another one.
        own = {
            name: (_quoted(column), kind.id)
            for name, column, kind in zip(names, files.columns, files.types, strict=True)
        }
        parts = [f"{_value(own.get(name), kind)} AS {_quoted(name)}" for name, kind in types.items()]
        parts.append(f"{_day(*own[time]) if time in own else 'NULL'} AS day")
        parts.append(f"{_label(*own[label]) if label in own else 'CAST(NULL AS VARCHAR)'} AS label")
        return f"SELECT {', '.join(parts)} FROM files_{self._views}"  # noqa: S608 - names are quoted


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(own: tuple[str, str] | None, wanted: str) -> str:
    """A column in the type that is wanted: null if there is none, or where a value does not fit or is not finite."""
    if own is None:
        return f"CAST(NULL AS {wanted})"
    found = f"TRY_CAST({_text(*own) if wanted == 'VARCHAR' else own[0]} AS {wanted})"
    return f"CASE WHEN isfinite({found}) THEN {found} END" if wanted == "DOUBLE" else found


def _text(column: str, kind: str) -> str:
    """A column as text. Whole numbers are written as such, whatever their type: 7.0 and 7 are one id."""
    return (
        f"regexp_replace(CAST({column} AS VARCHAR), '\\.0$', '')" if kind in _FLOATS else f"CAST({column} AS VARCHAR)"
    )


def _day(column: str, kind: str) -> str:
    if kind in _MOMENTS:
        return f"floor(epoch_ms(TRY_CAST({column} AS TIMESTAMP)) / 86400000)"
    if kind in _ZONED:
        return f"floor(epoch_ms(TRY_CAST({column} AS TIMESTAMPTZ)) / 86400000)"
    found = _DAY_OF_TEXT if kind == "varchar" else _DAY_OF_NUMBER if kind in (*_NUMBERS, *_FLOATS) else "NULL"
    return found.format(column)


def _label(column: str, kind: str) -> str:
    """A label as text: numbers and truth values as JSON writes them; of what is nested nothing."""
    if kind in _NESTED:
        return "CAST(NULL AS VARCHAR)"
    return f"nullif(left(trim({_text(column, kind)}, ' \t\r\n'), 100), '')"


def _word(layout: SummaryLayout) -> str:
    flag, flagged = layout.subject.flag, layout.subject.flagged
    if not isinstance(flagged[0], bool):
        return f"left({flag}, 100)"
    other = layout.flag.removeprefix("not ") if layout.flag.startswith("not ") else f"not {layout.flag}"
    return f"CASE {flag} WHEN {flagged[0]} THEN '{layout.flag}' WHEN {not flagged[0]} THEN '{other}' END"
