"""The command line: words in, exit code out.

    0    nothing at or above --fail-on
    1    findings at or above --fail-on, or a score below --fail-under
    2    the command line, a configuration file or an input file is wrong
    3    the server wants credentials
    4    the server cannot be started or reached, or speaks no MCP
    5    a bug of ours
    6    stdout cannot be written: it is closed, its disk is full, or its reader is gone
    130  interrupted

Only documents go to stdout; progress, errors and logs go to stderr. Each module or folder in `commands` is a command,
found because it is there. Its docstring and parameters are its help, and its work is imported when it runs.

    toolvet check answer answers.jsonl --fail-on escalate

Start reading at `commands/explain.py`, one of the shortest.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Final

from toolvet.cli.plain_words import command_module, plain_call, with_parameters
from toolvet.cli.streams import output_error, prepare_streams
from toolvet.core.discover import cached, fingerprint, keep, modules
from toolvet.errors import MissingExtraError, ToolvetError
from toolvet.version import __version__

if TYPE_CHECKING:
    from inspect import BoundArguments

    from cyclopts import App
    from cyclopts.help import DefaultFormatter, HelpPanel
    from rich.console import Console, ConsoleOptions


# The exit codes that do not belong to an exception of ours; `errors.py` has the others.
BUG: Final = 5
INTERRUPTED: Final = 130


_WORDS_OF_HELP: Final[tuple[list[str], ...]] = ([], ["-h"], ["--help"])
_HELP_FORMAT: Final = b"help/1"


@cache
def app(first: str | None = None, *, all_options: bool = True) -> "App":
    """Return the command line: every module in `commands/` is a command of that name.

    `first` is the first word, if it is known: when it is a command, the others need not be loaded, which takes longer
    than many a command does. Without `all_options` the help of a command leaves out those that its module does not name
    in `COMMON_OPTIONS`, if it has that.
    """
    # It takes most of a start, and the help needs none of it.
    from cyclopts import App, Parameter  # noqa: PLC0415

    # Without the default of a flag that is off, of an empty list and of an empty text.
    shown = Parameter(show_default=lambda it: str(it) if it or type(it) is int else None, negative_iterable="")
    root = App(
        name="toolvet",
        help="Vet every tool call: the arguments going in, the result coming out, and the answer that follows.",
        version=__version__,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        default_parameter=shown,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for module in modules("toolvet.cli.commands", first):
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        command, inner = commands_of(module)
        if command is not None and not inner:
            common: frozenset[str] | None = None if all_options else getattr(module, "COMMON_OPTIONS", None)
            root.command(with_parameters(command), name=name, help=_flowing(command.__doc__))
            if common is not None:
                root[name].help_formatter = _short_help(common)
                root[name].help_epilogue = "`--help-all` shows all options."
            continue
        # A command with sub-commands may do something itself without them.
        words = module.__doc__ if command is None else command.__doc__
        group = App(name=name, help=_flowing(words), help_format="plaintext", result_action="return_value")
        group.default_parameter = shown
        if command is not None:
            group.default(with_parameters(command))
        for word, function in inner.items():
            group.command(with_parameters(function), name=word, help=_flowing(function.__doc__))
        root.command(group)
    return root


def _flowing(words: str | None) -> str:
    """A docstring whose paragraphs are one line each, so that the terminal's width decides where they break."""
    from inspect import cleandoc  # noqa: PLC0415 - as in `app`

    return re.sub(r"(?<=\S)\n(?=\S)", " ", cleandoc(words or ""))


def _short_help(common: frozenset[str]) -> "DefaultFormatter":
    """What prints the help of a command with its common options only."""
    from cyclopts.help import DefaultFormatter as Default  # noqa: PLC0415 - as in `app`

    class CommonOptions(Default):
        def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
            if panel.format == "parameter":
                shown = [each for each in panel.entries if not each.positive_names or common & {*each.positive_names}]
                panel = panel.copy(entries=shown)
            if panel.entries:
                super().__call__(console, options, panel)

    return CommonOptions()


