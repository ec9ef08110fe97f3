"""What must not be quoted of one exchange, learned from the whole texts before any of them is cut.

    arguments  {"password": "FIXTUREPW1"}              a quotation  "no user FIXTUREPW1"    → "no user [redacted]"
    answer     "at postgres://bob:pa55wd@db"           a quotation  "at postgres://bob:pa" → "at postgres://[redacted]"

A rule that quotes a bare word, or half a secret, quotes what no longer looks like a secret. So the judge sees the real
words, and its quotations pass a mask that knows the secrets of the texts that it judged.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from toolvet.core.redact.secret import REDACTED, is_schema, is_secret_key, names_a_secret, redact, redact_text

_MOST: Final = 2_000  # Secrets that one mask knows.
_MOST_NODES: Final = 100_000
_LONGEST: Final = 4_096  # Characters of one secret that are compared.
_SHORTEST: Final = 6  # Shorter values occur by chance.
_SHORTEST_WORD: Final = 8  # … and so do letters alone.
_LONG: Final = 16
_FRAGMENT: Final = 4
_SEPARATOR: Final = re.compile(r"""[\s:;,=&"'@]+""")
# In our own JSON these hold words of ours, which a server must not be able to blot out.
_OURS: Final = frozenset(
    {"classification", "state", "retry", "error_kind", "kind", "name", "framework", "error_code", "trace_id", "code"}
)


