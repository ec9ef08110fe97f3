"""The evidence for the decision: the words of one error, and the facts about its call.

    FirstHits           the phrases of the error, sorted
    is_callers_crash    whose code a traceback is: the caller's, in a tool that runs programs, or the tool's own
    tool_traits         what a tool's definition and its arguments say: whether it runs a text that its caller wrote
    plain_sentence      whether the error is a sentence that the tool's author wrote for the caller

"The vehicle is in maintenance" holds no phrase that a list could know; but it is prose, and no word of it is about
machinery. That is a vague sign of business logic, and like every vague one it needs a second factor.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import Final, cast

import msgspec

from toolvet.core.causes import State
from toolvet.core.checks.result.body import ResultContext
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength, tool_names
from toolvet.core.checks.result.response import object_of, readable
from toolvet.core.checks.result.unflagged import strings_of
from toolvet.core.discover.toml import read_toml
from toolvet.core.matching import Hit
from toolvet.core.tools import ToolView

_MOST_QUOTED: Final = 80
_MOST_SENT: Final = 10
_STATUS: Final = re.compile(r"[45]\d\d")
_PRINTS: Final = re.compile(r"\s*(?:print|console\.\w{3,5}|logg?er?\.\w{4,9}|echo|puts|printf|return)\b\s*\(?f?[\"'`]")
_SAME_NOUN: Final = re.compile(r"[\w -]{1,24}")
# A crash only says where the error was noticed, an internal error not even that; a refused connection is the cause.
_VAGUER: Final = (State.CRASH, State.INTERNAL)


class CallFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts about the call whose error is judged.

    `sent` are the strings of the arguments; `quoted` is the one that the error quotes. `structured` and `name_word`
    quote the evidence for these factors. A string is empty if there is no evidence.
    """

    view: ToolView
    arguments: object = None
    sent: tuple[str, ...] = ()
    quoted: str = ""
    structured: str = ""
    name_word: str = ""

    @property
    def runs(self) -> frozenset[CallerText]:
        """The texts of its caller that the tool runs. Most errors are decided without knowing it."""
        return caller_texts(self.view, self.arguments)

    @property
    def arguments_known(self) -> bool:
        """Whether any argument was given."""
        return bool(object_of(self.arguments))


