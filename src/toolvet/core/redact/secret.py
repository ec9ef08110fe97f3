"""Find secrets by the name of their key or by their own shape, and replace them.

A secret is a value that a user would not paste into a bug report. A name that only sounds like a secret
(`tokens_used`, `keyboard`) keeps its value: a report that hides too much is useless, too.

`SecretMask` knows what must not be quoted of one exchange: it learns it from whole texts, before any of them is cut.

    arguments  {"password": "FIXTUREPW1"}              a quotation  "no user FIXTUREPW1"    → "no user [redacted]"
    answer     "at postgres://bob:pa55wd@db"           a quotation  "at postgres://bob:pa" → "at postgres://[redacted]"

A rule that quotes a bare word, or half a secret, quotes what no longer looks like a secret. So the judge sees the real
words, and its quotations pass a mask that knows the secrets of the texts that it judged.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, TypeAlias, TypeVar, cast

import msgspec

from toolvet.core.discover.toml import read_toml

_T = TypeVar("_T")
_ByRarest: TypeAlias = tuple[tuple[str, tuple[tuple[str, _T], ...]], ...]

REDACTED: Final = "[redacted]"

# Deeper than any honest payload; what lies below this depth is not read, so it is replaced.
_MAX_DEPTH: Final = 200
_LONGEST_NAME: Final = 256
# No shape of a secret is shorter, so that most keys cost nothing.
_SHORTEST_SECRET: Final = 12
_SECRET, _PASSWORD = 1, 2
_SHORTEST_QUOTED: Final = 4  # Shorter words in quotation marks are mostly those of a language of programs.
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


def redact(value: object) -> object:
    """Return `value` with every secret replaced by `[redacted]`; the same object when there is none. Total.

    Mappings stay mappings and lists stay lists with as many members; a key that looks like a secret itself is replaced.
    Under a secret key every text and number is replaced, unless the value is a JSON Schema, which only describes such a
    value. A container that contains itself is replaced where it occurs again, and so is a value deeper than 200 levels.

    >>> redact({"user": "ann", "dbPassword": "hunter2", "limit": 10})
    {'user': 'ann', 'dbPassword': '[redacted]', 'limit': 10}
    """
    return _Redaction().of(value, depth=0, hide=False)


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a secret replaced; the same object when nothing was found.

    >>> redact_text("Authorization: Bearer abc, then API_KEY=12345")
    'Authorization: Bearer abc, then API_KEY=[redacted]'
    """
    for shape in _shapes_in(text):
        text = shape.expression.sub(_hide_match, text)
    if "=" not in text and ":" not in text and "</" not in text:
        return text
    # Whether a secret name may have a value here: 30 times faster than reading every assignment. An expression that
    # ends with a sign would try to match at each letter; read backwards, it begins with the sign:
    #     {"apiKey": "abc"}   backwards   }"cba" :"yeKipa"{   matches   :"yeKipa   the name   apiKey
    backwards = text[::-1]
    if any(_may_end_secret(name[::-1]) for name in set(_NAME_BACKWARDS.findall(backwards))):
        text = _HEADER.sub(_hide_header, _hide_assigned(text, backwards))
    return text


def may_hold_secrets(text: str) -> bool:
    """Whether a text, or the value that the text encodes as JSON, may hold a secret for `redact`; often wrongly True.

    If it is False, `redact` returns the value as it is. Most values need only this check, a few microseconds.

    >>> may_hold_secrets('{"user": "ann", "limit": 10}'), may_hold_secrets('{"dbPassword": "hunter2"}')
    (False, True)
    """
    # No needle has a character that JSON escapes.
    if _shapes_in(text):
        return True
    lowered = text.lower()
    for rare, parts in _rare_phrases(ascii_only=lowered.isascii()):
        # All words of some secret name.
        if rare in lowered:
            for part, phrases in parts:
                if part in lowered and any(all(word in lowered for word in phrase) for phrase in phrases):
                    return True
    return False


def is_secret_key(name: str) -> bool:
    """Whether a key of this name holds a secret (`X-Api-Key`, `dbPassword`), in any case style.

    >>> is_secret_key("X-Api-Key"), is_secret_key("tokens_used")
    (True, False)
    """
    return len(name) <= _LONGEST_NAME and bool(_secrecy(name))


