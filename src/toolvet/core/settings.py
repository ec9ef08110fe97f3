"""`toolvet.toml` (or `[tool.toolvet]` of a pyproject.toml) → settings.

[assess]
timeout = 5
exclude = ["debug_*"]
include = ["create_draft"]     # called, though nothing shows that it only reads

[checks]
ignore = ["parameter-undescribed", "path-leaked:get_file"]

[checks.severity]
unknown-tool-answer = "info"

[checks.answer]                # the options of `check_answer`
packs = ["medical"]

[checks.arguments]
wording = "wording.toml"       # the texts of reports, in another language or voice

[checks.result]                # those of `check_result`, also tool by tool
extra_patterns = ["margin too low"]

[[fixtures.get_book]]          # known good arguments of a tool; more than one is fine
isbn = "978-0141439518"

[hook]                         # coding agents: docs/hooks.md
patience = 3

A section belongs to a wing: `SECTIONS` of `toolvet/<wing>/settings.py` has its struct by the section's name. A struct
may have `SEE` (where its members are described), `TEXT` (the member that a plain text stands for) and `WHOLE` (the
member that holds all of the section).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args, get_type_hints

import msgspec

from toolvet.core.checks import ResultSettings
from toolvet.core.decodable import decodable
from toolvet.core.discover import beside, decode_toml, of_each_wing, read_user_file, settings_file
from toolvet.core.json_value import members
from toolvet.errors import ConfigError

if TYPE_CHECKING:
    from toolvet.core.checks import ArgumentCheck, ResultCheck, Wording
    from toolvet.core.turn import AnswerCheck, AnswerOptions

S = TypeVar("S", bound=msgspec.Struct)


class AnswerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks.answer]`: the options of `AnswerCheck` under their names. None: not set.

    `model` is a file that `toolvet review learn` wrote, beside the settings file.
    """

    min_length: int | None = None
    strict: bool | None = None
    threshold: float | None = None
    packs: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    custom_patterns: dict[str, tuple[str, ...]] | None = None
    replace_patterns: bool | None = None
    exceptions: dict[str, tuple[str, ...]] | None = None
    weights: dict[str, float] | None = None
    model: str | None = None


class ArgumentSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks.arguments]`: `wording` is a TOML file with the texts of reports, beside the settings file."""

    wording: str | None = None


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[checks]`: the user's settings for findings, answers and results.

    `ignore` names findings to leave out (`CHECK` or `CHECK:TOOL`), `severity` has the severity of checks by their ids.
    """

    ignore: tuple[str, ...] = ()
    severity: dict[str, Literal["error", "warning", "info"]] = {}
    answer: AnswerSettings = AnswerSettings()
    arguments: ArgumentSettings = ArgumentSettings()
    result: ResultSettings = ResultSettings()


SECTIONS: Final = {"checks": CheckSettings}


class Settings:
    """The sections of a settings file, each by its struct; `load_settings` reads one.

    A section that the file does not have has its defaults.

    Example:
        >>> settings = Settings(CheckSettings(answer=AnswerSettings(packs=("finance",))))
        >>> settings[CheckSettings].answer.packs
        ('finance',)
        >>> settings.answer_check()("The fund offers guaranteed returns of 12 %.").signals[0].label
        'overclaim'
    """

    def __init__(self, *sections: msgspec.Struct) -> None:
        self._sections = {type(section): section for section in sections}

    def __getitem__(self, kind: type[S]) -> S:
        found = self._sections.get(kind)
        return kind() if found is None else cast("S", found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and other._sections == self._sections

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({', '.join(map(repr, self._sections.values()))})"

    def answer_options(self) -> "AnswerOptions":
        """Return the options of `[checks.answer]` that are set, as keywords of `check_answer`.

        Raises ConfigError if the file of the learned model cannot be read.
        """
        answer = self[CheckSettings].answer
        given = msgspec.structs.asdict(answer)
        if answer.model is not None:
            # Loaded only when asked for, as below.
            from toolvet.core.checks import read_model  # noqa: PLC0415

            given["model"] = read_model(read_user_file(answer.model), answer.model)
        return cast("AnswerOptions", {name: value for name, value in given.items() if value is not None})

    def answer_check(self) -> "AnswerCheck":
        """Return the check of answers that `[checks.answer]` describes. Raises as `AnswerCheck` does."""
        # Loaded only when asked for: the proxy reads its settings before it starts the server.
        from toolvet.core.turn import AnswerCheck  # noqa: PLC0415

        return AnswerCheck(**self.answer_options())

    def argument_check(self) -> "ArgumentCheck":
        """Return the check of arguments that `[checks.arguments]` describes. Raises ConfigError for a bad wording."""
        # Loaded only on demand, like the check of answers: it imports the schema engine.
        from toolvet.core.checks import ArgumentCheck  # noqa: PLC0415

        found = self[CheckSettings].arguments.wording
        return ArgumentCheck(None if found is None else load_wording(found))

    def result_check(self) -> "ResultCheck":
        """Return the check of results that `[checks.result]` describes. Raises as `ResultCheck` does."""
        from toolvet.core.checks import ResultCheck  # noqa: PLC0415 - as above

        return ResultCheck(self[CheckSettings].result)


def load_wording(path: object) -> "Wording":
    """Return the wording of argument reports in the TOML file `path` (a string or a Path).

    `toolvet/core/checks/arguments/wording.toml` has all keys, and explains them.

    Raises:
        ConfigError: the file cannot be read, or `read_wording` refuses its content.
    """
    from toolvet.core.checks import read_wording  # noqa: PLC0415 - as above.

    return read_wording(_text(str(path)), str(path))


def load_settings(path: object = None) -> Settings:
    """Return the settings of the file `path` (a string or a Path), or, for None, of the current folder.

    Raises:
        UsageError: there is no such file.
        ConfigError: the file is wrong; the error has the file, the line and the key.
    """
    found = settings_file(None if path is None else str(path))
    return Settings() if found is None else parse_settings(_text(found), found)


def parse_settings(text: str, file: str) -> Settings:
    """Return the settings of a TOML text; `file` is its path, for errors and for the files that it names.

    Raises ConfigError as `load_settings` does.
    """
    try:
        document: object = decode_toml(text, object)
    except msgspec.DecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        problem = str(error).partition(" (at ")[0]
        number = int(line[1]) if line else len(text.splitlines())
        raise ConfigError(f"not TOML: {problem}", file=file, line=number) from error
    prefix: list[str] = []
    if file.replace("\\", "/").rpartition("/")[2] == "pyproject.toml":
        prefix = ["tool", "toolvet"]
        for key in prefix:
            document = members(document).get(key, {})
    sections: list[msgspec.Struct] = []
    for name, given in members(document).items():
        problem, keys = "", [name]
        if name not in _kinds():
            problem = f"unknown key{_near(name, _kinds())}; see {_see(_kinds()['assess'])}"
        else:
            try:
                sections.append(_section(_kinds()[name], given))
            except msgspec.ValidationError as error:
                problem, keys = _split_problem(str(_precise(_kinds()[name], given, error)), name)
        if problem:
            place = line_of(text, [*prefix, *keys])
            raise ConfigError(problem, file=file, line=place, key=".".join(keys) or None)
    for number, section in enumerate(sections):
        if isinstance(section, CheckSettings):
            # Paths that hold wherever the program runs.
            arguments, answer = section.arguments, section.answer
            if arguments.wording is not None:
                arguments = msgspec.structs.replace(arguments, wording=beside(file, arguments.wording))
            if answer.model is not None:
                answer = msgspec.structs.replace(answer, model=beside(file, answer.model))
            sections[number] = msgspec.structs.replace(section, arguments=arguments, answer=answer)
    return Settings(*sections)


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a settings file, for editors that complete and check TOML.

    Example:
        >>> settings_schema()["properties"]["store"]["anyOf"][0]
        {'type': 'string'}
    """
    kinds = _kinds()
    found, definitions = msgspec.json.schema_components(list(kinds.values()), ref_template="#/$defs/{name}")
    properties: dict[str, object] = {}
    for (name, kind), schema in zip(kinds.items(), found, strict=True):
        whole = getattr(kind, "WHOLE", None)
        if whole is not None:
            # All of the section is one member of its struct.
            struct = definitions.pop(kind.__name__)
            properties[name] = {"description": struct["description"], **struct["properties"][whole]}
        else:
            properties[name] = {"anyOf": [{"type": "string"}, schema]} if hasattr(kind, "TEXT") else schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolvet.toml",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }


