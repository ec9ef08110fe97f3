"""The calls of a coding agent → what was done: files edited, tests and builds run, and how each run ended.

Bash("cd app && uv run pytest -q 2>&1 | tail -3") → "1 failed"    AgentAction("run", kinds=("test",), ended=False)
Edit(file_path="src/a.py")    AgentAction("edit", path="src/a.py")
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Final, Literal

import msgspec

from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_array, members
from toolvet.core.messages import ToolCall


class WorkTools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tools of coding agents: those that run commands, those that edit files, and those that hide what they do."""

    shell: tuple[str, ...]
    edit: tuple[str, ...]
    opaque: tuple[str, ...]


class ShellWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How commands are read: the words before a program, programs that run nothing else, and marks of some others."""

    wrappers: tuple[str, ...]
    others: tuple[str, ...]
    perhaps: str
    idle: str
    edits: str
    documents: str


class WorkKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of run (tests, a build …): its commands, and what its output says of its end."""

    name: str
    noun: str
    commands: tuple[str, ...]
    failed: tuple[str, ...]
    passed: tuple[str, ...]


class WorkPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of one thing that is said, with their proof; what `allow` finds is taken out before."""

    patterns: tuple[str, ...]
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class WorkClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it is said that a run of this kind went well."""

    kind: str
    patterns: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class WorkTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """`work.toml` as written."""

    tools: WorkTools
    shell: ShellWords
    kinds: tuple[WorkKind, ...]
    claims: tuple[WorkClaim, ...]
    guards: WorkPhrases
    reported: WorkPhrases
    done: WorkPhrases
    asked: WorkPhrases
    files: WorkPhrases

    @cached_property
    def nouns(self) -> dict[str, str]:
        """What each kind of run is called."""
        return {kind.name: kind.noun for kind in self.kinds}

    @cached_property
    def wrappers(self) -> frozenset[str]:
        """The words before a program."""
        return frozenset(self.shell.wrappers)

    @cached_property
    def others(self) -> frozenset[str]:
        """Programs that run nothing else."""
        return frozenset(self.shell.others)


@cache
def work_table() -> WorkTable:
    """Return the table."""
    return read_toml("toolvet.agents.hook", "work.toml", WorkTable)


