"""Business error or failure? The factor table behind the answer."""

from typing import Final

import msgspec

from toolvet.core.causes import ErrorKind, State, state_of_http, state_of_json_rpc
from toolvet.core.checks.result.certainty import Ground, certainty_of
from toolvet.core.checks.result.codes import error_code
from toolvet.core.checks.result.envelopes import SeenEnvelope
from toolvet.core.checks.result.evidence import FirstHits
from toolvet.core.checks.result.own_words import OwnWords, share_of
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.prior import prior_of
from toolvet.core.checks.result.verdict import Factor
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


class _Told(msgspec.Struct, frozen=True, gc=False):
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
    told = _told(evidence)
    factors = _factors(evidence, told)
    if own is not None:
        factors = own.table(factors, evidence)
    failure = _failure(evidence, known, told)
    if failure is not None:
        return _decision(failure.state, f"The words of a failure: {failure.words}", factors, failure.ground)
    return _refusal(evidence, known, told, factors) or _unclear(evidence, known, told, factors, own)


def decide_by_envelope(envelope: SeenEnvelope, state: State, decision: Decision) -> Decision:
    """Take the state that the envelope of a failure says; `decision` is what the words alone would say."""
    error = shown(envelope.error)
    said = Factor("envelope", 0, present=True, evidence=envelope.named[:_LONGEST_NAME])
    reason = f"business logic: {error}" if state.is_business else error
    decided = _decision(state, reason, (*decision.factors, said), Ground.ENVELOPE)
    return msgspec.structs.replace(decided, code=envelope.code[:_LONGEST_NAME])


