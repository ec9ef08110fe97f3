"""Every test that takes `url` runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.store.postgres import PostgresServer, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    folder = programs()
    if folder is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    if find_spec("psycopg") is None:
        pytest.skip('needs psycopg: pip install "toolvet[postgres]"')
    server = PostgresServer(folder)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty store."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'verdicts.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()
