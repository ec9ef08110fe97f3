"""Single HTTP requests exactly as the caller composes them, and what came back; for requests that no client sends."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Final, Literal

import httpx2
import msgspec

from toolvet.mcp.transport.origin import FAILURES, Origin, describe_error, media_type
from toolvet.mcp.transport.target import HttpTarget
from toolvet.mcp.wire import ErrorReply, Result, SseFramer, parse

Place = Literal["loopback", "private", "public"]

_LONGEST_BODY: Final = 64 * 1024  # Bytes that are read of a response.
_PRIVATE_ENDINGS: Final = (".local", ".internal", ".lan", ".home.arpa")
_SAFE_HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})


class RawResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The response to one request.

    `status` is None if no response came; then `failure` says why. `headers` have lower-case names. `message` is the
    JSON-RPC message in the body, or in the first event of a stream that answers; empty if there is none.
    """

    status: int | None = None
    headers: Mapping[str, str] = {}
    body: bytes = b""
    message: bytes = b""
    failure: str = ""
    seconds: float = 0.0


class RawHttp:
    """Sends single requests to the URL of a target; `sent` counts them. Redirects to another origin are not followed.

    Raises UsageError for a URL or headers that cannot be sent.
    """

    def __init__(self, target: HttpTarget) -> None:
        self._target = target
        self._origin = Origin(target)
        self._stranger: Origin | None = None
        self.sent = 0

    @property
    def own_origin(self) -> str:
        """The origin of the URL, as a browser writes it in the header `Origin`."""
        url = self._origin.url
        return f"{url.scheme}://{url.netloc.decode('ascii')}"

    @property
    def url(self) -> str:
        """The URL without credentials, query and fragment."""
        return f"{self.own_origin}{self._origin.url.path}"

    @property
    def is_encrypted(self) -> bool:
        """Whether the URL is https."""
        return self._origin.url.scheme == "https"

    @property
    def place(self) -> Place:
        """Where the host of the URL is, by its name alone: on this machine, in a private network, or anywhere."""
        return place_of(self._origin.url.host)

    @property
    def has_credentials(self) -> bool:
        """Whether the user gave headers that may hold credentials."""
        return any(name.lower() not in _SAFE_HEADERS for name in self._target.headers or {})

    async def send(
        self,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        timeout: float,  # noqa: ASYNC109 - a response that says so, not an exception.
        head_only: bool = False,
        anonymous: bool = False,
        path: str = "",
    ) -> RawResponse:
        """Send one request and return what came back within `timeout` seconds. Raises nothing for what the peer does.

        Args:
            verb: the HTTP method.
            headers: headers beside those of the target, which they replace.
            body: the content.
            timeout: seconds to wait.
            head_only: do not wait for the body, as for a stream that stays open.
            anonymous: leave the headers of the target out, and its credentials with them.
            path: another path on the same host; the URL of the target without it.
        """
        self.sent += 1
        began = time.perf_counter()
        origin = self._origin
        if anonymous:
            origin = self._stranger = self._stranger or Origin(replace(self._target, headers=None))
        url = self._origin.resolve(path) if path else None
        try:
            async with asyncio.timeout(timeout), origin.send(verb, headers, body, url=url) as response:
                content, message = (b"", b"") if head_only else await _read(response)
                answer = RawResponse(
                    status=response.status_code,
                    headers={name.lower(): value for name, value in response.headers.items()},
                    body=content,
                    message=message,
                )
        except TimeoutError:
            answer = RawResponse(failure=f"no answer within {timeout:g} s")
        except FAILURES as error:
            answer = RawResponse(failure=describe_error(error))
        return msgspec.structs.replace(answer, seconds=time.perf_counter() - began)

    async def close(self) -> None:
        """Close all connections."""
        await self._origin.close()
        if self._stranger is not None:
            await self._stranger.close()


def place_of(host: str) -> Place:
    """Return where a host is, by its name or address alone; nothing is looked up.

    >>> place_of("127.0.0.1"), place_of("10.0.0.7"), place_of("files"), place_of("mcp.example.com")
    ('loopback', 'private', 'private', 'public')
    """
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return "loopback"
    try:
        address = ip_address(name.strip("[]"))
    except ValueError:
        return "private" if "." not in name or name.endswith(_PRIVATE_ENDINGS) else "public"
    if address.is_loopback:
        return "loopback"
    return "private" if address.is_private else "public"


async def _read(response: httpx2.Response) -> tuple[bytes, bytes]:
    """The first bytes of a body, and the JSON-RPC answer in it; a stream is read until it has answered."""
    is_stream = media_type(response) == "text/event-stream"
    framer, content = SseFramer(), b""
    async for chunk in response.aiter_bytes():
        content += chunk[: _LONGEST_BODY - len(content)]
        if is_stream:
            for event in framer.feed(chunk):
                if event.data and isinstance(parse(event.data), ErrorReply | Result):
                    return content, event.data
        if len(content) >= _LONGEST_BODY:
            break
    return content, b"" if is_stream else content
