"""Vet every tool call."""
