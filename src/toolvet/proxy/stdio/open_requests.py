"""The requests that a client waits for: they have to be answered when the server no longer can."""

from typing import Final, cast

from toolvet.core.json_value import members
from toolvet.mcp.wire import ErrorReply, Id, Noise, Notification, Request, Result, parse, shallow, split_batch

# A client that never gets answers must not fill the memory; it has given up its oldest requests by now.
_MOST: Final = 1 << 20


class OpenRequests:
    """The open ids, oldest first. `questions` are the open ids of the proxy's own questions, unknown to the client.

    An id that is used twice at a time is open twice: each of its requests needs an answer.
    """

    def __init__(self) -> None:
        self._open: dict[Id, int] = {}
        self.questions: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def note_client(self, line: bytes) -> None:
        """Note a message of the client: a request opens its id, a cancellation closes it."""
        message = parse(line)
        if type(message) is Noise and message.kind == "too_deep":
            message = parse(shallow(line))
        if type(message) is Request:
            self.add(message.id)
        elif type(message) is Notification and message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            if isinstance(id_, int | str):
                self.close(id_)
        elif type(message) is Noise and message.kind == "batch":
            for each in _messages(line):
                self.note_client(each)

    def note_server(self, line: bytes) -> None:
        """Note a message of the server: an answer closes its id, unless it is not a legal message."""
        message = parse(line)
        if type(message) is Result or type(message) is ErrorReply:
            if message.id is not None:
                self.close(message.id)
        elif type(message) is Noise and message.kind == "batch":
            for each in _messages(line):
                self.note_server(each)
        elif type(message) is Noise and message.kind == "too_deep" and message.reply_to is not None:
            # Legal JSON, which the client may be able to read.
            self.close(message.reply_to)

    def add(self, id_: Id) -> None:
        """Note one more request under this id."""
        self._open[id_] = self._open.get(id_, 0) + 1
        if len(self._open) > _MOST:
            del self._open[next(iter(self._open))]

    def close(self, id_: Id) -> None:
        """Close one request under this id; an id that is not open is ignored."""
        left = self._open.get(id_)
        if left is None:
            self.questions.discard(cast("str", id_))
        elif left > 1:
            self._open[id_] = left - 1
        else:
            del self._open[id_]

    def take(self) -> list[Id]:
        """Return all open ids and close them."""
        ids = [id_ for id_, times in self._open.items() for _ in range(times)]
        self._open.clear()
        return ids

    def take_questions(self) -> list[str]:
        """Return all open questions of the proxy and close them."""
        questions = list(self.questions)
        self.questions.clear()
        return questions


def _messages(batch: bytes) -> list[bytes]:
    """Return the messages of a batch; a batch within a batch is not a message."""
    return [message for message in split_batch(batch) if not message.startswith(b"[")]
