"""`kept_files`: the phrase files of one name, of all languages, without their proofs, from the cache."""

from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.discover.cache import compiled_from
from toolvet.core.matching.pattern import LANGUAGES, WORDS_FILE, Phrase, PhraseFile

_FORMAT: Final = "files/1"
# The text of these modules is part of the key: they decide how the files are read.
_SOURCES: Final = (__name__, "toolvet.core.matching.pattern", "toolvet.core.matching.phrasebook")

FileT = TypeVar("FileT", bound=PhraseFile[Phrase])


def kept_files(name: str, kind: type[FileT], reader: str) -> list[tuple[str, FileT]]:
    """Return (language, content) of each file `name`, in order of language.

    `kind` is the type of the files and `reader` the module that defines it. Raises `PhraseError` for a file that cannot
    be used.
    """

    def build(files: Iterable[tuple[str, bytes]]) -> bytes:
        # A process that finds its phrases in the cache needs no reader of files.
        from toolvet.core.matching.phrasebook import read_phrases  # noqa: PLC0415

        found: list[tuple[str, FileT]] = []
        for source in read_phrases(LANGUAGES, files, kind):
            phrases = tuple(msgspec.structs.replace(phrase, hits=[], misses=[]) for phrase in source.file.phrase)
            found.append((source.folder, msgspec.structs.replace(source.file, phrase=phrases)))
        return msgspec.msgpack.encode(found)

    built = compiled_from(LANGUAGES, (WORDS_FILE, name), build, f"{_FORMAT} {name}", (reader, *_SOURCES))
    return msgspec.msgpack.decode(built, type=decodable(list[tuple[str, kind]]))  # type: ignore[valid-type]
