"""Business error or failure? The factor table behind the answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from toolvet.checks.result.phrases import Phrase, Phrases, Strength, http_state
from toolvet.checks.result.verdict import ErrorKind, Factor, State
from toolvet.text import Hit

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


class Decision(NamedTuple):
    """Whose fault it is, what went wrong, how likely the tool works (0-100), why, and the table behind it."""

    kind: ErrorKind
    state: State
    confidence: float
    reason: str
    factors: tuple[Factor, ...]


class Evidence:
    """The first hit of each strength in one text, and what the caller's own patterns found."""

    __slots__ = (
        "_rank",
        "alone",
        "code",
        "doubt",
        "http",
        "overriding",
        "own",
        "own_strong",
        "rate",
        "status",
        "test_data",
        "text",
        "vague",
        "veto",
    )

    def __init__(self, text: str, hits: Sequence[Hit], known: Phrases) -> None:
        self.text = text
        self.alone: Hit | None = None
        self.vague: Hit | None = None
        self.veto: Hit | None = None
        self.doubt: Hit | None = None
        self.overriding: Hit | None = None
        self._rank = len(_VAGUER)
        self.http: Hit | None = None
        self.code: Hit | None = None
        self.test_data: Hit | None = None
        self.rate: Hit | None = None
        self.own: Hit | None = None
        self.own_strong: Hit | None = None
        self.status = 0
        for hit in hits:
            self._add(hit, known.by_id[hit.id])

    def _add(self, hit: Hit, phrase: Phrase) -> None:
        strength = phrase.strength
        if strength is Strength.ALONE:
            if phrase.state is State.RATE_LIMITED and self.rate is None:
                self.rate = hit
            self.alone = self.alone or hit
        elif strength is Strength.VETO:
            if phrase.decides:
                self.overriding = self.overriding or hit
            self._veto(hit, phrase)
        elif strength is Strength.DOUBT:
            self.doubt = self.doubt or hit
        elif strength is Strength.VAGUE:
            self.vague = self.vague or hit
        elif strength is Strength.HTTP:
            if self.http is None:
                self.http = hit
                found = _STATUS.findall(self.text, max(0, hit.end - _MOST_QUOTED), hit.end)
                self.status = int(found[-1]) if found else 0
        elif strength is Strength.CODE:
            self.code = self.code or hit
        elif strength is Strength.TEST_DATA:
            self.test_data = self.test_data or hit

    def _veto(self, hit: Hit, phrase: Phrase) -> None:
        """Of several signs of failure, the first of those that say most: what broke, before who noticed."""
        rank = _VAGUER.index(phrase.state) if phrase.state in _VAGUER else -1
        if self.veto is None or rank < self._rank:
            self.veto = hit
            self._rank = rank

    def words(self, hit: Hit | None) -> str:
        """The words around a hit, from its line, cut to what is good to read."""
        if hit is None:
            return ""
        text = self.text
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_QUOTED)
        if start and not text[start - 1].isspace():
            start = max(start, text.find(" ", start, hit.end - 1) + 1)
        line_end = text.find("\n", hit.end)
        return text[start : min(line_end if line_end >= 0 else len(text), hit.end + _MOST_QUOTED)].strip()


def decide(evidence: Evidence, known: Phrases, *, structured: str, sent: str, name_word: str) -> Decision:
    """Judge the error. `structured`, `sent` and `name_word` quote what makes these three factors present, or are empty."""
    code = "" if evidence.code is None else evidence.text[evidence.code.end - 6 : evidence.code.end]
    http = http_state(evidence.status)
    refused = http is not None and 400 <= evidence.status < 500 and evidence.status not in (407, 408, 421, 424, 499)
    pattern = evidence.own_strong or evidence.own or evidence.alone or evidence.vague
    tested = sent or evidence.words(evidence.test_data)
    # The name alone proves nothing: it counts beside words that say something.
    named = name_word if pattern is not None or code or refused else ""
    factors = (
        Factor("mcp_error_code", 2, bool(code), code),
        Factor("business_pattern", 2, pattern is not None, evidence.words(pattern)),
        Factor("http_status", 1, http is not None, evidence.words(evidence.http)),
        Factor("structured_error", 1, bool(structured), structured),
        Factor("test_data", 1, bool(tested), tested),
        Factor("validation_expected_tool", 2, bool(named), named),
    )
    failure = _failure(evidence, known, code, http, refused=refused)
    if failure is not None:
        state, words = failure
        likely = _BUG if state in _BUGS else _INFRASTRUCTURE
        return Decision(ErrorKind.TOOL_FAILURE, state, likely, f"The words of a failure: {words}", factors)
    phrase = None if pattern is None else known.by_id.get(pattern.id)
    state = (phrase.state if phrase is not None else None) or (http if refused else None) or State.INVALID_INPUT
    decisive = evidence.own_strong or evidence.own or evidence.alone
    if decisive is not None or code in _REFUSALS or refused:
        words = evidence.words(decisive) or (code if code in _REFUSALS else evidence.words(evidence.http))
        if decisive is None and refused and http is not None:
            state = http
        return Decision(ErrorKind.BUSINESS, state, 100.0, f"business logic: {words}", factors)
    if evidence.vague is not None and (structured or tested or named or code or http is not None):
        return Decision(ErrorKind.BUSINESS, state, 100.0, f"business logic: {evidence.words(evidence.vague)}", factors)
    return Decision(
        ErrorKind.TOOL_FAILURE, State.UNKNOWN, _UNKNOWN, "Nothing shows that the input was at fault", factors
    )


def _failure(
    evidence: Evidence, known: Phrases, code: str, http: State | None, *, refused: bool
) -> tuple[State, str] | None:
    """What proves that the tool failed, unless the server or the caller's own patterns say explicitly that it refused."""
    if evidence.overriding is not None:
        return known.of(evidence.overriding).state or State.UNKNOWN, evidence.words(evidence.overriding)
    if evidence.own_strong is not None or code in _REFUSALS:
        return None
    if evidence.veto is not None:
        # An overloaded service that says when to come back is rate limiting, and works.
        state = known.of(evidence.veto).state or State.UNKNOWN
        if not (state is State.UNAVAILABLE and evidence.rate is not None):
            return state, evidence.words(evidence.veto)
    if code == _METHOD_NOT_FOUND:
        return State.UNSUPPORTED, code
    if http is not None and not refused and evidence.rate is None:
        return http, evidence.words(evidence.http)
    if evidence.doubt is not None and evidence.own is None and evidence.alone is None and not refused:
        return known.of(evidence.doubt).state or State.UNKNOWN, evidence.words(evidence.doubt)
    return None
