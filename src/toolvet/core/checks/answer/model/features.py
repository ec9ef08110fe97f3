"""What the model sees of a text: hashed n-grams of its first and last words, and their places.

A refusal opens an answer or closes it, so only the two ends are read: the cost is the same for a line and for a book.
Words count in scripts that put spaces between them, characters in those that don't (Chinese, Japanese, Thai, …) and in
Korean, whose endings carry what matters. Each n-gram counts twice near an end: once for itself, once
for itself in that place.
"""

import re
from zlib import crc32

import msgspec

SLOTS = 1 << 18
"""How many hashed features there are; an index is below this."""

_HEAD_WINDOW = 600  # Characters that are searched for the first words …
_TAIL_WINDOW = 300  # … and for the last.
_HEAD = 88  # Words (or characters of a script without spaces) of the beginning …
_TAIL = 40  # … and of the end that are read, and …
_NEAR = 28  # … how many at either end count as near it.

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+(?:'[^\W\d_{_UNSPACED}]+)?|[?\uff1f]")
# The same in ASCII, which is found in a third of the time.
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\?")
_APOSTROPHES = "\u2018\u2019\u02bc\uff07"
_MASK = SLOTS - 1

# What a model thought aloud before it answered is not the answer.
_THOUGHT = "<think>"
_THOUGHT_END = "</think>"


class Excerpt(msgspec.Struct, frozen=True):
    """A stretch of the text and where it begins in the original."""

    text: str
    start: int


def ends(text: str) -> tuple[Excerpt, Excerpt]:
    """The beginning and the end of `text` that are looked at; the end is empty where the beginning reaches it."""
    begin = 0
    if text[:_HEAD_WINDOW].lstrip().startswith(_THOUGHT):
        begin = text.find(_THOUGHT_END) + len(_THOUGHT_END) if _THOUGHT_END in text else 0
    tail = max(begin + _HEAD_WINDOW, len(text) - _TAIL_WINDOW)
    return Excerpt(text[begin : begin + _HEAD_WINDOW], begin), Excerpt(text[tail:], tail)


def features(text: str) -> list[int]:
    """The indices (0 to SLOTS - 1) of the n-grams of `text`, with repetitions; empty where there is no word."""
    head, tail = ends(text)
    first = _first_words(head.text)
    if not first:
        return []
    last = _numbers(_words(tail.text[-_TAIL_WINDOW:])[-_TAIL:])
    found: list[int] = []
    for grams in _grams(first):
        found += grams
        found += [index ^ 0x15A5B for index in grams[:_NEAR]]
        if not last:  # A short answer ends where it begins: its last words are in the head.
            found += [index ^ 0x2A4D6 for index in grams[-_NEAR:]]
    for grams in _grams(last):
        found += grams
        found += [index ^ 0x2A4D6 for index in grams[-_NEAR:]]
    # How long an answer is, in powers of two: refusals are short.
    found.append(crc32(b"length %d" % min(len(text), 8191).bit_length()) & _MASK)
    return found


def _first_words(text: str) -> list[int]:
    """The first words as numbers. In a script without spaces a fraction of the window holds them all."""
    few = _words(text[: 2 * _HEAD])
    return _numbers((few if len(few) >= _HEAD else _words(text))[:_HEAD])


def _words(text: str) -> list[str]:
    lowered = text.lower()
    if not lowered.isascii():
        for apostrophe in _APOSTROPHES:
            lowered = lowered.replace(apostrophe, "'")
    return (_ASCII_WORD if lowered.isascii() else _WORD).findall(lowered)


def _numbers(words: list[str]) -> list[int]:
    return [crc32(word.encode()) for word in words]


def _grams(words: list[int]) -> tuple[list[int], list[int], list[int]]:
    """One, two and three words in a row, mixed into one index each."""
    mixed = [word * 0x9E3779B1 for word in words]
    following = words[1:]
    return (
        [word & _MASK for word in words],
        [(one + two) >> 11 & _MASK for one, two in zip(mixed, following, strict=False)],
        [
            ((one ^ two) * 0x85EBCA77 + three) >> 23 & _MASK
            for one, two, three in zip(mixed, following, words[2:], strict=False)
        ],
    )
