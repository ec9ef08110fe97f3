"""Verdicts of a store → scores on another platform: Langfuse, Opik, Phoenix, OpenTelemetry.

Each platform is a file in `destinations`, found because it is there. `send_scores` sends what a platform lacks.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
