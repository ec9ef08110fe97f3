"""How a call ended, and what its tool can do by its name."""

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache, cached_property, lru_cache
from typing import Final, cast

import msgspec

from toolvet.core.causes import ErrorKind, State, cause_of
from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.checks.result import ResultMetadata, as_mcp, check_result, failure_sentence
from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.messages import ToolCall, Unknown
from toolvet.core.meta import META_PREFIX
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.phrases import ANYTHING, HANDOFF, families

_LONGEST_QUOTE = 200
_LONGEST_END = 60
_AROUND = 40
_MOST_SEARCHED = 20_000
_MOST_TEXT = 200_000
_LONGEST_NAME = 120
_LONGEST_MARKED = 4_000
_MARK = re.compile(r"[\w-]{3,40}")
_NOTHING = {"content": [{"type": "text", "text": ""}]}
# What hosts put before the name that the server gave: "mcp__github__create_issue", "functions.send", "drive-move_file".
_SERVER = re.compile(r"^.{0,80}(?:__|[./:](?=\w))|^\w{1,80}-(?=[a-z]{2,20}_)")

# A program's output, then its exit code.
_EXIT_CODE = re.compile(r"\S\s+exit[ _]?code\W{1,3}[1-9]\d{0,2}\W*\Z", re.IGNORECASE)
_ERROR_WORDS = re.compile(
    r"\b(?:errors?|stderr|traceback|exception|denied|not found|no such|cannot|invalid|fatal)\b", re.IGNORECASE
)


class CallStatus(Enum):
    """How a call ended."""

    DONE = "done"
    FAILED = "failed"
    SILENT = "silent"
    """It never returned."""
    UNKNOWN = "unknown"


class CallOutcome(msgspec.Struct, frozen=True, dict=True):
    """A call and how it ended. `words` are those of its error, empty for a call that succeeded."""

    call: ToolCall
    ending: CallStatus
    words: str
    rejected: bool = False
    """Whether the tool works and refused the call."""
    state: State | None = None
    """What went wrong, as `check_result` says."""
    error_code: str | None = None
    """Its code."""
    metadata: ResultMetadata | None = None
    """What its result consists of, where `check_result` judged it."""
    is_own_report: bool = False
    """Whether toolvet refused the call: then nothing in the result is from the tool."""
    response: object = None
    """The result as one of MCP, which is read once."""

    @cached_property
    def marks(self) -> frozenset[str]:
        """The words of its name and of its arguments."""
        return frozenset({*words_of(self.call.name), *_MARK.findall(self.sent[:_LONGEST_MARKED])})

    @property
    def went_on(self) -> bool:
        """Whether a program printed what it found and only ended with another code than 0: parts may have worked."""
        if not self.rejected:
            return False
        said = "\n".join(self.texts)
        return (
            _EXIT_CODE.search(said[-_LONGEST_END:]) is not None and _ERROR_WORDS.search(said[:_MOST_SEARCHED]) is None
        )

    @property
    def failed(self) -> bool:
        """Whether the result shows that the call failed."""
        return self.ending in (CallStatus.FAILED, CallStatus.SILENT)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text blocks of its result, or else the result as text."""
        return tuple(texts_in(self.response))

    @cached_property
    def payloads(self) -> list[object]:
        """The texts of its result as JSON; None for one that is not."""
        return [decoded(text) for text in self.texts]

    @cached_property
    def sent(self) -> str:
        """Its arguments as JSON in lower case."""
        return written(self.call.arguments)[:_MOST_TEXT].lower()

    def quoted(self) -> str:
        """The call and its result, for a reader."""
        name = self.call.name[:_LONGEST_NAME] or "a call"
        if self.ending is CallStatus.SILENT:
            return f"{name} never returned"
        return f"{name}: {self.words or 'failed'}"


def outcome_of(call: ToolCall) -> CallOutcome:
    """Judge one call; the caller's own verdict outweighs the result."""
    response = as_response(call.result)
    if call.failed is False or (call.failed is None and isinstance(call.result, Unknown)):
        ending = CallStatus.UNKNOWN if isinstance(call.result, Unknown) else CallStatus.DONE
        return CallOutcome(call, ending, "", response=response)
    if call.result is None or isinstance(call.result, Unknown):
        return CallOutcome(call, CallStatus.FAILED if call.failed else CallStatus.SILENT, "", response=response)
    if is_own_report(response):
        state = State.INVALID_INPUT
        return CallOutcome(
            call,
            CallStatus.FAILED,
            _words(failure_sentence(response) or next(iter(texts_of(response)), "")),
            rejected=True,
            state=state,
            error_code=cause_of(state).error_code,
            is_own_report=True,
            response=response,
        )
    flagged = {**response, "isError": True} if call.failed and is_object(response) else response
    verdict = check_result({"name": call.name}, call.arguments, flagged)
    if call.failed or verdict.reports_error:
        return CallOutcome(
            call,
            CallStatus.FAILED,
            _words(failure_sentence(flagged) or next(iter(texts_in(response)), "")),
            rejected=verdict.error_kind is ErrorKind.BUSINESS,
            state=verdict.state,
            error_code=verdict.error_code,
            metadata=verdict.metadata,
            response=response,
        )
    return CallOutcome(call, CallStatus.DONE, "", metadata=verdict.metadata, response=response)