class FirstHits:
    """The first hit of each strength in one text, and what the caller's own patterns found.

    `callers` is the first error of a text that the caller wrote and the tool ran. `veto` is the hit that says most
    about a failure, of the state `veto_state`. `refusal` are the words by which a validation library refused the
    arguments; a stack trace makes them those of a crash.
    """

    __slots__ = (
        "_runs",
        "call",
        "callers",
        "first",
        "overriding",
        "own",
        "own_failure",
        "own_strong",
        "rate",
        "refusal",
        "status",
        "text",
        "veto",
        "veto_state",
    )  # fmt: skip

    def __init__(self, text: str, hits: Sequence[Hit], known: ResultPhrases, call: CallFacts) -> None:
        self.text = text
        self.call = call
        self.first: dict[Strength, Hit] = {}
        self.callers: Hit | None = None
        self.veto: Hit | None = None
        self.veto_state = State.UNKNOWN
        self.overriding: Hit | None = None
        self.rate: Hit | None = None
        self.own: Hit | None = None
        self.own_strong: Hit | None = None
        self.own_failure: Hit | None = None
        self._runs: frozenset[CallerText] | None = None
        self._sort(hits, known)
        self.refusal = None if Strength.TRACE in self.first else self.first.get(Strength.REFUSAL)
        stated = self.first.get(Strength.HTTP)
        # The HTTP status ends a hit or opens it.
        numbers = [] if stated is None else _STATUS.findall(text, max(0, stated.end - _MOST_QUOTED), stated.end)
        self.status = int(numbers[-1]) if numbers else 0

    def _sort(self, hits: Sequence[Hit], known: ResultPhrases) -> None:
        rank = len(_VAGUER)
        call = self.call
        alone_state: State | None = None
        for hit in hits:
            phrase = known.by_id[hit.id]
            strength, state = phrase.strength, phrase.state
            if phrase.caller_text is not None:
                runs = self.runs
                if phrase.caller_text in runs:
                    if phrase.caller_text.explains_crashes:
                        self.callers = self.callers or hit
                elif phrase.otherwise is None:
                    continue
                elif CallerText.PROGRAM not in runs and not (
                    phrase.unless_sent and (call.quoted or not call.arguments_known or CallerText.PART in runs)
                ):
                    strength, state = Strength.VETO, phrase.otherwise
            if strength is Strength.VETO and state is State.INTERNAL:
                # Words in a line of code that would print them are not an error yet.
                line_start = self.text.rfind("\n", 0, hit.end - 1) + 1
                if _PRINTS.match(self.text, line_start, hit.end) is not None:
                    continue
            # The first hit of each strength counts; but "Invalid API" ends before "Invalid API key", which says more.
            first = self.first.setdefault(strength, hit)
            if (
                first is not hit
                and strength is Strength.ALONE
                and state not in (None, State.INVALID_INPUT)
                and alone_state is State.INVALID_INPUT
                and _SAME_NOUN.fullmatch(self.text, first.end, hit.end) is not None
            ):
                self.first[strength] = first = hit
            if first is hit and strength is Strength.ALONE:
                alone_state = state
            if strength is Strength.VETO:
                # Of several signs of failure, the first of those that say most: what broke, before who noticed.
                if phrase.decides:
                    self.overriding = self.overriding or hit
                own_rank = _VAGUER.index(state) if state in _VAGUER else -1
                if own_rank < rank:
                    self.veto, self.veto_state, rank = hit, state or State.UNKNOWN, own_rank
            elif state is State.RATE_LIMITED and strength is Strength.ALONE:
                self.rate = self.rate or hit

    @property
    def runs(self) -> frozenset[CallerText]:
        """The texts of its caller that the tool runs, looked for once."""
        if self._runs is None:
            self._runs = self.call.runs
        return self._runs

    @property
    def is_callers_crash(self) -> bool:
        """Whether a program that the caller sent crashed, and not the tool that ran it."""
        if self.veto is None or CallerText.PROGRAM not in self.runs:
            return False
        return is_callers_crash(self.text, [readable(program) for program in self.call.sent[:_MOST_SENT]])

    def sentence(self) -> str:
        """The error as a plain sentence to the caller, if it is one and contains no word of a failure."""
        return "" if self.veto is not None or Strength.DOUBT in self.first else plain_sentence(self.text)

    def words(self, hit: Hit) -> str:
        """Return the words around a hit, from its line, cut to a readable length."""
        text = self.text
        if len(text) <= _MOST_QUOTED and "\n" not in text:
            # Most errors are quoted whole.
            return text.strip()
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_QUOTED)
        if start and not text[start - 1].isspace():
            start = max(start, text.find(" ", start, hit.end - 1) + 1)
        line_end = text.find("\n", hit.end)
        return text[start : min(line_end if line_end >= 0 else len(text), hit.end + _MOST_QUOTED)].strip()


_OPENING: Final = "Traceback (most recent call last)"
_LONGEST_READ: Final = 20_000
# `  File "a.py", line 3, in f`, and the line of code that Python shows below it.
_FRAME: Final = re.compile(
    r"^ *File \"([^\"\n]{1,300})\", line \d{1,7}[^\n]{0,200}(?:\n {2,}([^\n]{1,300}))?", re.MULTILINE
)
# Names that interpreters give to code that came as a text.
_UNNAMED: Final = re.compile(
    r"<(?:string|stdin|input|exec|eval|cell|code|module|unknown|ipython-input|user)|/ipykernel_\d|<python-input"
)
_CELL: Final = re.compile(
    r"^(?:Cell|Input|File) In ?\[\d{1,5}\]|^\[eval\]:\d|\bat \[eval\]|\bevalmachine\.<anonymous>", re.MULTILINE
)
_SHORTEST_CODE: Final = 4
_MOST_PROGRAMS: Final = 10
_MOST_FRAMES: Final = 30
_OWN_TRACE: Final = re.compile(r"^\s+at .{0,300}node_modules", re.MULTILINE)