class SecretMask:
    """Replaces secrets in what is quoted from an exchange. Total, and pure.

    >>> SecretMask.learned({"password": "FIXTUREPW1"}).text("no user FIXTUREPW1")
    'no user [redacted]'
    """

    def __init__(self, secrets: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        """Make a mask of `secrets`; `words` are words of a text that are masked only as a whole or where it is cut."""
        found = sorted(dict.fromkeys(secret for secret in secrets if secret), key=len, reverse=True)[:_MOST]
        self.secrets = tuple(found)
        self.words = frozenset(words)
        self._pattern = re.compile("|".join(map(_expression, found))) if found else None
        # What is looked for first: the beginning and the end of each secret, at which a quotation may have been cut.
        self._begun = tuple(secret[:_LONGEST] for secret in found)
        self._ends = tuple((secret[:least], secret[-least:]) for secret in found for least in (_least_half(secret),))
        self._longest = max(map(len, found), default=0)

    def __or__(self, other: "SecretMask") -> "SecretMask":
        """Return a mask that knows what both know."""
        if not (self and other):
            return self or other
        return SecretMask((*self.secrets, *other.secrets), self.words | other.words)

    def __bool__(self) -> bool:
        """Whether it knows any secret."""
        return bool(self.secrets or self.words)

    @classmethod
    def joined(cls, masks: Iterable["SecretMask"]) -> "SecretMask":
        """Return a mask that knows what any of these knows."""
        known = [mask for mask in masks if mask]
        if len(known) == 1:
            return known[0]
        secrets = dict.fromkeys(secret for mask in known for secret in mask.secrets)
        return cls(secrets, frozenset[str]().union(*(mask.words for mask in known)))

    @classmethod
    def learned(cls, *values: object) -> "SecretMask":
        """Return a mask of the secrets in these values: arguments, an answer, an error."""
        secrets: dict[str, None] = {}
        words: set[str] = set()
        for text, hide in _texts(values):
            safe = REDACTED if hide else redact_text(text)
            if safe is text:
                continue
            found = (text,) if hide else _gaps(text, safe)
            secrets.update((part, None) for secret in found for part in _parts(secret))
            if not hide:
                words |= frozenset(text.split()) - frozenset(safe.split())
            if len(secrets) > _MOST:
                break
        return cls(secrets, words)

    def text(self, text: str) -> str:
        """Return a quotation without secrets, also where it has only a part of one."""
        return self._without_known(redact_text(text))

    def _without_known(self, safe: str) -> str:
        """Return a text that was redacted, without the secrets of this mask."""
        if not self:
            return safe
        safe = self.known(safe)
        if self.words:
            safe = re.sub(r"\S+", lambda word: REDACTED if word[0] in self.words else word[0], safe)
        return self._without_halves(safe)

    def value(self, value: object) -> object:
        """Return a JSON value without secrets, its keys included."""
        return self._walk(redact(value), frozenset(), {})

    def own(self, value: object) -> object:
        """Return a JSON value of ours, such as a verdict: what has no foreign words in it (`state`, `kind`) stays."""
        return self._walk(redact(value), _OURS, {})

    def _walk(self, value: object, kept: frozenset[str], done: dict[int, object]) -> object:
        """Read what `redact` returns, which is as deep as it allows. A container in several places is read once."""
        if isinstance(value, str):
            return self._without_known(value)
        if not self or not isinstance(value, Mapping | list | tuple):
            return value
        key = id(cast("object", value))
        if key not in done:
            if isinstance(value, Mapping):
                done[key] = {
                    self.known(name) if isinstance(name, str) else name: entry
                    if name in kept
                    else self._walk(entry, kept, done)
                    for name, entry in cast("Mapping[object, object]", value).items()
                }
            else:
                done[key] = [self._walk(item, kept, done) for item in cast("list[object] | tuple[object, ...]", value)]
        return done[key]

    def known(self, text: str) -> str:
        """Return `text` without the secrets that the mask knows; what only looks like one stays."""
        # One search for each is 50 times faster than one expression of them all, and nearly always finds none.
        if self._pattern is None or not any(begun in text for begun in self._begun):
            return text
        return self._pattern.sub(REDACTED, text)

    def _without_halves(self, text: str) -> str:
        """Remove the half of a secret at which a quotation was cut, and a quotation from inside a secret."""
        bare = text.rstrip("… ")
        head, tail, is_short = bare[: self._longest], bare[-self._longest :], _FRAGMENT <= len(bare) < self._longest
        if is_short or any(begun in tail or ending in head for begun, ending in self._ends):
            safe = self._without_half(text, bare)
            if safe is not None:
                return safe
        start, _, last = bare.rpartition(" ")
        if last and last != REDACTED and any(word.startswith(last) and word != last for word in self.words):
            return f"{start} {REDACTED}".lstrip()
        return text

    def _without_half(self, text: str, bare: str) -> str | None:
        """Return `text` without the half of a secret at its end or beginning; None where there is none."""
        for secret in self.secrets:
            if len(bare) >= _FRAGMENT and bare in secret:
                return REDACTED
            least = _least_half(secret)
            for size in range(min(len(secret) - 1, len(bare)), least - 1, -1):
                if bare.endswith(secret[:size]) and not bare[-size - 1 : -size].isalnum():
                    return bare[:-size] + REDACTED
                if bare.startswith(secret[-size:]) and not bare[size : size + 1].isalnum():
                    return REDACTED + text[size:]
        return None


def _least_half(secret: str) -> int:
    """The fewest characters of a secret that are taken for a half of it."""
    return max(_FRAGMENT, min(len(secret) // 2, _SHORTEST))


def _expression(secret: str) -> str:
    """The secret as an expression: letters or digits alone must be a word of their own."""
    escaped = re.escape(secret[:_LONGEST])
    if len(secret) > _LONGEST:
        # What follows is the rest of it.
        return rf"{escaped}\S*"
    return rf"(?<!\w){escaped}(?!\w)" if secret.isalpha() or secret.isdigit() else escaped


def _texts(values: Iterable[object]) -> Iterator[tuple[str, bool]]:
    """Yield all texts in the values, and whether their key says that they are secret. A number counts there as text."""
    waiting: list[tuple[object, bool]] = [(value, False) for value in values]
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        value, hide = waiting.pop()
        if isinstance(value, str):
            yield value, hide
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if hide and abs(value) < 10**40:
                yield str(value), True
        elif isinstance(value, Mapping):
            entries = cast("Mapping[object, object]", value)
            hide = hide and not is_schema(entries)  # The schema of a password contains no password.
            named = names_a_secret(entries)
            for key, entry in entries.items():
                secret = isinstance(key, str) and (is_secret_key(key) or (named and key == "value"))
                waiting.append((entry, hide or secret))
        elif isinstance(value, list | tuple):
            waiting += [(item, hide) for item in cast("list[object] | tuple[object, ...]", value)]


def _gaps(text: str, safe: str) -> Iterator[str]:
    """Yield what stood in `text` where `safe` has a mark."""
    pieces = safe.split(REDACTED)
    place = len(pieces[0])
    for piece in pieces[1:-1]:
        end = text.find(piece, place) if piece else place
        if end < 0:
            break
        yield text[place:end]
        place = end + len(piece)
    yield text[place : len(text) - len(pieces[-1])]


def _parts(secret: str) -> Iterator[str]:
    """Yield a secret that can be told from other words, and those of its parts: `bob:pa55wd` and `pa55wd`."""
    whole = secret.strip().strip("\"'")
    if REDACTED in whole or (not any(map(str.isdigit, whole)) and is_secret_key(whole)):
        return
    if len(whole) >= (_SHORTEST_WORD if whole.isalpha() else _SHORTEST):
        yield whole
    for part in _SEPARATOR.split(whole[: _LONGEST * 4])[:100]:
        mixed = any(map(str.isdigit, part)) and any(map(str.isalpha, part))
        if part != whole and (len(part) >= _LONG or (mixed and len(part) >= _SHORTEST)):
            yield part
