"""Judges many rows: a file, a folder or a bucket of logs in, the verdicts on each row out."""
