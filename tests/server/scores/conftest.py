from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.scores.scoring import fill

from toolvet.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Store(tmp_path / "verdicts.db") as opened:
        fill(opened)
        # Another store at the same file sees what was moved into it.
        assert opened.flush()
        yield opened
