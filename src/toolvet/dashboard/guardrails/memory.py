"""What one server keeps in memory of what products ask: declared tools, conversations and sessions under way.

Nothing of it is written anywhere, and each of it has a bound: what is oldest goes.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from toolvet.errors import ToolvetError
from toolvet.hook.transcript import AgentSession, read_session
from toolvet.schema.json_value import is_object
from toolvet.tools import view_of

_MOST_SERVERS: Final = 1_000
_MOST_CONVERSATIONS: Final = 2_000
_MOST_SESSIONS: Final = 1_000
_MOST_LINES: Final = 4_000
_MOST_TEXT: Final = 100_000
Key = tuple[str, str]
K = TypeVar("K")
V = TypeVar("V")


class KeptConversation(NamedTuple):
    """What was said before an answer: the tools that the model was offered, and the messages."""

    tools: Sequence[object]
    messages: Sequence[object]


class GuardrailMemory:
    """Declared tools by server, conversations and sessions by whoever asked. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tools: OrderedDict[str, dict[str, object]] = OrderedDict()
        self._conversations: OrderedDict[Key, KeptConversation] = OrderedDict()
        self._sessions: OrderedDict[Key, list[bytes]] = OrderedDict()

    def declare(self, server: str, tools: Sequence[object]) -> int:
        """Keep the tools of a server in place of those that it had. Returns how many could be read."""
        named = by_name(tools)
        with self._lock:
            self._tools.pop(server, None)
            if named:
                self._tools[server] = named
                _bound(self._tools, _MOST_SERVERS)
        return len(named)

    def declared(self) -> dict[str, list[str]]:
        """Return the names of the tools of each server."""
        with self._lock:
            return {server: sorted(named) for server, named in self._tools.items()}

    def definition(self, tool: str, server: str = "") -> object:
        """Return the definition of a tool; None where it is not known, or where two servers have another each."""
        with self._lock:
            if server:
                return self._tools.get(server, {}).get(tool)
            found = [named[tool] for named in self._tools.values() if tool in named]
        return found[0] if found and all(each == found[0] for each in found) else None

    def keep(self, key: Key, conversation: KeptConversation) -> None:
        """Keep a conversation until its answer comes."""
        with self._lock:
            self._conversations.pop(key, None)
            self._conversations[key] = conversation
            _bound(self._conversations, _MOST_CONVERSATIONS)

    def kept(self, key: Key) -> KeptConversation | None:
        """Return the conversation that was kept under this key."""
        with self._lock:
            return self._conversations.get(key)

    def says(self, key: Key, prompt: str) -> None:
        """Note what the user of a coding agent asked for."""
        self._add(key, {"role": "user", "content": prompt[:_MOST_TEXT]})

    def calls(self, key: Key, tool: str, arguments: object, result: object, *, failed: bool) -> None:
        """Note a call that a coding agent made, and what came back."""
        use = {"type": "tool_use", "id": "call", "name": tool, "input": arguments}
        text = _as_text(result)[-_MOST_TEXT:]
        back = {"type": "tool_result", "tool_use_id": "call", "content": text, "is_error": failed}
        self._add(key, {"role": "assistant", "content": [use]}, {"role": "user", "content": [back]})

    def session(self, key: Key) -> AgentSession | None:
        """Return what is known of a session; None where nobody said what its user asked for.

        It is never whole: no product tells us of the beginning.
        """
        with self._lock:
            lines = list(self._sessions.get(key, ()))
        found = read_session(lines, is_whole=False)
        return found if found.turn is not None and found.turn.question else None

    def _add(self, key: Key, *messages: Mapping[str, object]) -> None:
        with self._lock:
            lines = self._sessions.pop(key, [])
            number = len(lines)
            written = [msgspec.json.encode({"type": message["role"], "message": message}) for message in messages]
            # The ids of a session must differ from each other.
            lines.extend(line.replace(b'"call"', b'"call_%d"' % number, 1) for line in written)
            self._sessions[key] = lines[-_MOST_LINES:]
            _bound(self._sessions, _MOST_SESSIONS)


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


def _bound(kept: OrderedDict[K, V], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)


def _as_text(result: object) -> str:
    if isinstance(result, str):
        return result
    if is_object(result) and isinstance(result.get("stdout"), str):
        return f"{result['stdout']}\n{result.get('stderr') or ''}"
    try:
        return msgspec.json.encode(result).decode("utf-8", "replace")
    except (TypeError, msgspec.MsgspecError, ValueError, RecursionError):
        return ""
