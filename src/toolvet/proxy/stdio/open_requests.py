"""Which requests a client waits for: what has to be answered when the server cannot any more."""

from typing import cast

import msgspec

from toolvet.schema.json_value import members
from toolvet.wire import ErrorReply, Id, Noise, Notification, Request, Result, parse, shallow

# A client that never gets answers must not fill the memory; what it asked longest ago it has given up by now.
_MOST: int = 1 << 20


class OpenRequests:
    """Ids in the order in which they were asked. `questions` are our own, which the client knows nothing of.

    An id that is used twice at a time is open as often as it was asked: each of its requests is owed an answer.
    """

    def __init__(self) -> None:
        self._open: dict[Id, int] = {}
        self.questions: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def asked(self, line: bytes) -> None:
        """A message of the client: a request opens, a cancellation closes."""
        message = parse(line)
        if type(message) is Noise and message.kind == "too_deep":
            message = parse(shallow(line))
        if type(message) is Request:
            self.opened(message.id)
        elif type(message) is Notification and message.method == "notifications/cancelled":
            id_ = members(message.params).get("requestId")
            if isinstance(id_, int | str):
                self.answered(id_)
        elif type(message) is Noise and message.kind == "batch":
            for each in _batch(line):
                self.asked(each)

    def heard(self, line: bytes) -> None:
        """A message of the server: an answer closes, but not one that is no legal message."""
        message = parse(line)
        if type(message) is Result or type(message) is ErrorReply:
            if message.id is not None:
                self.answered(message.id)
        elif type(message) is Noise and message.kind == "batch":
            for each in _batch(line):
                self.heard(each)
        elif type(message) is Noise and message.kind == "too_deep" and message.reply_to is not None:
            # Legal JSON, which the client may well read.
            self.answered(message.reply_to)

    def opened(self, id_: Id) -> None:
        """One more request under this id."""
        self._open[id_] = self._open.get(id_, 0) + 1
        if len(self._open) > _MOST:
            del self._open[next(iter(self._open))]

    def answered(self, id_: Id) -> None:
        """Closed. Ids that are not open do no harm."""
        left = self._open.get(id_)
        if left is None:
            self.questions.discard(cast("str", id_))
        elif left > 1:
            self._open[id_] = left - 1
        else:
            del self._open[id_]

    def take(self) -> list[Id]:
        """All that are open, which then are not."""
        ids = [id_ for id_, times in self._open.items() for _ in range(times)]
        self._open.clear()
        return ids

    def take_questions(self) -> list[str]:
        """All questions of ours that wait for an answer, which then are none."""
        questions = list(self.questions)
        self.questions.clear()
        return questions


def _batch(line: bytes) -> list[bytes]:
    """The messages of a batch; a batch within a batch is no message."""
    try:
        items = _ITEMS.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
    return [message for item in items if not (message := bytes(item)).startswith(b"[")]


_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
