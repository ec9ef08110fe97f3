"""What an error tells that is nobody's business: stack traces, crash texts, paths of the server's own machine."""

import re
from collections.abc import Iterable, Sequence

from toolvet.checks.result.phrases import Phrases, Strength
from toolvet.checks.result.verdict import Leak, LeakKind
from toolvet.text import Hit

_MOST_LEAKS = 20
_PATH = re.compile(r"[^\s\"'`)\]>,;|*?]{1,300}")
_BEFORE_PATH = re.compile(r"^[\s\"'(=:\[,<`>]")
_LINE = re.compile(r"[^\n]{0,160}")


def leaks_in(text: str, hits: Sequence[Hit], known: Phrases, sent: Iterable[str]) -> tuple[Leak, ...]:
    """The leaks in an error's text, in order. A path that the caller `sent` is no leak."""
    found: list[Leak] = []
    told = tuple(value for value in sent if "/" in value or "\\" in value)
    seen: set[tuple[LeakKind, str]] = set()
    for hit in hits:
        leak = _leak(text, hit, known, told)
        if leak is None or (leak.kind, leak.text) in seen or len(found) >= _MOST_LEAKS:
            continue
        seen.add((leak.kind, leak.text))
        found.append(leak)
    return tuple(found)


def _leak(text: str, hit: Hit, known: Phrases, told: Sequence[str]) -> Leak | None:
    phrase = known.by_id[hit.id]
    if phrase.strength is Strength.PATH:
        start = hit.start + (_BEFORE_PATH.match(text[hit.start : hit.start + 1]) is not None)
        path = text[start : hit.end] if (match := _PATH.match(text, start)) is None else match.group().rstrip(".:")
        if any(_within(path, value) for value in told):
            return None
        return Leak(LeakKind.ABSOLUTE_PATH, path, start, start + len(path))
    if phrase.strength is Strength.TRACE:
        line = _LINE.match(text, hit.start)
        words = text[hit.start : hit.end] if line is None else line.group().rstrip()
        return Leak(LeakKind.STACK_TRACE, words, hit.start, hit.start + len(words))
    if phrase.leak:
        return Leak(LeakKind.CRASH_TEXT, text[hit.start : hit.end], hit.start, hit.end)
    return None


def _within(path: str, sent: str) -> bool:
    """The same place, one above or one below what the caller named."""
    return sent in path or sent.startswith(path)
