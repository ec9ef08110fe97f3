"""Data on disk: what happened (`Store`), and content that responses left out (`SQLiteArchive`)."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