def is_callers_crash(text: str, sent: Sequence[str]) -> bool:
    r"""Whether a crash that a program tool reports is one of the code that its caller sent.

    If a program was `sent`, it is, unless a traceback shows no frame of that program, nor of a file that it names. If
    the arguments are unknown, the innermost frame must be in code without a file (`<string>`, a notebook's cell).

    >>> is_callers_crash('Traceback (most recent call last):\n  File "<string>", line 1\nNameError: x', [])
    True
    >>> is_callers_crash('Traceback (most recent call last):\n  File "/app/a.py", line 7\nNameError: x', ["y + 1"])
    False
    """
    read = text[-_LONGEST_READ:]
    if _CELL.search(read) is not None:
        return True
    programs = [value[:_LONGEST_READ] for value in sent[:_MOST_PROGRAMS] if len(value) >= _SHORTEST_CODE]
    frames = _FRAME.findall(read, max(0, read.rfind(_OPENING)))[-_MOST_FRAMES:]
    if not frames:
        return bool(programs) and _OWN_TRACE.search(read) is None
    if _UNNAMED.match(frames[-1][0]) is not None:
        return True
    if not programs:
        return False
    for file, line in frames:
        if _UNNAMED.match(file) is not None:
            return True
        name, code = file.replace("\\", "/").rpartition("/")[2], line.strip()
        if any((len(code) >= _SHORTEST_CODE and code in program) or name in program for program in programs):
            return True
    return False


_SQL: Final = re.compile(
    r"\s*(?:select\s[^\0]{1,2000}?\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s*\("
    r"|(?:create|drop|alter)\s+(?:table|view|index)\s|pragma\s|explain\s+(?:query|select|analyze)\b)",
    re.IGNORECASE,
)
# "US" is the code of a country, `print(1)` is code.
_CODE_TEXT: Final = re.compile(r"[\n(=;{|<>]|\w\s+-\w|^\s*(?:import|return|select|match)\s", re.IGNORECASE)
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_DESCRIPTION: Final = 600
_MOST_PARAMETERS: Final = 60


class ToolTraits(msgspec.Struct, frozen=True):
    """The traits that the name and the description of a tool show.

    `validating_word` is the word of the name that makes a rejection likely, or empty. `runs` are the kinds of caller's
    text that the tool runs, and `asked` is how to read its answers.
    """

    validating_word: str
    runs: frozenset[CallerText]
    asked: ResultContext

    @property
    def runs_programs(self) -> bool:
        """Whether it returns the output of a program of its caller."""
        return self.asked.runs_programs


@lru_cache(maxsize=4096)
def tool_traits(name: str, description: str = "") -> ToolTraits:
    """Return the traits that a tool's name and description show, by whole segments: `settings_reset` sets nothing."""
    words = tool_names()
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:200])]
    validating = next((segment for segment in segments if segment in words.validates), "")
    # "convert_figma_to_code" makes code, and runs none.
    run = [segment for before, segment in pairwise(("", *segments)) if before != "to"]
    runs = {kind for kind, texts in words.runs.items() if not texts.names.isdisjoint(run)}
    if not runs and words.ready_made.isdisjoint(segments) and not words.running_verbs.isdisjoint(segments):
        runs.add(CallerText.PROGRAM)
    if description:
        read = description[:_LONGEST_DESCRIPTION]
        runs.update(kind for kind, pattern in _descriptions().items() if pattern.search(read) is not None)
    runs_programs = CallerText.PROGRAM in runs
    asked = ResultContext(
        runs_programs=runs_programs,
        acts=bool(validating) and words.judging.isdisjoint(segments) and "valid" not in description.lower(),
        reports=not runs_programs and not words.reporting.isdisjoint(segments),
        probes=not words.probing.isdisjoint(segments),
    )
    return ToolTraits(validating, frozenset(runs), asked)


def caller_texts(view: ToolView, arguments: object) -> frozenset[CallerText]:
    """Which texts of its caller a call runs.

    The name and the description of the tool say it, the names of its parameters, or an argument that is SQL or code.
    """
    runs = tool_traits(view.name, view.description).runs
    members = object_of(arguments) or {}
    properties = object_of((object_of(view.input_schema) or {}).get("properties")) or {}
    sure, doubtful = _parameters()
    for name in islice(members | properties if properties else members, _MOST_PARAMETERS):
        # A choice between fixed words is not a text.
        if not isinstance(name, str) or "enum" in (object_of(properties.get(name)) or {}):
            continue
        value = members.get(name)
        if isinstance(value, str) and _SQL.match(value) is not None:
            runs |= _QUERY
            continue
        lower = name.lower()
        found = sure.get(lower)
        if found is None and lower in doubtful and isinstance(value, str) and _CODE_TEXT.search(value) is not None:
            found = doubtful[lower]
        if found:
            runs |= found
    return runs


