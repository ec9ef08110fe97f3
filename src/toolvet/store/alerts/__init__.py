"""Alerts: a rule, its last state and the sums of the last minutes → its next state. No clock, no store, no network."""

from toolvet.store.alerts.rule import AlertMeasure, AlertRule
from toolvet.store.alerts.state import AlertState, MeasuredSums, measured, next_state, sentence

__all__ = ["AlertMeasure", "AlertRule", "AlertState", "MeasuredSums", "measured", "next_state", "sentence"]
