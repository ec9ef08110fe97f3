"""Check one moment of a call: one JSON object or JSONL in, the same out."""
