"""The HTTP API: a request's JSON → the same functions that the library has → JSON."""
