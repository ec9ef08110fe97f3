"""Business error or failure? The factor table behind the answer, and how likely that answer is right.

    decide       the evidence → whose fault it is, with its ground
    error_code   what the code of an error means: those of gRPC, SQL and errno by their tables, other names by words
    prior_of     the measured prior: what an error mostly is if its words decide nothing

`certainty.toml` has the share of right verdicts for each ground, measured on errors from sources that were left out
(`benchmarks/calibration` measures it again), and the counts behind the prior.
"""

import re
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from toolvet.core.causes import (
    ErrorKind,
    State,
    state_of_errno,
    state_of_google_rpc,
    state_of_http,
    state_of_json_rpc,
    state_of_name as state_of_words,
    state_of_sqlstate,
)
from toolvet.core.checks.result.evidence import FirstHits
from toolvet.core.checks.result.own_words import OwnWords, share_of
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.response import ResultEnvelope
from toolvet.core.checks.result.verdict import Factor
from toolvet.core.discover.toml import read_toml
from toolvet.core.matching import Hit

_VAGUE, _HTTP = Strength.VAGUE, Strength.HTTP
_CODE, _TEST_DATA = Strength.CODE, Strength.TEST_DATA
# A text of the caller that is wrong explains these; not a host that cannot be reached.
_EXPLAINED: Final = frozenset((State.CRASH, State.INTERNAL, State.MISCONFIGURED))
_WAITED: Final = frozenset((*_EXPLAINED, State.TIMEOUT))
_NO_CODE: Final = Factor("mcp_error_code", 2, present=False)
_NO_PATTERN: Final = Factor("business_pattern", 2, present=False)
_NO_STATUS: Final = Factor("http_status", 1, present=False)
_NO_STRUCTURE: Final = Factor("structured_error", 1, present=False)
_NO_TEST_DATA: Final = Factor("test_data", 1, present=False)
_NO_NAME: Final = Factor("validation_expected_tool", 2, present=False)
_SERVER_FAULT: Final = 500
_EVEN: Final = 0.5
_LONGEST_NAME: Final = 60
_LONGEST_SHOWN: Final = 300


class Decision(msgspec.Struct, frozen=True, gc=False):
    """Whose fault it is, what went wrong, why, on which ground, and the table behind it.

    `certainty` (0 to 1) is how likely `kind` is right. `framework` wrote the words of a refusal, if the author did not.
    `code` is the envelope's own, "" without one.
    """

    kind: ErrorKind
    state: State
    reason: str
    factors: tuple[Factor, ...]
    certainty: float
    framework: str | None = None
    code: str = ""


class _Clues(msgspec.Struct, frozen=True, gc=False):
    """The parts of the evidence that the decision compares."""

    code: str
    code_state: State | None
    http: State | None
    refused: bool
    words: str
    status_words: str
    sentence: str
    tested: str
    named: str
    decisive: Hit | None

    @property
    def is_coded_refusal(self) -> bool:
        """Whether the server says by a JSON-RPC code that it checked the request and refused it."""
        return self.code_state is not None and self.code_state.is_business


def decide(evidence: FirstHits, known: ResultPhrases, own: OwnWords | None = None) -> Decision:
    """Judge the error; `own` are the rules of the caller."""
    clues = _clues(evidence)
    code, words, structured = clues.code, clues.words, evidence.call.structured
    factors: tuple[Factor, ...] = (
        Factor("mcp_error_code", 2, present=True, evidence=code) if code else _NO_CODE,
        Factor("business_pattern", 2, present=True, evidence=words) if words else _NO_PATTERN,
        Factor("http_status", 1, present=True, evidence=clues.status_words) if clues.status_words else _NO_STATUS,
        Factor("structured_error", 1, present=True, evidence=structured) if structured else _NO_STRUCTURE,
        Factor("test_data", 1, present=True, evidence=clues.tested) if clues.tested else _NO_TEST_DATA,
        Factor("validation_expected_tool", 2, present=True, evidence=clues.named) if clues.named else _NO_NAME,
    )
    if own is not None:
        factors = own.table(factors, evidence)
    failure = _failure(evidence, known, clues)
    if failure is not None:
        return _decision(failure.state, f"The words of a failure: {failure.words}", factors, failure.ground)
    return _refusal(evidence, known, clues, factors) or _unclear(evidence, known, clues, factors, own)


