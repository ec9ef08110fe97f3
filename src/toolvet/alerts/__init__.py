"""Alerts: a rule, its last state and the sums of the last minutes → its next state. No clock, no store, no network."""

from toolvet.alerts.rule import AlertMeasure, AlertRule
from toolvet.alerts.state import AlertState, MeasuredSums, measured, next_state, sentence

__all__ = ["AlertMeasure", "AlertRule", "AlertState", "MeasuredSums", "measured", "next_state", "sentence"]