def commands_of(module: ModuleType) -> tuple[Callable[..., object] | None, dict[str, Callable[..., object]]]:
    """Return what the name of a module in `commands/` runs, if anything, and its sub-commands by their names.

    Its function `command` is the first, each other public function a sub-command.
    """
    found: dict[str, Callable[..., object]] = {}
    for name, value in sorted(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not name.startswith("_"):
            # `import_` and `list_`: Python has taken the words themselves.
            found[name.rstrip("_").replace("_", "-")] = value
    return found.pop("command", None), found


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    prepare_streams()
    sys.exit(run(sys.argv[1:] if words is None else list(words)))


def run(words: Sequence[str], parsed: Callable[[], object] | None = None) -> int:
    """Run the command line and return its exit code; `parsed` is the command of these words, if known."""
    # A terminal that cannot show a character of a server's text shows a replacement, and the report goes on.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        shown = None if parsed else _cached_help(list(words))
        code = (parsed or partial(_dispatch, list(words)))() if shown is None else sys.stdout.write(shown) and 0
        sys.stdout.flush()
    except ToolvetError as error:
        return _complain(str(error), code=error.exit_code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError as error:
        # Only where the caller gave us a stdout of its own (see `prepare_streams`).
        return complain_of_output(error)
    except Exception as error:  # noqa: BLE001 - an exception that gets here is a bug, and must be reported as one
        missing = MissingExtraError.of(error)
        if missing is not None:
            return _complain(str(missing), code=missing.exit_code)
        import traceback  # noqa: PLC0415 - a start without a bug needs neither

        from toolvet.core.redact import redact_text  # noqa: PLC0415 - as above

        # Its message may quote what a server or a client said.
        sys.stderr.write(redact_text(traceback.format_exc()))
        return _complain("this is a bug in toolvet; please report it with the lines above", code=BUG)
    return code if isinstance(code, int) else 0


def complain_of_output(error: OSError) -> int:
    """Say that stdout cannot be written, and return the exit code for it."""
    found = output_error(error)
    return _complain(str(found), code=found.exit_code)


def _dispatch(words: list[str]) -> object:
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    call = plain_call(words)
    if call is not None:
        if "typing_extensions" not in sys.modules:
            # It loads `inspect` and `ast`: 9 ms of the 60 that a check takes. Without it msgspec takes the same names
            # from `typing`; this is our own process, so no other code sees it.
            sys.modules["typing_extensions"] = None  # type: ignore[assignment]
            try:
                import_module("msgspec")
            finally:
                del sys.modules["typing_extensions"]
        return call()
    from cyclopts import CycloptsError  # noqa: PLC0415 - as in `app`

    try:
        if "--help-all" in words:
            words = ["--help" if word == "--help-all" else word for word in words]
            return app()(words, exit_on_error=False, print_error=False)
        return _app_for(words)(_with_stdin(words), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return _complain(f"{error}".strip(), hint="toolvet --help shows how", code=2)


def parse(words: list[str]) -> "tuple[Callable[..., object], BoundArguments, object]":
    """Return the command that these words mean, and its arguments. Raises `CycloptsError` for words that mean none."""
    return _app_for(words).parse_args(_with_stdin(words), exit_on_error=False, print_error=False)


def _app_for(words: list[str]) -> "App":
    return app(words[0] if words else None, all_options=False)


def _with_stdin(words: list[str]) -> list[str]:
    """Return the words with each lone `-` at the end, as a file: cyclopts would take it for an option."""
    if "-" not in words or "--" in words or not getattr(command_module(words), "READS_STDIN", False):
        return words
    files = [word for word in words if word == "-"]
    return [*(word for word in words if word != "-"), "--", *files]


def _complain(problem: str, *, code: int, hint: str = "") -> int:
    sys.stderr.write(f"toolvet: {problem}\n" + (f"({hint})\n" if hint else ""))
    return code


def _cached_help(words: list[str]) -> str | None:
    """What these words print if they ask for all help, and stdout is not a terminal: making it loads every command."""
    if words not in _WORDS_OF_HELP or sys.stdout.isatty():
        return None
    # Programs that ask for colours although nothing shows them get what the other path prints.
    if "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ:
        return None
    width = os.environ.get("COLUMNS", "")
    key = b"\0".join((_HELP_FORMAT, width.encode("utf-8", "replace"), fingerprint("toolvet.cli", ".py")))
    known = cached(key)
    if known is None:
        from rich.console import Console  # noqa: PLC0415 - what the cache saves

        printed = io.StringIO()
        app().help_print([], console=Console(file=printed))
        known = printed.getvalue().encode()
        keep(key, known)
    return known.decode()
