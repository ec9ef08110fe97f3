"""Domain packs: phrases that are a signal in one field only, a folder for each pack and a file for each language.

    packs/medical/en.toml      [[phrase]] entries, each with its `type`, `hits` and `misses`

The entries are those of `toolvet.core.checks.answer.phrases`, with the signal `type` beside them. A pack is found
because its folder exists, and is looked for only where `packs=["medical"]` asks for it.
"""

from collections.abc import Iterable
from functools import cache, lru_cache

from toolvet.core.checks.answer.custom import BadOption, names_of
from toolvet.core.checks.answer.phrases import KnownPhrase, SignalPhrase, SignalPhrases, known_phrase
from toolvet.core.checks.answer.quality import SignalType
from toolvet.core.discover import data_files
from toolvet.core.matching.pattern import PhraseFile
from toolvet.core.matching.phrasebook import PhraseSource, read_phrases


class PackPhrase(SignalPhrase, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One entry of a pack: a phrase of an answer, and the type of its signal."""

    type: SignalType


class PackFile(PhraseFile[PackPhrase], frozen=True, kw_only=True):
    """The phrases of one pack in one language."""


@cache
def pack_names() -> tuple[str, ...]:
    """Return the names of the packs, in order."""
    return tuple(sorted({path.partition("/")[0] for path, _ in data_files(__name__, ".toml")}))


def read_packs(names: Iterable[str] | None = None) -> list[PhraseSource[PackFile]]:
    """Read the files of these packs (of all, for None) with their proofs."""
    wanted = None if names is None else set(names)
    files = (file for file in data_files(__name__, ".toml") if wanted is None or file[0].partition("/")[0] in wanted)
    return read_phrases(__name__, files, PackFile)


def known_pack_phrases(sources: Iterable[PhraseSource[PackFile]]) -> SignalPhrases:
    """Return the phrases of these files, each under an identifier such as `medical/en:0`."""
    known: dict[str, KnownPhrase] = {
        f"{source.folder}/{source.name}:{number}": known_phrase(phrase, phrase.type, source.name)
        for source in sources
        for number, phrase in enumerate(source.file.phrase)
    }
    return SignalPhrases(known)


def pack_phrases(names: Iterable[str] | str | None) -> SignalPhrases | None:
    """Return the phrases of these packs, None if no pack is wanted.

    Raises:
        BadOption: There is no pack of that name; the message names those there are.

    Example:
        >>> len(pack_phrases(["medical"]).by_id) < len(pack_phrases(["medical", "code"]).by_id)
        True
    """
    wanted = frozenset(names_of("packs", () if names is None else names))
    if not wanted:
        return None
    for name in sorted(wanted):
        if name not in pack_names():
            raise BadOption(f"packs: there is no pack '{name}'; there are {', '.join(pack_names())}")
    return _phrases_of(wanted)


@lru_cache(maxsize=16)
def _phrases_of(names: frozenset[str]) -> SignalPhrases:
    return known_pack_phrases(read_packs(names))
