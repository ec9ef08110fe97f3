"""Server-sent events, as in the WHATWG HTML standard §9.2.6: chunks in, events out. MCP over HTTP answers so."""

import msgspec


class SseEvent(msgspec.Struct, frozen=True):
    """One event. `data` is the data lines joined with newlines; `id` is the last event id seen so far ("" for none)."""

    data: bytes
    event: str = "message"
    id: str = ""


class SseFramer:
    """Feed chunks, get the events they complete. Linear in the bytes fed, however cut; no upper size.

    `last_event_id` and `retry` (milliseconds, None until the server sets it) stand for the whole stream: a server may
    set them in an event that carries no data, and such an event is not dispatched.
    """

    def __init__(self) -> None:
        self.last_event_id = ""
        self.retry: int | None = None
        self._partial: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._data: list[bytes] = []
        self._event = ""
        self._held = 0

    @property
    def pending_bytes(self) -> int:
        """How much of an unfinished event is held."""
        return self._held

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that `chunk` completes, oldest first. An unfinished event at the end of a stream is dropped."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        events: list[SseEvent] = []
        # bytes.splitlines ends lines at CR, LF and CRLF only, which is exactly what the standard says.
        lines = chunk.splitlines(keepends=True)
        self._after_cr = lines[-1].endswith(b"\r")
        for line in lines:
            self._partial.append(line)
            self._held += len(line)
            if not line.endswith((b"\n", b"\r")):
                continue
            whole = (line if len(self._partial) == 1 else b"".join(self._partial)).rstrip(b"\r\n")
            self._partial.clear()
            if self._at_start:
                self._at_start = False
                whole = whole.removeprefix(b"\xef\xbb\xbf")
            if whole:
                self._field(whole)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self.last_event_id = value.decode(errors="replace")
        # Eighteen digits are 30 million years: int() of what a hostile server sends stays cheap.
        elif name == b"retry" and value.isdigit() and len(value) <= 18:
            self.retry = int(value)

    def _dispatch(self) -> SseEvent | None:
        data, event = self._data, self._event or "message"
        self._data, self._event, self._held = [], "", 0
        return SseEvent(b"\n".join(data), event, self.last_event_id) if data else None
