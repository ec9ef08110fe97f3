"""Checks of envelopes: what breaks the contract, what ignores its advice, and where a tool result holds an envelope."""
