"""Internals that an error reveals: stack traces, crash texts, paths of the server's own machine."""

import re
from collections.abc import Iterable, Sequence

from toolvet.core.checks.result.phrases import ResultPhrases, Strength
from toolvet.core.checks.result.verdict import Leak, LeakKind
from toolvet.core.matching import Hit

_MOST_LEAKS = 20
_MOST_BEFORE = 100
_PATH = re.compile(r"[^\s\"'`)\]>,;|*?]{1,300}")
_BEFORE_PATH = re.compile(r"^[\s\"'(=:\[,<`>]")
_LINE = re.compile(r"[^\n]{0,160}")


def leaks_in(text: str, hits: Sequence[Hit], known: ResultPhrases, sent: Iterable[str]) -> tuple[Leak, ...]:
    """The leaks in an error's text, in order. A path that the caller `sent` is not a leak."""
    leaky = [hit for hit in hits if hit.id in known.leaky]
    if not leaky:
        return ()
    found: list[Leak] = []
    sent_paths = tuple(value for value in sent if "/" in value or "\\" in value)
    seen: set[str] = set()
    reached = 0
    for hit in leaky:
        # Several words of one crash in the same line: reported once.
        if hit.end <= reached and known.by_id[hit.id].leak:
            continue
        leak = _leak(text, hit, known, sent_paths)
        # A line of a stack trace is reported once, even if it contains words of a crash.
        if leak is None or leak.text in seen or len(found) >= _MOST_LEAKS:
            continue
        seen.add(leak.text)
        found.append(leak)
        reached = max(reached, leak.end)
    return tuple(found)


def _leak(text: str, hit: Hit, known: ResultPhrases, sent_paths: Sequence[str]) -> Leak | None:
    phrase = known.by_id[hit.id]
    if phrase.strength is Strength.PATH:
        start = hit.start + (_BEFORE_PATH.match(text[hit.start : hit.start + 1]) is not None)
        path = text[start : hit.end] if (match := _PATH.match(text, start)) is None else match.group().rstrip(".:")
        if any(_within(path, value) for value in sent_paths):
            return None
        return Leak(LeakKind.ABSOLUTE_PATH, path, start, start + len(path))
    if phrase.strength is Strength.TRACE:
        line = _LINE.match(text, hit.start)
        words = text[hit.start : hit.end] if line is None else line.group().rstrip()
        return Leak(LeakKind.STACK_TRACE, words, hit.start, hit.start + len(words))
    if phrase.leak:
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_BEFORE)
        line = _LINE.match(text, start)
        words = text[start : hit.end] if line is None else line.group()
        start += len(words) - len(words.lstrip())
        return Leak(LeakKind.CRASH_TEXT, words.strip(), start, start + len(words.strip()))
    return None


def _within(path: str, sent: str) -> bool:
    """The same place, one above or one below what the caller named."""
    return sent in path or sent.startswith(path)
