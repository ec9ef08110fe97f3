"""Builders of envelopes: `success_response`, `error_response`, and a function for each kind of failure."""
