"""Work on code: what the calls did (files edited, tests and builds run, how each run ended), and the claims about it.

Bash("cd app && uv run pytest -q 2>&1 | tail -3") → "1 failed"    AgentAction("run", kinds=("test",), ended=False)
Edit(file_path="src/a.py")    AgentAction("edit", path="src/a.py")
"All tests pass."             nothing ran them after the edit: UnprovenRun("test", "All tests pass.", …)

A request proves nothing: "make the tests pass" says how they should be, not how they are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Final, Literal

import msgspec

from toolvet.core.checks.result import exit_code_in
from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_array, members
from toolvet.core.messages import ToolCall
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.outcome import Ability, ability, decoded


class WorkTools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tools of coding agents: those that run commands, those that edit files, and those that hide what they do."""

    shell: tuple[str, ...]
    edit: tuple[str, ...]
    opaque: tuple[str, ...]
    runs: tuple[str, ...]
    """Words of the names of other tools that run something."""


class ShellWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How commands are read: the words before a program, programs that run nothing else, and marks of some others."""

    wrappers: tuple[str, ...]
    others: tuple[str, ...]
    perhaps: str
    idle: str
    edits: str
    documents: str


class WorkKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of run (tests, a build …): its commands, and the output that shows how it ended."""

    name: str
    noun: str
    commands: tuple[str, ...]
    failed: tuple[str, ...]
    passed: tuple[str, ...]


class WorkPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of one statement, with their proof; text that `allow` matches is taken out first."""

    patterns: tuple[str, ...]
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class WorkClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words for a successful run of this kind."""

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
    stated: WorkPhrases
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
    return read_toml("toolvet.core.turn.ledger", "work.toml", WorkTable)


