"""What the proxy saw → a record on disk, metrics and telemetry, without slowing a call."""
