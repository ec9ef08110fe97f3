"""`plain_call`: a check's words, read without cyclopts if they are plain, as those of hooks and scripts are.

    check answer --json a.txt        → a call of `toolvet.cli.commands.check.answer`
    check answer --jso, check --help → None: cyclopts reads them, and says what is wrong or what there is

Loading cyclopts takes twice as long as the rest of a check. Options are read from the signature of the command, so they
are declared once, with `Parameter`. Whatever is not plain is left to cyclopts, and a test holds both to the same
reading.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import Annotated, Literal, NamedTuple, get_args, get_origin


def command_module(words: Sequence[str]) -> ModuleType | None:
    """Return the module in `commands/` that the first word names.

    It may set `PLAIN_WORDS = True`, to be read without cyclopts where that is possible, and `READS_STDIN =
    True`, where a lone `-` is a file.
    """
    name = f"toolvet.cli.commands.{words[0].replace('-', '_')}" if words and words[0][:1].isalpha() else None
    try:
        return import_module(name) if name is not None else None
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def plain_call(words: list[str]) -> Callable[[], object] | None:
    """Return the call that these words mean; None if they are not plain, without a message."""
    module = command_module(words)
    if module is None or not getattr(module, "PLAIN_WORDS", False):
        return None
    command: object = vars(module).get(words[1]) if len(words) > 1 and words[1] != "command" else None
    if isinstance(command, FunctionType) and command.__module__ == module.__name__:
        rest = words[2:]
    else:
        command, rest = getattr(module, "command", None), words[1:]
    if not isinstance(command, FunctionType):
        return None
    read = _read(rest, command.__annotations__)
    if read is None:
        return None
    given, options = read
    code = command.__code__
    positional = code.co_varnames[: code.co_argcount]
    fewest = len(positional) - len(command.__defaults__ or ())
    # Where several files can be given, the annotation is that of each.
    takes_many = bool(code.co_flags & 0x04)
    known = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    needed = set(known) - set(command.__kwdefaults__ or {})
    if not set(options) <= set(known) or not needed <= set(options):
        return None
    if len(given) < fewest or (len(given) > len(positional) and not takes_many):
        return None
    for name, word in zip(positional, given, strict=False):
        kind = _kind(command.__annotations__[name])
        if get_origin(kind) is Literal and word not in get_args(kind):
            return None
    return partial(command, *given, **options)


def _read(words: list[str], annotations: dict[str, object]) -> tuple[list[str], dict[str, object]] | None:
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
            kind = _kind(annotation)
            if kind is not bool and "=" not in word:
                value = next(waiting, "")
            found = _value(value, kind, is_flag="=" not in word)
            if found is None:
                return None
            options[name.replace("-", "_")] = found
    return [*files, *of_stdin], options


def _kind(annotation: object) -> object:
    kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if not isinstance(kind, UnionType):
        return kind
    kinds = [each for each in get_args(kind) if each is not NoneType]
    return kinds[0] if len(kinds) == 1 else None


def _value(word: str, kind: object, *, is_flag: bool) -> object:
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
    """As `cyclopts.Parameter`: how a command declares one of its options, without loading cyclopts.

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
