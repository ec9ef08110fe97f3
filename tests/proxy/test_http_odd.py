"""Odd requests, as `odd_requests.toml` has them: never more permissive than the rule for each, nor than nginx."""

import asyncio
import re
import shutil
import socket
import tempfile
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.proxy.http_world import Asked, Proxy, Writer, reply, world

NGINX = shutil.which("nginx")
AFTER = b"GET /after HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
REPEATED = re.compile(rb"<([^<>]+?)\*(\d+)>", re.DOTALL)
CONFIG = """
daemon off; error_log stderr crit; pid {root}/pid; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {root}/b; proxy_temp_path {root}/p;
  fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;
  server {{
    listen 127.0.0.1:{port}; server_name localhost;
    location / {{ proxy_pass http://127.0.0.1:{upstream}; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


class Odd(NamedTuple):
    rule: str
    must: str
    data: bytes
    stricter: str | None


class Shown(NamedTuple):
    """The statuses of the answers, and what the server got before and after."""

    statuses: list[int]
    asked: list[bytes]
    after: int

    @property
    def was_refused(self) -> bool:
        return not self.asked and bool(self.statuses) and self.statuses[0] >= 400


def read_odd() -> dict[str, Odd]:
    groups: dict[str, Any] = tomllib.loads((Path(__file__).parent / "odd_requests.toml").read_text(encoding="utf-8"))
    return {
        f"{name}-{number}": Odd(group["rule"], group["must"], expanded(group["template"], text), group.get("stricter"))
        for name, group in groups.items()
        for number, text in enumerate(group["variants"])
    }


def expanded(template: str, text: str) -> bytes:
    data = template.replace("@@", text).encode("latin-1")
    return REPEATED.sub(lambda found: found[1] * int(found[2]), data)


ODD = read_odd()


async def found(_: Asked, writer: Writer) -> None:
    writer.write(reply(b"{}"))


async def show(proxy: Proxy, data: bytes, port: int | None = None) -> Shown:
    """Send a request with another one behind it, and read until the connection is closed."""
    proxy.server.asked.clear()
    reader, writer = await asyncio.open_connection("127.0.0.1", port or proxy.port, limit=1 << 24)
    answers = b""
    try:
        writer.write(data + AFTER)
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(3):
                while part := await reader.read(1 << 16):
                    answers += part
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    statuses = [int(one) for one in re.findall(rb"HTTP/1\.[01] ([2-5]\d\d)", answers)]
    bodies = [one.body for one in proxy.server.asked if one.target != "/after"]
    return Shown(statuses, bodies, len(proxy.server.asked) - len(bodies))


def test_the_list_is_long() -> None:
    assert len(ODD) >= 150


@pytest.mark.parametrize("name", ODD)
def test_an_odd_request_is_treated_as_its_rule_says(name: str) -> None:
    odd = ODD[name]

    async def going() -> Shown:
        async with world(found) as proxy:
            return await show(proxy, odd.data)

    shown = asyncio.run(asyncio.wait_for(going(), 30))
    passed = shown.asked == [b"{}"] and shown.statuses[:1] == [200]
    allowed = {"refuse": shown.was_refused, "pass": passed, "may": passed or shown.was_refused}
    assert allowed[odd.must], (odd.rule, odd.data[:200], shown)
    assert shown.after <= 1
    if odd.must == "pass":
        assert shown.after == 1


@asynccontextmanager
async def nginx_before(upstream: int) -> AsyncGenerator[int]:
    """Yield the port of an nginx before this server."""
    with socket.socket() as free, tempfile.TemporaryDirectory() as root:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
        free.close()
        config = Path(root) / "nginx.conf"
        config.write_text(CONFIG.format(root=root, port=port, upstream=upstream))
        process = await asyncio.create_subprocess_exec(
            str(NGINX), "-e", "stderr", "-p", root, "-c", str(config), stderr=asyncio.subprocess.DEVNULL
        )
        try:
            for _ in range(100):
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    await writer.wait_closed()
                    break
                await asyncio.sleep(0.05)
            yield port
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (tests/debian-packages.txt)")
def test_no_request_passes_that_nginx_refuses() -> None:
    permissive: dict[str, bytes] = {}
    passed_there = 0

    async def going() -> None:
        nonlocal passed_there
        async with world(found) as proxy, nginx_before(proxy.upstream_port) as port:
            for name, odd in ODD.items():
                ours = await show(proxy, odd.data)
                theirs = await show(proxy, odd.data, port)
                passed_there += bool(theirs.asked)
                if ours.asked and not theirs.asked and odd.stricter is None:
                    permissive[name] = odd.data[:120]

    asyncio.run(asyncio.wait_for(going(), 500))
    assert permissive == {}
    # It is nginx that answered, and it reaches the server.
    assert passed_there >= sum(odd.must == "pass" and odd.stricter is None for odd in ODD.values())
