r"""Reads phrase files: TOML in, patterns with their proofs out. The one loader of all phrases that toolvet has.

A file holds `[[phrase]]` entries. Each has a pattern and its proofs: texts in which it must be found, and near misses,
in which it must not. What else an entry may say is decided by its reader, whose type extends `Phrase`.

    # src/toolvet/core/languages/en/refusal.toml
    [parts]
    cannot = '''can't|cannot|can not'''

    [[phrase]]
    match = '''\bI {cannot} {words:2}help\b'''
    hits = ["I cannot really help with that."]
    misses = ["Users who cannot help themselves call support."]

1. The names in braces are filled: `{cannot}` from the `[parts]` of the file, or from those of `words.toml` beside it
   (a part may name those before it); `{words:2}` and `{characters:10}` are gaps, see `GAPS`. The pattern above becomes
   `\bI (?:can't|cannot|can not) (?:(?:[^\s.!?]+ ){0,2})help\b`.
2. Instead of `match`, an entry may give `say = "I {cannot} {words:2} help"` (see below), and a part may be a list of
   plain words: `cannot = ["can't", "cannot", "can not"]`.
3. A problem is raised as `PhraseError` with file, line and phrase. `failed_proofs` names a failing proof likewise.

Plain words in, a regular expression out: how a phrase is written by people who know no regular expressions.

    I cannot {words:2} help|assist [you]

- Words are found as they are written, between borders of words.
- `a|b` is a or b. Brackets put several words on a side: `(help you|assist)`.
- `[you]` may be there or not; `help[s]` is `help` and `helps`.
- `{words:2}` is a gap of up to two words, `{characters:10}` one of up to ten characters, and any other name stands for
  the part of this name; they stay as they are here.

For the line above `regex_of` returns

    \bI cannot {words:2}(?:help|assist)(?: you)?\b
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from toolvet.core.discover import files_of
from toolvet.core.discover.toml import decode_toml
from toolvet.core.matching.pattern import LANGUAGES, WORDS_FILE, Phrase, PhraseFile

GAPS: Final[Mapping[str, str]] = {
    # A word and the space after it: {words:2} is "", "a " or "a b ", within one sentence.
    "words": r"[^\s.!?]+ ",
    # One character of a sentence: {characters:3} is up to three of them.
    "characters": r"[^.!?\n]",
}
"""The gaps that every phrase may name with a number, and what one unit of each is.

`{words:2}` is `(?:(?:[^\\s.!?]+ ){0,2})`. Where sentences end with other marks, or words have no spaces between them,
the `[gaps]` of the language's `words.toml` say what a unit is there.
"""

_PLACE: Final = re.compile(r"\{([a-z_]+)(?::(\d+))?\}")
_ONE_CLASS: Final = re.compile(r"\[\^?\]?[^\]]*\]")
_ENTRY: Final = re.compile(r"^[ \t]*\[\[phrase\]\]", re.MULTILINE)
_WRONG_ENTRY: Final = re.compile(r"\$\.phrase\[(\d+)\]")
_WRONG_LINE: Final = re.compile(r"\(at line (\d+)")
_MOST_SHOWN: Final = 100  # Characters of a phrase in a message.


class PhraseError(ValueError):
    """A phrase file cannot be used as it is; the message names the file, the line and the phrase."""


FileT = TypeVar("FileT", bound=PhraseFile[Phrase])


class SharedWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `words.toml`: the parts and gaps that the files of one folder share."""

    parts: dict[str, str | list[str]] = {}
    gaps: dict[str, str] = {}