def shown(sentence: str) -> str:
    """An error's sentence for a reader: one line, and cut where it is long, between words if it can be."""
    line = " ".join(sentence[: 2 * _LONGEST_SHOWN].split())
    if len(line) <= _LONGEST_SHOWN:
        return line
    space = line.rfind(" ", _LONGEST_SHOWN // 2, _LONGEST_SHOWN)
    return f"{line[: space if space >= 0 else _LONGEST_SHOWN]} \u2026"


def _refusal(evidence: FirstHits, known: ResultPhrases, told: _Told, factors: tuple[Factor, ...]) -> Decision | None:
    """What says by itself that the call was refused."""
    decisive = told.decisive
    if decisive is not None or told.is_coded_refusal:
        # The caller's own patterns are no phrases of ours, and have no state.
        phrase = None if decisive is None else known.by_id.get(decisive.id)
        state = (phrase.state if phrase is not None else None) or (told.http if told.refused else None)
        state = state or (told.code_state if decisive is None else None)
        ground = Ground.REFUSAL if decisive is evidence.refusal else Ground.PHRASE
        ground = Ground.CALLER_TEXT if decisive is not None and decisive is evidence.callers else ground
        reason = f"business logic: {told.words or told.code}"
        return _decision(state or State.INVALID_INPUT, reason, factors, ground)
    if told.refused and told.http is not None:
        return _decision(told.http, f"business logic: {told.status_words}", factors, Ground.STATUS)
    if evidence.is_callers_crash:
        reason = "business logic: the code that the caller sent"
        return _decision(State.INVALID_INPUT, reason, factors, Ground.CALLER_TEXT)
    return None


def _unclear(
    evidence: FirstHits, known: ResultPhrases, told: _Told, factors: tuple[Factor, ...], own: OwnWords | None
) -> Decision:
    """What is decided where no phrase decides: by the name of the error, by a vague sign, at last by the prior."""
    named = error_code(evidence.text)
    if named is not None:
        said = "business logic" if named.state.is_business else "The words of a failure"
        return _decision(named.state, f"{said}: {named.name}", factors, Ground.NAME)
    vague = evidence.first.get(_VAGUE)
    seconded = evidence.call.structured or told.tested or told.named or told.code or told.http is not None
    if (vague is not None or told.sentence) and seconded:
        state = State.RULE if told.sentence or vague is None else known.of(vague).state
        ground = Ground.SENTENCE if told.sentence else Ground.VAGUE
        return _decision(state or State.INVALID_INPUT, f"business logic: {told.words}", factors, ground)
    threshold = None if own is None else own.threshold(expects_validation=bool(evidence.call.name_word))
    if threshold is not None:
        return _weighed(factors, threshold)
    prior = prior_of(evidence)
    factors = (*factors, Factor("prior", 0, present=True, evidence=prior.evidence))
    if prior.business > _EVEN:
        reason = f"business logic, as mostly: {prior.evidence}"
        return Decision(ErrorKind.BUSINESS, State.INVALID_INPUT, reason, factors, prior.business)
    return Decision(
        ErrorKind.TOOL_FAILURE, State.UNKNOWN, "Nothing shows that the input was at fault", factors, 1 - prior.business
    )


def _weighed(factors: tuple[Factor, ...], threshold: float) -> Decision:
    """Decide by the caller's threshold: the share of the weight of all factors that is present."""
    present, total = share_of(factors)
    said = f"{present} of {total} points, and the threshold is {threshold:g}"
    if total and present / total >= threshold:
        return _decision(State.INVALID_INPUT, f"business logic: {said}", factors, Ground.VAGUE)
    return Decision(ErrorKind.TOOL_FAILURE, State.UNKNOWN, f"Too little shows a refusal: {said}", factors, _EVEN)


def _decision(state: State, reason: str, factors: tuple[Factor, ...], ground: Ground) -> Decision:
    kind = ErrorKind.BUSINESS if state.is_business else ErrorKind.TOOL_FAILURE
    return Decision(kind, state, reason, factors, certainty_of(ground, kind))


def _decisive(evidence: FirstHits) -> Hit | None:
    return (
        evidence.refusal
        or evidence.callers
        or evidence.own_strong
        or evidence.own
        or evidence.first.get(Strength.ALONE)
    )


def _told(evidence: FirstHits) -> _Told:
    first, call = evidence.first, evidence.call
    code = "" if _CODE not in first else evidence.text[first[_CODE].end - 6 : first[_CODE].end]
    status = evidence.status
    http = state_of_http(status) if status else None
    # Some 4xx do not refuse the call: a proxy, a timeout, a wrong server, a dependency, a client that hung up.
    refused = http is not None and status < _SERVER_FAULT and http.is_business
    decisive = _decisive(evidence)
    pattern = decisive or first.get(_VAGUE)
    words = "" if pattern is None else evidence.words(pattern)
    sentence = "" if pattern is not None or code or http is not None else evidence.sentence()
    words = words or sentence
    tested = call.quoted or ("" if _TEST_DATA not in first else evidence.words(first[_TEST_DATA]))
    # The name alone proves nothing: it counts beside words that say something.
    named = call.name_word if words or code or refused else ""
    status_words = "" if http is None else evidence.words(first[_HTTP])
    code_state = state_of_json_rpc(int(code)) if code else None
    return _Told(code, code_state, http, refused, words, status_words, sentence, tested, named, decisive)


def _factors(evidence: FirstHits, told: _Told) -> tuple[Factor, ...]:
    code, words, structured = told.code, told.words, evidence.call.structured
    return (
        Factor("mcp_error_code", 2, present=True, evidence=code) if code else _NO_CODE,
        Factor("business_pattern", 2, present=True, evidence=words) if words else _NO_PATTERN,
        Factor("http_status", 1, present=True, evidence=told.status_words) if told.status_words else _NO_STATUS,
        Factor("structured_error", 1, present=True, evidence=structured) if structured else _NO_STRUCTURE,
        Factor("test_data", 1, present=True, evidence=told.tested) if told.tested else _NO_TEST_DATA,
        Factor("validation_expected_tool", 2, present=True, evidence=told.named) if told.named else _NO_NAME,
    )


class _FailureSign(msgspec.Struct, frozen=True, gc=False):
    """What proves that the tool failed."""

    state: State
    words: str
    ground: Ground


def _failure(evidence: FirstHits, known: ResultPhrases, told: _Told) -> _FailureSign | None:
    """What proves that the tool failed, unless the server or the caller's patterns say explicitly that it refused."""
    if evidence.overriding is not None:
        words = evidence.words(evidence.overriding)
        return _FailureSign(known.of(evidence.overriding).state or State.UNKNOWN, words, Ground.VETO)
    if evidence.own_failure is not None and evidence.own_strong is None:
        return _FailureSign(State.UNKNOWN, evidence.words(evidence.own_failure), Ground.VETO)
    if evidence.refusal is not None or evidence.own_strong is not None or told.is_coded_refusal:
        return None
    explained = evidence.callers is not None or (evidence.veto_state in _EXPLAINED and evidence.is_callers_crash)
    # A wait for an element that never came ends with a timeout.
    explains = _WAITED if evidence.callers is not None and "waiting for" in evidence.text.lower() else _EXPLAINED
    if evidence.veto is not None and not (explained and evidence.veto_state in explains):
        # An overloaded service that says when to come back is rate limiting, and works.
        state = evidence.veto_state
        if state is State.INTERNAL and told.http is not None and not told.http.is_business:
            # The status says more than "server error": 501 is not 500.
            state = told.http
        if not (state is State.UNAVAILABLE and evidence.rate is not None):
            return _FailureSign(state, evidence.words(evidence.veto), Ground.VETO)
    if explained:
        return None
    if told.code_state is State.UNSUPPORTED:
        return _FailureSign(State.UNSUPPORTED, told.code, Ground.STATUS)
    if told.http is not None and not told.refused and evidence.rate is None:
        return _FailureSign(told.http, told.status_words, Ground.STATUS)
    doubt = evidence.first.get(Strength.DOUBT)
    if doubt is not None and evidence.own is None and Strength.ALONE not in evidence.first and not told.refused:
        named = error_code(evidence.text)
        if named is None and CallerText.PROGRAM not in evidence.runs:
            return _FailureSign(known.of(doubt).state or State.UNKNOWN, evidence.words(doubt), Ground.DOUBT)
    return None
