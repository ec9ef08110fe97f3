"""The page of metrics, value by value, at the edges of its bounds."""

from collections.abc import Sequence
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from toolvet.core.checks.result import Classification, ResultVerdict
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.call_lines import CallLines
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.metrics import Metrics
from toolvet.proxy.record.recorder import Recorder, RecordSource, StampedNote
from toolvet.proxy.session import CallEnded, CallStarted, PolicyFault
from toolvet.proxy.session.step import OWN_OUTCOMES
from toolvet.version import __version__

ORIGIN = RecordSource("books", "stdio-1")
MILLISECOND = 1_000_000


def started(call: int, clock: int = 0, *, origin: RecordSource = ORIGIN, at: int = 7) -> StampedNote:
    return StampedNote(origin, CallStarted(call=call, id=call, tool="t", era="legacy", size=10), at, clock)


def ended(
    call: int, clock: int = 0, *, tool: str = "t", origin: RecordSource = ORIGIN, at: int = 9, **more: Any
) -> StampedNote:
    note = CallEnded(call=call, id=call, tool=tool, era="legacy", **{"outcome": "success", **more})
    return StampedNote(origin, note, at, clock)


def count(sink: Metrics, notes: Sequence[StampedNote]) -> None:
    for note in notes:
        sink.take(note)


Sample = tuple[str, frozenset[tuple[str, str]], float]


def sample(name: str, value: float, **labels: str) -> Sample:
    return name, frozenset((key.rstrip("_"), each) for key, each in labels.items()), value


def values(sink: Metrics) -> set[Sample]:
    """The samples of the page that do not belong to a histogram, as Prometheus' own parser reads them."""
    families = text_string_to_metric_families(sink.render())
    found = {sample(each.name, each.value, **each.labels) for family in families for each in family.samples}
    plain = ("toolvet_build_info", "toolvet_calls_open")
    return {each for each in found if "duration" not in each[0] and each[0] not in plain}


def verdict(*, error_without_flag: bool = False) -> ResultVerdict:
    found = Classification.ERROR if error_without_flag else Classification.FULLY_WORKING
    return ResultVerdict(
        is_valid=True, is_error=False, classification=found, confidence=90, error_without_flag=error_without_flag
    )


def test_the_page_holds_every_count_and_stays_the_same_when_it_is_read() -> None:
    sink = Metrics()
    count(
        sink, [started(1), ended(1, 250 * MILLISECOND), started(2), ended(2, 260 * MILLISECOND), started(3), ended(4)]
    )
    page = sink.render()
    assert f'toolvet_build_info{{version="{__version__}"}} 1' in page
    assert values(sink) == {sample("toolvet_calls_total", 3, server="books", tool="t", outcome="success")}
    # A call that took just as long as a bound counts in its bucket.
    for bound, number in (("0.1", 0), ("0.25", 1), ("0.5", 2), ("+Inf", 2)):
        assert f'toolvet_call_duration_seconds_bucket{{le="{bound}",server="books",tool="t"}} {number}.0\n' in page
    assert 'toolvet_call_duration_seconds_sum{server="books",tool="t"} 0.51\n' in page
    assert "toolvet_calls_open 1.0\n" in page
    assert "_created" not in page
    assert sink.render() == page
    count(sink, [ended(5)])
    assert values(sink) == {sample("toolvet_calls_total", 4, server="books", tool="t", outcome="success")}


@pytest.mark.parametrize("outcome", ["success", *sorted(OWN_OUTCOMES)])
@pytest.mark.parametrize("silent", [False, True])
def test_a_verdict_counts_where_the_server_saw_the_call(outcome: str, *, silent: bool) -> None:
    sink = Metrics("named")
    count(sink, [ended(1, outcome=outcome, verdict=verdict(error_without_flag=silent))])
    labels = {"server": "named", "tool": "t"}
    expected = {sample("toolvet_calls_total", 1, **labels, outcome=outcome)}
    if outcome == "success":
        expected.add(sample("toolvet_verdicts_total", 1, **labels, class_="error" if silent else "fully_working"))
        if silent:
            expected.add(sample("toolvet_errors_without_flag_total", 1, **labels))
    assert values(sink) == expected


def test_kinds_of_calls_that_differ_in_one_thing_are_counted_apart() -> None:
    sink = Metrics()
    kinds: list[dict[str, Any]] = [
        {},
        {"blocked": "result"},
        {"would_block": "result"},
        {"repaired": {}},
        {"verdict": verdict()},
        {"verdict": verdict(error_without_flag=True)},
    ]
    count(sink, [ended(number, **kind) for number, kind in enumerate(kinds * 2)])
    count(sink, [ended(99, origin=RecordSource("other", "stdio-2"))])
    labels = {"server": "books", "tool": "t"}
    assert values(sink) == {
        sample("toolvet_calls_total", 12, **labels, outcome="success"),
        sample("toolvet_calls_total", 1, server="other", tool="t", outcome="success"),
        sample("toolvet_blocked_total", 2, **labels, reason="result"),
        sample("toolvet_would_block_total", 2, **labels, reason="result"),
        sample("toolvet_repaired_total", 2, **labels),
        sample("toolvet_verdicts_total", 2, **labels, class_="error"),
        sample("toolvet_verdicts_total", 2, **labels, class_="fully_working"),
        sample("toolvet_errors_without_flag_total", 2, **labels),
    }


