"""Business error or failure? The factor table behind the answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from toolvet.checks.result.phrases import ResultPhrases, Strength, http_state
from toolvet.checks.result.sentence import plain_sentence
from toolvet.checks.result.verdict import ErrorKind, Factor, State
from toolvet.matching import Hit

# JSON-RPC codes by which a server says that it checked the request and refused it.
_REFUSALS = frozenset(("-32600", "-32602", "-32700"))
_METHOD_NOT_FOUND = "-32601"
# How likely a tool works all the same (0-50), by what its failure says.
_UNKNOWN = 30.0
_INFRASTRUCTURE = 20.0
_BUG = 10.0
# A crash names where it was noticed, an internal error not even that; a refused connection is what happened.
_VAGUER = (State.CRASH, State.INTERNAL)
_BUGS = frozenset((State.CRASH, State.INTERNAL, State.MISCONFIGURED, State.INVALID_OUTPUT))
_MOST_QUOTED = 80
_STATUS = re.compile(r"[45]\d\d")
_ALONE, _VAGUE, _VETO, _HTTP = Strength.ALONE, Strength.VAGUE, Strength.VETO, Strength.HTTP
_CODE, _TEST_DATA, _RATE_LIMITED = Strength.CODE, Strength.TEST_DATA, State.RATE_LIMITED
# These 4xx do not refuse the call: a proxy, a timeout, a wrong server, a dependency, a client that hung up.
_FAILED_4XX = frozenset((407, 408, 421, 424, 499))
_NO_CODE = Factor("mcp_error_code", 2, present=False)
_NO_PATTERN = Factor("business_pattern", 2, present=False)
_NO_STATUS = Factor("http_status", 1, present=False)
_NO_STRUCTURE = Factor("structured_error", 1, present=False)
_NO_TEST_DATA = Factor("test_data", 1, present=False)
_NO_NAME = Factor("validation_expected_tool", 2, present=False)


class Decision(NamedTuple):
    """Whose fault it is, what went wrong, how likely the tool works (0-100), why, and the table behind it.

    `framework` wrote the words of a refusal, if the author did not.
    """

    kind: ErrorKind
    state: State
    confidence: float
    reason: str
    factors: tuple[Factor, ...]
    framework: str | None = None


class FirstHits:
    """The first hit of each strength in one text, and what the caller's own patterns found.

    `runs_caller_text` says that an error of a query or program is the caller's; of any other tool it is a crash.
    """

    __slots__ = ("first", "overriding", "own", "own_strong", "rate", "status", "text", "veto", "veto_state")

    def __init__(self, text: str, hits: Sequence[Hit], known: ResultPhrases, *, runs_caller_text: bool) -> None:
        self.text = text
        self.first: dict[Strength, Hit] = {}
        self.veto: Hit | None = None
        self.veto_state = State.UNKNOWN
        self.overriding: Hit | None = None
        self.rate: Hit | None = None
        self.own: Hit | None = None
        self.own_strong: Hit | None = None
        by_id = known.by_id
        rank = len(_VAGUER)
        for hit in hits:
            phrase = by_id[hit.id]
            crashed = phrase.caller_text and not runs_caller_text
            state = State.CRASH if crashed else phrase.state
            self.first.setdefault(_VETO if crashed else phrase.strength, hit)
            if phrase.strength is _VETO or crashed:
                # Of several signs of failure, the first of those that say most: what broke, before who noticed.
                if phrase.decides:
                    self.overriding = self.overriding or hit
                own_rank = _VAGUER.index(state) if state in _VAGUER else -1
                if own_rank < rank:
                    self.veto, self.veto_state, rank = hit, state or State.UNKNOWN, own_rank
            elif phrase.state is _RATE_LIMITED and phrase.strength is _ALONE:
                self.rate = self.rate or hit
        self.status = self._status(self.first.get(_HTTP))

    def _status(self, hit: Hit | None) -> int:
        """The HTTP status that ends a hit or opens it; 0 without one."""
        found = () if hit is None else _STATUS.findall(self.text, max(0, hit.end - _MOST_QUOTED), hit.end)
        return int(found[-1]) if found else 0

    @property
    def refusal(self) -> Hit | None:
        """The words by which a validation library refused the arguments; a stack trace makes them those of a crash."""
        return None if Strength.TRACE in self.first else self.first.get(Strength.REFUSAL)

    def sentence(self) -> str:
        """The error as a plain sentence to the caller, if it is one and contains no word of a failure."""
        return "" if self.veto is not None or Strength.DOUBT in self.first else plain_sentence(self.text)

    def words(self, hit: Hit) -> str:
        """The words around a hit, from its line, cut to what is good to read."""
        text = self.text
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_QUOTED)
        if start and not text[start - 1].isspace():
            start = max(start, text.find(" ", start, hit.end - 1) + 1)
        line_end = text.find("\n", hit.end)
        return text[start : min(line_end if line_end >= 0 else len(text), hit.end + _MOST_QUOTED)].strip()


def decide(evidence: FirstHits, known: ResultPhrases, *, structured: str, sent: str, name_word: str) -> Decision:
    """Judge the error. `structured`, `sent` and `name_word` quote what makes these factors present, or are empty."""
    first = evidence.first
    code = "" if _CODE not in first else evidence.text[first[_CODE].end - 6 : first[_CODE].end]
    status = evidence.status
    http = http_state(status) if status else None
    refused = http is not None and status < 500 and status not in _FAILED_4XX
    vague = first.get(_VAGUE)
    decisive = evidence.refusal or evidence.own_strong or evidence.own or first.get(_ALONE)
    pattern = decisive or vague
    words = "" if pattern is None else evidence.words(pattern)
    sentence = "" if pattern is not None or code or http is not None else evidence.sentence()
    words = words or sentence
    tested = sent or ("" if _TEST_DATA not in first else evidence.words(first[_TEST_DATA]))
    # The name alone proves nothing: it counts beside words that say something.
    named = name_word if words or code or refused else ""
    status_words = "" if http is None else evidence.words(first[_HTTP])
    factors = (
        Factor("mcp_error_code", 2, present=True, evidence=code) if code else _NO_CODE,
        Factor("business_pattern", 2, present=True, evidence=words) if words else _NO_PATTERN,
        Factor("http_status", 1, present=True, evidence=status_words) if status_words else _NO_STATUS,
        Factor("structured_error", 1, present=True, evidence=structured) if structured else _NO_STRUCTURE,
        Factor("test_data", 1, present=True, evidence=tested) if tested else _NO_TEST_DATA,
        Factor("validation_expected_tool", 2, present=True, evidence=named) if named else _NO_NAME,
    )
    failure = _failure(evidence, known, code, http, refused=refused)
    if failure is not None:
        state, words = failure
        likely = _BUG if state in _BUGS else _INFRASTRUCTURE
        return Decision(ErrorKind.TOOL_FAILURE, state, likely, f"The words of a failure: {words}", factors)
    phrase = None if pattern is None else known.by_id.get(pattern.id)
    state = (phrase.state if phrase is not None else None) or (http if refused else None) or State.INVALID_INPUT
    if decisive is not None or code in _REFUSALS:
        return Decision(ErrorKind.BUSINESS, state, 100.0, f"business logic: {words or code}", factors)
    if refused:
        return Decision(ErrorKind.BUSINESS, http or state, 100.0, f"business logic: {status_words}", factors)
    if (vague is not None or sentence) and (structured or tested or named or code or http is not None):
        state = State.RULE if sentence else state
        return Decision(ErrorKind.BUSINESS, state, 100.0, f"business logic: {words}", factors)
    return Decision(
        ErrorKind.TOOL_FAILURE, State.UNKNOWN, _UNKNOWN, "Nothing shows that the input was at fault", factors
    )


def _failure(
    evidence: FirstHits, known: ResultPhrases, code: str, http: State | None, *, refused: bool
) -> tuple[State, str] | None:
    """What proves that the tool failed, unless the server or the caller's patterns say explicitly that it refused."""
    if evidence.overriding is not None:
        return known.of(evidence.overriding).state or State.UNKNOWN, evidence.words(evidence.overriding)
    if evidence.refusal is not None or evidence.own_strong is not None or code in _REFUSALS:
        return None
    if evidence.veto is not None:
        # An overloaded service that says when to come back is rate limiting, and works.
        state = evidence.veto_state
        if not (state is State.UNAVAILABLE and evidence.rate is not None):
            return state, evidence.words(evidence.veto)
    if code == _METHOD_NOT_FOUND:
        return State.UNSUPPORTED, code
    if http is not None and not refused and evidence.rate is None:
        return http, evidence.words(evidence.first[_HTTP])
    doubt = evidence.first.get(Strength.DOUBT)
    if doubt is not None and evidence.own is None and _ALONE not in evidence.first and not refused:
        return known.of(doubt).state or State.UNKNOWN, evidence.words(doubt)
    return None
