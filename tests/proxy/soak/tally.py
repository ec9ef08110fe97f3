"""Which calls were answered, how often, and whether the answers are the right ones."""

import json
from typing import Any, Final

from tests.proxy.soak.server import BIG

MODERN: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
}
_OFTEN: Final = 100
_RARE: Final = 1000
_BAD, _FAILS, _LATE, _BIG = 7, 13, 33, 523
_MOST_WRONG: Final = 20


def tool_of(number: int) -> str:
    """The tool that a call is for; of a hundred calls one has wrong arguments, one fails and one is answered late."""
    if number % _OFTEN == _FAILS:
        return "fail"
    if number % _OFTEN == _LATE:
        return "late"
    return "big" if number % _RARE == _BIG else "add"


def is_bad(number: int) -> bool:
    """Whether the arguments of this call are wrong, so that it is refused."""
    return number % _OFTEN == _BAD


def request(number: int, *, modern: bool = False) -> bytes:
    """The call of this number, which is its id, too."""
    arguments = {"a": number, "c": 1} if is_bad(number) else {"a": number, "b": 1}
    params = {"name": tool_of(number), "arguments": arguments, **({"_meta": MODERN} if modern else {})}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


class Tally:
    """Counts the answers to the calls 0 to `calls`.

    `answered` is the number of calls that have an answer, `errors` those that were answered with an error because the
    server was gone, `wrong` what must not be, in words; `noise` counts lines that answer no call.
    """

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.answered = 0
        self.errors = 0
        self.noise = 0
        self.wrong: list[str] = []
        self._times = bytearray(calls)

    @property
    def lost(self) -> int:
        """The number of calls without an answer."""
        return self._times.count(0)

    def take(self, line: bytes) -> int | None:
        """Count a line of the proxy. Returns the number of the call that it answers; None if it answers none."""
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        number = message.get("id") if isinstance(message, dict) else None
        if not isinstance(number, int) or not 0 <= number < self.calls:
            self.noise += 1
            return None
        self._times[number] += 1
        if self._times[number] > 1:
            self._complain(f"call {number} was answered {self._times[number]} times")
        else:
            self.answered += 1
        assert isinstance(message, dict)
        if "error" in message:
            self.errors += 1
            if "unavailable" not in str(message["error"]) and "reach" not in str(message["error"]):
                self._complain(f"call {number}: {message['error']}")
        elif not _is_right(number, message["result"]):
            self._complain(f"call {number}: {str(message['result'])[:200]}")
        return number

    def _complain(self, words: str) -> None:
        if len(self.wrong) < _MOST_WRONG:
            self.wrong.append(words)


def _is_right(number: int, result: dict[str, Any]) -> bool:
    text = str(result["content"][0]["text"])
    failed = result.get("isError") is True
    if is_bad(number):
        return failed and "received invalid arguments" in text
    tool = tool_of(number)
    if tool == "fail":
        return failed and text == f"There is no record {number}"
    if tool == "big":
        return not failed and len(text) == BIG and text.startswith(f"{number}x")
    return not failed and text == str(number + 1)
