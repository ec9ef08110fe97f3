"""Another driver for the same relay: asyncio protocols, on uvloop where `$UVLOOP` is set. Measured and not taken."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES
from toolvet.proxy.record.recorder import RecordSource
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.session import Policies, ProxySettings, Session
from toolvet.proxy.stdio.relay import Relay


class Client(asyncio.Protocol):
    def __init__(self, take: Callable[[bytes], None], ended: "asyncio.Future[None]") -> None:
        self.take = take
        self.ended = ended

    def data_received(self, data: bytes) -> None:
        self.take(data)

    def eof_received(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


class Server(asyncio.SubprocessProtocol):
    def __init__(self, take: Callable[[bytes], None]) -> None:
        self.take = take

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd
        self.take(data)


class Into:
    transport: Any

    def write(self, buffers: Sequence[bytes]) -> None:
        self.transport.writelines(buffers) if len(buffers) > 1 else self.transport.write(buffers[0])


def never(note: object) -> None:
    """The server answers at once."""


async def main() -> None:
    loop = asyncio.get_running_loop()
    down, up = Into(), Into()
    record = os.environ.get("RECORD")
    everything = ProxySettings(repair="apply", results="enforce", output_schema="enforce")
    with recorder_of(Recording(store=Path(record) if record else None)) as recorder:
        session = Session(Policies(everything))
        relay = Relay(
            session,
            recorder,
            RecordSource("echo"),
            to_server=down,
            to_client=up,
            on_time=never,
            limit=DEFAULT_MESSAGE_BYTES,
        )
        transport, _ = await loop.subprocess_exec(lambda: Server(relay.from_server), *sys.argv[1:], stderr=None)
        down.transport = transport.get_pipe_transport(0)
        up.transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(1, "wb", 0))
        ended = loop.create_future()
        await loop.connect_read_pipe(lambda: Client(relay.from_client, ended), os.fdopen(0, "rb", 0))
        await ended
        transport.close()


if os.environ.get("UVLOOP"):
    import uvloop

    uvloop.run(main())
else:
    asyncio.run(main())