class PhraseSource(NamedTuple, Generic[FileT]):
    """One phrase file that was read."""

    path: str
    """Relative to its package, such as `de/refusal.toml`."""
    place: str
    """As a person finds it, such as `src/toolvet/core/languages/de/refusal.toml`."""
    text: str
    file: FileT
    """Its content with all patterns filled."""
    written: Sequence[str]
    """The pattern of each entry as it is written."""

    @property
    def folder(self) -> str:
        """The folder of the file: for the file of a language the code of the language."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.path.rpartition("/")[2].removesuffix(".toml")


def read_languages(names: Iterable[str], kind: type[FileT], language: str | None = None) -> list[PhraseSource[FileT]]:
    """Read the files of these names, such as `refusal.toml`, of all languages or of one. Raises as `read_phrases`."""
    files = (found for name in {WORDS_FILE: None, **dict.fromkeys(names)} for found in files_of(LANGUAGES, name))
    return read_phrases(
        LANGUAGES, (file for file in files if language is None or file[0].startswith(f"{language}/")), kind
    )


def read_phrases(package: str, files: Iterable[tuple[str, bytes]], kind: type[FileT]) -> list[PhraseSource[FileT]]:
    """Read phrase files, in the order in which they are given.

    Args:
        package: The package that the files belong to, for messages: `toolvet.core.languages`.
        files: The path relative to `package` and the content of each file, as `toolvet.core.discover.data_files` yields
            them. A `words.toml` among them is shared by the files of its folder, and not returned.
        kind: The type of the files.

    Raises:
        PhraseError: A file is not TOML or not a `kind`, or a pattern names a part that does not exist.
    """
    shared: dict[str, _Names] = {}
    others: list[tuple[str, bytes]] = []
    for path, content in files:
        folder, _, name = path.rpartition("/")
        if name == WORDS_FILE:
            place = _place_of(package, path)
            words = _decoded(content, SharedWords, place)
            shared[folder] = _Names({}, {**GAPS, **words.gaps}).with_parts(words.parts, content.decode(), place)
        else:
            others.append((path, content))
    none = _Names({}, GAPS)
    return [_read(package, path, content, kind, shared.get(path.rpartition("/")[0], none)) for path, content in others]


class _Names(NamedTuple):
    """The texts that replace names in braces, such as `{cannot}`."""

    parts: Mapping[str, str]
    gaps: Mapping[str, str]

    def filled(self, pattern: str) -> str:
        """Return the pattern with its parts and gaps put in. Raises `ValueError` for a name that nothing explains."""
        return _PLACE.sub(self._meaning, pattern)

    def with_parts(self, parts: Mapping[str, str | list[str]], text: str, place: str) -> "_Names":
        """Return these names and more parts, each of which may name those before it."""
        known = dict(self.parts)
        for name, given in parts.items():
            try:
                regex = given if isinstance(given, str) else regex_of_any(given)
                known[name] = f"(?:{_Names(known, self.gaps).filled(regex)})"
            except ValueError as problem:
                begin = re.search(rf"^[ \t]*{name}[ \t]*=", text, re.MULTILINE)
                line = 1 if begin is None else text.count("\n", 0, begin.start()) + 1
                raise PhraseError(f"{place}:{line}: the part '{name}': {problem}") from None
        return _Names(known, self.gaps)

    def _meaning(self, match: re.Match[str]) -> str:
        name, count = match.groups()
        table = self.parts if count is None else self.gaps
        if name not in table:
            known = [f"{{{name}}}" for name in self.parts] + [f"{{{name}:2}}" for name in self.gaps]
            raise ValueError(f"{match[0]} is not known; there are {', '.join(known) or 'none'}")
        if count is None:
            return table[name]
        unit = table[name]
        return f"(?:{unit if _ONE_CLASS.fullmatch(unit) else f'(?:{unit})'}{{0,{count}}})"


def _read(package: str, path: str, content: bytes, kind: type[FileT], shared: _Names) -> PhraseSource[FileT]:
    place = _place_of(package, path)
    file = _decoded(content, kind, place)
    text = content.decode()
    names = shared.with_parts(file.parts, text, place)
    phrases: list[Phrase] = []
    for number, phrase in enumerate(file.phrase):
        written = phrase.match or phrase.say
        try:
            phrases.append(_filled(phrase, names))
        except ValueError as problem:
            raise PhraseError(
                f"{place}:{_line(text, number, written)}: the phrase '{_shown(written)}': {problem}"
            ) from None
    try:
        changes = {name: _filled_field(file, name, names) for name in file.PATTERNS}
    except ValueError as problem:
        raise PhraseError(f"{place}: {problem}") from None
    filled = msgspec.structs.replace(file, phrase=tuple(phrases), parts={}, **changes)
    return PhraseSource(path, place, text, filled, [phrase.match or phrase.say for phrase in file.phrase])


def _filled(phrase: Phrase, names: _Names) -> Phrase:
    if bool(phrase.match) is bool(phrase.say):
        raise ValueError("an entry has either `match` or `say`")
    if phrase.say:
        phrase = msgspec.structs.replace(phrase, match=regex_of(phrase.say), say="")
    return msgspec.structs.replace(phrase, **{name: _filled_field(phrase, name, names) for name in phrase.PATTERNS})


def _filled_field(holder: msgspec.Struct, name: str, names: _Names) -> object:
    given: str | list[str] | None = getattr(holder, name)
    if isinstance(given, list):
        return [names.filled(each) for each in given]
    return None if given is None else names.filled(given)


_T = TypeVar("_T")


def _decoded(content: bytes, kind: type[_T], place: str) -> _T:
    try:
        return decode_toml(content, kind)
    except msgspec.DecodeError as problem:
        text = content.decode("utf-8", "replace")
        entry, line = _WRONG_ENTRY.search(f"{problem}"), _WRONG_LINE.search(f"{problem}")
        if entry is not None:
            place += f":{_line(text, int(entry[1]))}"
        elif line is not None:
            place += f":{line[1]}"
        raise PhraseError(f"{place}: {problem}") from None


def _place_of(package: str, path: str) -> str:
    return f"src/{package.replace('.', '/')}/{path}"


def _line(text: str, number: int, words: str = "") -> int:
    """Return the line of `words` in the entry of this number, or the line with which the entry begins."""
    entries = [match.start() for match in _ENTRY.finditer(text)]
    if number >= len(entries):
        return 1
    begin, end = entries[number], entries[number + 1] if number + 1 < len(entries) else len(text)
    # In a TOML string of one line, quotation marks and backslashes are written with a backslash.
    spellings = (words, words.replace("\\", "\\\\").replace('"', '\\"'))
    found = [at for at in (text.find(each, begin, end) for each in spellings if each) if at >= 0]
    return text.count("\n", 0, found[0] if found else begin) + 1


def _shown(pattern: str) -> str:
    return pattern if len(pattern) <= _MOST_SHOWN else f"{pattern[: _MOST_SHOWN - 1]}…"


_TOKEN: Final = re.compile(r"(?P<space>\s+)|(?P<mark>[()\[\]|])|(?P<place>\{[^{}]*\})|(?P<word>[^\s()\[\]|{}]+)")
_CLOSING: Final = {"(": ")", "[": "]"}
_WORD_GAP: Final = re.compile(r"\{words:\d+\}")
_CHARACTER_GAP: Final = re.compile(r"\{characters:\d+\}")


def regex_of(say: str) -> str:
    """Return the regular expression for the plain words `say`; names in braces are kept for the caller to fill.

    Raises `ValueError`, whose message says what to write instead, for words that cannot be read.
    """
    words = _Reader(say).sequence("")
    before = r"\b" if all(_is_border(edge) for edge in words.first) else ""
    after = r"\b" if all(_is_border(edge) for edge in words.last) else ""
    return f"{before}{words.regex}{after}"


def regex_of_any(words: Iterable[str]) -> str:
    """Return the regular expression for any of several plain words, without the borders. Raises as `regex_of`."""
    return "|".join(_Reader(each).sequence("").regex for each in words)


_NOTHING_REQUIRED: Final = "it needs a word that must be there: not only gaps and [words in square brackets]"


class _PlainPart(NamedTuple):
    """A part of the line as a regular expression, and what it can begin and end with."""

    regex: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    optional: bool = False
    place: bool = False


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, say: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        reached = 0
        for match in _TOKEN.finditer(say.strip()):
            if match.start() != reached:
                break
            self._tokens.append((match.lastgroup or "", match[0]))
            reached = match.end()
        if reached != len(say.strip()):
            raise ValueError(f"a brace that is not closed, or is not opened, at {say.strip()[reached:]!r}")
        self._at = 0

    def sequence(self, closing: str) -> _PlainPart:
        """Read items up to `closing`, or up to a `|` inside of brackets; the top of the line has no `closing`."""
        items: list[_PlainPart] = []
        while (token := self._peek()) is not None and token != ("mark", closing):
            if token == ("mark", "|") and closing:
                break
            if token[0] == "space":
                self._at += 1
                continue
            items.append(self._item(closing))
        required = [number for number, item in enumerate(items) if not (item.optional or _is_gap(item))]
        if not required:
            raise ValueError(_NOTHING_REQUIRED)
        if _is_gap(items[0]) or _is_gap(items[-1]):
            raise ValueError("a gap needs a word before it and a word after it")
        regex = ""
        for number, item in enumerate(items):
            if _CHARACTER_GAP.fullmatch(item.regex):
                regex = rf"{regex.removesuffix(' ')}\b{item.regex}\b"
            elif _is_gap(item):
                regex += item.regex
            # An item that may be missing takes its space along.
            elif number > required[-1]:
                regex += f"(?: {item.regex})?"
            elif item.optional:
                regex += f"(?:{item.regex} )?"
            else:
                regex += item.regex + ("" if number == required[-1] else " ")
        return _PlainPart(regex, _first(items), _last(items))

    def _item(self, closing: str) -> _PlainPart:
        """Read the part between two spaces: one or several pieces; at the top of the line with `|` between them."""
        alternatives: list[_PlainPart] = []
        pieces: list[_PlainPart] = []
        while (token := self._peek()) is not None and token[0] != "space":
            if token[0] == "mark" and token[1] in ")]":
                if token[1] == closing:
                    break
                raise ValueError(f"{token[1]!r} closes nothing")
            if token[1] == "|":
                if closing:
                    break
                alternatives.append(_glued(pieces))
                pieces = []
                self._at += 1
                continue
            pieces.append(self._piece())
        if not alternatives:
            return _glued(pieces)
        alternatives.append(_glued(pieces))
        if any(each.optional for each in alternatives):
            raise ValueError(_NOTHING_REQUIRED)
        return _either(alternatives)

    def _piece(self) -> _PlainPart:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "word":
            return _PlainPart(re.escape(text), (text[0],), (text[-1],))
        if kind == "place":
            return _PlainPart(text, ("a",), ("a",), place=True)
        alternatives = [self.sequence(_CLOSING[text])]
        while self._peek() == ("mark", "|"):
            self._at += 1
            alternatives.append(self.sequence(_CLOSING[text]))
        if self._peek() is None:
            raise ValueError(f"{text!r} is not closed")
        self._at += 1
        found = _either(alternatives)
        return found._replace(optional=True) if text == "[" else found

    def _peek(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _either(alternatives: list[_PlainPart]) -> _PlainPart:
    if len(alternatives) == 1:
        return alternatives[0]
    return _PlainPart(
        f"(?:{'|'.join(map(_whole, alternatives))})",
        tuple(edge for each in alternatives for edge in each.first),
        tuple(edge for each in alternatives for edge in each.last),
    )


def _glued(pieces: list[_PlainPart]) -> _PlainPart:
    """Pieces without a space between them."""
    if not pieces:
        raise ValueError("'|' needs a word on both sides, without spaces; several words need brackets: (a b|c)")
    if len(pieces) == 1:
        return pieces[0]
    if all(each.optional for each in pieces):
        raise ValueError(_NOTHING_REQUIRED)
    return _PlainPart("".join(map(_whole, pieces)), _first(pieces), _last(pieces))


def _whole(piece: _PlainPart) -> str:
    return f"(?:{piece.regex})?" if piece.optional else piece.regex


def _is_gap(item: _PlainPart) -> bool:
    return item.place and bool(_WORD_GAP.fullmatch(item.regex) or _CHARACTER_GAP.fullmatch(item.regex))


def _first(items: list[_PlainPart]) -> tuple[str, ...]:
    edges: tuple[str, ...] = ()
    for item in items:
        edges += item.first
        if not item.optional:
            break
    return edges


def _last(items: list[_PlainPart]) -> tuple[str, ...]:
    edges: tuple[str, ...] = ()
    for item in reversed(items):
        edges += item.last
        if not item.optional:
            break
    return edges


def _is_border(edge: str) -> bool:
    return edge.isalnum() or edge == "_"