def word_segments(name: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case, in any case style; a run of digits is a word.

    >>> word_segments("deleteFile"), word_segments("DELETE_FILE2")
    (('delete', 'file'), ('delete', 'file', '2'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


class _Redaction:
    """One walk through a value. A container that several others share is read once, and stays shared."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        # The container is kept with its copy: while it exists, no other object can have its id.
        self._done: dict[tuple[int, bool], tuple[object, object]] = {}

    def of(self, value: object, *, depth: int, hide: bool) -> object:
        if isinstance(value, str):
            return (REDACTED if value.strip() else value) if hide else redact_text(value)
        if isinstance(value, Mapping | list | tuple):
            if depth >= _MAX_DEPTH:
                return REDACTED
            container = cast("Mapping[object, object] | list[object] | tuple[object, ...]", value)
            key = (id(container), hide)
            if key in self._done:
                return self._done[key][1]
            # A container that contains itself is not JSON: where it occurs again, it is left out.
            self._done[key] = container, REDACTED
            safe: object = container
            if isinstance(container, Mapping):
                safe = self._members(container, depth, hide=hide)
            else:
                after = [self.of(item, depth=depth + 1, hide=hide) for item in container]
                if any(new is not old for new, old in zip(after, container, strict=True)):
                    safe = after if isinstance(container, list) else tuple(after)
            self._done[key] = container, safe
            return safe
        # A boolean or null reveals nothing.
        return REDACTED if hide and isinstance(value, int | float) and not isinstance(value, bool) else value

    def _members(self, value: Mapping[object, object], depth: int, *, hide: bool) -> object:
        hide = hide and not is_schema(value)
        is_named = names_a_secret(value)
        changed: dict[object, object] = {}
        renamed: dict[object, str] = {}
        for key, member in value.items():
            secret = hide or (is_named and key == "value")
            if isinstance(key, str):
                secret = secret or is_secret_key(key)
                if len(key) >= _SHORTEST_SECRET:
                    # A key may have a secret in it, such as a URL with a token.
                    name = _redacted_key(key) if len(key) <= _LONGEST_NAME else redact_text(key)
                    if name != key:
                        renamed[key] = name
            new = self.of(member, depth=depth + 1, hide=secret)
            if new is not member:
                changed[key] = new
        if renamed:
            return _with_names({**value, **changed}, renamed)
        return {**value, **changed} if changed else value


def _with_names(value: Mapping[object, object], names: Mapping[object, str]) -> dict[object, object]:
    """Return `value` with other keys, and as many: of two that look the same now, the second one gets a number."""
    found: dict[object, object] = {}
    for key, member in value.items():
        name = first = names.get(key, key)
        number = 1
        while name in found or (name is not key and name in value):
            number += 1
            name = f"{first} {number}"
        found[name] = member
    return found


@lru_cache(maxsize=4096)
def _redacted_key(name: str) -> str:
    return redact_text(name)


def names_a_secret(value: Mapping[object, object]) -> bool:
    """Whether this is `{"name": "Authorization", "value": "…"}`, the form of HTTP archives and form fields."""
    name = value.get("name", value.get("key"))
    return "value" in value and isinstance(name, str) and is_secret_key(name)


_SCHEMA_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SCHEMA_KEYWORDS = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


def is_schema(value: Mapping[object, object]) -> bool:
    """Whether this is a JSON Schema: the schema of a parameter `password` contains no password."""
    kind = value.get("type")
    return (isinstance(kind, str) and kind in _SCHEMA_TYPES) or not _SCHEMA_KEYWORDS.isdisjoint(
        key for key in value if isinstance(key, str)
    )


# The end of a name and its sign: `name=`, `"name" :`, `name => `, `['name'] =` and `**name**:`, also with `\"`.
_NAME_BACKWARDS: Final = re.compile(r"""[=:>][=:]{0,2}\s{0,4}[]*"'`]{0,4}\\?([\w.-]{1,64})""")
# Up to two words before the last one of a name: `API` before `key`.
_WORDS_BEFORE: Final = re.compile(r"[\w.-]{1,32} (?:[\w.-]{1,32} )?$")
# The names are bounded and start at a boundary. The values are not, or the rest of a long secret would be left: they
# end where the next can begin, so that no text is read more than a few times.
_MEMBER: Final = re.compile(r"""\s{0,4}\\?["'](?P<value>[^"'\\]+)""")
_TIGHT: Final = re.compile(r"""(?P<value>"[^"]+"|'[^']+'|(?!(?:None|null|true|false)\b)[^\s&,;"'<>()\[\]{}]+)""")
# The part of a value that is read before it is known to be a secret. It is read again from each sign in it.
_LOOSE: Final = re.compile(
    r"""[ \t]{0,4}[*]{0,2}[ \t]?(?P<open>\\?["'`])?"""
    # Looked ahead and then taken as a whole, so that the search does not come back for a shorter value.
    r"""(?=(?P<value>[^\s&,;"'<>()\[\]{}`\\]{1,64}))(?P=value)(?P<close>\\?["'`])?(?![(\[{])"""
)
_REST: Final = re.compile(r"""[^\s&,;"'<>()\[\]{}`\\]*""")
_HEADER = re.compile(
    r"(?im)^[> ]{0,4}(?P<keep>(?P<name>(?:x-[\w-]{1,60}|authorization|proxy-authorization|(?:set-)?cookie)):[ ]{0,4})"
    # A header's value has no blanks but after a semicolon; a sentence has.
    r"(?P<value>[^\s;]+(?:;[ ]?[^\s;]+)*)[ ]{0,4}$"
)


def _hide_match(match: re.Match[str]) -> str:
    return match.groupdict().get("keep", "") + REDACTED


def _hide_header(match: re.Match[str]) -> str:
    if not is_secret_key(match["name"]) or match["value"] == REDACTED:
        return match[0]
    start, end = (place - match.start() for place in match.span("value"))
    return match[0][:start] + REDACTED + match[0][end:]


def _hide_assigned(text: str, backwards: str) -> str:
    """Return `text` without the values that are assigned to secret names."""
    pieces: list[str] = []
    done, size = 0, len(text)
    for match in reversed(list(_NAME_BACKWARDS.finditer(backwards))):
        start, end = size - match.end(), size - match.start()
        name = match[1][::-1]
        if start < done or not _may_end_secret(name):
            continue
        before = None if _secrecy(name) else _WORDS_BEFORE.search(text, max(0, start - 66), start)
        secrecy = _secrecy(before[0] + name if before else name)
        found = _assigned_value(text, start, end, text[start + len(name) : end], secrecy) if secrecy else None
        if found is not None:
            pieces += (text[done : found[0]], REDACTED)
            done = found[1]
    return "".join((*pieces, text[done:]))


def _assigned_value(text: str, start: int, end: int, sign: str, secrecy: int) -> tuple[int, int] | None:
    """Return where the secret is that follows a secret name and its sign; None if none follows."""
    if sign[-1] == ">" and "=" not in sign and (sign != ">" or text[start - 1 : start] != "<"):
        return None
    member = _MEMBER.match(text, end) if sign[0] in "\\\"'" and sign[-1] == ":" else None
    match = member or (None if sign.strip("=") else _TIGHT.match(text, end))
    if match is not None:
        value = match["value"]
        is_plain = value == REDACTED or not value.strip() or (member is None and _plain().fullmatch(value.strip("\"'")))
        return None if is_plain else match.span("value")
    match = _LOOSE.match(text, end)
    if match is None or not _looks_secret(match["value"], secrecy, quoted=bool(match["open"] and match["close"])):
        return None
    rest = _REST.match(text, match.end("value"))
    return match.start("value"), match.end("value") if rest is None else rest.end()


def _looks_secret(value: str, secrecy: int, *, quoted: bool) -> bool:
    """Whether what follows a secret name in a loose form, such as `token: abc`, is a secret and not a word about it.

    In quotation marks a password may be any word. Elsewhere letters and digits are mixed. Behind other names than those
    of passwords they are mixed as chance does it: a run of letters or digits has fewer than 3 characters.
    """
    is_password, bare = secrecy == _PASSWORD, value.strip(".:!?*|")
    is_mixed = any(map(str.isdigit, bare)) and any(map(str.isalpha, bare))
    if not (is_mixed or (is_password and (quoted or bare.isdigit()))):
        return False
    if len(bare) < (_SHORTEST_QUOTED if is_password and quoted else _SHORTEST):
        return False
    words = word_segments(bare)
    if "://" in bare or _plain().fullmatch(bare) or words in _phrases().get(words[-1] if words else "", {}):
        return False
    many = {*"-_."}.isdisjoint(bare) and 3 * sum(map(str.isdigit, bare)) > len(bare)
    is_random = len(bare) >= _SHORTEST_WORD and (many or len(bare) < 3 * len(words))
    return is_password or quoted or is_random


class _Shape(msgspec.Struct, frozen=True):
    """The expression of a secret's shape, and strings of which every match contains one."""

    needles: tuple[str, ...]
    expression: re.Pattern[str]


class _ShapeData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    needles: tuple[str, ...]
    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _KeyData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    passwords: tuple[str, ...]
    phrases: tuple[str, ...]
    endings: tuple[str, ...]
    spoken: frozenset[str]
    tails: frozenset[str]
    heads: frozenset[str]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _AssignmentData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    plain: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class SecretData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `secrets.toml`: keys, shapes and assignments, each with its `hits` and `misses`."""

    keys: _KeyData
    shape: tuple[_ShapeData, ...]
    assignments: _AssignmentData


@cache
def secret_data() -> SecretData:
    """Read `secrets.toml`, once."""
    return read_toml("toolvet.core.redact", "secrets.toml", SecretData)


@cache
def _shapes() -> tuple[_Shape, ...]:
    return tuple(_Shape(shape.needles, re.compile(shape.match)) for shape in secret_data().shape)


# Characters that few texts have, the rarest first: one is found 30 times as fast as two.
_RARE: Final = "=@/JXZQzqjK_GVBWx3RDkvwNLFEPUHMSTIAOC:-."


def _by_rarest(parts: Iterable[tuple[str, _T]]) -> _ByRarest[_T]:
    """Return what belongs to each part of a text, by the rarest character of the part."""
    found: dict[str, list[tuple[str, _T]]] = {}
    for part, value in parts:
        found.setdefault(next((rare for rare in _RARE if rare in part), part[0]), []).append((part, value))
    return tuple((rare, tuple(grouped)) for rare, grouped in found.items())


@cache
def _needles() -> _ByRarest[int]:
    """Return each needle, and the number of its shape."""
    return _by_rarest((needle, number) for number, shape in enumerate(_shapes()) for needle in shape.needles)


def _shapes_in(text: str) -> list[_Shape]:
    """Return the shapes of which a needle is in the text: for nearly every text, none."""
    found = {number for rare, needles in _needles() if rare in text for needle, number in needles if needle in text}
    return [_shapes()[number] for number in sorted(found)]


@cache
def _plain() -> re.Pattern[str]:
    return re.compile(secret_data().assignments.plain)


@cache
def _phrases() -> Mapping[str, Mapping[tuple[str, ...], int]]:
    """Return the words of all secret names by their last word, so that one look-up decides most names."""
    keys = secret_data().keys
    found: dict[str, dict[tuple[str, ...], int]] = {}
    for secrecy, phrases in ((_PASSWORD, keys.passwords), (_SECRET, keys.phrases)):
        for words in map(word_segments, phrases):
            found.setdefault(words[-1], {})[words] = secrecy
    return found


@cache
def _rare_phrases(*, ascii_only: bool) -> _ByRarest[tuple[tuple[str, ...], ...]]:
    """Return the phrases by a word in each that few texts have, or by a part of it that is a word of others."""
    found: dict[str, list[tuple[str, ...]]] = {}
    phrases = [phrase for known in _phrases().values() for phrase in known]
    words = [min(phrase[::-1], key=lambda word: (word.isascii(), word == "id")) for phrase in phrases]
    for word, phrase in sorted(zip(words, phrases, strict=True), key=lambda pair: len(pair[0])):
        found.setdefault(next((part for part in found if part in word), word), []).append(phrase)
    return _by_rarest((word, tuple(phrases)) for word, phrases in found.items() if word.isascii() or not ascii_only)


@lru_cache(maxsize=4096)
def _secrecy(name: str) -> int:
    """Return 0 for a name of no secret, `_PASSWORD` for one of a password, and `_SECRET` for any other."""
    words = word_segments(name)
    found = _ends_secret(words)
    while not found and words and (words[-1].isdigit() or words[-1] in secret_data().keys.tails):
        words = words[:-1]
        found = _ends_secret(words)
    return found


@lru_cache(maxsize=4096)
def _may_end_secret(name: str) -> bool:
    """Whether a name is secret, or is with the words before it, as `key` after `API`."""
    return bool(_secrecy(name)) or name.lower() in secret_data().keys.spoken


def _ends_secret(words: tuple[str, ...]) -> int:
    for phrase, secrecy in _phrases().get(words[-1], {}).items() if words else ():
        if words[-len(phrase) :] == phrase:
            head = words[-len(phrase) - 1] if len(words) > len(phrase) else ""
            if head not in secret_data().keys.heads:
                return secrecy
    is_compound = bool(words) and words[-1] not in _phrases() and words[-1].endswith(secret_data().keys.endings)
    return _PASSWORD if is_compound else 0


_MOST: Final = 2_000  # Secrets that one mask knows.
_MOST_NODES: Final = 100_000
_LONGEST: Final = 4_096  # Characters of one secret that are compared.
_SHORTEST: Final = 6  # Shorter values occur by chance.
_SHORTEST_WORD: Final = 8  # … and so do letters alone.
_LONG: Final = 16
_FRAGMENT: Final = 4
# What divides a secret; %40 is the sign @ in a URL.
_SEPARATOR: Final = re.compile(r"""(?:[\s:;,=&"'@]|%[0-9A-Fa-f]{2})+""")
# In our own JSON these hold words of ours, which a server must not be able to blot out.
_OURS: Final = frozenset(
    {"classification", "state", "retry", "error_kind", "kind", "name", "framework", "error_code", "trace_id", "code"}
)


class SecretMask:
    """Replaces secrets in quotations from an exchange. Never raises, and has no side effects.

    >>> SecretMask.learned({"password": "FIXTUREPW1"}).text("no user FIXTUREPW1")
    'no user [redacted]'
    """

    def __init__(self, secrets: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        """Make a mask of `secrets`; `words` are masked only as a whole word of a text, or where the text is cut."""
        found = sorted(dict.fromkeys(secret for secret in secrets if secret), key=len, reverse=True)[:_MOST]
        self.secrets = tuple(found)
        self.words = frozenset(words)
        self._pattern = re.compile("|".join(map(_expression, found))) if found else None
        # The first search: the beginning and the end of each secret, where a quotation may have been cut.
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
        """Return a quotation without secrets, even if it holds only a part of one."""
        return self._without_known(redact_text(text))

    def _without_known(self, safe: str) -> str:
        """Return a text that was redacted, without the secrets of this mask."""
        if not self:
            return safe
        safe = self.known(safe)
        if self.words:
            safe = re.sub(r"\S+", lambda word: REDACTED if word[0] in self.words else word[0], safe)
        # The half of a secret at which a quotation was cut, and a quotation from inside a secret.
        bare = safe.rstrip("… ")
        head, tail, is_short = bare[: self._longest], bare[-self._longest :], _FRAGMENT <= len(bare) < self._longest
        if is_short or any(begun in tail or ending in head for begun, ending in self._ends):
            for secret in self.secrets:
                if len(bare) >= _FRAGMENT and bare in secret:
                    return REDACTED
                least = _least_half(secret)
                for size in range(min(len(secret) - 1, len(bare)), least - 1, -1):
                    if bare.endswith(secret[:size]) and not bare[-size - 1 : -size].isalnum():
                        return bare[:-size] + REDACTED
                    if bare.startswith(secret[-size:]) and not bare[size : size + 1].isalnum():
                        return REDACTED + safe[size:]
        start, _, last = bare.rpartition(" ")
        if last and last != REDACTED and any(word.startswith(last) and word != last for word in self.words):
            return f"{start} {REDACTED}".lstrip()
        return safe

    def value(self, value: object) -> object:
        """Return a JSON value without secrets, its keys included."""
        return self._walk(redact(value), frozenset(), {})

    def own(self, value: object) -> object:
        """Return a JSON value of ours, such as a verdict, without secrets; members of our own words (`state`) stay."""
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
    """Yield the parts of `text` that `safe` replaced by a mark."""
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
    """Yield a secret that is unlike ordinary words, and its parts that are: `bob:pa55wd` and `pa55wd`."""
    whole = secret.strip().strip("\"'")
    if REDACTED in whole or (not any(map(str.isdigit, whole)) and is_secret_key(whole)):
        return
    if len(whole) >= (_SHORTEST_WORD if whole.isalpha() else _SHORTEST):
        yield whole
    for part in _SEPARATOR.split(whole[: _LONGEST * 4])[:100]:
        mixed = any(map(str.isdigit, part)) and any(map(str.isalpha, part))
        if part != whole and (len(part) >= _LONG or (mixed and len(part) >= _SHORTEST)):
            yield part