@cache
def _parameters() -> tuple[dict[str, frozenset[CallerText]], dict[str, frozenset[CallerText]]]:
    """Return the kind of text that a parameter of each name holds: for certain, and if its value looks like it."""
    sure: dict[str, frozenset[CallerText]] = {}
    doubtful: dict[str, frozenset[CallerText]] = {}
    for kind, texts in tool_names().runs.items():
        for name in texts.parameters:
            sure.setdefault(name, _ONLY[kind])
        for name in texts.doubtful_parameters:
            doubtful.setdefault(name, _ONLY[kind])
    return sure, doubtful


_ONLY: Final = {kind: frozenset((kind,)) for kind in CallerText}
_QUERY: Final = _ONLY[CallerText.QUERY]


@cache
def _descriptions() -> dict[CallerText, re.Pattern[str]]:
    return {
        kind: re.compile(texts.description, re.IGNORECASE)
        for kind, texts in tool_names().runs.items()
        if texts.description
    }


_LONGEST = 300
_FEWEST_WORDS = 3
# "Error executing tool x: ", "Database error: ", "[ERROR] ": the program that reports, before its message.
_PREFIX = re.compile(
    r"^\W{0,6}(?:[^:\n]{0,60}\b(?:error|failed|failure|exception|mcp)\b[^:\n]{0,60}:\s*){1,3}", re.IGNORECASE
)
_REPORTING = frozenset(("error", "errors", "failed", "failure", "exception", "mcp", "tool"))
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][a-z]+)?")
# Chinese, Japanese, Thai and such put no spaces between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_FEWEST_UNSPACED = 6
# Quotations are names or the caller's words, like addresses and paths from the root. The parts of a path are no
# evidence, and a temporary folder has another name in each run.
_NAMES = re.compile(
    r"\"[^\"]*\"|'[^' ]*'|`[^`]*`|https?://\S+|(?<![\w.~/\\])(?:[A-Za-z]:[/\\]|~?/)[\w.@+~-]+(?:[/\\][\w.@+~-]*)+"
)
# Identifiers, calls, stack frames: the words of a program.
_PROGRAM_WORDS = re.compile(r"[(){}<>=\\|]|::|->|\w\.\w+\.\w|[a-z][A-Z]|\w_\w|0x[0-9a-f]|\n.*\n", re.DOTALL)


class _SentenceWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    words: tuple[str, ...]


def plain_sentence(text: str) -> str:
    """The sentence, if the error is one about what the caller asked for; else empty."""
    if len(text) > _LONGEST:
        return ""
    said = text.strip()
    if said.startswith("{"):
        try:
            value = cast("object", msgspec.json.decode(said))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return ""
        # The longest text in a JSON error is the one for people.
        said = max(strings_of(value).split("\n"), key=len)
    opening = _PREFIX.match(said)
    if opening is not None:
        if any(_is_technical(word) for word in _WORD.findall(opening.group()) if word.lower() not in _REPORTING):
            return ""
        said = said[opening.end() :]
    bare = _NAMES.sub("", said)
    if _PROGRAM_WORDS.search(bare):
        return ""
    words = _WORD.findall(bare)
    long_enough = len(words) >= _FEWEST_WORDS or len(_UNSPACED.findall(bare)) >= _FEWEST_UNSPACED
    return said if long_enough and not any(_is_technical(word) for word in words) else ""


def _is_technical(word: str) -> bool:
    return _technical().fullmatch(word.lower()) is not None


@cache
def _technical() -> re.Pattern[str]:
    words = read_toml("toolvet.core.checks.result", "technical_words.toml", _SentenceWords).words
    return re.compile("|".join(re.escape(word).replace(r"\*", "[a-z]*") for word in words))
