"""Recorded calls beside a new version: the document (`toolvet-replay/1`), and its formats."""
