"""The demands in a refusal → the arguments of the next attempt.

    arguments   {"operation": "Addition", "shape_type": "circle"}
    refusal     "Invalid operation type: Addition, supported operations: ['area', 'volume']"
    phrase      supported operations: <list>, of kind "allowed"; the text quotes the value of `operation`
    next        {"operation": "area", "shape_type": "circle"}

The phrases are data (`lessons.toml`), each with texts that it must take and texts that it must leave alone.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.assess.folder import Folder, path_kind
from toolvet.assess.rules import ToolDefinition
from toolvet.core.discover import read_toml
from toolvet.core.json_value import elements, is_array
from toolvet.core.redact import word_segments
from toolvet.core.schema import values_for_name

Kind = Literal[
    "first",
    "unwanted",
    "allowed",
    "extension",
    "exclusive",
    "needed",
    "folder",
    "minimum",
    "maximum",
    "positive",
    "signs",
    "differ",
    "date",
    "is_folder",
    "relative",
    "items",
    "form",
    "thing",
]
Arguments: TypeAlias = Mapping[str, object]

_SHORTEST_WORD: Final = 3  # Characters of the last word of a name that may stand for it: "type" for unit_type.
_MATTER: Final = [(word,) for word in ("content", "data", "input", "message", "query", "text", "value")]
_MOST_ALIKE: Final = 2  # Parameters that one list may be for.
_MOST_ITEMS: Final = 50
_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_LISTED: Final = re.compile(r":\s*(?P<first>[\w%/°-]{1,20})(?:,\s*[\w%/°-]{1,20}){2,}")
_LONGEST: Final = 2_000  # Characters of a refusal that are read.
_DATES: Final = {
    "YYYY-MM-DD": "2025-01-15", "%Y-%m-%d": "2025-01-15", "YYYY/MM/DD": "2025/01/15", "MM/DD/YYYY": "01/15/2025",
    "YYYYMMDD": "20250115", "YYYY-MM": "2025-01", "HH:MM": "10:30", "%H:%M": "10:30", "HH:MM:SS": "10:30:00",
    "YYYY-MM-DD HH:MM": "2025-01-15 10:30", "YYYY-MM-DD HH:MM:SS": "2025-01-15 10:30:00",
    "YYYY-MM-DDTHH:MM": "2025-01-15T10:30", "YYYY-MM-DDTHH:MM:SS": "2025-01-15T10:30:00",
    "YYYY-MM-DDTHH:MM:SSZ": "2025-01-15T10:30:00Z", "DD.MM.YYYY": "15.01.2025", "DD/MM/YYYY": "15/01/2025",
}  # fmt: skip


class LessonPhrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One phrase of `lessons.toml`."""

    kind: Kind
    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]

    @property
    def expression(self) -> re.Pattern[str]:
        """The phrase, compiled."""
        return re.compile(self.match)


class Lesson(msgspec.Struct, frozen=True):
    """The arguments of the next attempt, and the words of the refusal that they obey.

    `first` is the tool that is to be called before, or "".
    """

    arguments: dict[str, object]
    words: str
    first: str = ""


def learn(
    tool: ToolDefinition,
    arguments: Arguments,
    refusal: str,
    *,
    wider: Arguments | None = None,
    folder: Folder | None = None,
    others: Container[str] = (),
) -> Lesson | None:
    """Return the arguments that obey a refusal, or None if it does not say what it wanted.

    Args:
        tool: The tool that refused.
        arguments: The refused arguments.
        refusal: Its words.
        wider: Values for the parameters that `arguments` leave out, to be added if the refusal asks for them.
        folder: The server's working folder.
        others: The tools that may be called first if the refusal asks for one.
    """
    text = refusal[:_LONGEST]
    for phrase in lesson_phrases():
        for match in phrase.expression.finditer(text):
            if phrase.kind == "first":
                if match["tool"] in others and match["tool"] != tool.name:
                    return Lesson(dict(arguments), match[0].strip(), match["tool"])
                continue
            changed = _OBEY[phrase.kind](_Case(tool, arguments, text, wider or {}, folder), match)
            if changed is not None and changed != arguments:
                return Lesson(changed, match[0].strip())
    return None


