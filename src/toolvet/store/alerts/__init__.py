"""Alerts: a rule, its last state and the sums of the last minutes → its next state. No clock, no store, no network."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