@cache
def compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return these patterns compiled; each is looked for when it is needed first."""
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


def finds(patterns: Sequence[str], text: str) -> bool:
    """Whether one of the patterns is in the text."""
    return any(pattern.search(text) is not None for pattern in compiled(tuple(patterns)))


_MOST_SENTENCE: Final = 600
_MOST_SENTENCES: Final = 400
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED: Final = re.compile(r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|^>.*$', re.MULTILINE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_COMMAND: Final = 4_000
_MOST_SEGMENTS: Final = 40
_MOST_OUTPUT: Final = 20_000
_SPLIT: Final = re.compile(r"&&|\|\||;|\n|\||\$\(|\(|&(?!>)")
_CODE: Final = re.compile(r"`([^`]*)`")
_PATHS: Final = re.compile(r"\S*/\S*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_OPTION: Final = re.compile(r"-|\d+[smh]?$")
_MOST_QUESTION: Final = 4_000
_DEEPEST: Final = 4
_PATH: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATH_KEYS: Final = ("file_path", "path", "notebook_path", "filename", "filePath", "absolute_path")
_TESTS: Final = re.compile(r"(?<![a-z])(?:tests?|pytest|specs?)(?![a-z])")
_FAILS: Final = re.compile(r"(?i)\bfail")
# The tests failed before something was done about it.
_FIXED: Final = re.compile(
    r"(?i)\b(?:fix|resolv|repair|then|now|before|initially|at first|previously|on main)|pre-?existing"
)
_COMMAND_KEYS: Final = ("command", "cmd", "script", "input", "chars")


class AgentAction(msgspec.Struct, frozen=True):
    """What one call did: `edit` of a file, `run` of a command, `hidden` (another agent's), or anything else.

    `kinds` are the kinds of a run; `perhaps` says that it may have been one that we do not know. `ended` is whether
    it went well, None if that is not known.
    """

    what: Literal["edit", "run", "hidden", "other"]
    kinds: tuple[str, ...] = ()
    ended: bool | None = None
    path: str = ""
    command: str = ""
    perhaps: bool = False

    @property
    def shown(self) -> str:
        """Return the command on one line, for a reader."""
        return " ".join(self.command.split())[:120]


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
            has_failed = call.failed or (call.answered and exit_code_in(_output(call)) not in (0, None))
            found.append(AgentAction("edit", path=path, ended=not has_failed))
        elif name in tools.shell or call.name.lower() in tools.shell or (_command(call) and _runs(call.name)):
            found.append(_run(call))
        elif name in tools.opaque:
            found.append(_hand_back(call))
        elif _TESTS.search(name) is not None and _runs(name):
            tests = work_table().kinds[0]
            ended = _ended((tests,), call, _output(call), piped=False) if call.answered else None
            found.append(AgentAction("run", (tests.name,), ended, command=call.name))
        else:
            # A tool of this name may run anything.
            may = ability(call.name, "run") in (Ability.THIS, Ability.ANYTHING) and _runs(call.name)
            found.append(AgentAction("other", perhaps=may))
    return found


def _runs(name: str) -> bool:
    return any(word in work_table().tools.runs for word in words_of(name))


def _hand_back(call: ToolCall) -> AgentAction:
    """Another agent's work, which is not known, unless what it handed back reports last that the tests failed."""
    tests = work_table().kinds[0]
    counts = [
        sentence
        # Some clients return it as JSON in a text.
        for sentence in sentences_of(_output(call).replace("\\n", "\n") if call.answered else "")
        if finds(tests.failed, sentence) or finds(tests.passed, sentence) or claims_in(sentence)
    ]
    last = counts[-1] if counts else ""
    if not finds(tests.failed, last) or _FAILS.search(last) is None or _FIXED.search(last) is not None:
        return AgentAction("hidden")
    return AgentAction("hidden", (tests.name,), ended=False, command=f"{call.name}: {last}")


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
    code = exit_code_in(output)
    if code:
        return False
    if any(_finds(kind.passed, output) for kind in kinds):
        return True
    # The exit code of a pipe is that of its last command.
    return None if piped else True


def _command(call: ToolCall) -> str:
    given = call.arguments
    if isinstance(given, str):
        given = decoded(given)
        if given is None:
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
    if not held:
        return ""
    codes = (exit_code_in(held), exit_code_in(members(held.get("metadata"))))
    code = next((each for each in codes if each is not None), None)
    texts = [_text_in(held.get(key), depth + 1) for key in ("text", "content", "output", "stdout", "stderr")]
    counts = [f"{held[key]} {key}" for key in ("failed", "passed") if type(held.get(key)) is int]
    return "\n".join(text for text in (*texts, *counts, "" if code is None else f"exit code {code}") if text)


def claims_in(text: str) -> list[tuple[str, str]]:
    """Return the kind and the sentence of each claim that a run went well."""
    table = work_table()
    found: list[tuple[str, str]] = []
    for sentence in sentences_of(own_words(text)) if _is_about_work(text) else ():
        if not _is_about_work(sentence):
            continue
        # A path is not evidence about tests.
        bare = _CODE.sub(lambda match: f"`{_PATHS.sub('', match[1]).strip() or 'x'}`", sentence)
        kinds = [claim.kind for claim in table.claims if finds(claim.patterns, bare)]
        if kinds and not is_guarded(bare):
            found.extend((kind, sentence) for kind in kinds)
    return found


# One of these is in whatever the patterns of a claim find.
_SURE: Final = (
    "pytest",
    "mypy",
    "pyright",
    "flake8",
    "lint",
    "clippy",
    "rubocop",
    "jest",
    "vitest",
    "compil",
    "typescr",
    "prueba",
    "тест",
    "测试",
    "テスト",
    "테스트",
    "الاختبارات",
    "टेस्ट",
    "परीक्षण",
    "เทสต์",
    "การทดสอบ",
)
# "Latest" and a domain that ends in ".test" are about nothing. The word is first, so that it is found in little time.
_PERHAPS: Final = {
    word: re.compile(rf"{word}(?<![a-z.@]{word}){ending}\b")
    for word, ending in (
        ("test", "(?:e?s|y|ler)?"), ("spec", "s?"), ("suite", "s?"), ("build", "s?"), ("tsc", ""), ("ruff", ""),
        ("type", "(?:[ -]?check.{0,3}| errors)"), ("passed", r"(?<=\d\spassed)"),
    )
}  # fmt: skip


def _is_about_work(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _SURE) or any(
        word in lower and pattern.search(lower) is not None for word, pattern in _PERHAPS.items()
    )


def sentences_of(text: str) -> list[str]:
    """Return the sentences and lines of a text, without marks of emphasis."""
    plain = text.replace("**", "").replace("__", "")
    return [part[:_MOST_SENTENCE] for part in _SENTENCE.split(plain)[:_MOST_SENTENCES] if part.strip()]


def reports(said: str) -> bool:
    """Whether a text says that something failed or is not finished."""
    table = work_table().reported
    for pattern in compiled(table.allow):
        said = pattern.sub("", said)
    return finds(table.patterns, said)


def is_guarded(sentence: str) -> bool:
    """Whether a sentence does not report a run: it is a wish, a condition, a failure."""
    guards = work_table().guards
    for pattern in compiled(guards.allow):
        sentence = pattern.sub("", sentence)
    return finds(guards.patterns, sentence)


def own_words(text: str) -> str:
    """Return a text without its code blocks and quotations."""
    return _QUOTED.sub(" ", _FENCE.sub("\n", text))


class UnprovenRun(msgspec.Struct, frozen=True):
    """A claim that a run went well: why it did not, its kind, the sentence, and the evidence of the calls."""

    why: Literal["failed", "not_run"]
    kind: str
    said: str
    against: str


def unproven_runs(
    said: str, question: str, actions: Sequence[AgentAction], *, is_whole: bool = True
) -> Iterator[UnprovenRun]:
    """Yield each run that `said` claims to have gone well and that was not made after the last edit, or that failed.

    Args:
        said: the answer's own words.
        question: the request. It proves a run only if it says that one was made.
        actions: what the calls did.
        is_whole: whether these are all calls of the session.
    """
    table = work_table()
    edits = [
        at
        for at, action in enumerate(actions)
        if action.what == "edit"
        and action.ended
        and (not action.path or re.search(table.shell.documents, action.path) is None)
    ]
    last = edits[-1] if edits else -1
    for kind, sentence in claims_in(said):
        runs = [at for at, action in enumerate(actions) if kind in action.kinds]
        noun = table.nouns[kind]
        if runs and runs[-1] > last:
            run = actions[runs[-1]]
            if kind == "test" and run.ended and all(_is_of_source(actions[at], edits, actions) for at in runs):
                yield UnprovenRun("not_run", kind, sentence, f"only the tests of the edited file ran ({run.shown})")
            if run.ended is False and is_last_word(actions, runs[-1]) and not reports(said):
                yield UnprovenRun("failed", kind, sentence, f"the last run of {noun} failed ({run.shown})")
            continue
        if any(action.what == "hidden" or action.perhaps for action in actions[last + 1 :]):
            continue
        if finds(table.stated.patterns, question[-_MOST_QUESTION:]):
            continue
        if edits:
            path = actions[last].path
            what = f"the last edit{f' ({path})' if path else ''}"
            yield UnprovenRun("not_run", kind, sentence, f"no call ran {noun} after {what}")
        elif is_whole and actions and not any(action.what == "run" for action in actions):
            yield UnprovenRun("not_run", kind, sentence, f"no call of this session ran {noun}")


def _is_of_source(run: AgentAction, edits: Sequence[int], actions: Sequence[AgentAction]) -> bool:
    """Whether a run of tests names one edited file that has no tests, and nothing else: `pytest parser.py`."""
    words = next(iter(segments_of(run.command)), "").split()
    named = words[-1].strip("'\"").rpartition("/")[2].lower() if len(words) == 2 else ""
    return (
        bool(named)
        and _TESTS.search(named) is None
        and any(actions[at].path.replace("\\", "/").rpartition("/")[2].lower() == named for at in edits)
    )


def is_last_word(actions: Sequence[AgentAction], at: int) -> bool:
    """Whether nothing after this run may have been a later one."""
    return not any(action.what == "hidden" or action.perhaps or action.kinds for action in actions[at + 1 :])