def as_response(result: object) -> object:
    """A result of any shape as a result of MCP; an object of an SDK stays as it is."""
    return _NOTHING if result is None else as_mcp(result)


def _words(text: str) -> str:
    return " ".join(text[: _LONGEST_QUOTE * 2].split())[:_LONGEST_QUOTE]


def texts_of(result: object) -> list[str]:
    """Return the text blocks of a result, or else the result as text."""
    return texts_in(as_response(result))


def texts_in(response: object) -> list[str]:
    """The same of a result that was read with `as_response`."""
    if is_object(response):
        content = response.get("content")
        if isinstance(content, str):
            return [content]
        if is_array(content):
            found = [str(block["text"]) for block in content if is_object(block) and isinstance(block.get("text"), str)]
            if found:
                return found
        structured = response.get("structuredContent", response.get("error", response))
        return [written(structured)]
    content = getattr(response, "content", None)
    if is_array(content):
        return [text for block in content if isinstance(text := getattr(block, "text", None), str)]
    return []


def written(value: object) -> str:
    """A value as JSON; "" for one that cannot be written."""
    try:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - cyclic, too deep, or no JSON at all: there is nothing to quote.
        return ""


def decoded(text: str) -> object:
    """An object or a list from its JSON; None for other texts."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return cast("object", msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def as_text(value: object) -> str:
    """A text as it is, any other value as JSON, and "" for None."""
    return value if isinstance(value, str) else "" if value is None else written(value)


def signal_of(
    text: str,
    span: tuple[int, int],
    label: str,
    weight: float,
    against: str,
    *,
    kind: SignalType = SignalType.HALLUCINATION_RISK,
    language: str | None = None,
) -> FailureSignal:
    """Return the signal that `text` disagrees with the calls or the request in a span, from its start to its end."""
    start, end = span
    return FailureSignal(
        type=kind,
        evidence=text[start:end].strip(),
        weight=weight,
        position=start,
        context=text[max(0, start - _AROUND) : end + _AROUND],
        label=label,
        language=language,
        source="calls",
        against=against,
    )


class Ability(Enum):
    """The ability that a tool's name shows."""

    THIS = "this"
    """The claimed action."""
    ANYTHING = "anything"
    """It changes things, or its name does not show what it does."""
    READS = "reads"
    """It changes nothing, or only prepares an action."""
    OTHER = "other"
    """A change of another kind."""


@lru_cache(maxsize=4096)
def ability(name: str, family: str) -> Ability:
    """Whether a tool of this name can do an action of this family."""
    known = families()
    words = words_of_tool(name)
    if not words or family not in known.family:
        return Ability.ANYTHING
    if not known.idle.isdisjoint(("_".join(words), "_".join(words[:2]), words[0])):
        return Ability.READS
    wanted = known.family[family].tools
    first = words[0]
    if first in known.family[HANDOFF].tools and any(word in known.people for word in words[1:]):
        return Ability.THIS if family == HANDOFF else Ability.READS
    reads = (first in (known.reads | known.prepares) and first not in wanted) or (
        first in known.opens and any(word in known.pages for word in words[1:])
    )
    if not reads and any(word in wanted for word in words):
        return Ability.THIS
    if reads:
        return Ability.READS
    pairs = zip(("", *words), words, strict=False)
    if any(word in known.changes and f"{before}_{word}" not in known.things for before, word in pairs):
        return Ability.ANYTHING
    if any(word in other.tools for word in words for other in known.family.values()):
        return Ability.ANYTHING if family == ANYTHING else Ability.OTHER
    return Ability.READS if any(word in known.reads for word in words) else Ability.ANYTHING


def says_what_it_does(name: str) -> bool:
    """Whether a tool's name begins with a verb: `convert_currency` does, `currency_converter` does not."""
    words = words_of_tool(name)
    return bool(words) and words[0] in _known_words()


def verb_of(name: str) -> str:
    """Return the word of a tool's name that names its action: the first that is not the name of its server."""
    words = words_of_tool(name)
    return words[0] if words else ""


@lru_cache(maxsize=4096)
def words_of_tool(name: str) -> tuple[str, ...]:
    """The words of a tool's name, without its server's."""
    words = words_of(_SERVER.sub("", name) or name)
    known, prefixes = _known_words(), families().prefixes
    for place, word in enumerate(words):
        if word in known and not (word in prefixes and known.intersection(words[place + 1 :])):
            return words[place:]
    return words


