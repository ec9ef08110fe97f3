"""Verdicts of a store → scores on another platform: Langfuse, Opik, Phoenix, OpenTelemetry.

Each platform is a file in `destinations`, found because it is there. `send_scores` sends what a platform lacks.
"""

from toolvet.server.scores.destination import destination, destination_names
from toolvet.server.scores.sending import Sending, send_scores

__all__ = ["Sending", "destination", "destination_names", "send_scores"]
