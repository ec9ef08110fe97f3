"""Refused requests are counted in the metrics and noted in the record, and no flood of them fills a disk."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from tests.proxy.http_world import Asked, Exporter, Proxy, Writer, call, reply, result, world

from toolvet.proxy.http.open_connections import Limits
from toolvet.proxy.http.proxied_server import RefusalLog
from toolvet.proxy.record.metrics import Metrics
from toolvet.proxy.record.recorder import Recorder

TOKEN = "a-token-of-more-than-16"
HOST = "Host: localhost\r\n"
JSON = "Content-Type: application/json\r\n"
# The request of a client, the status of the answer, and its entry in the record.
REFUSED = {
    "no HTTP": ("GARBAGE\r\n\r\n", 400, "this is not an HTTP/1.1 request"),
    "chunk": (
        f"POST /mcp HTTP/1.1\r\n{HOST}{JSON}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        400,
        "not an HTTP/1.1 request",
    ),
    "path": (f"GET /%zz HTTP/1.1\r\n{HOST}\r\n", 400, "the path is malformed"),
    "body of GET": (f"GET /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 2\r\n\r\n{{}}", 400, "a GET with a body"),
    "page": (f"GET /mcp HTTP/1.1\r\n{HOST}Origin: https://evil.example\r\n\r\n", 403, "pages of this Origin"),
    "method": (f"TRACE /mcp HTTP/1.1\r\n{HOST}\r\n", 405, "does not serve this method"),
    "PUT": (f"PUT /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 2\r\n\r\n{{}}", 405, "a PUT with a body"),
    "head": ("GET /mcp HTTP/1.1\r\n", 408, "the request's head took too long"),
    "body": (f"POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 2\r\n\r\n", 408, "the request's body took too long"),
    "target": (f"GET /{'a' * 70_000} HTTP/1.1\r\n{HOST}\r\n", 414, "the request's target is too long"),
    "type": (
        f"POST /mcp HTTP/1.1\r\n{HOST}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}",
        415,
        "of text/plain",
    ),
    "machine": ("GET /mcp HTTP/1.1\r\nHost: elsewhere\r\n\r\n", 421, "the Host header names another server"),
    "field": (f"GET /mcp HTTP/1.1\r\n{HOST}X-A: {'a' * 70_000}\r\n\r\n", 431, "the request's head is too large"),
    "coding": (
        f"POST /mcp HTTP/1.1\r\n{HOST}Transfer-Encoding: gzip, chunked\r\n\r\n",
        501,
        "the only transfer coding",
    ),
    "version": (f"GET /mcp HTTP/2.0\r\n{HOST}\r\n", 505, "the proxy serves HTTP/1.1 and HTTP/1.0"),
}


async def found(_: Asked, writer: Writer) -> None:
    writer.write(reply(result(1, {"content": []})))


async def refused(proxy: Proxy, data: bytes) -> int:
    client = await proxy.connect()
    client.writer.write(data)
    try:
        return (await client.answer()).status
    finally:
        client.close()


async def counted(proxy: Proxy) -> dict[int, int]:
    client = await proxy.connect()
    client.send(b"", method="GET", target="/metrics")
    text = (await client.answer()).body.decode()
    client.close()
    return {
        int(one): int(many)
        for one, many in re.findall(r'^toolvet_refused_requests_total{status="(\d+)"} (\d+)$', text, re.MULTILINE)
    }


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_counted_and_noted(name: str) -> None:
    data, status, why = REFUSED[name]

    async def going() -> None:
        async with world(found, limits=Limits(head_seconds=0.2, body_seconds=0.2)) as proxy:
            assert await counted(proxy) == {}
            assert await refused(proxy, data.encode()) == status
            assert await counted(proxy) == {status: 1}
            (note,) = proxy.notes("fault")
            assert note["kind"] == "request_refused"
            assert note["message"].startswith(f"A request was refused ({status}): ")
            assert why in note["message"]
            assert proxy.server.asked == []

    asyncio.run(asyncio.wait_for(going(), 30))


def test_a_missing_token_and_a_call_that_is_too_large_are_counted_too() -> None:
    async def going() -> None:
        async with world(found, token=TOKEN) as proxy:
            assert (await proxy.post(call(1, {"title": "Dune"}))).status == 401
            large = call(1, {"title": "a" * (17 << 20)})
            assert (await proxy.post(large, f"X-Toolvet-Token: {TOKEN}")).status == 413
            assert [note["message"][:30] for note in proxy.notes("fault")] == [
                "A request was refused (401): t",
                "A request was refused (413): t",
            ]

    asyncio.run(asyncio.wait_for(going(), 60))


def test_what_a_crowd_pushes_out_is_counted() -> None:
    async def going() -> None:
        async with world(found, limits=Limits(connections=2)) as proxy:
            early = [await proxy.connect() for _ in range(4)]
            assert (await early[0].answer()).status == 503
            assert await counted(proxy) == {503: 3}
            for one in early:
                one.close()

    asyncio.run(asyncio.wait_for(going(), 30))


def test_an_answer_of_the_server_is_no_refusal() -> None:
    async def refuses(_: Asked, writer: Writer) -> None:
        writer.write(reply(b"{}", "application/json", "415 Unsupported Media Type"))

    async def going() -> None:
        async with world(refuses) as proxy:
            assert (await proxy.post(call(1, {"title": "Dune"}))).status == 415
            assert await counted(proxy) == {}
            assert proxy.notes("fault") == []

    asyncio.run(asyncio.wait_for(going(), 30))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def flooded(times: Sequence[float]) -> list[str]:
    """The notes of a record of refusals at these times."""
    sink, clock = Exporter(), Clock()
    with Recorder([sink]) as recorder:
        log = RefusalLog(recorder, "server", clock)
        for clock.now in times:
            log.take(431, "too large")
        assert f'{{status="431"}} {len(times)}\n' in log.render()
        log.close()
    return [note["message"] for note in sink.notes]


def test_a_flood_of_a_day_leaves_few_notes_that_account_for_all() -> None:
    a_second = 10
    notes = flooded([number / a_second for number in range(24 * 3600 * a_second)])
    assert len(notes) < 60
    skipped = sum(int(found[1]) for note in notes if (found := re.search(r"So were (\d+) others", note)))
    assert skipped + len(notes) == 24 * 3600 * a_second
    assert notes[0] == "A request was refused (431): too large."


def test_after_an_hour_of_rest_each_is_noted_again() -> None:
    assert len(flooded([*range(20), *(10_000 + number for number in range(5))])) == 10 + 5
    assert len(flooded([0.0] * 11)) == 11


def test_a_refusal_is_no_fault_of_the_metrics() -> None:
    metrics = Metrics()
    with Recorder([metrics]) as recorder:
        RefusalLog(recorder, "server").take(400, "this is not an HTTP/1.1 request")
        assert recorder.flush()
        assert "toolvet_faults_total{" not in metrics.render()
