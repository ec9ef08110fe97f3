"""One moment of a call → a verdict: its arguments, a capability, its result, the answer. No check imports another."""
