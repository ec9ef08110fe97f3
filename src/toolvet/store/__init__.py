"""Keeps verdicts on disk, in SQLite or PostgreSQL: records in, lists, sums and turns out.

    store.py      `Store`: add, find, export and prune; `records.py` has what it holds
    tables        the tables, one a file; migrations: how an older store gets them
    alerts        a rule, a state and sums → the next state; pure
    settings      the section `[store]` of a settings file
    lines         files of lines, also those of the first releases → records of today

    with Store("verdicts.db") as store:
        store.add(toolvet.check_answer(text), trace="turn-1")

Also here: `SQLiteArchive` keeps content that a shortened response left out. Start reading at `store.py`.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
