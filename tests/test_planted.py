"""Another user of the machine plants a folder or a file where toolvet will look: nothing there is read or written."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolvet.agents.daemon.protocol import address
from toolvet.agents.hook.private import private_folder, read_private
from toolvet.core.discover import cache
from toolvet.core.private import OTHERS, OTHERS_MAY_WRITE, open_own, own_folder
from toolvet.errors import OutputError
from toolvet.store.spool import Spool

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has neither such owners nor such modes")


def as_link(path: Path) -> None:
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    path.symlink_to(elsewhere)


def open_to_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


def as_file(path: Path) -> None:
    path.write_bytes(b"planted")


def of_another(path: Path) -> None:
    path.mkdir(mode=0o700)
    if os.getuid():
        pytest.skip("only root can give a folder away")
    os.chown(path, 65_534, 65_534)


@pytest.fixture(params=[as_link, open_to_all, as_file, of_another])
def plant(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    planted: Callable[[Path], None] = request.param
    return planted


def test_a_folder_of_batch(plant: Callable[[Path], None], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from toolvet.batch import run  # noqa: PLC0415 - needs pyarrow
    from toolvet.batch.output import Parts  # noqa: PLC0415 - as above

    plant(tmp_path / f"toolvet-batch-{os.getuid()}")
    remote: Any = SimpleNamespace(is_local=False, given="s3://b/x.parquet", path="x")
    with pytest.raises(OutputError):
        run._folder_of(remote)
    plant_beside = tmp_path / "beside" / ".out.jsonl.toolvet-batch"
    plant_beside.parent.mkdir()
    plant(plant_beside)
    with pytest.raises(OutputError):
        Parts(plant_beside, "1")
    parts = Parts(tmp_path / "later", "1")
    (tmp_path / "elsewhere").rmdir() if (tmp_path / "elsewhere").is_dir() else None
    plant(tmp_path / "later")
    with pytest.raises(OutputError):
        parts.start([])


def test_a_spool(plant: Callable[[Path], None], tmp_path: Path) -> None:
    plant(tmp_path / "calls.db.spool")
    with pytest.raises(OSError, match=r"calls\.db\.spool"):
        Spool(tmp_path / "calls.db.spool").open()


def test_a_folder_for_sockets(plant: Callable[[Path], None], tmp_path: Path) -> None:
    plant(tmp_path / f"toolvet-{os.getuid()}-run")
    assert address() is None


def test_a_cache(plant: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    plant(tmp_path / f"toolvet-{os.getuid()}")
    assert not cache.keep(b"key", b"content")
    assert cache.cached(b"key") is None


def test_a_folder_of_hooks(plant: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "toolvet" / "hook").mkdir(parents=True)
    plant(tmp_path / "toolvet" / "hook" / "tools")
    folder = private_folder("tools")
    # A file of this user that is open to others is closed.
    assert folder is None or folder.stat().st_mode & OTHERS == 0


def test_a_folder_that_nobody_planted(tmp_path: Path) -> None:
    assert own_folder(str(tmp_path / "new"), OTHERS)
    assert own_folder(str(tmp_path / "new"), OTHERS)
    with pytest.raises(FileNotFoundError):
        own_folder(str(tmp_path / "none" / "new"), OTHERS)


def test_a_file_that_was_planted(tmp_path: Path) -> None:
    own, link, shared = tmp_path / "own", tmp_path / "link", tmp_path / "shared"
    os.close(open_own(str(own), os.O_WRONLY | os.O_CREAT, OTHERS))
    assert own.stat().st_mode & OTHERS == 0
    link.symlink_to(own)
    shared.write_bytes(b"x")
    shared.chmod(0o666)
    for file in (link, shared, tmp_path):
        with pytest.raises(OSError, match=str(file)):
            open_own(str(file), os.O_RDONLY, OTHERS_MAY_WRITE)
        assert read_private(file, 100) is None


def test_the_spool_of_a_database_of_another_is_that_users(tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "calls.db.spool"
    folder.mkdir(mode=0o700)
    for path in (tmp_path, folder):
        os.chown(path, 65_534, 65_534)
    Spool(folder).open()
