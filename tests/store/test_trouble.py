"""Faults of disks, databases and servers: they are reported, and nothing that was acknowledged is lost."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text
from tests.store.postgres import PostgresServer

from toolvet.errors import StoreError, UsageError
from toolvet.store import Store, VerdictRecord
from toolvet.store.address import StoreAddress
from toolvet.store.migrations.upgrade import upgrade
from toolvet.store.records import SignalRecord, new_id

AT = 1_795_357_000.0


def call(number: int, reason: str | None = None) -> VerdictRecord:
    at = AT + number
    signals = (SignalRecord("x"),)
    return VerdictRecord(id=new_id(at), at=at, kind="call", tool="find", reason=reason, signals=signals)


def plain(url: str) -> str:
    """The URL of a test's PostgreSQL for psycopg."""
    return url.replace("postgresql+psycopg://", "postgresql://")


@contextmanager
def locked(url: str) -> Iterator[Callable[[], None]]:
    """A database whose tables another program has locked, until the function is called."""
    if url.startswith("sqlite"):
        other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        def unlock() -> None:
            other.execute("ROLLBACK")

        yield unlock
        other.close()
    else:
        with psycopg.connect(plain(url)) as holder:
            holder.execute("LOCK TABLE verdicts IN ACCESS EXCLUSIVE MODE")
            yield holder.rollback


def test_a_locked_database_is_said_and_loses_nothing(url: str) -> None:
    said: list[str] = []
    with Store(
        f"{url}{'&options=-c%20lock_timeout%3D200ms' if 'postgresql' in url else ''}", complain=said.append
    ) as store:
        assert store.count() == 0
        with locked(url) as unlock:
            store.add_records([call(1)])
            assert not store.flush(4)
            assert store.problem is not None
            unlock()
        assert store.flush(30)
        assert store.count() == 1
    assert any("lock" in words for words in said)


def test_a_table_that_is_gone_is_said_and_what_was_added_waits(url: str) -> None:
    said: list[str] = []
    with Store(url, complain=said.append) as store:
        assert store.count() == 0
        with store.connect() as connection:
            connection.execute(text("ALTER TABLE signals RENAME TO away"))
        store.add_records([call(1)])
        assert not store.flush(1)
        problems = store.health().problems
        assert "the table signals is missing" in problems
        assert any(words.startswith("what waits in the spool cannot be taken in") for words in problems)
        with store.connect() as connection:
            connection.execute(text("ALTER TABLE away RENAME TO signals"))
        assert store.flush(30)
        assert store.count() == 1
    assert any("signals" in words for words in said)


UPGRADES = """
import sys
from toolvet.store import Store
with Store(sys.argv[1]) as store:
    print(store.count())
"""


