"""`toolvet warm`: the phrases are compiled where the command line says."""

from pathlib import Path

import pytest

from toolvet.cli import run
from toolvet.core import discover, turn
from toolvet.core.discover import prepared


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As requested: compiling takes long."""
    found: list[str] = []
    monkeypatch.setattr(turn, "prepare", lambda: found.append("prepare"))
    return found


def test_the_cache_of_the_user_is_filled(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["warm"]) == 0
    assert asked == ["prepare"]
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.startswith("toolvet: the phrases of all languages are compiled (")


def test_an_image_gets_them_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "prepared"
    monkeypatch.setattr(prepared, "FOLDER", str(folder))
    monkeypatch.setattr(discover, "entries_of", lambda _build: {"a": b"content", "b": b"more"})
    assert run(["warm", "--for-all"]) == 0
    assert f"{folder} has the phrases of all languages" in capsys.readouterr().err
    assert prepared.prepared("a") == b"content"
    # All users may read it, only the owner may write.
    assert [path.stat().st_mode & 0o777 for path in sorted(folder.iterdir())] == [0o644, 0o644]
    monkeypatch.setattr(discover, "entries_of", lambda _build: {"b": b"new"})
    assert run(["warm", "--for-all"]) == 0
    assert prepared.prepared("a") is None, "what is no longer needed is removed"
    assert prepared.prepared("b") == b"new"


def test_a_package_that_cannot_be_written_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prepared, "FOLDER", "/dev/null/prepared")
    monkeypatch.setattr(discover, "entries_of", lambda _build: {"a": b"content"})
    assert run(["warm", "--for-all"]) == 2
    assert "/dev/null/prepared cannot be written" in capsys.readouterr().err
