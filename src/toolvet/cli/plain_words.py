"""`plain_call`: a check's words, read without cyclopts where they are plain, as those of hooks and scripts are.

    check answer --json a.txt        → a call of `toolvet.cli.commands.check.answer`
    check answer --jso, check --help → None: cyclopts reads them, and says what is wrong or what there is

Loading cyclopts takes twice as long as the rest of a check. Options are read from the signature of the command, so they
are declared once, with `Parameter`. Whatever is not plain is left to cyclopts, and a test holds both to the same
reading.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Final, Literal, NamedTuple, get_args, get_origin

_CHECK: Final = "toolvet.cli.commands.check"
_HOOK: Final = "toolvet.cli.commands.hook"
_CLIENTS: Final = ("claude", "codex", "gemini", "copilot")
_COMMANDS: Final = ("answer", "arguments", "conversation", "envelope", "result")


def plain_call(words: list[str]) -> Callable[[], object] | None:
    """Return the call that these words mean; None where they are not plain, and nothing is said of them."""
    if words[:1] == ["hook"] and len(words) == 2 and words[1] in _CLIENTS:
        return partial(import_module(_HOOK).command, words[1])
    if len(words) < 2 or words[0] != "check" or words[1] not in _COMMANDS:
        return None
    command: Callable[..., object] = getattr(import_module(_CHECK), words[1])
    read = _read(words[2:], command.__annotations__)
    if read is None:
        return None
    files, options = read
    # Where several files can be given, the annotation is that of each.
    code = command.__code__
    takes_many = bool(code.co_flags & 0x04)
    known = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    needed = set(known) - set(command.__kwdefaults__ or {})
    if not set(options) <= set(known) or not needed <= set(options) or (len(files) > 1 and not takes_many):
        return None
    return partial(command, *files, **options)


def _read(words: list[str], annotations: dict[str, object]) -> tuple[list[str], dict[str, object]] | None:
    """The files and the options, None where something is not plain."""
    files: list[str] = []
    of_stdin: list[str] = []
    options: dict[str, object] = {}
    waiting = iter(words)
    for word in waiting:
        if word == "-":
            # As for cyclopts, which gets stdin behind all other files.
            of_stdin.append(word)
        elif not word.startswith("-") and word:
            files.append(word)
        else:
            name, _, value = word[2:].partition("=")
            annotation = annotations.get(name.replace("-", "_"))
            if annotation is None or not word.startswith("--") or "_" in name or name.replace("-", "_") in options:
                return None
            kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
            if isinstance(kind, UnionType):
                # That of its value where it is given.
                kinds = [each for each in get_args(kind) if each is not NoneType]
                kind = kinds[0] if len(kinds) == 1 else None
            if kind is not bool and "=" not in word:
                value = next(waiting, "")
            found = _value(value, kind, is_flag="=" not in word)
            if found is None:
                return None
            options[name.replace("-", "_")] = found
    return [*files, *of_stdin], options


def _value(word: str, kind: object, *, is_flag: bool) -> object:
    """What a word means as a value, None where it is not plain."""
    if kind is bool:
        return True if is_flag else None
    if not word or word.startswith("-") or not word.isprintable():
        return None
    if kind is str:
        return word
    if get_origin(kind) is Literal:
        return word if word in get_args(kind) else None
    if kind is int and word.isascii() and word.isdigit() and len(word) < 10 and (word == "0" or word[0] != "0"):
        return int(word)
    return None


class Parameter(NamedTuple):
    """As `cyclopts.Parameter`: what a command says of one of its options, without loading cyclopts.

    Where cyclopts reads the command, for its help or for words that are not plain, `with_parameters` gives it its own.
    """

    help: str
    negative: str | None = None
    metavar: str | None = None


def with_parameters(command: Callable[..., object]) -> Callable[..., object]:
    """Return `command` with its declarations as cyclopts wants them."""
    # The caller loads it anyway.
    from cyclopts import Parameter as Declared  # noqa: PLC0415

    annotations = command.__annotations__
    for name, annotation in list(annotations.items()):
        for declared in getattr(annotation, "__metadata__", ()):
            if isinstance(declared, Parameter):
                given = {key: value for key, value in declared._asdict().items() if value is not None}
                annotations[name] = Annotated[annotation.__origin__, Declared(**given)]
    return command
