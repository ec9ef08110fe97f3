"""Answers that are being written: kept between the requests of their clients, within limits."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolvet.core.checks import AnswerQuality
from toolvet.core.turn import AnswerStream
from toolvet.server.failures import refusal

IDLE_SECONDS: Final = 600.0
MOST_STREAMS: Final = 1000
MOST_OF_ONE: Final = 100
MOST_TEXT: Final = 4 * 1024 * 1024


class TooManyStreams(Exception):  # noqa: N818 - reads as what it says
    """The caller has a hundred streams open, or the server a thousand."""


class OpenStream:
    """One answer so far. `options` are those of its check; `at` is when it was opened. All threads may call it."""

    def __init__(self, owner: str, options: Mapping[str, Any], at: float) -> None:
        self.owner = owner
        self.options = options
        self.used = at
        self._stream = AnswerStream(**options)
        self._length = 0
        self._lock = threading.Lock()

    def feed(self, text: str) -> AnswerQuality:
        """Read on. Raises ApiError if the text is too long; then nothing was read."""
        with self._lock:
            if self._length + len(text) > MOST_TEXT:
                raise refusal(413, "the answer is too long; finish it")
            self._length += len(text)
            return self._stream.feed(text)

    @property
    def text(self) -> str:
        """Return all text that was fed so far."""
        with self._lock:
            return self._stream.text


class OpenStreams:
    """The streams of one server, by their ids. Those that got nothing for ten minutes are forgotten.

    `clock` has seconds of a clock that never jumps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._streams: OrderedDict[str, OpenStream] = OrderedDict()

    def open(self, owner: str, options: Mapping[str, Any]) -> str:
        """Open a stream, and return its id. Raises TooManyStreams, and for wrong options as `AnswerCheck` does."""
        stream = OpenStream(owner, options, self._clock())
        with self._lock:
            self._forget()
            mine = sum(each.owner == owner for each in self._streams.values())
            if mine >= MOST_OF_ONE or len(self._streams) >= MOST_STREAMS:
                raise TooManyStreams
            id_ = secrets.token_hex(16)
            self._streams[id_] = stream
            return id_

    def get(self, id_: str, owner: str) -> OpenStream | None:
        """Return the stream of this owner; None for one that is over, or another owner's."""
        with self._lock:
            self._forget()
            found = self._streams.get(id_)
            if found is None or found.owner != owner:
                return None
            found.used = self._clock()
            self._streams.move_to_end(id_)
            return found

    def close(self, id_: str, owner: str) -> OpenStream | None:
        """Return the stream, and forget it."""
        found = self.get(id_, owner)
        if found is not None:
            with self._lock:
                self._streams.pop(id_, None)
        return found

    def _forget(self) -> None:
        # The one that was used longest ago is first.
        late = self._clock() - IDLE_SECONDS
        while self._streams and next(iter(self._streams.values())).used < late:
            self._streams.popitem(last=False)
