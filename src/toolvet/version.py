"""The version, alone in a file: the build reads it without importing anything."""

__version__ = "0.1.0"
