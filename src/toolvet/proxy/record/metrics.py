"""The metrics for Prometheus: counters of calls, verdicts and faults, and how long calls took, by server and tool."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from toolvet.core.redact import SecretMask
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.session import CallEnded, PolicyFault
from toolvet.proxy.session.step import OWN_OUTCOMES
from toolvet.version import __version__

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Seconds. Tools answer within a millisecond, or think for a minute.
_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Clients can invent names of tools: beyond this many they are counted together.
_MOST_TOOLS: Final = 500
_OTHER: Final = "(other)"
# Tools, outcomes and classes: more kinds of calls than that at once are added up before.
_MOST_KINDS: Final = 2_000
_ESCAPES: Final[Mapping[int, str]] = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

_Labels = tuple[tuple[str, str], ...]


@dataclass
class _Durations:
    """How many calls took at most as long as each bound; the last bucket has none. `total` is in seconds."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds


@dataclass(frozen=True, eq=False)
class _MetricFamily:
    """A metric's name, type and help text, which are written before its values."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    words: str


@dataclass
class _Counted:
    """How many calls of one kind there were, and the series that each of them counts in."""

    series: Sequence[tuple[_MetricFamily, _Labels]]
    calls: int = 0
    durations: _Durations | None = None


_CALLS: Final = _MetricFamily("toolvet_calls_total", "counter", "Calls of tools that ended, by what became of them.")
_BLOCKED: Final = _MetricFamily(
    "toolvet_blocked_total", "counter", "Calls or results that a policy stepped in on, by its reason."
)
_WOULD: Final = _MetricFamily(
    "toolvet_would_block_total", "counter", "Calls that a policy on audit would have stepped in on."
)
_REPAIRED: Final = _MetricFamily("toolvet_repaired_total", "counter", "Calls that were sent with repaired arguments.")
_VERDICTS: Final = _MetricFamily(
    "toolvet_verdicts_total", "counter", "Results that were judged, by the class of the verdict."
)
_SILENT: Final = _MetricFamily(
    "toolvet_errors_without_flag_total", "counter", "Results that report an error without isError."
)
_FAULTS: Final = _MetricFamily(
    "toolvet_faults_total", "counter", "What kept a policy from being applied; the calls passed."
)
_SECONDS: Final = _MetricFamily(
    "toolvet_call_duration_seconds", "histogram", "From the call to its answer, as the proxy saw it."
)


class Metrics:
    """An exporter that counts. `render` may be called from any thread.

    `name` is the server's label and `known` are secrets that the user gave, as in `StoreExporter`.
    """

    def __init__(self, name: str = "", known: SecretMask | None = None) -> None:
        self._name = name
        self._known = known or SecretMask()
        # The label of each tool: clients can invent names, and servers can have secrets in theirs.
        self._labelled: dict[str, str] = {}
        self._lock = threading.Lock()
        self._calls = OpenCalls()
        self._counts: dict[_MetricFamily, Counter[_Labels]] = {}
        self._durations: dict[_Labels, _Durations] = {}
        self._tools: set[tuple[str, str]] = set()
        # Calls of one kind count in the same series: they are added to those when somebody looks.
        self._kinds: dict[tuple[object, ...], _Counted] = {}

    def take(self, note: StampedNote) -> None:
        """Count a call that ended, or a fault: 2 µs, which a thread of its own would cost ten times over."""
        with self._lock:
            item = self._calls.take(note)
            if isinstance(item, FinishedCall):
                self._count_call(item)
            elif item is not None and isinstance(item.note, PolicyFault) and item.note.kind != "request_refused":
                self._count(_FAULTS, (("server", self._name or item.origin.server), ("kind", item.note.kind)))

    def close(self) -> None:
        """Nothing to close."""

    def render(self) -> str:
        """Return the counts in the text format of Prometheus (version 0.0.4)."""
        with self._lock:
            self._count_kinds()
            lines = list(_describe(_MetricFamily("toolvet_build_info", "gauge", "The version of toolvet.")))
            lines.append(_sample("toolvet_build_info", (("version", __version__),), 1))
            for family in (_CALLS, _BLOCKED, _WOULD, _REPAIRED, _VERDICTS, _SILENT, _FAULTS):
                lines += _describe(family)
                for labels, count in sorted(self._counts.get(family, Counter()).items()):
                    lines.append(_sample(family.name, labels, count))
            lines += _describe(_SECONDS)
            for labels, durations in sorted(self._durations.items()):
                running = 0
                bounds = (*(f"{bound:g}" for bound in _BOUNDS), "+Inf")
                for bound, count in zip(bounds, durations.buckets, strict=True):
                    running += count
                    lines.append(_sample(f"{_SECONDS.name}_bucket", (*labels, ("le", bound)), running))
                lines.append(_sample(f"{_SECONDS.name}_sum", labels, durations.total))
                lines.append(_sample(f"{_SECONDS.name}_count", labels, running))
            lines += _describe(_MetricFamily("toolvet_calls_open", "gauge", "Calls without an answer yet."))
            lines.append(_sample("toolvet_calls_open", (), len(self._calls)))
        return "\n".join(lines) + "\n"

    def _count_call(self, call: FinishedCall) -> None:
        note = call.ended
        verdict = note.verdict
        kind = (
            call.origin.server,
            note.tool,
            note.outcome,
            note.blocked,
            note.would_block,
            note.repaired is not None,
            None if verdict is None else verdict.classification,
            verdict is not None and verdict.error_without_flag,
        )
        counted = self._kinds.get(kind)
        if counted is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._count_kinds()
            counted = self._kinds[kind] = _Counted(self._series_of(note, call.origin.server))
        counted.calls += 1
        if call.duration is not None:
            if counted.durations is None:
                counted.durations = self._durations.setdefault(counted.series[0][1][:2], _Durations())
            counted.durations.add(call.duration)

    def _series_of(self, note: CallEnded, server: str) -> "Sequence[tuple[_MetricFamily, _Labels]]":
        """Return what a call counts in: the labels of the first begin with its server and tool."""
        key = (self._name or server, self._label_of(note.tool))
        is_known = key in self._tools or len(self._tools) < _MOST_TOOLS
        if is_known:
            self._tools.add(key)
        labels = (("server", key[0]), ("tool", key[1] if is_known else _OTHER))
        found: list[tuple[_MetricFamily, _Labels]] = [(_CALLS, (*labels, ("outcome", note.outcome)))]
        if note.blocked is not None:
            found.append((_BLOCKED, (*labels, ("reason", note.blocked))))
        if note.would_block is not None:
            found.append((_WOULD, (*labels, ("reason", note.would_block))))
        if note.repaired is not None:
            found.append((_REPAIRED, labels))
        if note.verdict is not None and note.outcome not in OWN_OUTCOMES:
            found.append((_VERDICTS, (*labels, ("class", note.verdict.classification.value))))
            if note.verdict.error_without_flag:
                found.append((_SILENT, labels))
        return found

    def _count_kinds(self) -> None:
        """Add up what was counted by kinds of calls."""
        for counted in self._kinds.values():
            for family, labels in counted.series:
                self._counts.setdefault(family, Counter())[labels] += counted.calls
        self._kinds.clear()

    def _label_of(self, tool: str) -> str:
        label = self._labelled.get(tool)
        if label is None:
            if len(self._labelled) >= _MOST_TOOLS:
                self._labelled.clear()
            label = self._labelled[tool] = self._known.text(tool)
        return label

    def _count(self, family: _MetricFamily, labels: _Labels) -> None:
        self._counts.setdefault(family, Counter())[labels] += 1


def _describe(family: _MetricFamily) -> Iterable[str]:
    return (f"# HELP {family.name} {family.words}", f"# TYPE {family.name} {family.kind}")


def _sample(name: str, labels: _Labels, value: float) -> str:
    clean = ((key, text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")) for key, text in labels)
    written = ",".join(f'{key}="{text}"' for key, text in clean)
    return f"{name}{{{written}}} {value:g}" if written else f"{name} {value:g}"