@pytest.mark.parametrize("name", ["", "named"])
def test_a_request_that_was_refused_is_no_fault_of_ours(name: str) -> None:
    sink = Metrics(name)
    faults = [PolicyFault(kind, "why") for kind in ("list_failed", "request_refused", "list_failed")]
    count(sink, [StampedNote(ORIGIN, fault, 1, 1) for fault in faults])
    assert values(sink) == {sample("toolvet_faults_total", 2, server=name or "books", kind="list_failed")}


def test_the_five_hundred_first_tool_is_another_one() -> None:
    sink = Metrics(known=SecretMask(["ENVVALUE777"]))
    count(sink, [ended(number, tool=f"tool {number}") for number in range(499)])
    count(sink, [ended(1, tool="ENVVALUE777"), ended(2, tool="late"), ended(3, tool="later"), ended(4, tool="tool 0")])
    found = values(sink)
    assert len(found) == 501
    for tool in ("(other)", "tool 0"):
        assert sample("toolvet_calls_total", 2, server="books", tool=tool, outcome="success") in found
    assert "ENVVALUE777" not in sink.render()


def test_what_is_known_of_calls_does_not_grow_without_end() -> None:
    sink, sizes = Metrics(), list[int]()
    for number in range(2_002):
        count(sink, [ended(number, tool=f"tool {number}")])
        sizes.append(len(sink._kinds))
    assert sizes == [*range(1, 2_001), 1, 2]
    assert sum(value for _, _, value in values(sink)) == 2_002


def test_a_call_is_paired_with_its_start_on_its_own_connection() -> None:
    calls, other = OpenCalls(), RecordSource("books", "stdio-2")
    fault = StampedNote(ORIGIN, PolicyFault("list_failed", "why"), 1, 1)
    begun = started(1, 500 * MILLISECOND)
    foreign, own, again = ended(1, 1, origin=other), ended(1, 2_000 * MILLISECOND), ended(1)
    found = list(calls.pair([begun, fault, foreign, own, again]))
    assert found == [
        fault,
        FinishedCall(other, foreign.note, None, 9, 9, None),  # type: ignore[arg-type]
        FinishedCall(ORIGIN, own.note, begun.note, 7, 9, 1.5),  # type: ignore[arg-type]
        FinishedCall(ORIGIN, again.note, None, 9, 9, None),  # type: ignore[arg-type]
    ]
    assert len(calls) == 0


class FullDisk:
    """A sink that takes nothing."""

    def __init__(self) -> None:
        self.closed = 0

    def write(self, _: Sequence[StampedNote], /) -> None:
        raise OSError(28, "no room")

    def close(self) -> None:
        self.closed += 1


def test_closing_twice_tells_once_what_was_lost() -> None:
    told: list[str] = []
    sink = FullDisk()
    recorder = Recorder([sink], complain=told.append)
    for _ in range(3):
        recorder.take(ORIGIN, ended(1).note)
    recorder.close()
    assert (recorder.lost, recorder.lost_by(sink), recorder.waiting_for(sink), sink.closed) == (3, 3, 0, 1)
    assert told[-1] == "the record lost 3 notes"
    count = len(told)
    recorder.close()
    assert len(told) == count


@pytest.mark.parametrize("lost", [0, 2])
def test_what_was_lost_stands_at_the_end_of_the_page(lost: int) -> None:
    sink = FullDisk()
    recorder = Recorder([sink], complain=lambda _: None)
    for _ in range(lost):
        recorder.take(ORIGIN, ended(1).note)
    recorder.close()
    assert recorder.render_metrics() == (
        f"# TYPE toolvet_record_lost_total counter\ntoolvet_record_lost_total {lost}\n"
    )


@pytest.mark.parametrize(
    ("is_valid", "is_error", "silent", "has_signals"),
    [
        (True, False, False, False),
        (False, False, False, True),
        (True, True, False, True),
        (True, False, True, True),
    ],
)
def test_only_what_went_wrong_leaves_signals(
    *, is_valid: bool, is_error: bool, silent: bool, has_signals: bool
) -> None:
    found = ResultVerdict(
        is_valid=is_valid,
        is_error=is_error,
        classification=Classification.ERROR,
        confidence=10,
        error_without_flag=silent,
        issues=("it failed",),
    )
    note = ended(1, verdict=found).note
    assert isinstance(note, CallEnded)
    record = CallLines("", SecretMask()).record_of(FinishedCall(ORIGIN, note, None, 1, 1, None))
    assert bool(record.signals) is has_signals
    assert (record.score, record.confidence, record.classification) == (0.1, None, "error")
