"""The record in a store: finished calls and faults → records without secrets.

Records that the disk does not take are packed in memory until it does (`Backlog`):

    notes of 10 s at 5,800 calls a second   90 MB as objects   36 MB as lines   3 MB packed
"""

import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from toolvet.core.redact import SecretMask
from toolvet.errors import StoreError
from toolvet.proxy.record.background import give_way
from toolvet.proxy.record.call_lines import CallLines
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.session import PolicyFault
from toolvet.store.records import EventRecord, encode_lines, new_id

if TYPE_CHECKING:
    from toolvet.store.store import Store

_RETRY_SECONDS: Final = 0.25
# With this many calls at once, more are waiting: what is on disk can wait for the database meanwhile.
_MANY: Final = 125
_HOLD_SECONDS: Final = 0.5
# This many records of calls that are not plain take about as long as a call waits for a thread at most.
_GIVE_WAY_EVERY: Final = 16
# With this many notes behind it (16 MiB), the thread takes its share of the processor from the calls: else they would
# come faster than they are written for as long as they come, up to the limit of the queue.
_FAR_BEHIND: Final = 16_384
# Packed records of 700,000 calls. Beyond that their notes wait in the queue, and are dropped where that is full.
_MOST_PACKED: Final = 64 << 20
# Lines are packed in pieces of that size: larger ones hardly get smaller, and what packs and unpacks them takes several
# times a piece, which the process keeps. zlib looks back 32 KiB at most.
_PIECE: Final = 1 << 16
# The quickest: 6 µs for the record of a call.
_LEVEL: Final = 1


class Backlog:
    """Lines in order. `size` is how many bytes they take in memory."""

    def __init__(self) -> None:
        self._packed: deque[bytes] = deque()
        self._newest: list[bytes] = []
        self._newest_size = 0
        self._packed_size = 0

    @property
    def size(self) -> int:
        """The bytes in memory."""
        return self._packed_size + self._newest_size

    def add(self, lines: bytes) -> None:
        """Keep these lines behind the others."""
        if not lines:
            return
        self._newest.append(lines)
        self._newest_size += len(lines)
        if self._newest_size >= _PIECE:
            packed = zlib.compress(b"".join(self._newest), _LEVEL)
            self._packed.append(packed)
            self._packed_size += len(packed)
            self._newest, self._newest_size = [], 0

    def first(self) -> bytes:
        """Return the oldest lines; b"" if there are none."""
        return zlib.decompress(self._packed[0]) if self._packed else b"".join(self._newest)

    def drop_first(self) -> None:
        """Forget what `first` returned."""
        if self._packed:
            self._packed_size -= len(self._packed.popleft())
        else:
            self._newest, self._newest_size = [], 0


class StoreExporter:
    """An exporter that writes into a store, and keeps trying where the disk does not take it.

    `name` is the server's name in the record; empty for the command or URL it was started with. `known` are secrets
    that the user gave. `complain` gets a sentence for each new reason why the disk does not take records.
    """

    def __init__(
        self, store: "Store", name: str = "", known: SecretMask | None = None, *, complain: Callable[[str], None]
    ) -> None:
        self._store = store
        self._name = name
        self._known = known or SecretMask()
        self._lines = CallLines(name, self._known)
        self._complain = complain
        self._complained: set[str] = set()
        self._calls = OpenCalls()
        self._ending = threading.Event()
        self._count_lost: Callable[[], int] = int
        self._count_waiting: Callable[[], int] = int
        self._take_more: Callable[[], Sequence[object]] = tuple
        self._reported_lost = 0

    def watch(
        self,
        count_lost: Callable[[], int],
        count_waiting: Callable[[], int] = int,
        take_more: Callable[[], Sequence[object]] = tuple,
    ) -> None:
        """Look at the queue in front of this exporter.

        How many notes were lost, which `count_lost` returns, is recorded as an event as soon as there is room again.
        While many wait, which `count_waiting` returns, the exporter does not give way to the calls. While the disk
        takes nothing, it takes further notes with `take_more`, and packs their records.
        """
        self._count_lost = count_lost
        self._count_waiting = count_waiting
        self._take_more = take_more

    def prepare(self, note: StampedNote) -> bytes | FinishedCall | StampedNote | None:
        """Return the line of a plain call; any other call, and a fault, as they are; None for what is not recorded."""
        item = self._calls.take(note)
        if isinstance(item, FinishedCall):
            return self._lines.plain_line_of(item) or item
        return item if item is not None and isinstance(item.note, PolicyFault) else None

    def write(self, notes: Sequence[object]) -> None:
        """Write a record of each of these, which `prepare` returned. Raises StoreError after `end`."""
        if len(notes) >= _MANY:
            self._store.hold(_HOLD_SECONDS)
        self._add(self._lines_of(notes))

    def _lines_of(self, prepared: Sequence[object]) -> bytes:
        gives_way = self._count_waiting() < _FAR_BEHIND
        lines: list[bytes] = []
        slow = 0
        for item in prepared:
            if isinstance(item, bytes):
                lines.append(item)
                continue
            if isinstance(item, FinishedCall):
                lines.append(self._lines.line_of(item))
            elif isinstance(item, StampedNote) and isinstance(item.note, PolicyFault):
                fault, at = item.note, item.at / 1e9
                event = EventRecord(
                    id=new_id(at),
                    at=at,
                    server=self._name or item.origin.server,
                    connection=item.origin.connection,
                    kind=fault.kind,
                    message=self._known.text(str(fault.to_dict()["message"])),
                    tool=fault.tool and self._known.text(fault.tool),
                )
                lines.append(encode_lines([event]))
            if gives_way and slow % _GIVE_WAY_EVERY == 0:
                give_way()
            slow += 1
        return b"".join(lines)

    def _add(self, lines: bytes) -> None:
        lost = self._count_lost()
        if lost > self._reported_lost:
            words = f"{lost - self._reported_lost} notes of calls were dropped, because there was no room for them"
            now = time.time()
            dropped = EventRecord(id=new_id(now), at=now, kind="dropped", message=words, server=self._name)
            lines += encode_lines([dropped])
        if lines:
            try:
                self._store.add_lines(lines)
            except StoreError as error:
                self._wait_for_disk(error, lines)
            self._reported_lost = lost

    def _wait_for_disk(self, error: StoreError, lines: bytes) -> None:
        """Try again and again until everything is written that came so far, and pack what comes meanwhile."""
        backlog = Backlog()
        backlog.add(lines)
        failed: StoreError | None = error
        while failed is not None:
            if self._ending.is_set():
                raise failed
            words = str(failed)
            if words not in self._complained:
                self._complained.add(words)
                self._complain(f"{words}; what is recorded waits in memory")
            self._ending.wait(_RETRY_SECONDS)
            while backlog.size < _MOST_PACKED and not self._ending.is_set() and (notes := self._take_more()):
                backlog.add(self._lines_of(notes))
            failed = None
            while packed := backlog.first():
                try:
                    self._store.add_lines(packed)
                except StoreError as again:
                    failed = again
                    break
                backlog.drop_first()

    def end(self) -> None:
        """Try only once more what the disk does not take."""
        self._ending.set()

    def close(self) -> None:
        """Record what was lost at last. The store has an end of its own."""
        self._add(b"")
