"""Messages that cannot be read, and those too long to be kept (`max_message_bytes`): which of them may pass.

an answer that no policy may hold back or change     passes, and is not judged
an answer that a policy has to see before            is held back: the driver answers with an error
a call whose arguments are enforced                  is held back
any other message                                    passes
"""

import json
import re
from typing import Final, cast

from toolvet.core.json_value import members
from toolvet.mcp.wire import ErrorReply, Id, MessageStart, Noise, Result, parse, reply_hint
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.judge import end_unjudged
from toolvet.proxy.session.pending import AmbiguousAnswers, PendingAnswer, PendingCall, PendingPage
from toolvet.proxy.session.policy import Policies
from toolvet.proxy.session.step import Note, PolicyFault
from toolvet.proxy.session.vet import CallRefusal, too_large

_CALL: Final = "tools/call"
_CALL_WORD: Final = b'"tools/call"'
# With this many open requests no client waits for the next answer alone.
_MOST_WATCHED: Final = 16
_LONGEST_SPELLING: Final = 12 * 6 * 4  # Twelve characters, each escaped, in UTF-32.
# An escaped slash or character of ASCII. An escaped quote ends no string, and stays.
_ESCAPE: Final = re.compile(rb"\\(?:(/)|u00(?!22)([2-7][0-9a-fA-F]))")


def may_be_call(data: bytes) -> bool:
    r"""Return whether a lenient server may take this text for a call: it has the method as a whole string.

    >>> may_be_call(rb'{"method": "tools\/c\u0061ll", }'), may_be_call(rb'{"text": "see \"tools/call\"", }')
    (True, False)
    """
    return _holds(data, _CALL_WORD) and b"{" in data


def may_be_request(data: bytes) -> bool:
    """Return whether a lenient server may take this text for a request: it has a method and an id."""
    return _holds(data, b'"method"') and _holds(data, b'"id"')


def _holds(data: bytes, word: bytes) -> bool:
    text = data.replace(b"\0", b"")
    if b"\\" in text:
        text = _ESCAPE.sub(lambda found: found[1] or bytes.fromhex(found[2].decode()), text)
    return word in text


class CallWatch:
    """Looks whether a message that comes in parts may be a call: its last `method` counts, not its first."""

    _tail = b""

    def sees(self, part: bytes) -> bool:
        """Whether the method of a call is in this part, which comes behind the others, or ends in it."""
        searched = self._tail + part
        self._tail = searched[-_LONGEST_SPELLING:]
        return _holds(searched, _CALL_WORD)


def readable_id(data: bytes) -> Id | None:
    """Return the id of a request that is not legal, as a lenient reader finds it; None if there is no usable id.

    >>> readable_id(b'{"id": 7, "method": "tools/call", "params": NaN}')
    7
    """
    try:
        id_ = members(cast("object", json.loads(data.decode("utf-8-sig", "replace")))).get("id")
    except (ValueError, RecursionError):
        return reply_hint(data)
    return id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None


class UnreadMessages:
    """Decides on messages before they are read, on long ones by their beginning.

    It shares `pending`, the open requests, with its session.

    `prefix` begins the ids of the session's own questions; `has_asked` is set once there was one.
    """

    def __init__(self, policies: Policies, catalogue: Catalogue, pending: dict[Id, PendingAnswer], prefix: str) -> None:
        self._prefix = prefix
        self._policies = policies
        self._catalogue = catalogue
        self._pending = pending
        self._limit = policies.settings.max_message_bytes
        self.has_asked = False

    @property
    def why(self) -> str:
        """Return the record's explanation of such a message."""
        return f"longer than the limit of {self._limit} bytes (max_message_bytes)"

    def passes_to_client(self, start: MessageStart) -> bool:
        """Whether a message of the server passes unread."""
        if start.method is not None or start.cut == "params":
            return True
        if self._policies.intercepts:
            return False
        if not start.is_answer:
            return False
        if start.id is None:
            # Which request it answers follows at its end: none of them may need it.
            return all(map(self._may_pass, self._pending.values()))
        if isinstance(start.id, str) and start.id.startswith(self._prefix):
            return False
        expected = self._pending.get(start.id)
        return expected is None or self._may_pass(expected)

    def hands_on(self, data: bytes) -> bool:
        """Whether a message of the server may be passed on before the session is fed it: nothing in it can change that.

        False if it would take long to tell, and for what may answer a question of the session's own.
        """
        pending = self._pending
        return (
            len(pending) <= _MOST_WATCHED
            and data[:1] == b"{"
            and all(expected.passes for expected in pending.values())
            # Looking for an id takes 85 µs in 100 KB, and most sessions never ask: their client reads the tool list.
            and not (self.has_asked and self._may_be_ours(data))
        )

    def _may_be_ours(self, data: bytes) -> bool:
        """Whether this may be the answer to a question of the session's own."""
        if self._prefix.encode() in data:
            return True
        # An id may be spelled with escapes, of which only these can stand for a letter or a colon.
        message = parse(data) if b"\\u" in data else None
        id_ = message.id if isinstance(message, Result | ErrorReply) else None
        return isinstance(message, Noise) or (isinstance(id_, str) and id_.startswith(self._prefix))

    def passes_to_server(self, start: MessageStart) -> bool:
        """Whether a message of the client passes unread: anything but a call whose arguments are enforced."""
        if start.method is None:
            return start.is_answer
        if self._policies.intercepts:
            return False
        if start.method != _CALL:
            return True
        return not self.refuses(start.tool)

    def refuses(self, tool: str | None) -> bool:
        """Whether a call that cannot be read is refused. `tool` is None if its name cannot be read either."""
        if tool is None:
            return self._policies.enforces_arguments
        return self._policies.intercepts or self._policies.of(tool).arguments == "enforce"

    def end_answer(self, id_: Id, size: int) -> list[Note]:
        """Return the notes for an answer that passed unread; `size` is in bytes."""
        expected = self._pending.get(id_)
        if isinstance(expected, AmbiguousAnswers) and expected.answers > 1:
            return []
        self._pending.pop(id_, None)
        if isinstance(expected, PendingCall):
            return [end_unjudged(expected, f"not judged: {self.why}", size)]
        if isinstance(expected, PendingPage):
            return [PolicyFault("list_failed", f"The tool list could not be read, because it is {self.why}")]
        return []

    def refusal(self, call: PendingCall) -> CallRefusal:
        """Return the refusal of a call."""
        excess = f"too large: {self.why}"
        return CallRefusal("limits", f"arguments {excess}", too_large(call, excess))

    def _may_pass(self, expected: PendingAnswer) -> bool:
        """Whether nothing has to be decided before this answer may pass."""
        if isinstance(expected, PendingCall):
            policy = expected.policy
            if policy.results == "enforce":
                return False
            # Beyond `max_judged_bytes` structured content passes unchecked in any case.
            if policy.output_schema != "enforce" or policy.max_judged_bytes < self._limit:
                return True
            tool = self._catalogue.tools.get(expected.tool)
            return tool is not None and not tool.promises_output
        return isinstance(expected, AmbiguousAnswers | PendingPage)
