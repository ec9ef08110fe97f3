"""Every test that takes `url` runs on SQLite and on PostgreSQL."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.store.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty store."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'verdicts.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()
