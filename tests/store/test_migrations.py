"""A store that was brought up to date has the tables of a fresh one, and everything it had before."""

import importlib.util
import json
import sqlite3
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from tests.store.queues import answer

from toolvet.store import Store, VerdictFilter
from toolvet.store.database import open_engine
from toolvet.store.migrations import VERSIONS, newest_revision
from toolvet.store.migrations.upgrade import upgrade
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_records import ReviewLabel


def version(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, VERSIONS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def old_record(path: Path) -> None:
    """A record as the first releases left it."""
    connection = sqlite3.connect(path)
    connection.executescript(version("0001_record")._TABLES)
    verdict = {"confidence": 80, "issues": ["it is broken"]}
    for number in range(2500):
        connection.execute(
            "INSERT INTO calls VALUES (?, 'books', 'stdio-1', ?, 'find_book', 'legacy', ?, 0.5, 'error', 'crash', NULL,"
            " ?, 10, ?)",
            (1000.0 + number, str(number), "tool_error" if number % 2 else "success", f"turn-{number}",
             json.dumps({"verdict": verdict, "why": "it crashed"})),
        )  # fmt: skip
    connection.execute("INSERT INTO events VALUES (1.0, 'books', 'stdio-1', 'list_failed', 'no answer', NULL)")
    signals = json.dumps({"signals": [{"type": "refusal"}], "reason": "a refusal"})
    connection.execute("INSERT INTO answers VALUES (2000.0, 'turn-7', 0.25, 1, 'I cannot help.', ?)", (signals,))
    connection.commit()
    connection.close()


def test_a_record_of_the_first_releases_is_taken_over(tmp_path: Path) -> None:
    old_record(tmp_path / "calls.db")
    with Store(tmp_path / "calls.db") as store:
        assert store.count(VerdictFilter(kind="call")) == 2500
        assert store.count(VerdictFilter(failed=True)) == 1250
        turn = store.turn("turn-7")
        assert [(each.kind, each.score) for each in turn.verdicts] == [("call", 0.8), ("answer", 0.25)]
        assert turn.calls[0].detail["why"] == "it crashed"
        assert store.events()[0].message == "no answer"
        assert store.overview().total.verdicts == 2501
        assert store.count(VerdictFilter(text="cannot help")) == 1
        assert store.health().problems == ()
    connection = sqlite3.connect(tmp_path / "calls.db")
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    assert not names & {"calls", "answers", "old_calls"}


def test_lines_of_the_first_releases_are_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    row = {"at": 1.0, "server": "s", "connection": "c", "id": "1", "tool": "t", "era": "modern", "outcome": "success"}
    answer = {"at": 2.0, "trace": "turn-1", "score": 1.0, "escalate": False}
    lines = [{"call": {**row, "trace": "turn-1"}}, {"answer": answer}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with Store(path) as store:
        assert [each.kind for each in store.turn("turn-1").verdicts] == ["call", "answer"]


def described(connection: Connection) -> object:
    """Tables, columns, indexes and keys, as the database itself sees them."""
    found = inspect(connection)
    kept: dict[str, object] = {}
    for table in sorted(found.get_table_names()):
        kept[table] = (
            [(each["name"], str(each["type"]), each["nullable"]) for each in found.get_columns(table)],
            sorted(
                (
                    str(each["name"]),
                    [*map(str, each["column_names"])],
                    str(sorted(f"{name}: {value}" for name, value in each.get("dialect_options", {}).items())),
                )
                for each in found.get_indexes(table)
            ),
            found.get_pk_constraint(table),
            sorted(map(str, found.get_foreign_keys(table))),
            sorted(map(str, found.get_unique_constraints(table))),
        )
    if connection.dialect.name == "sqlite":
        query = "SELECT name FROM sqlite_master WHERE name LIKE 'verdict_words%' ORDER BY name"
        kept["words"] = connection.execute(text(query)).scalars().all()
    return kept


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection")
def test_migrations_and_a_fresh_database_give_the_same_tables(url: str) -> None:
    with Store(url) as store:
        store.count()
        fresh = open_engine(store.address)
        with fresh.connect() as connection:
            wanted = described(connection)
        fresh.dispose()
        address = store.address
    if address.path is not None:
        migrated = create_engine(f"sqlite:///{address.path}.migrated")
    else:
        migrated = create_engine(address.url)
        with migrated.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
    with migrated.begin() as connection:
        upgrade(connection, "0001")
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == newest_revision()
        assert described(connection) == wanted
    migrated.dispose()


def test_labels_of_an_earlier_release_stay_and_can_be_settled(url: str) -> None:
    with Store(url) as store:
        store.add_records([answer(1)])
        (verdict,) = store.page(VerdictFilter()).verdicts
        queue = ReviewQueue(store)
        queue.add(verdict.id, reviewers=2)
        queue.label(verdict.id, "ada", ReviewLabel(value="right", note="kept"))
        # What 0009 added is taken away: a store as the release before left it.
        with store.connect() as connection:
            connection.execute(text("DROP TABLE queue_finals"))
            connection.execute(text("DROP INDEX queue_places_by_assigned"))
            connection.execute(text("ALTER TABLE queue_places DROP COLUMN assigned"))
            connection.execute(text("UPDATE alembic_version SET version_num = '0008'"))
    with Store(url) as store:
        queue = ReviewQueue(store)
        assert [label.note for label in queue.labels()] == ["kept"]
        queue.assign(verdict.id, "bob")
        queue.label(verdict.id, "bob", ReviewLabel(value="wrong"))
        settled = queue.label(verdict.id, "eve", ReviewLabel(value="wrong", final=True))
        assert settled.final is not None
