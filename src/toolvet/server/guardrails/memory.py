"""What one server keeps in memory of what products ask: declared tools, conversations and sessions under way.

Nothing of it is written anywhere, and all of it has a bound in bytes: what was not touched for longest goes.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from toolvet.agents.hook import AgentSession, read_session
from toolvet.core.json_value import elements, is_object
from toolvet.core.tools import view_of
from toolvet.errors import ToolvetError
from toolvet.store.records import encode_document

MOST_TOOL_BYTES: Final = 64 * 2**20
MOST_CONVERSATION_BYTES: Final = 128 * 2**20
MOST_SESSION_BYTES: Final = 128 * 2**20
_MOST_OF_A_SESSION: Final = 4 * 2**20
_MOST_TEXT: Final = 100_000
# The cost of an entry beside its bytes.
_ENTRY_BYTES: Final = 200
Key = tuple[str, str]
K = TypeVar("K")
V = TypeVar("V")


class GuardrailConversation(NamedTuple):
    """The context of an answer: the tools that the model was offered, and the messages."""

    tools: Sequence[object] = ()
    messages: Sequence[object] = ()


class BoundedMemory(Generic[K, V]):
    """Values under keys that together take a limited number of bytes: the oldest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.size = 0

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of `size` bytes in place of the one that is there; nothing if it alone is too large."""
        self.take(key)
        size += _ENTRY_BYTES
        if size > self._most:
            return
        self._held[key] = (value, size)
        self.size += size
        while self.size > self._most:
            self.size -= self._held.popitem(last=False)[1][1]

    def take(self, key: K) -> V | None:
        """Return a value, and forget it."""
        found = self._held.pop(key, None)
        if found is None:
            return None
        self.size -= found[1]
        return found[0]

    def get(self, key: K) -> V | None:
        """Return a value."""
        found = self._held.get(key)
        return None if found is None else found[0]

    def items(self) -> list[tuple[K, V]]:
        """Return all of it."""
        return [(key, value) for key, (value, _) in self._held.items()]


class GuardrailMemory:
    """Declared tools by server, conversations and sessions by caller. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tools: BoundedMemory[str, dict[str, object]] = BoundedMemory(MOST_TOOL_BYTES)
        self._conversations: BoundedMemory[Key, bytes] = BoundedMemory(MOST_CONVERSATION_BYTES)
        self._sessions: BoundedMemory[Key, list[bytes]] = BoundedMemory(MOST_SESSION_BYTES)
        self._numbers = count()

    def declare(self, server: str, tools: Sequence[object]) -> int:
        """Keep the tools of a server in place of those that it had. Returns how many could be read."""
        named = by_name(tools)
        size = len(bytes(encode_document(named)))
        with self._lock:
            self._tools.take(server)
            if named:
                self._tools.put(server, named, size)
        return len(named)

    def declared(self) -> dict[str, list[str]]:
        """Return the names of the tools of each server."""
        with self._lock:
            return {server: sorted(named) for server, named in self._tools.items()}

    def servers(self) -> list[str]:
        """Return the names of the servers whose tools were declared."""
        with self._lock:
            return [server for server, _ in self._tools.items()]

    def definition(self, tool: str, server: str = "") -> object:
        """Return the definition of a tool; None if it is not known, or if two servers define it differently."""
        with self._lock:
            if server:
                return (self._tools.get(server) or {}).get(tool)
            found = [named[tool] for _, named in self._tools.items() if tool in named]
        return found[0] if found and all(each == found[0] for each in found) else None

    def keep(self, key: Key, conversation: GuardrailConversation) -> None:
        """Keep a conversation until its answer comes."""
        # As bytes it takes a fraction of what it takes as objects.
        encoded = bytes(encode_document(conversation))
        with self._lock:
            self._conversations.put(key, encoded, len(encoded))

    def kept(self, key: Key) -> GuardrailConversation:
        """Return the conversation that was kept under this key, an empty one where none was."""
        with self._lock:
            encoded = self._conversations.get(key)
        if encoded is None:
            return GuardrailConversation()
        tools, messages = msgspec.json.decode(encoded)
        return GuardrailConversation(elements(tools), elements(messages))

    def says(self, key: Key, prompt: str) -> None:
        """Note what the user of a coding agent asked for."""
        self._add(key, {"role": "user", "content": prompt[:_MOST_TEXT]})

    def calls(self, key: Key, tool: str, arguments: object, result: object, *, failed: bool) -> None:
        """Note a call that a coding agent made, and what came back."""
        id_ = f"call_{next(self._numbers)}"
        use = {"type": "tool_use", "id": id_, "name": tool, "input": arguments}
        if isinstance(result, str):
            text = result
        elif is_object(result) and isinstance(result.get("stdout"), str):
            text = f"{result['stdout']}\n{result.get('stderr') or ''}"
        else:
            try:
                text = msgspec.json.encode(result).decode("utf-8", "replace")
            except (TypeError, msgspec.MsgspecError, ValueError, RecursionError):
                text = ""
        back = {"type": "tool_result", "tool_use_id": id_, "content": text[-_MOST_TEXT:], "is_error": failed}
        self._add(key, {"role": "assistant", "content": [use]}, {"role": "user", "content": [back]})

    def session(self, key: Key) -> AgentSession | None:
        """Return what is known of a session; None if the question of its user is unknown.

        It is never whole: no product tells us of the beginning.
        """
        with self._lock:
            lines = list(self._sessions.get(key) or ())
        found = read_session(lines, is_whole=False)
        return found if found.turn is not None and found.turn.question else None

    def _add(self, key: Key, *messages: Mapping[str, object]) -> None:
        with self._lock:
            lines = self._sessions.take(key) or []
            lines.extend(bytes(encode_document({"type": each["role"], "message": each})) for each in messages)
            size = sum(map(len, lines))
            if size > _MOST_OF_A_SESSION:
                # The user's request goes too, so nothing is reported until they ask for something again.
                lines, size = [], 0
            self._sessions.put(key, lines, size)


def by_name(tools: Sequence[object]) -> dict[str, object]:
    """Return definitions by the names of their tools, without those that cannot be read."""
    found: dict[str, object] = {}
    for tool in tools:
        try:
            name = view_of(tool).name
        except ToolvetError:
            continue
        if name:
            found[name] = tool
    return found
