"""The signals of a verdict on a result: its state, and what it hides or reveals."""

from toolvet.core.causes import ErrorKind
from toolvet.core.checks import ResultVerdict
from toolvet.store.records import SignalRecord


def signal_level(weight: float) -> str:
    """Return how grave a signal of this weight (0 to 1) is.

    >>> signal_level(0.7), signal_level(0.3), signal_level(0.1)
    ('error', 'warning', 'info')
    """
    return "error" if weight >= 0.7 else "warning" if weight >= 0.3 else "info"


def result_signals(verdict: ResultVerdict) -> tuple[SignalRecord, ...]:
    """Return why a result is not simply good."""
    level = "warning" if verdict.error_kind in (ErrorKind.BUSINESS, ErrorKind.UNKNOWN) else "error"
    found: list[SignalRecord] = []
    if verdict.state is not None:
        found.append(SignalRecord(verdict.state.value, level, verdict.certainty))
    elif verdict.is_error or not verdict.is_valid:
        found.append(SignalRecord(verdict.classification.value, level, verdict.certainty))
    if verdict.error_without_flag:
        found.append(SignalRecord("error_without_flag", "warning"))
    if verdict.leaks:
        found.append(SignalRecord("leak", "warning"))
    return tuple(found)
