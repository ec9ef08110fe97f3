"""The archive on disk: several processes, and nothing lost when something is damaged."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from toolvet import ArchiveError, ContentDamagedError, ContentMissingError, EnvelopeError, Eviction, fit_response
from toolvet.store import SQLiteArchive


class Clock:
    """A clock that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


def test_content_outlives_the_archive_that_kept_it(path: Path) -> None:
    first = SQLiteArchive(path)
    kept = first.put({"b": 1, "a": [10**30]})
    first.close()
    second = SQLiteArchive(path)
    assert second.get(kept) == {"a": [10**30], "b": 1}
    assert kept in second
    assert second.put({"b": 1, "a": [10**30]}) == kept
    assert len(second) == 1
    assert second.verify() == ()


def test_only_the_owner_may_read_the_files(path: Path) -> None:
    archive = SQLiteArchive(path)
    archive.put("secret")
    files = list(path.parent.iterdir())
    assert {file.name for file in files} >= {"archive.db", "archive.db-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_what_was_never_kept_is_missing(path: Path) -> None:
    with pytest.raises(ContentMissingError):
        SQLiteArchive(path).get("sha256:" + "0" * 64)
    with pytest.raises(EnvelopeError, match="content_hash"):
        SQLiteArchive(path).get("../etc/passwd")


def test_a_damaged_row_is_reported_stays_and_is_repaired_by_putting_it_again(path: Path) -> None:
    archive = SQLiteArchive(path)
    kept, sound = archive.put({"a": 1}), archive.put("sound")
    for damage in (b'{"a":2}', "text", None, 5):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE content SET body = coalesce(?, zeroblob(3)) WHERE hash = ?", (damage, kept))
        connection.close()
        assert archive.verify() == (kept,)
        with pytest.raises(ContentDamagedError, match=kept):
            archive.get(kept)
        assert len(archive) == 2
        archive.put({"a": 1})
        assert archive.get(kept) == {"a": 1}
    assert archive.get(sound) == "sound"


def test_a_file_that_is_not_an_archive_is_left_alone(path: Path) -> None:
    path.write_bytes(b"this is a diary, dear reader, and no database at all" * 50)
    before = path.read_bytes()
    with pytest.raises(ArchiveError, match=r"cannot open the archive .*archive\.db"):
        SQLiteArchive(path)
    assert path.read_bytes() == before


def test_a_database_of_others_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE diary (entry TEXT)")
    connection.close()
    with pytest.raises(ArchiveError, match="some other program"):
        SQLiteArchive(path)
    with sqlite3.connect(path) as connection:
        assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master")] == ["diary"]
    connection.close()


def test_an_archive_of_a_newer_toolvet_is_left_alone(path: Path) -> None:
    SQLiteArchive(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ArchiveError, match="version 99"):
        SQLiteArchive(path)


def test_a_file_with_a_hole_raises_an_archive_error_and_keeps_its_bytes(path: Path) -> None:
    archive = SQLiteArchive(path)
    hashes = [archive.put({"n": n, "text": "x" * 3000}) for n in range(60)]
    archive.close()
    data = bytearray(path.read_bytes())
    data[4096:40960] = os.urandom(36864)
    path.write_bytes(data)
    damaged = SQLiteArchive(path)
    with pytest.raises(ArchiveError, match="archive"):
        damaged.verify()
    outcomes = set()
    for each in hashes:
        try:
            assert damaged.get(each)["text"] == "x" * 3000
            outcomes.add("given")
        except ArchiveError:
            outcomes.add("refused")
    assert "refused" in outcomes
    assert path.stat().st_size >= len(data)


def test_a_folder_that_is_not_there_is_an_archive_error(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="cannot open the archive"):
        SQLiteArchive(tmp_path / "nowhere" / "archive.db")


def test_content_is_forgotten_when_its_time_is_up(path: Path) -> None:
    clock, gone = Clock(), list[Eviction]()
    archive = SQLiteArchive(path, ttl=10, clock=clock, on_evict=gone.append)
    old = archive.put("old")
    clock.now += 9
    young = archive.put("young")
    clock.now += 1
    assert old not in archive
    with pytest.raises(ContentMissingError):
        archive.get(old)
    assert archive.get(young) == "young"
    assert archive.sweep() == (Eviction(old, 5, "expired"),)
    assert gone == [Eviction(old, 5, "expired")]
    assert len(archive) == 1


def test_the_oldest_makes_room_and_is_named(path: Path) -> None:
    clock, gone = Clock(), list[Eviction]()
    archive = SQLiteArchive(path, max_bytes=10, clock=clock, on_evict=gone.append)
    first = archive.put("1234")
    clock.now += 1
    second = archive.put("ab")
    clock.now += 1
    archive.put("1234")
    clock.now += 1
    third = archive.put("xy")
    assert gone == [Eviction(second, 4, "full")]
    assert first in archive
    assert third in archive
    assert archive.size == 10
    with pytest.raises(ArchiveError, match="raise max_bytes"):
        archive.put("much too large")


WRITER = """
import sys
from toolvet.store import SQLiteArchive
archive = SQLiteArchive(sys.argv[1])
for number in range(40):
    archive.put({"writer": int(sys.argv[2]) % 2, "number": number})
"""


def test_several_processes_keep_content_in_one_file(path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE, text=True) for number in range(4)]
    assert [writer.communicate()[1] for writer in writers] == [""] * 4
    archive = SQLiteArchive(path)
    assert len(archive) == 80
    assert archive.verify() == ()


def test_several_threads_keep_content_in_one_archive(path: Path) -> None:
    archive = SQLiteArchive(path)
    threads = [threading.Thread(target=lambda: [archive.put({"n": n}) for n in range(30)]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(archive) == 30


FORKED = """
import os, sys
from toolvet.store import SQLiteArchive
archive = SQLiteArchive(sys.argv[1])
archive.put("parent")
child = os.fork()
if child == 0:
    archive.put("child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
archive.put("parent again")
assert len(archive) == 3, len(archive)
assert archive.verify() == ()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_after_a_fork_keeps_content_too(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_response_is_shortened_into_it(path: Path) -> None:
    archive = SQLiteArchive(path, name="rows")
    data: dict[str, Any] = {"rows": [{"id": n, "text": "x" * 50} for n in range(100)]}
    fitted = fit_response(data, 1500, archive=archive)
    kept = SQLiteArchive(path).get(fitted.meta["content_archive_hashes"]["rows"])
    assert kept["items"]["99"] == data["rows"][99]


def test_a_response_is_answered_although_the_archive_is_damaged(path: Path) -> None:
    archive = SQLiteArchive(path)
    archive.close()
    path.write_bytes(b"no longer a database" * 300)
    for log in path.parent.glob("archive.db-*"):
        log.unlink()
    fitted = fit_response({"rows": [{"id": n} for n in range(500)]}, 1500, archive=archive)
    assert "content_archive_hashes" not in fitted.meta
