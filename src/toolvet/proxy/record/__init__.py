"""Notes of sessions → a record on disk, metrics and telemetry, without slowing a call.

recorder_of (sinks.py) → Recorder.take → a BackgroundQueue per sink → StoreSink | Metrics | Telemetry
sinks pair start and end of each call with OpenCalls; MetricsServer shows Metrics where no HTTP server runs
"""
