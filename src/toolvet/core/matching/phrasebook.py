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
2. Instead of `match`, an entry may give `say = "I {cannot} {words:2} help"` (`toolvet.core.matching.plain`), and a part
   may be a list of plain words: `cannot = ["can't", "cannot", "can not"]`.
3. What is wrong is raised as `PhraseError` with file, line and phrase. `failed_proofs` names a failing proof likewise.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from toolvet.core.discover import files_of
from toolvet.core.discover.toml import decode_toml
from toolvet.core.matching.phrase import LANGUAGES, WORDS_FILE, Phrase, PhraseFile
from toolvet.core.matching.plain import regex_of, regex_of_any
from toolvet.core.matching.unsafe import UnsafePattern

GAPS: Final[Mapping[str, str]] = {
    # A word and the space behind it: {words:2} is "", "a " or "a b ", within one sentence.
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


def failed_proofs(source: PhraseSource[FileT], is_found: Callable[[int, str], bool]) -> Iterator[str]:
    """Yield one sentence for each proof of a file that fails, with file, line and phrase.

    `is_found` returns whether the entry of this number (from 0) is found in a text as its reader finds it.
    """
    for number, phrase in enumerate(source.file.phrase):
        shown = _shown(source.written[number])
        begin = f"{source.place}:{_line(source.text, number)}"
        for name, texts in (("hits", phrase.hits), ("misses", phrase.misses)):
            if not texts:
                yield f"{begin}: the phrase '{shown}' has no {name}"
        for text in phrase.hits:
            if not is_found(number, text):
                line = _line(source.text, number, text)
                yield f"{source.place}:{line}: the hit '{text}' is not found by the phrase '{shown}'"
        for text in phrase.misses:
            if is_found(number, text):
                line = _line(source.text, number, text)
                yield f"{source.place}:{line}: the near miss '{text}' is found by the phrase '{shown}'"


def faulty_patterns(source: PhraseSource[FileT]) -> Iterator[str]:
    """Yield one sentence for each pattern of a file that cannot be looked for, with file, line and phrase."""
    # Only the proofs ask: a set of patterns translates its own when it is built.
    from toolvet.core.matching.dialect import translate  # noqa: PLC0415

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
                    shown = _shown(source.written[number])
                    yield f"{source.place}:{_line(source.text, number)}: `{name}` of the phrase '{shown}': {problem}"


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
                line = _line_of(text, rf"^[ \t]*{name}[ \t]*=")
                raise PhraseError(f"{place}:{line}: the part '{name}': {problem}") from None
        return _Names(known, self.gaps)

    def _meaning(self, match: re.Match[str]) -> str:
        name, count = match.groups()
        table = self.parts if count is None else self.gaps
        if name not in table:
            raise ValueError(f"{match[0]} is not known; there are {', '.join(self._known()) or 'none'}")
        if count is None:
            return table[name]
        unit = table[name]
        return f"(?:{unit if _ONE_CLASS.fullmatch(unit) else f'(?:{unit})'}{{0,{count}}})"

    def _known(self) -> list[str]:
        return [f"{{{name}}}" for name in self.parts] + [f"{{{name}:2}}" for name in self.gaps]


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


def _line_of(text: str, regex: str) -> int:
    match = re.search(regex, text, re.MULTILINE)
    return 1 if match is None else text.count("\n", 0, match.start()) + 1


def _shown(pattern: str) -> str:
    return pattern if len(pattern) <= _MOST_SHOWN else f"{pattern[: _MOST_SHOWN - 1]}…"
