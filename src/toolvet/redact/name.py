"""The words of an identifier, whatever case style it is written in."""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


def word_segments(name: str) -> tuple[str, ...]:
    """The words in lower case: `deleteFile`, `delete-file`, `DELETE_FILE` and `files.Delete2` alike; digits are words."""
    return tuple(word.lower() for word in _WORD.findall(name))
