"""Reads files: a file → chunks of its rows. A format is a file here; `opening` chooses."""
