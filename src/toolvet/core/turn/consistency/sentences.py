"""An answer taken apart into sentences, with what in them can be held against another answer."""

import re

import msgspec

_SENTENCE = re.compile(r"(?:[^.!?。\uff01\uff1f؟।\n]|[.!?](?=\S))+[.!?。\uff01\uff1f؟।]*")
_MARKER = re.compile(r"\s*(?:[-*•#>]+|\d{1,2}[.)](?=\s))\s*")
_MOST = 24  # Sentences of an answer that are looked at …
_SHORTEST = 2  # … with at least so many characters …
_LONGEST = 400  # … and so many of each.
_READ = 6000  # Characters of an answer that are looked at.


class Sentence(msgspec.Struct, frozen=True):
    """A sentence and where it begins in its answer."""

    text: str
    start: int


def sentences(answer: str) -> list[Sentence]:
    """The first sentences of an answer, without list markers."""
    found: list[Sentence] = []
    for match in _SENTENCE.finditer(answer, 0, _READ):
        marker = _MARKER.match(match.group())
        start = match.start() + (marker.end() if marker else 0)
        text = answer[start : match.end()]
        start += len(text) - len(text.lstrip())
        text = text.strip()
        if len(text) >= _SHORTEST:
            found.append(Sentence(text[:_LONGEST], start))
            if len(found) == _MOST:
                break
    return found
