"""The metrics for Prometheus: counters of calls, verdicts and faults, and how long calls took, by server and tool."""

import threading
from collections.abc import Callable
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from toolvet.core.redact import SecretMask
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.session import PolicyFault
from toolvet.proxy.session.step import OWN_OUTCOMES
from toolvet.version import __version__

__all__ = ["CONTENT_TYPE", "Metrics"]

# Seconds. Tools answer within a millisecond, or think for a minute.
_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Clients can invent names of tools: beyond this many they are counted together.
_MOST_TOOLS: Final = 500
_OTHER: Final = "(other)"
# Tools, outcomes and classes whose series are found without looking them up.
_MOST_KINDS: Final = 2_000

_TOOL: Final = ("server", "tool")


class Metrics:
    """An exporter that counts. `render` may be called from any thread.

    `name` is the server's label and `known` are secrets that the user gave, as in `StoreExporter`.
    """

    def __init__(self, name: str = "", known: SecretMask | None = None) -> None:
        self._name = name
        self._known = known or SecretMask()
        self._lock = threading.Lock()
        self._calls = OpenCalls()
        self._tools: set[tuple[str, str]] = set()
        # The series in which a call of a kind counts: looking them up costs more than counting.
        self._kinds: dict[tuple[object, ...], tuple[list[Callable[[], None]], Callable[[float], None]]] = {}

        # Prometheus' client would add a line to each series for the time when it began, which is of no use here.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self._registry = CollectorRegistry()
        Info("toolvet_build", "The version of toolvet.", registry=registry).info({"version": __version__})

        def counter(name: str, words: str, *labels: str) -> Counter:
            return Counter(f"toolvet_{name}", words, labels, registry=registry)

        self._ended = counter("calls", "Calls of tools that ended, by what became of them.", *_TOOL, "outcome")
        self._blocked = counter("blocked", "Calls or results that a policy stepped in on.", *_TOOL, "reason")
        self._would = counter("would_block", "Calls that a policy on audit would have stepped in on.", *_TOOL, "reason")
        self._repaired = counter("repaired", "Calls that were sent with repaired arguments.", *_TOOL)
        self._verdicts = counter("verdicts", "Results that were judged, by the class of the verdict.", *_TOOL, "class")
        self._silent = counter("errors_without_flag", "Results that report an error without isError.", *_TOOL)
        self._faults = counter("faults", "What kept a policy from being applied; the calls passed.", "server", "kind")
        self._seconds = Histogram(
            "toolvet_call_duration_seconds",
            "From the call to its answer, as the proxy saw it.",
            _TOOL,
            buckets=_BOUNDS,
            registry=registry,
        )
        Gauge("toolvet_calls_open", "Calls without an answer yet.", registry=registry).set_function(
            lambda: len(self._calls)
        )

    def take(self, note: StampedNote) -> None:
        """Count a call that ended, or a fault: a few microseconds, a thread of its own would cost ten times as much."""
        with self._lock:
            item = self._calls.take(note)
            if isinstance(item, FinishedCall):
                count, observe = self._series_of(item)
                for add in count:
                    add()
                if item.duration is not None:
                    observe(item.duration)
            elif item is not None and isinstance(item.note, PolicyFault) and item.note.kind != "request_refused":
                self._faults.labels(self._name or item.origin.server, item.note.kind).inc()

    def close(self) -> None:
        """Nothing to close."""

    def render(self) -> str:
        """Return the counts in the text format of Prometheus (version 0.0.4)."""
        return generate_latest(self._registry).decode()

    def _series_of(self, call: FinishedCall) -> tuple[list[Callable[[], None]], Callable[[float], None]]:
        note, server = call.ended, self._name or call.origin.server
        verdict = note.verdict
        kind = (
            server,
            note.tool,
            note.outcome,
            note.blocked,
            note.would_block,
            note.repaired is not None,
            None if verdict is None else verdict.classification,
            verdict is not None and verdict.error_without_flag,
        )
        known = self._kinds.get(kind)
        if known is not None:
            return known
        # A name with half a surrogate pair cannot be written.
        tool = (note.mask | self._known).text(note.tool).encode("utf-8", "replace").decode("utf-8")
        if (server, tool) not in self._tools:
            if len(self._tools) < _MOST_TOOLS:
                self._tools.add((server, tool))
            else:
                tool = _OTHER
        labels = (server, tool)
        series = [self._ended.labels(*labels, note.outcome)]
        if note.blocked is not None:
            series.append(self._blocked.labels(*labels, note.blocked))
        if note.would_block is not None:
            series.append(self._would.labels(*labels, note.would_block))
        if note.repaired is not None:
            series.append(self._repaired.labels(*labels))
        if verdict is not None and note.outcome not in OWN_OUTCOMES:
            series.append(self._verdicts.labels(*labels, verdict.classification.value))
            if verdict.error_without_flag:
                series.append(self._silent.labels(*labels))
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
        found = self._kinds[kind] = [each.inc for each in series], self._seconds.labels(*labels).observe
        return found
