"""Every request gets one reply for any bytes that a peer sends, and nothing raises."""

import asyncio
import json
from collections.abc import Mapping
from typing import Literal

from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.mcp.transport import Answer, ConnectionLost, Malformed, Peer, Reply, RpcError
from toolvet.mcp.transport.opening import opening_error
from toolvet.mcp.transport.reply import Inbox
from toolvet.mcp.transport.session import from_discover, from_initialize, read_list
from toolvet.mcp.transport.target import HttpTarget, StdioTarget

SCALARS = st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
ERRORS = st.fixed_dictionaries({"code": st.integers(), "message": st.text(max_size=5)}, optional={"data": JSON})
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.integers(0, 5) | st.sampled_from(["1", "2", "x", None]),
        "method": st.sampled_from(["ping", "roots/list", "initialize", "notifications/progress"]),
        "params": JSON,
        "result": JSON,
        "error": ERRORS,
    },
)
LINES = MESSAGES.map(lambda message: json.dumps(message).encode()) | st.binary(max_size=30)


class Loopback:
    """A channel to nowhere, which remembers what was sent."""

    kind: Literal["stdio", "http"] = "stdio"
    session_id: str | None = None
    alive = True
    exit_code: int | None = None
    stderr = ""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def start(self, inbox: Inbox) -> None:
        del inbox

    def post(self, id_: int, message: bytes, headers: Mapping[str, str]) -> None:
        del id_, headers
        self.sent.append(message)

    async def deliver(self, message: bytes, headers: Mapping[str, str]) -> None:
        del headers
        self.sent.append(message)

    def abandon(self, id_: int, notice: bytes | None) -> None:
        del id_, notice

    def use_version(self, version: str) -> None:
        del version

    async def close(self, grace: float) -> None:
        del grace


@examples(150)
@given(st.lists(st.tuples(LINES, st.none() | st.integers(1, 3)), max_size=12))
def test_every_request_gets_one_reply_for_any_input(arrivals: list[tuple[bytes, int | None]]) -> None:
    async def main() -> list[Reply]:
        peer = Peer(Loopback(), roots=("file:///",))
        requests = [asyncio.ensure_future(peer.request("initialize")) for _ in range(3)]
        await asyncio.sleep(0)
        for line, answers in arrivals:
            peer.receive(line, answers=answers)
        peer.lose("the end")
        replies = await asyncio.gather(*requests)
        await peer.close(1)
        return replies

    replies = asyncio.run(main())
    assert len(replies) == 3
    assert all(isinstance(reply, Answer | RpcError | Malformed | ConnectionLost) for reply in replies)
    for target in (StdioTarget("x"), HttpTarget("http://x")):
        for reply in replies:
            assert str(opening_error(target, Peer(Loopback()), reply, 1.0))


@given(st.lists(JSON, min_size=1, max_size=4))
def test_the_listing_ends_for_any_pages(results: list[object]) -> None:
    pages = iter(results)

    async def ask(method: str, params: object = None, *, timeout: float | None = None) -> Reply:  # noqa: ASYNC109
        del method, params, timeout
        return Answer(result=next(pages, None), raw=b"", duration=0.0)

    listing = asyncio.run(read_list(ask))
    assert listing.pages <= len(results) + 1


@given(JSON)
def test_any_value_is_read_as_an_introduction_or_none(value: object) -> None:
    assert (from_initialize(value) is None) == (not isinstance(value, dict))
    discovered = from_discover(value)
    assert discovered is None or discovered.supported_versions


def test_odd_things_are_counted_beyond_those_that_are_kept() -> None:
    async def main() -> Peer:
        peer = Peer(Loopback())
        for _ in range(1000):
            peer.receive(b"Debug: still here " + b"x" * 1000)
            peer.receive(b'{"jsonrpc":"2.0","method":"notifications/message","params":"' + b"y" * 100_000 + b'"}')
        return peer

    peer = asyncio.run(main())
    assert (len(peer.anomalies), peer.anomaly_counts["noise"]) == (50, 1000)
    assert all(len(anomaly.evidence) <= 300 for anomaly in peer.anomalies)
    assert sum(len(note.raw) for note in peer.notifications) <= 4 * 1024 * 1024


def test_a_mistake_of_ours_reaches_the_caller() -> None:
    async def main() -> str:
        peer = Peer(Loopback())
        request = asyncio.ensure_future(peer.request("tools/call"))
        await asyncio.sleep(0)
        peer.fail(1, RuntimeError("ours"))
        try:
            await request
        except RuntimeError as error:
            return str(error)
        return ""

    assert asyncio.run(main()) == "ours"
