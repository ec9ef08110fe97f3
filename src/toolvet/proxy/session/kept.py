"""The whole texts behind results that were shortened."""

from typing import TYPE_CHECKING, Final, cast

from toolvet.errors import ArchiveError, ContentMissingError

if TYPE_CHECKING:
    from toolvet.core.envelope import ContentArchive

KEPT_BYTES: Final = 64 << 20
"""What all kept results of a process may take together, as JSON."""
_MOST_IDS: Final = 10_000
_ID_DIGITS: Final = 12


class KeptResults:
    """The whole texts behind shortened results: those of one caller, in an archive that all callers of a process share.

    Args:
        archive: What holds the texts, and lets go of the oldest. An id says nothing to other callers.
    """

    def __init__(self, archive: "ContentArchive") -> None:
        self._archive = archive
        self._hashes: dict[str, str] = {}

    def keep(self, text: str) -> str | None:
        """Keep a text. Returns its id; None where it is larger than the archive may be."""
        try:
            content_hash = self._archive.put(text)
        except (ArchiveError, ValueError):
            return None
        id_ = content_hash.removeprefix("sha256:")[:_ID_DIGITS]
        self._hashes.pop(id_, None)
        self._hashes[id_] = content_hash
        if len(self._hashes) > _MOST_IDS:
            del self._hashes[next(iter(self._hashes))]
        return id_

    def get(self, id_: str) -> str | None:
        """Return the text of this id; None for one that is not known, or no longer."""
        content_hash = self._hashes.get(id_)
        if content_hash is None:
            return None
        try:
            return cast("str", self._archive.get(content_hash))
        except ContentMissingError:
            del self._hashes[id_]
            return None
