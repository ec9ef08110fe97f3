"""Trace ids: where they come from, and that nothing else is taken for one."""

import pytest
from hypothesis import given, strategies as st

from toolvet.proxy.session.trace import TRACE_KEY, TraceSource, trace_of_parent

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER = "00-11111111111111111111111111111111-2222222222222222-00"


@pytest.mark.parametrize("parent", [PARENT, f" {PARENT} ", f"01{PARENT[2:]}-more"])
def test_a_legal_traceparent_gives_its_trace_id(parent: str) -> None:
    assert trace_of_parent(parent) == TRACE


@pytest.mark.parametrize(
    "parent",
    [
        None,
        7,
        "",
        TRACE,
        PARENT.upper(),
        f"ff{PARENT[2:]}",
        f"{PARENT}-more",
        PARENT[:-1],
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    ],
)
def test_an_illegal_traceparent_gives_none(parent: object) -> None:
    assert trace_of_parent(parent) is None


@given(parent=st.text() | st.from_regex(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"))
def test_no_text_makes_it_fail(parent: str) -> None:
    found = trace_of_parent(parent)
    assert found is None or len(found) == 32


def test_the_traceparent_of_the_call_wins_then_the_clients_own_id_then_the_header() -> None:
    source = TraceSource("seed", OTHER)
    assert source.id_of({"traceparent": PARENT, TRACE_KEY: "turn-7"}, 1) == TRACE
    assert source.id_of({TRACE_KEY: "turn-7"}, 1) == "turn-7"
    assert source.id_of({TRACE_KEY: True}, 1) == "1" * 32
    assert source.parent_of({"traceparent": PARENT}) == PARENT
    assert source.parent_of({}) == OTHER
    assert source.parent_of({TRACE_KEY: "turn-7"}) is None


def test_without_any_each_call_of_each_connection_has_an_id_of_its_own() -> None:
    ids = [TraceSource(seed).id_of({}, id_) for seed in ("a", "b") for id_ in (1, "1", 2)]
    assert len(set(ids)) == 6
    assert all(trace_of_parent(f"00-{each}-b7ad6b7169203331-01") == each for each in ids)
    assert ids[0] == TraceSource("a").id_of({"traceparent": "nonsense", TRACE_KEY: "two words"}, 1)


def test_ids_of_one_connection_stand_together_in_order_and_end_in_dice() -> None:
    """Calls recorded together are kept together: a million ids in no order made a record cost twice as much."""
    first, other = TraceSource("one"), TraceSource("other")
    ids = [first.id_of({}, number) for number in range(1, 300)]
    assert ids == sorted(ids)
    assert {each[:12] for each in ids} == {ids[0][:12]} != {other.id_of({}, 1)[:12]}
    assert (
        len({each[16:] for each in [*ids, other.id_of({}, 1), first.id_of({}, "1"), first.id_of({}, 1 << 16)]}) == 302
    )
    assert [first.id_of({}, id_)[12:16] for id_ in (0, 65_535, 65_536, -1, "1")] == [
        "0000",
        "ffff",
        "0000",
        "ffff",
        "0000",
    ]
    assert TraceSource("one", order="0123456789ab").id_of({}, 7) == "0123456789ab0007" + first.id_of({}, 7)[16:]
