"""Whether an error is written in another language than English, so that its words prove no failure.

The phrases that tell a refusal from a crash are English for the most part; a crash text is English in every country.

    "Aufgabe 99 wurde nicht gefunden"    wurde, nicht: German; whether it is a refusal is not known, and so no finding
    "boom at worker 3"                   nothing of that
"""

import re
from typing import Final

_LONGEST: Final = 2_000
_FEWEST_SIGNS: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]+")
_ENGLISH: Final = frozenset(
    "the is are was were not no of to for and an a failed error cannot could while with from by unable invalid it".split()
)
# Frequent small words of large languages that are not English words as well.
_OTHER: Final = frozenset(
    "der das ist nicht kein keine wurde werden muss mit und für nur gefunden "
    "le la les est pas une des pour dans doit aucun aucune n'est trouvé introuvable "
    "el los las es una por para debe ningún ninguna existe encontrado encontrada "
    "il lo non gli che per deve nessun nessuna trovato esiste "
    "não um uma para deve nenhum nenhuma foi encontrado encontrada existe "
    "het een niet geen moet van voor gevonden "
    "nie jest został musi być brak znaleziono "
    "inte finns måste är hittades och för ikke findes må skal er og fant ei löydy".split()
)


def is_foreign(words: str) -> bool:
    """Return whether `words` are mostly in another script, or have small words of another language and none of English.

    >>> is_foreign("Aufgabe 99 wurde nicht gefunden"), is_foreign("task 99 was not found")
    (True, False)
    """
    found = [word.lower() for word in _WORD.findall(words[:_LONGEST])]
    letters = "".join(found)
    if not letters:
        return False
    if sum(ord(letter) > 0x36F for letter in letters) * 2 > len(letters):
        return True
    return sum(word in _OTHER for word in found) >= _FEWEST_SIGNS and _ENGLISH.isdisjoint(found)
