"""Kinds of callers: a model, a program, or one that was away for a while."""

import pytest

from toolvet.proxy import driver
from toolvet.proxy.session import Catalogue

LIMIT = 5


class Clock:
    """A clock that moves only on command."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(driver, "monotonic", made)
    return made


@pytest.mark.parametrize(
    ("seconds", "stopped"),
    [(0.0, False), (0.0019, False), (0.003, True), (2.0, True), (59.0, True), (61.0, False)],
)
def test_only_what_a_model_could_have_done_is_a_circle(clock: Clock, seconds: float, *, stopped: bool) -> None:
    catalogue = Catalogue()
    watch = driver.QuietWatch()
    clock.now += 1
    told = 0
    for _ in range(LIMIT + 1):
        watch.note_message(catalogue)
        told = catalogue.repeats.check("search", {"q": "x"}, LIMIT)
        catalogue.repeats.note_result("search", {"q": "x"}, effect=lambda: "reads", digest=lambda: 7)
        # The server takes its time: only what comes after its answer counts.
        clock.now += 0.5
        watch.note_answer()
        clock.now += seconds
    assert (told == LIMIT) is stopped
