"""`make soak` with few calls: nothing is lost or answered twice, whatever goes wrong meanwhile."""

import sys

import pytest
from tests.proxy.soak.run import Pace, soak

# A fault comes after this many answers even if the machine is so fast that the time was not up.
_PACE = Pace(every=0.1, pause=0.05, full=0.3, answers=40)
# The server is killed soon after the first answers of each proxy.
_KILLING = Pace(every=0.02, full=0.3, answers=100)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a disk here that can be filled")
@pytest.mark.parametrize(
    ("way", "calls", "faults"),
    [
        ("stdio", 2500, {"full disk", "slow client", "stopped server", "noise"}),
        ("stdio, killed", 700, {"killed server"}),
        ("http", 400, {"full disk", "killed server", "slow client"}),
        ("stdio to http", 200, {"full disk", "killed server"}),
    ],
)
def test_every_call_is_answered_once_whatever_goes_wrong(way: str, calls: int, faults: set[str]) -> None:
    (outcome,) = soak(calls, _KILLING if way == "stdio, killed" else _PACE, (way,))
    assert outcome.tally.wrong == []
    assert outcome.tally.lost == 0
    assert faults <= outcome.faults.keys()
    assert (outcome.rows, outcome.told) == (calls, 0)
