"""Each test reads the calls of its turns anew: an index that another test left would hide what reading them does."""

import pytest

from toolvet.core.turn.grounding import index


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_KEPT", index._KeptIndexes(index._MOST_KEPT))
