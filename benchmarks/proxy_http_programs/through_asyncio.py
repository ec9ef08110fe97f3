"""A forwarder of asyncio: bytes in, bytes out, nothing read. `through_asyncio.py PORT UPSTREAM_PORT streams|protocols`.

`streams` is what most people write, on the loop of the standard library; `protocols` is the least that Python can do: a
callback for each segment, on uvloop. Each connection of a client has one of its own to the server.
"""

import asyncio
import sys
from typing import cast

UPSTREAM = ("127.0.0.1", int(sys.argv[2]))


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    upstream_reader, upstream_writer = await asyncio.open_connection(*UPSTREAM)
    await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


class Half(asyncio.Protocol):
    """One side of a connection; what it gets goes to `other`, or waits until that is there."""

    other: asyncio.Transport | None = None

    def __init__(self, front: "Half | None" = None) -> None:
        self.front = front
        self.early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if self.front is None:
            loop = asyncio.get_running_loop()
            self.task = loop.create_task(loop.create_connection(lambda: Half(self), *UPSTREAM))
        else:
            self.other, self.front.other = self.front.transport, self.transport
            self.transport.writelines(self.front.early)

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self.early.append(data)
        else:
            self.other.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self.other is not None:
            self.other.close()


async def main() -> None:
    port = int(sys.argv[1])
    if sys.argv[3] == "streams":
        server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=512)
    else:
        server = await asyncio.get_running_loop().create_server(Half, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


if sys.argv[3] == "streams":
    asyncio.run(main())
else:
    import uvloop

    uvloop.run(main())