@cache
def _known_words() -> frozenset[str]:
    known = families()
    every = (family.tools for family in known.family.values())
    return frozenset[str]().union(known.reads, known.opens, known.prepares, known.changes, *every)


def names(outcomes: Sequence[CallOutcome]) -> str:
    """The tools of these calls, for a reader: the first five, each once."""
    found = list(dict.fromkeys(outcome.call.name[:_LONGEST_NAME] or "an unnamed tool" for outcome in outcomes))
    return ", ".join(found[:5]) + (" and others" if len(found) > 5 else "")


_VOWELS = "aeiou"
_LONGEST_WORD = 24
_MOST_CALLS = 200
_MOST_KEYS = 40
# Words that parameters and names consist of; they do not name a thing that an action changes.
_NO_THINGS = frozenset(
    {
        *("id", "name", "type", "value", "key", "data", "detail", "info", "result", "list", "all", "by", "query"),
        *("text", "content", "body", "tool", "api"),
    }
)


class _VerbForms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    past: dict[str, frozenset[str]]


@cache
def _irregular() -> dict[str, frozenset[str]]:
    return read_toml("toolvet.core.turn.ledger", "verb_forms.toml", _VerbForms).past


@lru_cache(maxsize=4096)
def past_forms(verb: str) -> frozenset[str]:
    """The preterite and the participle of an English verb, such as `cancelled` and `canceled` of `cancel`."""
    irregular = _irregular().get(verb)
    if irregular is not None:
        return irregular
    if not verb.isascii() or not verb.isalpha() or not 1 < len(verb) <= _LONGEST_WORD:
        return frozenset()
    if verb.endswith("e"):
        return frozenset({f"{verb}d"})
    if verb[-1] == "y" and verb[-2] not in _VOWELS:
        return frozenset({f"{verb[:-1]}ied"})
    doubles = verb[-1] not in f"{_VOWELS}wxy" and verb[-2] in _VOWELS and verb[-3:-2] not in tuple(_VOWELS)
    return frozenset({f"{verb}ed", f"{verb}{verb[-1]}ed"} if doubles else {f"{verb}ed"})


@lru_cache(maxsize=1024)
def bases_of(past: str) -> frozenset[str]:
    """The verbs that a word is an irregular past form of: `pay` of `paid`."""
    return frozenset(base for base, forms in _irregular().items() if past in forms)


class TurnVocabulary:
    """The words that the calls of one turn teach."""

    def __init__(self, outcomes: Sequence[CallOutcome]) -> None:
        self._outcomes = outcomes[:_MOST_CALLS]

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The past forms of the verbs of its tools."""
        return frozenset(form for name in self._names for form in past_forms(verb_of(name)))

    @cached_property
    def things(self) -> frozenset[str]:
        """The nouns of its tools and of their parameters, in the singular."""
        found = {word for name in self._names for word in words_of(name)}
        for outcome in self._outcomes:
            arguments = outcome.call.arguments
            if is_object(arguments):
                found.update(
                    word for key in list(arguments)[:_MOST_KEYS] for word in words_of(str(key)[:_LONGEST_WORD])
                )
        return frozenset(found - _NO_THINGS - families().reads)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(outcome.call.name[:120] for outcome in self._outcomes)


NO_VOCABULARY = TurnVocabulary(())
"""That of a turn without calls."""

# The same key as `toolvet.core.checks.arguments.META_KEY`, which would load the schema engine here.
_REPORT_KEY: Final = f"{META_PREFIX}arguments"
_MEMBERS: Final = frozenset(("type", "summary", "issues", "schema", "suggestions"))
_LONGEST_LEAD: Final = 400
_HEAD: Final = re.compile(
    r"❌ Tool '[^\n]{0,200}' (?:received invalid arguments\. \d{1,6} validation err|cannot be called with these argum)"
    r"|❌ The arguments of tool '[^\n]{0,200}' were not checked\."
)


def is_own_report(response: object) -> bool:
    """Whether a result, as one of MCP, is a report of `check_arguments`, the proxy or the integrations.

    It is known by its key in `_meta`, by its heading at the start of a text, or as its JSON form.
    """
    if is_object(response):
        if _REPORT_KEY in members(response.get("_meta")):
            return True
        structured = members(response.get("structuredContent"))
        if structured.get("valid") is False and members(structured.get("error")).keys() >= _MEMBERS:
            return True
        return _is_headed(response.get("content"))
    meta = getattr(response, "meta", None)
    return _REPORT_KEY in members(meta) or _is_headed(getattr(response, "content", None))


def _is_headed(content: object) -> bool:
    for block in (content,) if isinstance(content, str) else elements(content)[:4]:
        text = block if isinstance(block, str) else members(block).get("text", getattr(block, "text", None))
        if isinstance(text, str) and _HEAD.search(text, 0, _LONGEST_LEAD) is not None:
            return True
    return False
