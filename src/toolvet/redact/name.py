"""The words of an identifier, whatever case style it is written in."""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


def word_segments(name: str) -> tuple[str, ...]:
    """The words in lower case: `deleteFile`, `delete-file` and `DELETE_FILE` alike; a run of digits is a word."""
    return tuple(word.lower() for word in _WORD.findall(name))