@cache
def lesson_phrases() -> tuple[LessonPhrase, ...]:
    """Return the phrases as data, in the order in which they are tried."""
    return read_toml("toolvet.assess", "lessons.toml", _LessonTable).phrase


class _LessonTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    phrase: tuple[LessonPhrase, ...]


class _Case(msgspec.Struct, frozen=True):
    tool: ToolDefinition
    arguments: Arguments
    text: str
    wider: Arguments
    folder: Folder | None

    def parameter(self, words: str) -> str | None:
        wanted = word_segments(words)
        for name in self.tool.properties:
            if wanted and word_segments(name) == wanted:
                return name
        return None

    def paths(self) -> Iterator[str]:
        return (name for name in self.arguments if path_kind(self.tool, name) is not None)


def _obey_allowed(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    # "'a', 'b' or c" → a, b, c.
    parts = re.split(r"\s*[,|]\s*(?:and |or )?|\s+(?:and|or)\s+", match["list"])
    values = [part.strip("\"'`. ") for part in parts if part.strip("\"'`. ")]
    before = case.text[: match.start("list")]
    quoted, name = _quoted(case, before), _blamed(case, before)
    if name is not None and isinstance(case.arguments[name], list):
        return {**case.arguments, name: values[:1]} if values else None
    # Two units may have been refused at once, with the same words.
    same = {case.arguments[other] for other in quoted if isinstance(case.arguments[other], str)}
    blamed = quoted if len(same) == 1 and name in {None, *quoted} else [name] if name is not None else []
    if not blamed and {*values} <= {*re.findall(r"[\w-]+", case.tool.description)}:
        # "Format muss in ['hex', 'rgb'] sein", in the words of the description: all but what the call works on.
        free = [other for other in _texts(case) if word_segments(other)[-1:] not in _MATTER]
        blamed = free if len(free) <= _MOST_ALIKE else []
    wrong = [other for other in blamed if isinstance(old := case.arguments[other], str) and old not in values]
    return {**case.arguments, **dict.fromkeys(wrong, values[0])} if wrong and values else None


def _texts(case: _Case) -> Mapping[str, str]:
    """The texts of a call by parameter, also the first of a list; no paths."""
    texts: dict[str, str] = {}
    for name, value in case.arguments.items():
        first = value[0] if is_array(value) and value else value
        if isinstance(first, str) and path_kind(case.tool, name) is None:
            texts[name] = first
    return texts


def _quoted(case: _Case, text: str) -> list[str]:
    """The parameters whose value is repeated in a text."""
    given = _texts(case).items()
    return [name for name, value in given if value and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)]


def _blamed(case: _Case, before: str) -> str | None:
    texts, quoted = _texts(case), _quoted(case, before)
    named = sorted(
        (name for name in texts if _last_mention(name, before) >= 0),
        key=lambda name: _last_mention(name, before),
        reverse=True,
    )
    both = [name for name in named if name in quoted]
    for found in (both, quoted if len(quoted) == 1 else [], named, list(texts) if len(texts) == 1 else []):
        if found:
            return found[0]
    return None


def _last_mention(name: str, text: str) -> int:
    words = word_segments(name) or ("",)
    for wanted in (name, " ".join(words), words[-1] if len(words[-1]) >= _SHORTEST_WORD else name):
        mentions = [match.start() for match in re.finditer(rf"(?i)(?<!\w){re.escape(wanted)}(?!\w)", text)]
        if mentions:
            return mentions[-1]
    return -1


