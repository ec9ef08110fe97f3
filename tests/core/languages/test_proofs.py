"""The proofs of all phrases of all languages. `make phrases LANG=de` runs those of one language alone."""

import os
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from tests.phrase_proofs import failed_proofs, faulty_patterns

import toolvet.core.languages
from toolvet.core.checks.answer import phrases as answer
from toolvet.core.checks.answer.quality import SignalType
from toolvet.core.checks.answer.read import counts, find
from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.phrasebook import FileT, PhraseSource
from toolvet.core.poison import steering
from toolvet.core.prose import frame, masks
from toolvet.core.turn.ledger import extent, phrases as claims
from toolvet.core.turn.ledger.claims import said
from toolvet.core.turn.ledger.request import PersonRequest

FOLDER = Path(toolvet.core.languages.__path__[0])
LANGUAGES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__")
# Set by `make phrases LANG=…`: then nothing is compiled but the phrases of this language.
ONLY = os.environ.get("TOOLVET_LANGUAGE", "")
FILES = {"words", "claims", "frames", "extent", "steering", *SignalType} - {SignalType.EMPTY_RESPONSE}


@pytest.mark.parametrize("language", [ONLY] if ONLY else LANGUAGES)
def test_every_phrase_of_a_language_keeps_its_proofs(language: str) -> None:
    assert language in LANGUAGES, f"there is no folder src/toolvet/core/languages/{language}; there are {LANGUAGES}"
    failures = [*_of_answers(language), *_of_claims(language), *_of_frames(language), *_of_extents(language)]
    failures += _of_steering(language)
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


@pytest.mark.parametrize("language", [ONLY] if ONLY else LANGUAGES)
def test_a_folder_holds_no_file_that_is_not_read(language: str) -> None:
    unread = [path.name for path in (FOLDER / language).iterdir() if path.suffix != ".toml" or path.stem not in FILES]
    assert unread == [], f"a language has no such file; it may have {sorted(FILES)}, each with .toml"


def _of_answers(language: str) -> Iterator[str]:
    sources = answer.read_sources(language)
    if not (yield from _faults(sources)):
        return
    known = answer.SignalPhrases(answer.known_phrases(sources)) if ONLY else answer.phrases()
    for source in sources:

        def counts_in(number: int, text: str, source: PhraseSource[answer.SignalFile] = source) -> bool:
            wanted = known.by_id[f"{source.name}/{source.folder}:{number}"]
            found = [each for each in find(text, known=known) if each.known is wanted]
            return bool(found) and any(counts(each, len(text), masks(text)) for each in found)

        yield from failed_proofs(source, counts_in)


def _of_claims(language: str) -> Iterator[str]:
    sources = claims.read_sources(language)
    if not (yield from _faults(sources)):
        return
    known = claims.ClaimPhrases((each.folder, each.file) for each in sources) if ONLY else claims.phrases()
    for source in sources:

        def is_claimed(number: int, text: str, source: PhraseSource[claims.ClaimFile] = source) -> bool:
            # What is claimed only of what the request names has the request before an arrow.
            request, _, answer = text.rpartition(" → ")
            claims = said(answer, known, request=PersonRequest(request)).claims
            return any(claim.hit.id == f"{source.folder}:{number}" for claim in claims)

        yield from failed_proofs(source, is_claimed)


def _of_frames(language: str) -> Iterator[str]:
    sources = frame.read_sources(language)
    if not (yield from _faults(sources)):
        return
    for source in sources:
        found = PatternSet(Pattern(f"{n}", each.match, spans=False) for n, each in enumerate(source.file.phrase)).scan

        def is_found(number: int, text: str, found: Callable[[str], list[Hit]] = found) -> bool:
            return any(hit.id == f"{number}" for hit in found(text))

        yield from failed_proofs(source, is_found)


def _of_extents(language: str) -> Iterator[str]:
    sources = extent.read_sources(language)
    if not (yield from _faults(sources)):
        return
    for source in sources:

        def is_said(number: int, text: str, source: PhraseSource[extent.ExtentFile] = source) -> bool:
            return re.search(source.file.phrase[number].match, text, re.IGNORECASE) is not None

        yield from failed_proofs(source, is_said)


def _of_steering(language: str) -> Iterator[str]:
    sources = steering.read_sources(language)
    if not (yield from _faults(sources)):
        return
    for source in sources:
        found = PatternSet(Pattern(f"{n}", each.match) for n, each in enumerate(source.file.phrase)).scan

        def is_found(number: int, text: str, found: Callable[[str], list[Hit]] = found) -> bool:
            return any(hit.id == f"{number}" for hit in found(text))

        yield from failed_proofs(source, is_found)


def _faults(sources: list[PhraseSource[FileT]]) -> Generator[str, None, bool]:
    """What is wrong with the patterns themselves; returns whether all can be looked for."""
    faults = [fault for source in sources for fault in faulty_patterns(source)] if ONLY else []
    yield from faults
    return not faults
