"""What was odd on the wire, gathered by kind."""

from collections.abc import Sequence

from toolvet.rules.quote import quoted
from toolvet.rules.subject import ServerSeen


class OddityEvidence:
    """The words of all oddities of some kinds; empty when there were none."""

    __slots__ = ("_words",)

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def __len__(self) -> int:
        return len(self._words)

    @property
    def words(self) -> str:
        """The first three different ones, each quoted."""
        different = list(dict.fromkeys(self._words))
        more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
        return "; ".join(f'"{quoted(words, 120)}"' for words in different[:_SHOWN]) + more


_SHOWN = 3


def evidence_of(server: ServerSeen, *kinds: str) -> OddityEvidence:
    """What was seen of these kinds, in the order in which it came."""
    return OddityEvidence([oddity.evidence for oddity in server.oddities if oddity.kind in kinds])