@cache
def _kinds() -> Mapping[str, type[msgspec.Struct]]:
    """The struct of each section, from the wings."""
    return {name: kind for module in of_each_wing("settings") for name, kind in module.SECTIONS.items()}


def _section(kind: type[S], given: object) -> S:
    whole, text = getattr(kind, "WHOLE", None), getattr(kind, "TEXT", None)
    if whole is not None:
        return kind(**{whole: msgspec.convert(given, decodable(get_type_hints(kind)[whole]))})
    return msgspec.convert({text: given} if text is not None and isinstance(given, str) else given, decodable(kind))


def _precise(kind: type[msgspec.Struct], given: object, error: msgspec.ValidationError) -> msgspec.ValidationError:
    """The error with the name of the key, where msgspec only says that it is a key of a mapping (`[...]`)."""
    path = re.search(r" - at `\$((?:\.\w+)*)\[\.\.\.\]", str(error))
    names = path[1].split(".")[1:] if path else []
    inside: object = given
    for name in names:
        inside = members(inside).get(name)
    for key, value in members(inside).items() if path else ():
        try:
            _section(kind, _only(given, names, {key: value}))
        except msgspec.ValidationError as found:
            if str(found) == str(error):
                return msgspec.ValidationError(str(error).replace("[...]", f"[{key}]", 1))
    return error


def _only(given: object, names: list[str], value: object) -> object:
    """The document with another value at the end of a path."""
    return {**members(given), names[0]: _only(members(given)[names[0]], names[1:], value)} if names else value


def _text(path: str) -> str:
    try:
        return read_user_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8: {error.reason} at byte {error.start}", file=path) from error


def _split_problem(words: str, section: str) -> tuple[str, list[str]]:
    """Split "Expected `float`, got `str` - at `$.timeout`" of msgspec into the problem and its keys."""
    problem, _, path = words.partition(" - at ")
    found = re.split(r"[.\[\]]+", path.strip("`"))
    keys = [section, *(key for key in found if key and key not in {"$", "..."} and not key.isdigit())]
    kind = _kinds()[section]
    unknown = re.search(r"unknown field `([^`]+)`", problem)
    if unknown:
        structs = msgspec.json.schema_components([kind])[1].values()
        known = [name for struct in structs for name in struct.get("properties", ())]
        return f"unknown key{_near(unknown[1], known)}; see {_see(kind)}", [*keys, unknown[1]]
    if getattr(kind, "WHOLE", None) == "tools" and problem.startswith("Expected `array`"):
        return f"must be a list of tables: write [[{'.'.join(keys)}]]", keys
    if problem.startswith("Invalid enum value") and (choices := [*_choices(kind, keys[-1])]):
        return f"{problem.removeprefix('Invalid enum value ')} is not one of {', '.join(choices)}", keys
    # TOML has no null, so the reader need not know that a setting may be absent.
    return problem.replace(" | null`", "`").replace("`", "'"), keys


def _near(word: str, known: Iterable[str]) -> str:
    """A question for the known word that is spelled most like this one, if any is."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    close = get_close_matches(word, [*known], n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _see(kind: type[msgspec.Struct]) -> str:
    return str(getattr(kind, "SEE", "`toolvet assess --help` for the options there are"))


def _choices(kind: type[Any], name: str) -> Iterator[str]:
    """Yield the words that the setting may have, in this struct or in one inside it."""
    hints = get_type_hints(kind)
    parts = [hints[name]] if name in hints else []
    while parts:
        part = parts.pop(0)
        # Most settings may also be absent (`Literal[…] | None`): then the words are one level deeper.
        yield from (word for word in get_args(part) if isinstance(word, str))
        parts.extend(each for each in get_args(part) if get_args(each))
    if name not in hints:
        for hint in hints.values():
            for inside in (hint, *get_args(hint), *(deep for each in get_args(hint) for deep in get_args(each))):
                if isinstance(inside, type) and issubclass(inside, msgspec.Struct):
                    yield from _choices(inside, name)


def line_of(text: str, keys: list[str]) -> int | None:
    """Return the line of a key: under its table's header, or the header itself. None when it is not found."""
    if not keys:
        return None
    table: list[str] = []
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line)
        if header:
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if table == keys[: len(table)]:
                best = number
            if table == keys:
                return number
            continue
        name = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if name:
            path = [*table, *(part.strip("\"'") for part in name[1].split("."))]
            if path == keys[: len(path)]:
                return number
    return best