def _obey_extension(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    extensions = re.findall(r"\.[a-z][a-z0-9]{1,4}", match["extensions"].lower())
    # The commonest form of a family comes first in few lists: ".xlsm, .xlsx" means .xlsx as well.
    extension = next((one for one in extensions if one in {".xlsx", ".docx", ".pptx"}), extensions[0])
    for name in case.paths():
        value = case.arguments[name]
        if isinstance(value, str) and not value.lower().endswith(tuple(extensions)):
            if case.folder is not None:
                return {**case.arguments, name: case.folder.with_extension(extension)}
            stem = re.sub(r"\.\w{1,5}$", "", value)
            return {**case.arguments, name: f"{stem or 'toolvet'}{extension}"}
    return None


def _obey_exclusive(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    pair = [case.parameter(word) for word in match.groupdict().values() if word]
    given = [name for name in pair if name is not None and name in case.arguments]
    if len(given) != 2:
        return None
    dropped = next((name for name in reversed(given) if name not in case.tool.required), None)
    return {name: value for name, value in case.arguments.items() if name != dropped} if dropped else None


def _obey_needed(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    named = [case.parameter(word) for word in re.findall(r"\w+", match["list"])] + [case.parameter(match["list"])]
    lacking = [name for name in named if name is not None and name not in case.arguments and name in case.wider]
    given = [name for name in named if name is not None and name in case.arguments]
    for name in given:
        # Some tools take a "." for nothing: they get the path of the folder.
        if case.folder is not None and case.arguments[name] in (".", "./", "") and path_kind(case.tool, name):
            return {**case.arguments, name: case.folder.path}
    if given or not lacking:
        return None
    together = (" and " in match["list"] or "," in match["list"]) and " or " not in match["list"]
    wanted = lacking if together else lacking[:1]
    return {**case.arguments, **{name: case.wider[name] for name in wanted}}


def _obey_folder(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    base = match["folder"].rstrip("/.")
    for name in case.paths():
        value = case.arguments[name]
        if isinstance(value, str) and not value.startswith(f"{base}/") and value != base:
            if path_kind(case.tool, name) == "folder":
                return {**case.arguments, name: base}
            return {**case.arguments, name: f"{base}/{value.rpartition('/')[2] or 'toolvet.txt'}"}
    return None


def _obey_bound(case: _Case, match: re.Match[str], step: int) -> dict[str, object] | None:
    """The number that the refusal names, or that is alone in the call, moved to the bound (or just inside of it)."""
    numbers = _numbers(case)
    name = case.parameter(match["name"] or "") or (numbers[0] if len(numbers) == 1 else None)
    if name is None or name not in numbers:
        return None
    bound = float(match["number"]) + (step if match["strict"] else 0)
    whole = bound.is_integer() and not isinstance(case.arguments[name], float)
    return {**case.arguments, name: int(bound) if whole else bound}


def _numbers(case: _Case) -> list[str]:
    given = case.arguments.items()
    return [name for name, value in given if isinstance(value, int | float) and not isinstance(value, bool)]


def _obey_positive(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    """The number that the refusal names, or else its default, which no call has to send."""
    name = case.parameter(match["name"])
    is_number = name is not None and name in {*_numbers(case), *(key for key, v in case.wider.items() if v == 0)}
    return {**case.arguments, name: 1} if name is not None and is_number else None


def _obey_signs(case: _Case, _match: re.Match[str]) -> dict[str, object] | None:
    """The first list of numbers above 0 begins with a negative one: what is paid before anything comes back."""
    for name, value in case.arguments.items():
        numbers = [one for one in elements(value) if isinstance(one, int | float)]
        if len(numbers) > 1 and min(numbers) > 0:
            return {**case.arguments, name: [-numbers[0], *numbers[1:]]}
    return None


def _obey_differ(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    """The second of two equal numbers becomes the next one."""
    first, second = case.parameter(match["first"]), case.parameter(match["second"])
    old = case.arguments.get(first or "")
    is_number = second in _numbers(case)
    return {**case.arguments, second: old + 1} if is_number and second and isinstance(old, int | float) else None


def _obey_date(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    value = _DATES.get(match["form"], match["form"] if match["form"][0].isdecimal() else None)
    before = case.text[: match.start()]
    texts = [name for name, old in case.arguments.items() if isinstance(old, str)]
    quoted = [name for name in texts if case.arguments[name] and str(case.arguments[name]) in case.text]
    named = [name for name in texts if _last_mention(name, before) >= 0]
    timely = [
        name
        for name in texts
        if {"date", "time", "day", "start", "end", "from", "to", "since", "until", "deadline", "due"}.intersection(
            word_segments(name)
        )
    ]
    found = quoted or named or timely
    return {**case.arguments, **dict.fromkeys(found, value)} if value and found else None


def _obey_is_folder(case: _Case, _match: re.Match[str]) -> dict[str, object] | None:
    for name in case.paths():
        value = case.arguments[name]
        if case.folder is not None and isinstance(value, str) and value.rstrip("/") == case.folder.path:
            first = next(iter(case.folder.files), None)
            return {**case.arguments, name: case.folder.join(first)} if first else None
    return None


def _obey_relative(case: _Case, _match: re.Match[str]) -> dict[str, object] | None:
    base = f"{case.folder.path}/" if case.folder is not None else ""
    for name in case.paths():
        value = case.arguments[name]
        if base and isinstance(value, str) and f"{value}/".startswith(base):
            return {**case.arguments, name: value.removeprefix(base.rstrip("/")).lstrip("/") or "."}
    return None


def enough_items(items: Sequence[object], text: str) -> list[object]:
    """A list with as many items as a text asks for: numbers go up, days go on, anything else repeats.

    >>> enough_items([1, 2], "At least four items are required.")
    [1, 2, 3, 4]
    """
    phrases = [phrase.expression for phrase in lesson_phrases() if phrase.kind == "items"]
    words = [match["number"].lower() for phrase in phrases for match in phrase.finditer(text[:_LONGEST])]
    wanted = max((_COUNTS.get(word) or int(word) for word in words), default=0)
    longer = list(items)
    for number in range(len(items), wanted if items and wanted <= _MOST_ITEMS else 0):
        last = longer[-1]
        if isinstance(last, str) and (day := re.fullmatch(r"(\d{4}-\d\d-)(0[1-9]|1\d|2[0-7])", last)):
            longer.append(f"{day[1]}{int(day[2]) + 1:02}")
        else:
            longer.append(last + 1 if isinstance(last, int | float) else longer[number % len(items)])
    return longer


def _obey_items(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    """All lists of the call with the items that are wanted."""
    lists = {name: elements(value) for name, value in case.arguments.items() if is_array(value) and value}
    return {**case.arguments, **{name: enough_items(items, match[0]) for name, items in lists.items()}}


def _obey_form(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    """The text that the refusal is about, in the form that it gives: "<source> reaches <target>"."""
    name, filled = _blamed(case, case.text[: match.start("form")]), match["form"]
    code = case.folder.function() if case.folder is not None else None
    for gap in re.findall(r"<([^<>]{1,40})>", filled):
        own = case.parameter(gap)
        value = case.arguments.get(own or "", code or next(iter(values_for_name(gap, "string")), "example"))
        # A letter is a variable of the form.
        if not isinstance(value, str | int | float) or own == name or (own is None and len(gap) < _SHORTEST_WORD):
            return None
        filled = filled.replace(f"<{gap}>", f"{value}")
    return None if name is None else {**case.arguments, name: filled}


def _obey_thing(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    """A value that was refused with a word for what it should be: "Ungueltiger Hex-Wert: 'example'"."""
    refused = [name for name in _texts(case) if case.arguments[name] == match["value"]]
    found = next(iter(values_for_name(match["what"], "string")), None)
    if found == match["value"] or found is None:
        # Or the description lists what there is: "length: mm, cm, m".
        listed = _LISTED.search(case.tool.description[:_LONGEST])
        found = listed["first"] if listed else None
    return {**case.arguments, **dict.fromkeys(refused, found)} if refused and found is not None else None


def _obey_unwanted(case: _Case, match: re.Match[str]) -> dict[str, object] | None:
    name = case.parameter(match["name"])
    if name is None or name not in case.arguments or name in case.tool.required:
        return None
    return {key: value for key, value in case.arguments.items() if key != name}


_OBEY: Final[Mapping[Kind, Callable[[_Case, re.Match[str]], dict[str, object] | None]]] = {
    "unwanted": _obey_unwanted,
    "allowed": _obey_allowed,
    "extension": _obey_extension,
    "exclusive": _obey_exclusive,
    "needed": _obey_needed,
    "folder": _obey_folder,
    "minimum": partial(_obey_bound, step=1),
    "maximum": partial(_obey_bound, step=-1),
    "positive": _obey_positive,
    "signs": _obey_signs,
    "differ": _obey_differ,
    "date": _obey_date,
    "is_folder": _obey_is_folder,
    "relative": _obey_relative,
    "items": _obey_items,
    "form": _obey_form,
    "thing": _obey_thing,
}
