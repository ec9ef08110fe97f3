"""The proofs of phrase files: which of their hits are not found, and which of their near misses are."""

import re
from collections.abc import Callable, Iterator

from toolvet.core.matching import UnsafePattern, phrasebook
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.phrasebook import FileT, PhraseSource


def failed_proofs(source: PhraseSource[FileT], is_found: Callable[[int, str], bool]) -> Iterator[str]:
    """Yield one sentence for each proof of a file that fails, with file, line and phrase.

    `is_found` returns whether the entry of this number (from 0) is found in a text as its reader finds it.
    """
    for number, phrase in enumerate(source.file.phrase):
        shown = phrasebook._shown(source.written[number])
        begin = f"{source.place}:{phrasebook._line(source.text, number)}"
        for name, texts in (("hits", phrase.hits), ("misses", phrase.misses)):
            if not texts:
                yield f"{begin}: the phrase '{shown}' has no {name}"
        for text in phrase.hits:
            if not is_found(number, text):
                line = phrasebook._line(source.text, number, text)
                yield f"{source.place}:{line}: the hit '{text}' is not found by the phrase '{shown}'"
        for text in phrase.misses:
            if is_found(number, text):
                line = phrasebook._line(source.text, number, text)
                yield f"{source.place}:{line}: the near miss '{text}' is found by the phrase '{shown}'"


def faulty_patterns(source: PhraseSource[FileT]) -> Iterator[str]:
    """Yield one sentence for each pattern of a file that cannot be looked for, with file, line and phrase."""
    for number, phrase in enumerate(source.file.phrase):
        for name in phrase.PATTERNS:
            given: str | list[str] | None = getattr(phrase, name)
            for pattern in given if isinstance(given, list) else [given]:
                try:
                    if name == "match":
                        translate(f"{pattern}", re.IGNORECASE, spans=True)
                    elif pattern is not None:
                        re.compile(pattern)
                except (UnsafePattern, re.error) as problem:
                    shown = phrasebook._shown(source.written[number])
                    line = phrasebook._line(source.text, number)
                    yield f"{source.place}:{line}: `{name}` of the phrase '{shown}': {problem}"
