"""What every exchange over HTTP has at hand: the server, the policies, the record, and what is known of the callers."""

import sys
from secrets import token_hex
from typing import Final

import msgspec

from toolvet.proxy.http.callers import Callers
from toolvet.proxy.http.server import Responder
from toolvet.proxy.http.upstream import Upstream, UpstreamResponse
from toolvet.proxy.record.recorder import Recorder
from toolvet.session import Policies, Policy, ToolSettings
from toolvet.wire.http_head import DROPPED, Field, ResponseHead, is_legal, passing

# However low the policies are: a tool list has to be read whole, and so has an answer to be known for one.
_LEAST_HELD: Final = 16 * 2**20
# Around the arguments or the result there is a message.
_ENVELOPE: Final = 64 * 1024
_MOST_COMPLAINTS: Final = 100


class Address(msgspec.Struct, frozen=True):
    """Where the server is, as a client's request has to name it.

    `path` is the endpoint's, `target` has the query as well; `origin` is scheme and authority. `headers` are the user's
    own for the server, which replace those of clients.
    """

    path: bytes = b"/mcp"
    target: bytes = b"/mcp"
    origin: bytes = b""
    headers: tuple[Field, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """How much of a message is read before it passes unread, in bytes."""

    request: int
    answer: int


class Service:
    """One server that is proxied, for all its clients. `prefix` begins the ids of questions of our own."""

    def __init__(self, upstream: Upstream, address: Address, policies: Policies, recorder: Recorder) -> None:
        self.upstream = upstream
        self.address = address
        self.policies = policies
        self.recorder = recorder
        self.callers = Callers()
        self.held = _held(policies)
        self.prefix = f"toolvet:{token_hex(8)}:"
        self._complained: set[str] = set()

    def complain(self, words: str) -> None:
        """On stderr, once for each wording."""
        if words not in self._complained and len(self._complained) < _MOST_COMPLAINTS:
            self._complained.add(words)
            sys.stderr.write(f"toolvet: {words}\n")

    async def stream(self, response: UpstreamResponse, responder: Responder) -> None:
        """Pass an answer on as it arrives. Raises BrokenBodyError where it breaks off."""
        body = response.body
        first = await body.read() if body.done and body.received else b""
        responder.start(self.passing(response.head), first)
        while data := await body.read():
            responder.write(data)
            await responder.drain()
        responder.end()

    def passing(self, head: ResponseHead) -> ResponseHead:
        """What goes on of the server's head. A redirect to the server itself leads through here."""
        fields = [field for field in passing(head.fields, DROPPED) if is_legal(field)]
        origin = self.address.origin
        if origin and 300 <= head.status < 400:
            fields = [
                (name, value[len(origin) :] or b"/")
                if name.lower() == b"location" and _is_at(value, origin)
                else (name, value)
                for name, value in fields
            ]
        return ResponseHead(head.status, head.reason, fields, head.length)


def _held(policies: Policies) -> Held:
    settings = policies.settings
    told: tuple[ToolSettings, ...] = (settings, *settings.tools.values())
    standard = Policy()

    arguments = max(standard.max_arguments_bytes, *(one.max_arguments_bytes or 0 for one in told))
    judged = max(standard.max_judged_bytes, *(one.max_judged_bytes or 0 for one in told))
    result = max(standard.max_result_bytes, *(one.max_result_bytes or 0 for one in told))
    enforced = any(one.results == "enforce" or one.output_schema == "enforce" for one in told)
    answer = max(_LEAST_HELD, result if enforced else judged)
    return Held(max(_LEAST_HELD, arguments) + _ENVELOPE, answer + _ENVELOPE)


def _is_at(location: bytes, origin: bytes) -> bool:
    return location.startswith(origin) and location[len(origin) : len(origin) + 1] in {b"", b"/", b"?"}
