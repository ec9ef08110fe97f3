"""Each test reads the calls of its turns again: an index that another test left would hide what reading them does."""

import pytest

from toolvet.core.turn.ledger import evidence


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "_KEPT", evidence._IndexCache(evidence._MOST_KEPT))
