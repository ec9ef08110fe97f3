"""Notes of sessions → a record on disk, metrics and telemetry, without slowing a call.

recorder_of (recording.py) → Recorder.take → Metrics, at once
                                           → lines of plain calls → a BackgroundQueue → StoreExporter
                                           → a BackgroundQueue → Telemetry
exporters pair start and end of each call with OpenCalls; MetricsServer shows Metrics where no HTTP server runs
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