def decide_by_envelope(envelope: ResultEnvelope, state: State, decision: Decision) -> Decision:
    """Take the state that the envelope of a failure says; `decision` is what the words alone would say."""
    error = shown(envelope.error)
    said = Factor("envelope", 0, present=True, evidence=envelope.named[:_LONGEST_NAME])
    reason = f"business logic: {error}" if state.is_business else error
    decided = _decision(state, reason, (*decision.factors, said), Ground.ENVELOPE)
    return msgspec.structs.replace(decided, code=envelope.code[:_LONGEST_NAME])


def shown(sentence: str) -> str:
    """Return an error's sentence for a reader: one line, cut if it is long, between words if possible."""
    line = " ".join(sentence[: 2 * _LONGEST_SHOWN].split())
    if len(line) <= _LONGEST_SHOWN:
        return line
    space = line.rfind(" ", _LONGEST_SHOWN // 2, _LONGEST_SHOWN)
    return f"{line[: space if space >= 0 else _LONGEST_SHOWN]} \u2026"


def _refusal(evidence: FirstHits, known: ResultPhrases, clues: _Clues, factors: tuple[Factor, ...]) -> Decision | None:
    """What says by itself that the call was refused."""
    decisive = clues.decisive
    if decisive is not None or clues.is_coded_refusal:
        # The caller's own patterns are not in the phrasebook, and have no state.
        phrase = None if decisive is None else known.by_id.get(decisive.id)
        state = (phrase.state if phrase is not None else None) or (clues.http if clues.refused else None)
        state = state or (clues.code_state if decisive is None else None)
        ground = Ground.REFUSAL if decisive is evidence.refusal else Ground.PHRASE
        ground = Ground.CALLER_TEXT if decisive is not None and decisive is evidence.callers else ground
        reason = f"business logic: {clues.words or clues.code}"
        return _decision(state or State.INVALID_INPUT, reason, factors, ground)
    if clues.refused and clues.http is not None:
        return _decision(clues.http, f"business logic: {clues.status_words}", factors, Ground.STATUS)
    if evidence.is_callers_crash:
        reason = "business logic: the code that the caller sent"
        return _decision(State.INVALID_INPUT, reason, factors, Ground.CALLER_TEXT)
    return None


def _unclear(
    evidence: FirstHits, known: ResultPhrases, clues: _Clues, factors: tuple[Factor, ...], own: OwnWords | None
) -> Decision:
    """Decide an error that no phrase decides: by its name, then by a vague sign, at last by the prior."""
    named = error_code(evidence.text)
    if named is not None:
        said = "business logic" if named.state.is_business else "The words of a failure"
        return _decision(named.state, f"{said}: {named.name}", factors, Ground.NAME)
    vague = evidence.first.get(_VAGUE)
    seconded = evidence.call.structured or clues.tested or clues.named or clues.code or clues.http is not None
    if (vague is not None or clues.sentence) and seconded:
        state = State.RULE if clues.sentence or vague is None else known.of(vague).state
        ground = Ground.SENTENCE if clues.sentence else Ground.VAGUE
        return _decision(state or State.INVALID_INPUT, f"business logic: {clues.words}", factors, ground)
    threshold = None if own is None else own.threshold(expects_validation=bool(evidence.call.name_word))
    if threshold is not None:
        # The caller's threshold is a share of the weight of all factors.
        present, total = share_of(factors)
        points = f"{present} of {total} points, and the threshold is {threshold:g}"
        if total and present / total >= threshold:
            return _decision(State.INVALID_INPUT, f"business logic: {points}", factors, Ground.VAGUE)
        return Decision(ErrorKind.TOOL_FAILURE, State.UNKNOWN, f"Too little shows a refusal: {points}", factors, _EVEN)
    prior = prior_of(evidence)
    if prior is None:
        reason = "Nothing shows whose fault it is: no refusal, no crash and no outage"
        return Decision(ErrorKind.UNKNOWN, State.UNKNOWN, reason, factors, _EVEN)
    factors = (*factors, Factor("prior", 0, present=True, evidence=prior.words))
    return Decision(
        ErrorKind.BUSINESS, State.INVALID_INPUT, f"business logic, as mostly: {prior.words}", factors, prior.share
    )


class Ground(StrEnum):
    """The ground of a verdict on an error."""

    REFUSAL = "refusal"
    """A validation library's own words, a JSON-RPC code."""
    CALLER_TEXT = "caller_text"
    """An error of a text that the caller wrote."""
    ENVELOPE = "envelope"
    """The type or code of an envelope: the server says it itself."""
    PHRASE = "phrase"
    """A phrase of business logic."""
    VETO = "veto"
    """The words of a crash or of broken infrastructure."""
    STATUS = "status"
    """An HTTP status."""
    NAME = "name"
    """The code or the name of the error."""
    VAGUE = "vague"
    """A vague phrase with a second factor."""
    SENTENCE = "sentence"
    """A plain sentence with a second factor."""
    DOUBT = "doubt"
    """The name of an exception that everything is wrapped in."""

    # As of `State`.
    __hash__ = str.__hash__


def _decision(state: State, reason: str, factors: tuple[Factor, ...], ground: Ground) -> Decision:
    kind = ErrorKind.BUSINESS if state.is_business else ErrorKind.TOOL_FAILURE
    return Decision(kind, state, reason, factors, certainty_of(ground, kind))


def _clues(evidence: FirstHits) -> _Clues:
    first, call = evidence.first, evidence.call
    code = "" if _CODE not in first else evidence.text[first[_CODE].end - 6 : first[_CODE].end]
    status = evidence.status
    http = state_of_http(status) if status else None
    # Some 4xx do not refuse the call: a proxy, a timeout, a wrong server, a dependency, a client that hung up.
    refused = http is not None and status < _SERVER_FAULT and http.is_business
    decisive = (
        evidence.refusal
        or evidence.callers
        or evidence.own_strong
        or evidence.own
        or evidence.first.get(Strength.ALONE)
    )
    pattern = decisive or first.get(_VAGUE)
    words = "" if pattern is None else evidence.words(pattern)
    sentence = "" if pattern is not None or code or http is not None else evidence.sentence()
    words = words or sentence
    tested = call.quoted or ("" if _TEST_DATA not in first else evidence.words(first[_TEST_DATA]))
    # The name alone proves nothing: it counts beside words that say something.
    named = call.name_word if words or code or refused else ""
    status_words = "" if http is None else evidence.words(first[_HTTP])
    code_state = state_of_json_rpc(int(code)) if code else None
    return _Clues(code, code_state, http, refused, words, status_words, sentence, tested, named, decisive)


class _FailureSign(msgspec.Struct, frozen=True, gc=False):
    """What proves that the tool failed."""

    state: State
    words: str
    ground: Ground


def _failure(evidence: FirstHits, known: ResultPhrases, clues: _Clues) -> _FailureSign | None:
    """What proves that the tool failed, unless the server or the caller's patterns say explicitly that it refused."""
    if evidence.overriding is not None:
        words = evidence.words(evidence.overriding)
        return _FailureSign(known.of(evidence.overriding).state or State.UNKNOWN, words, Ground.VETO)
    if evidence.own_failure is not None and evidence.own_strong is None:
        return _FailureSign(State.UNKNOWN, evidence.words(evidence.own_failure), Ground.VETO)
    if evidence.refusal is not None or evidence.own_strong is not None or clues.is_coded_refusal:
        return None
    explained = evidence.callers is not None or (evidence.veto_state in _EXPLAINED and evidence.is_callers_crash)
    # A wait for an element that never came ends with a timeout.
    explains = _WAITED if evidence.callers is not None and "waiting for" in evidence.text.lower() else _EXPLAINED
    if evidence.veto is not None and not (explained and evidence.veto_state in explains):
        # An overloaded service that says when to come back is rate limiting, and works.
        state = evidence.veto_state
        if state is State.INTERNAL and clues.http is not None and not clues.http.is_business:
            # The status says more than "server error": 501 is not 500.
            state = clues.http
        if not (state is State.UNAVAILABLE and evidence.rate is not None):
            return _FailureSign(state, evidence.words(evidence.veto), Ground.VETO)
    if explained:
        return None
    if clues.code_state is State.UNSUPPORTED:
        return _FailureSign(State.UNSUPPORTED, clues.code, Ground.STATUS)
    if clues.http is not None and not clues.refused and evidence.rate is None:
        return _FailureSign(clues.http, clues.status_words, Ground.STATUS)
    doubt = evidence.first.get(Strength.DOUBT)
    if doubt is not None and evidence.own is None and Strength.ALONE not in evidence.first and not clues.refused:
        named = error_code(evidence.text)
        if named is None and CallerText.PROGRAM not in evidence.runs:
            return _FailureSign(known.of(doubt).state or State.UNKNOWN, evidence.words(doubt), Ground.DOUBT)
    return None


_LONGEST_CODE_TEXT: Final = 2_000
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Where programs put the name of an error: a member of JSON, AWS's and Azure's sentences, a gRPC status. Each is looked
# for only in a text that has the words before the colon: together they took 600 µs where nothing is found.
_KEYS: Final = r"code|error|error_?(?:code|id|type)|__type|reason|status|errcode|type"
_MEMBER: Final = rf"'(?:{_KEYS})' ?: ?'(?:[\w.]{{1,100}}[#:/])?([A-Za-z]\w{{2,60}})'"
_NAMES: Final = (
    ('"', re.compile(_MEMBER.replace("'", '"'))),
    ("'", re.compile(_MEMBER)),
    ("An error occurred (", re.compile(r"\bAn error occurred \((\w{3,60})\)")),
    ("StatusCode.", re.compile(r"\bStatusCode\.([A-Z_]{3,30})\b")),
    ("code = ", re.compile(r"\bcode = (\w{3,30}) desc\b")),
)
_NAME_ALONE: Final = re.compile(r"\((\w{3,60})\) |(?:\w{1,30}Error: )?([a-z]{2,30}(?:_[a-z]{2,30}){1,6})$")
_SQLSTATE: Final = re.compile(
    r"\bSQLSTATE\W{0,3}([0-9A-Z]{5})\b|\bERROR:? ?\d{0,5} ?\(([0-9A-Z]{5})\)|^\d{4} \(([0-9A-Z]{5})\):"
    r"|[\"'](?:code|sqlstate|sqlState)[\"'] ?: ?[\"']([0-9XF][0-9A-Z]{4})[\"']"
)
# A text without any of these has nothing that the expressions below find, as most sentences: 4 µs for each of them.
_MARKS: Final = ("E", '"', "'", "_", "(", "StatusCode.", "code = ")
_SQLSTATE_WORDS: Final = ("SQLSTATE", "sqlstate", "sqlState", "ERROR", "code", "):")
_ERRNO: Final = re.compile(r"\b(E[A-Z2]{3,14})\b")
# An error that has its own words is not named by such a word.
_FEWEST_WORDS: Final = 2
_NO_ERROR_NAME: Final = frozenset(("error", "fail", "failed", "failure", "exception", "status", "string", "object"))


class NamedError(NamedTuple):
    """The code in an error, and its meaning."""

    name: str
    state: State


def error_code(text: str) -> NamedError | None:
    """The code in an error's text that one of the tables knows; None without one.

    >>> error_code('{"ok": false, "error": "msg_too_long"}')
    NamedError(name='msg_too_long', state=<State.INVALID_INPUT: 'invalid_input'>)
    >>> error_code("SQLSTATE[42S02]: Base table or view").state
    <State.NOT_FOUND: 'not_found'>
    >>> error_code("boom") is None
    True
    """
    read = text[:_LONGEST_CODE_TEXT].strip()
    if not any(map(read.__contains__, _MARKS)):
        return None
    for match in _SQLSTATE.finditer(read) if any(word in read for word in _SQLSTATE_WORDS) else ():
        code = next(group for group in match.groups() if group)
        state = state_of_sqlstate(code)
        if state is not None and any(letter.isdigit() for letter in code):
            return NamedError(code, state)
    for match in _ERRNO.finditer(read):
        state = state_of_errno(match[1])
        if state is not None:
            return NamedError(match[1], state)
    alone = _NAME_ALONE.match(read)
    inside = (name for opening, pattern in _NAMES if opening in read for name in pattern.findall(read))
    for name in chain(() if alone is None else (alone[1] or alone[2],), inside):
        state = state_of_google_rpc(name) or state_of_name(name)
        if state is not None:
            return NamedError(name, state)
    return None


@lru_cache(maxsize=1024)
def state_of_name(name: str) -> State | None:
    """Return what the words in an error's name show, such as `msg_too_long` or `ConditionNotMet`; None if nothing."""
    segments = [segment.lower() for segment in _SEGMENT.findall(name[:100])]
    if len(segments) < _FEWEST_WORDS and name.lower() in _NO_ERROR_NAME:
        return None
    return state_of_words(tuple(segments))


# "Error getting the weather of Oslo" quotes what was asked, and says that the tool did not manage.
_FAILS: Final = re.compile(
    r"\b(?:fail|problem|issue|unable|wrong|abort|crash|broke|(?:could|can|did|was|were)(?: not|n't)|cannot|try again"
    r"|(?:error|exception) (?:\w+ )?(?:\w+ing|in|on|at|from|for|of)\b)",
    re.IGNORECASE,
)
_LONGEST_QUOTING: Final = 1_000
_MOST_SENT: Final = 20
_SHORTEST: Final = 2


def prior_of(evidence: FirstHits) -> "PriorCount | None":
    """Return what errors in this form mostly were, or None if they were as often the tool's fault.

    Only if the error quotes an argument, and in a tool that runs programs, is an error without a known word taken
    for the caller's.
    """
    counts = prior_counts()
    if CallerText.PROGRAM in evidence.runs:
        return counts["program"]
    return counts["quoted"] if _quotes_an_argument(evidence) else None


def _quotes_an_argument(evidence: FirstHits) -> bool:
    """Whether a short error repeats a value that was sent, as a word of its own, and does not say what failed."""
    text = evidence.text
    if len(text) > _LONGEST_QUOTING or _FAILS.search(text) is not None:
        return False
    return any(
        len(value) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
        for value in evidence.call.sent[:_MOST_SENT]
        if len(value) <= len(text)
    )


class PriorCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of `total` errors of one carrier whose words said nothing, `business` were the caller's."""

    business: int
    total: int
    carrier: str

    @property
    def words(self) -> str:
        """The count, in words."""
        return f"{self.business} of {self.total} errors whose words said nothing were the caller's ({self.carrier})"

    @property
    def share(self) -> float:
        """How likely it is business logic (0 to 1), by Laplace's rule: twelve of twelve are not certain."""
        return (self.business + 1) / (self.total + 2)


class _Certainties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    business: dict[Ground, float]
    tool_failure: dict[Ground, float]
    prior: dict[str, PriorCount]


def certainty_of(ground: Ground, kind: ErrorKind) -> float:
    """The share (0 to 1) of verdicts of this kind on this ground that are right."""
    table = _certainties()
    return (table.business if kind is ErrorKind.BUSINESS else table.tool_failure)[ground]


def prior_counts() -> dict[str, PriorCount]:
    """The counts of errors whose words said nothing, by carrier."""
    return _certainties().prior


@cache
def _certainties() -> _Certainties:
    return read_toml("toolvet.core.checks.result", "certainty.toml", _Certainties)