def test_two_processes_bring_an_old_store_up_to_date_at_once(url: str) -> None:
    # A store of revision 0002, as an earlier release left it.
    with Store(url) as store:
        address = store.address
    engine = create_engine(address.url)
    with engine.begin() as connection:
        upgrade(connection, "0001", until="0002")
    engine.dispose()
    readers = [
        subprocess.Popen([sys.executable, "-c", UPGRADES, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for reader in readers:
        out, err = reader.communicate(timeout=120)
        assert (reader.returncode, out.strip(), err) == (0, b"0", b"")
    with Store(url) as store:
        assert store.health().problems == ()


# ── disks ──


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of six megabytes, where other users come to it, too."""
    folder = Path(tempfile.mkdtemp(prefix="tv-disk-", dir="/tmp"))
    folder.chmod(0o755)
    mounted = ["mount", "-t", "tmpfs", "-o", "size=6m,mode=0777", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounted, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()


def fill(path: Path) -> None:
    """Write until the disk is full."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def test_a_full_disk_takes_nothing_and_says_so(small_disk: Path) -> None:
    filler = small_disk / "filler"
    with Store(small_disk / "verdicts.db", complain=lambda _: None) as store:
        kept = [call(1)]
        store.add_records(kept)
        assert store.flush(30)
        fill(filler)
        # Records that the disk still takes are acknowledged; the others are errors, and not half kept.
        refused = ""
        while not refused:
            record = call(len(kept) + 1, "r" * 500)
            try:
                store.add_records([record])
                kept.append(record)
            except StoreError as error:
                refused = str(error)
        assert "No space" in refused
        filler.unlink()
        assert store.flush(30)
        assert {each.id for each in store.verdicts(limit=100_000)} == {each.id for each in kept}
        assert store.health().problems == ()


def test_a_server_whose_disk_is_full_is_said_and_loses_nothing(
    postgres: PostgresServer, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url, space, said = postgres.database(), small_disk / "space", list[str]()
    space.mkdir()
    postgres.give(space)
    with psycopg.connect(plain(url), autocommit=True) as admin:
        admin.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
        admin.execute("ALTER DATABASE postgres SET default_tablespace = small")
    try:
        with Store(url, complain=said.append) as store:
            store.add_records([call(1)])
            assert store.flush(30)
            filler = small_disk / "filler"
            fill(filler)
            store.add_records([call(number, reason=os.urandom(200).hex()) for number in range(2, 2000)])
            assert not store.flush(2)
            filler.unlink()
            assert store.flush(60)
            assert store.count() == 1999
    finally:
        with psycopg.connect(plain(url), autocommit=True) as admin:
            admin.execute("ALTER DATABASE postgres RESET default_tablespace")
            admin.execute("DROP SCHEMA public CASCADE")
            admin.execute("CREATE SCHEMA public")
            admin.execute("DROP TABLESPACE small")
    assert any("space" in words for words in said)


READS_ONLY = """
import sys
from toolvet.store import Store, VerdictRecord
from toolvet.errors import StoreError
store = Store(sys.argv[1])
try:
    store.add_records([VerdictRecord(id="1", at=1.0, kind="call")])
except StoreError as error:
    print(error)
"""


def test_a_folder_that_cannot_be_written_to_is_an_error_and_no_acknowledgement(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if os.geteuid() == 0:
        (folder / "verdicts.db.spool").write_text("a file where the spool should be", encoding="utf-8")
    else:
        folder.chmod(0o500)
    done = subprocess.run(
        [sys.executable, "-c", READS_ONLY, str(folder / "verdicts.db")], capture_output=True, text=True, check=True
    )
    folder.chmod(0o700)
    assert str(folder / "verdicts.db") in done.stdout
    assert done.stderr == ""


def test_a_database_with_a_hole_is_said_and_what_was_added_waits(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.db"
    with Store(path) as store:
        store.add_records([call(number, reason="r" * 400) for number in range(3000)])
        assert store.flush(60)
    data = bytearray(path.read_bytes())
    # Behind the head and the schema: the file opens, and some of its pages are noise.
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 40 * 4096] = os.urandom(40 * 4096)
    path.write_bytes(data)
    with Store(path, complain=lambda _: None) as store:
        problems = store.health().problems
        assert problems
        assert any("malformed" in words or "page" in words or "Tree" in words for words in problems)


def test_a_record_that_the_database_refused_is_named_by_the_check(url: str) -> None:
    said: list[str] = []
    with Store(url, complain=said.append) as store:
        store.add_records([call(1), VerdictRecord(id=new_id(), at=AT, kind="call", size=1 << 70), call(2)])
        assert store.flush(30)
        assert store.count() == 2
        (problem,) = store.health().problems
    assert "refused.lines" in problem
    assert any("refuses a record" in words for words in said)


DAMAGE = {
    "DELETE FROM rollups WHERE width = 86400": "the sums of 24 h have 0 verdicts, and there are 3",
    "DROP INDEX verdicts_by_time": "the index verdicts_by_time is missing",
    "ALTER TABLE score_sends RENAME TO other": "the table score_sends is missing",
    "ALTER TABLE audit DROP COLUMN target": "audit has no column target",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_the_check_finds_what_is_broken(url: str, statement: str) -> None:
    with Store(url) as store:
        store.add_records([call(1), call(2), call(3)])
        assert store.flush(30)
        assert store.health().problems == ()
        with store.connect() as connection:
            connection.execute(text(statement))
        assert any(DAMAGE[statement] in words for words in store.health().problems)


# ── servers and URLs ──


def test_a_wrong_password_is_said_and_never_shown(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = postgres.database()
    with psycopg.connect(plain(url), autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS ann")
        admin.execute("CREATE ROLE ann LOGIN PASSWORD 'the-right-one'")
    said: list[str] = []
    wrong = url.replace("toolvet@", "ann:hunter2-in-clear@")
    with Store(wrong, complain=said.append) as store:
        store.add_records([call(1)])
        assert not store.flush(1)
        with pytest.raises(StoreError, match='password authentication failed for user "ann"') as error:
            store.count()
    assert said
    assert "hunter2" not in f"{said}{error.value!r}"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ann:hunter2@localhost:1/verdicts", "refused"),
        ("postgresql://ann:hunter2@localhost:nonsense/verdicts", "is not the URL of a database"),
        ("postgresql://ann:hun/ter2@localhost:1/verdicts", "refused"),
        ("postgresql://ann:x@localhost:1/verdicts?password=hunter2", "refused"),
        ("postgresql://ann:hunter2@nowhere.invalid/verdicts", "nowhere.invalid"),
    ],
)
def test_a_url_that_leads_nowhere_is_said_without_its_secret(
    url: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    store = Store(url, complain=said.append)
    store.add_records([call(1)])
    with pytest.raises(StoreError, match=words) as error:
        store.count()
    store.close(5)
    assert "hunter2" not in f"{said}{error.value!r}{error.value}".replace("/", "")
    # The line waits for a server that can be reached.
    assert list(store.address.spool.glob("*.jsonl"))


def test_a_password_with_an_unwritten_at_sign_is_refused_and_not_taken_for_a_host() -> None:
    with pytest.raises(UsageError, match="%40") as error:
        StoreAddress.read("postgresql://ann:hun@ter2@localhost/verdicts")
    assert "ter2" not in str(error.value)


def test_the_root_folder_is_not_a_store() -> None:
    with pytest.raises(UsageError, match="/: a store is a file"):
        StoreAddress.read("/")


def test_what_the_driver_raises_while_it_copies_is_what_sqlalchemy_raises(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    url = postgres.database()
    with Store(url, complain=said.append) as store:
        assert store.count() == 0
        with psycopg.connect(plain(url), autocommit=True) as admin:
            admin.execute("ALTER TABLE verdicts ADD CHECK (tool <> 'bad')")
        bad = VerdictRecord(id=new_id(), at=AT, kind="call", tool="bad")
        store.add_records([call(1), bad, call(2)])
        assert store.flush(30)
        assert store.count() == 2
        assert bad.id in store.address.spool.joinpath("refused.lines").read_text(encoding="utf-8")
    assert any("violates check constraint" in words for words in said)


# ── power ──


def test_with_sync_every_record_is_on_the_disk_before_it_is_acknowledged(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    with Store(url, sync=True) as store:
        store.hold(5)
        store.add_records([call(1)])
        size = sum(file.stat().st_size for file in store.address.spool.glob("*.jsonl"))
        assert size in synced
        if "sqlite" in url:
            with store.reading() as connection:
                assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    synced.clear()
    with Store(url) as store:
        store.add_records([call(2)])
        assert synced == []


def test_nothing_is_kept_of_what_could_not_be_put_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "verdicts.db", sync=True) as store:
        store.add_records([call(1)])
        assert store.flush(30)

        def fails(_: int) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", fails)
            with pytest.raises(StoreError, match="Input/output error"):
                store.add_records([call(2)])
        store.add_records([call(3)])
        assert store.flush(30)
        assert [each.at - AT for each in store.verdicts(order="oldest")] == [1, 3]