@cache
def compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return these patterns compiled; each is looked for when it is needed first."""
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


def finds(patterns: Sequence[str], text: str) -> bool:
    """Whether one of the patterns is in the text."""
    return any(pattern.search(text) is not None for pattern in compiled(tuple(patterns)))


_MOST_COMMAND: Final = 4_000
_MOST_SEGMENTS: Final = 40
_MOST_OUTPUT: Final = 20_000
_SPLIT: Final = re.compile(r"&&|\|\||;|\n|\||\$\(|\(|&(?!>)")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_OPTION: Final = re.compile(r"-|\d+[smh]?$")
_EXIT: Final = re.compile(
    r"(?i)(?:\bexit(?:ed)?(?: with)?(?: exit)?(?: (?:code|status))?[:= ]{1,3}|\"exit_code\": ?)(-?\d{1,3})\b"
)
_HEAD: Final = 400
_DEEPEST: Final = 4
_PATH: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATH_KEYS: Final = ("file_path", "path", "notebook_path", "filename", "filePath", "absolute_path")
_COMMAND_KEYS: Final = ("command", "cmd", "script", "input", "chars")


class AgentAction(msgspec.Struct, frozen=True):
    """What one call did: `edit` of a file, `run` of a command, `hidden` (another agent's), or anything else.

    `kinds` are the kinds of a run; `perhaps` says that it may have been one that we do not know. `ended` is whether
    it went well, None where that is not known.
    """

    what: Literal["edit", "run", "hidden", "other"]
    kinds: tuple[str, ...] = ()
    ended: bool | None = None
    path: str = ""
    command: str = ""
    perhaps: bool = False


def actions_of(calls: Iterable[ToolCall]) -> list[AgentAction]:
    """Return what each call did, in their order."""
    tools = work_table().tools
    found: list[AgentAction] = []
    for call in calls:
        name = call.name.rpartition(".")[2].lower()
        if name in tools.edit or call.name.lower() in tools.edit:
            arguments = members(call.arguments)
            if arguments.get("command") in ("view", "undo_edit"):
                found.append(AgentAction("other"))
                continue
            named = next((arguments[key] for key in _PATH_KEYS if isinstance(arguments.get(key), str)), "")
            patched = _PATH.search(_command(call))
            path = f"{named}" or ("" if patched is None else patched[1].strip())
            has_failed = call.failed or (call.answered and _exit_code(_output(call)) not in (0, None))
            found.append(AgentAction("edit", path=path, ended=not has_failed))
        elif name in tools.shell or call.name.lower() in tools.shell:
            found.append(_run(call))
        else:
            found.append(AgentAction("hidden" if name in tools.opaque else "other"))
    return found


def _run(call: ToolCall) -> AgentAction:
    table = work_table()
    command = _command(call)[:_MOST_COMMAND]
    if "*** Begin Patch" in command:
        found = _PATH.search(command)
        return AgentAction("edit", path="" if found is None else found[1].strip(), ended=not call.failed)
    output = _output(call)
    segments = segments_of(command)
    kinds = tuple(
        kind.name
        for kind in table.kinds
        if any(pattern.match(each) is not None for each in segments for pattern in compiled(kind.commands))
    )
    # What prints as tests do was a run of them, whatever it is called.
    tests = table.kinds[0]
    perhaps = any(finds((table.shell.perhaps,), each) for each in segments)
    if (
        "test" not in kinds
        and segments
        and (_finds(tests.passed, output) or (perhaps and _finds(tests.failed, output)))
    ):
        kinds = ("test", *kinds)
    if not kinds and finds((table.shell.edits,), command):
        return AgentAction("edit", ended=True, path="")
    ended = None
    if kinds and call.answered and not members(call.arguments).get("run_in_background"):
        ended = _ended([kind for kind in table.kinds if kind.name in kinds], call, output, piped="|" in command)
    return AgentAction("run", kinds, ended, command=command, perhaps=perhaps)


def segments_of(command: str) -> list[str]:
    """Return the commands of a shell's line that run something, without the words before the program.

    >>> segments_of("cd app && CI=1 uv run pytest -q | tail -3")
    ['pytest -q']
    """
    table = work_table()
    found: list[str] = []
    for part in _SPLIT.split(command)[:_MOST_SEGMENTS]:
        words = part.strip().strip("'\"").split(" ")
        at = 0
        while at < len(words) and (
            not words[at]
            or words[at].strip("'\"") in table.wrappers
            or _ASSIGNMENT.match(words[at]) is not None
            or (at > 0 and _OPTION.match(words[at]) is not None)
        ):
            at += 1
        rest = " ".join(words[at:]).strip("'\"")
        program = rest.split(" ", 1)[0].rpartition("/")[2]
        if rest and program not in table.others and not finds((table.shell.idle,), rest):
            found.append(rest if rest.startswith(("./", "/")) or "/" not in rest.split(" ", 1)[0] else f"./{rest}")
            if found[-1].startswith(("./", "/")):
                # A program by its path is also known by its name.
                found.append(rest[rest.split(" ", 1)[0].rfind("/") + 1 :])
    return found


def _finds(patterns: Sequence[str], output: str) -> bool:
    return bool(output) and finds(patterns, output)


def _ended(kinds: Sequence[WorkKind], call: ToolCall, output: str, *, piped: bool) -> bool | None:
    if any(_finds(kind.failed, output) for kind in kinds):
        return False
    if call.failed:
        return False
    code = _exit_code(output)
    if code:
        return False
    if any(_finds(kind.passed, output) for kind in kinds):
        return True
    # The exit code of a pipe is that of its last command.
    return None if piped else True


def _exit_code(output: str) -> int | None:
    for part in (output[:_HEAD], output[-_HEAD:]):
        found = _EXIT.search(part)
        if found is not None:
            return int(found[1])
    return None


def _command(call: ToolCall) -> str:
    given = call.arguments
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return f"{call.arguments}"
    arguments = members(given)
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if is_array(value):
            words = [f"{word}" for word in value]
            return words[-1] if words[:1] and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") else " ".join(words)
    return ""


def _output(call: ToolCall) -> str:
    result = call.result
    text = result if isinstance(result, str) else _text_in(result, 0)
    return text if len(text) <= _MOST_OUTPUT else f"{text[: _MOST_OUTPUT // 2]}\n{text[-_MOST_OUTPUT // 2 :]}"


def _text_in(value: object, depth: int) -> str:
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if is_array(value):
        return "\n".join(_text_in(each, depth + 1) for each in value)
    held = members(value)
    code = held.get("exit_code", members(held.get("metadata")).get("exit_code"))
    texts = [_text_in(held.get(key), depth + 1) for key in ("text", "content", "output", "stdout", "stderr")]
    return "\n".join(text for text in (*texts, "" if code is None else f"exit code {code}") if text)
