"""The rules of alerts and a store → events, lines of the log, and calls of webhooks."""
