"""`check_answer`: says how good one answer is, by its text and by the tool calls of its turn.

    AnswerCheck           the check with its options: signals of the text, signals of the calls, the verdict on both
    verdict               the score of signals, whether a person should look, and why; `wording.toml` has the sentences
    regeneration_advice   what to say to the model before it answers again
    announced             an answer in the middle of its turn: "Let me fetch the data:", and the call follows

The table `wording.toml` is beside the checks of answers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from re import Pattern as Regex
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import msgspec

from toolvet.core.checks.answer import (
    Action,
    AnswerQuality,
    BadOption,
    CallFailure,
    FailureSignal,
    PartialCall,
    QualitySummary,
    SignalType,
    custom_patterns as read_custom_patterns,
    names_of,
    own_rules,
    read_answer,
    score,
)
from toolvet.core.checks.answer.certainty import certainty_of
from toolvet.core.checks.answer.phrases import SignalPhrases, phrases
from toolvet.core.checks.answer.shape import finish_kind
from toolvet.core.discover import read_toml, read_user_file
from toolvet.core.turn.announcing import announced_step, announces
from toolvet.core.turn.asking import least_length

if TYPE_CHECKING:
    from toolvet.core.checks.answer.model import Model
    from toolvet.core.turn.ledger import TurnWitness


CustomPatterns = Mapping[str, Iterable[str | Regex[str]]]


class AnswerOptions(TypedDict, total=False):
    """The options of an answer check, as keywords. `AnswerCheck` says what each means and its default."""

    min_length: int | None
    strict: bool
    custom_patterns: CustomPatterns | None
    replace_patterns: bool
    languages: Iterable[str] | None
    packs: Iterable[str] | None
    exceptions: CustomPatterns | None
    weights: Mapping[str, float] | None
    threshold: float | None
    model: "Model | str | None"


class AnswerCheck:
    """A check of answers with its options, for many answers under the same ones.

    `check_answer`, `check_answers`, `best_answer`, `AnswerStream` and `vet_stream` take the same options as keywords.

    Args:
        min_length: How many characters an answer should at least have; a shorter one is an `empty_response`. A Chinese
            character counts as three, a Japanese or Korean one as two. Default None: 20. If the question or the calls
            are known, "42" is an answer as well, unless the question asks for a text ("Write an essay about …").
        strict: Whether to escalate below a score of 0.75 instead of 0.7. Default False.
        custom_patterns: Your own patterns for each signal type: strings (found in upper and lower case) or compiled
            regular expressions, such as `{"refusal": ["not my department"]}`. Default None.
        replace_patterns: Whether `custom_patterns` replace the built-in phrases of their types instead of being looked
            for beside them. Default False.
        languages: The languages whose built-in phrases are looked for, such as `["en", "de"]`; None, the default, looks
            for all of them.
        packs: Domain packs whose phrases are looked for as well: "medical", "legal", "finance", "code". Default None.
        exceptions: Patterns for each signal type, as in `custom_patterns`: a signal of that type does not count where
            one of them is found in its sentence. Default None.
        weights: What signals of a type cost at most, 0 to 1, such as `{"low_confidence": 0.2}`; 0 leaves the type
            out. A type with a weight of your own escalates by the score alone. Default None.
        threshold: The score (0 to 1) below which an answer is escalated. Default None: 0.7, or 0.75 if `strict`.
        model: A learned model of your own: the path of a file that `toolvet review learn` wrote, or what
            `toolvet.core.checks.read_model` made of it. Default None: the one that comes with toolvet.

    Raises:
        BadOption: An option cannot be used as given (a ValueError; the message names it and says what can).
        ConfigError: The file of `model` cannot be read, or holds no model.
        UnsafePattern: A custom pattern is not a regular expression, or cannot be matched in linear time (a ValueError;
            the message names the pattern).

    Example:
        >>> check = AnswerCheck(custom_patterns={"refusal": ["not my department"]}, languages=["en"])
        >>> check("That is not my department, I am afraid.").should_escalate
        True
        >>> check("The museum opens at nine and closes at six.").score
        1.0
    """

    def __init__(
        self,
        *,
        min_length: int | None = None,
        strict: bool = False,
        custom_patterns: CustomPatterns | None = None,
        replace_patterns: bool = False,
        languages: Iterable[str] | None = None,
        packs: Iterable[str] | None = None,
        exceptions: CustomPatterns | None = None,
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        model: "Model | str | None" = None,
    ) -> None:
        if min_length is not None and type(min_length) is not int:
            raise BadOption(f"min_length must be a whole number, not {min_length!r}")
        self.min_length = min_length
        self.model = model if model is None else _model(model)
        self.strict = _flag("strict", strict)
        self.custom = read_custom_patterns(custom_patterns, replace=_flag("replace_patterns", replace_patterns))
        self.languages = known_languages(languages)
        self.packs: SignalPhrases | None = None
        if packs is not None:
            # It imports the reader of phrase files, which takes 3 ms.
            from toolvet.core.checks.answer.packs import pack_phrases  # noqa: PLC0415

            self.packs = pack_phrases(packs)
        self.rules = own_rules(exceptions, weights)
        self.threshold = checked_threshold(threshold, strict=strict)

    def __call__(
        self,
        text: str | None,
        *,
        calls: Sequence[object] | None = None,
        question: str | Sequence[object] | None = None,
        finish_reason: str | None = None,
        trace: str | None = None,
    ) -> AnswerQuality:
        """Say how good an answer is; see `check_answer`."""
        turn = read_turn(calls, question)
        return self.compared(text, turn, question=question, finish_reason=finish_reason, trace=trace)

    def compared(
        self,
        text: str | None,
        turn: "TurnWitness | None",
        *,
        question: str | Sequence[object] | None = None,
        finish_reason: str | None = None,
        trace: str | None = None,
        ends: bool = False,
    ) -> AnswerQuality:
        """Say how good one of several answers to the same turn is, whose calls are read once.

        `question` is the request if the calls are not known. `ends` says that nothing followed the answer, for
        one without a finish reason.
        """
        text = checked_text(text)
        if finish_reason is None and turn is not None and turn.given and may_announce(text):
            finish_reason = reason_before_calls(text, turn.given)
        calls, asked = (None, question) if turn is None else (turn.given, turn.question)
        signals = read_answer(
            text,
            min_length=self.min_length if self.min_length is not None else least_length(text, calls, asked),
            languages=self.languages,
            custom=self.custom,
            packs=self.packs,
            finish_reason=finish_reason,
            model=self.model,
        )
        failed: tuple[CallFailure, ...] = ()
        partial: tuple[PartialCall, ...] = ()
        if finish_reason is None and signals:
            signals = announced(text, signals)
        if turn is not None:
            goes_on = finish_kind(finish_reason) == "calling"
            kept, found, failed, partial = turn.compare(text, signals, goes_on=goes_on)
            if turn.given:
                # A price or a citation that calls may have returned is judged by what they returned.
                kept = [each for each in kept if not (each.label or "").startswith("unverified")]
            signals = [*kept, *found]
            ended = ends if finish_reason is None else finish_kind(finish_reason) == "complete"
            if ended and (step := announced_step(text)) is not None:
                signals.append(step)
        quality = self.verdict_on(text, signals) if signals else CLEAN
        if not failed and not partial and trace is None:
            return quality
        return msgspec.structs.replace(quality, failed_calls=failed, partial_calls=partial, trace_id=trace)

    def verdict_on(self, text: str, signals: Sequence[FailureSignal]) -> AnswerQuality:
        """Return the verdict that `signals` of `text` give under these options."""
        return verdict(self.rules.apply(text, signals), threshold=self.threshold, weights=self.rules.weights)


def read_turn(
    calls: Sequence[object] | None, question: str | Sequence[object] | None, earlier: "TurnWitness | None" = None
) -> "TurnWitness | None":
    """Return the calls and the request of a turn; None if the calls are not known.

    `earlier` is the turn before in the same conversation: its calls are not judged again.
    """
    if calls is None:
        return None
    # Loaded only when calls are given: claims and values take milliseconds to load.
    from toolvet.core.turn.ledger import TurnWitness  # noqa: PLC0415

    return TurnWitness(calls, question, earlier=earlier)


def check_answer(
    text: str | None,
    *,
    calls: Sequence[object] | None = None,
    question: str | Sequence[object] | None = None,
    finish_reason: str | None = None,
    trace: str | None = None,
    **options: Unpack[AnswerOptions],
) -> AnswerQuality:
    """Say how good an answer is, by its words, its shape and the tool calls that it rests on.

    Total: any text gives a verdict, in time that grows with its length.

    Args:
        text: The answer. None, as some APIs give for an answer without text, is an empty one.
        calls: The tool calls of the turn with their results, in any of the usual shapes (`toolvet.ToolCall`). What the
            answer claims is compared with them. None: not known. An empty list: there were none.
        question: The user's question, or the messages of the conversation up to this answer, with their system prompt.
            Values that they mention need no call; the assistant's own messages support nothing.
        finish_reason: Why the model stopped, in the words of any vendor (`stop`, `max_tokens`, `SAFETY` …).
        trace: The id of the turn, as the proxy gives it in `_meta["dev.toolvet/trace"]`: the verdict's `trace_id`.
        options: See `AnswerCheck`.

    Returns:
        The score, the signals that lower it, and whether a person should look at the answer.

    Raises:
        TypeError: `text` is neither a `str` nor None, or there is no such option.
        ValueError: An option cannot be used as given.

    Example:
        >>> quality = check_answer("I cannot help with that request.")
        >>> quality.should_escalate, quality.signals[0].type.value
        (True, 'refusal')
    """
    check = AnswerCheck(**options) if options else _default()
    return check(text, calls=calls, question=question, finish_reason=finish_reason, trace=trace)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadOption(f"{name} must be True or False, not {value!r}")
    return value


def _model(given: object) -> "Model":
    # Loaded only when asked for: most answers are decided without a model.
    from toolvet.core.checks.answer.model import Model, read_model  # noqa: PLC0415

    if isinstance(given, Model):
        return given
    if not isinstance(given, str) and not hasattr(given, "__fspath__"):
        raise BadOption(f"model must be the path of a model's file or a Model, not {type(given).__name__}")
    return read_model(read_user_file(f"{given}"), f"{given}")


@cache
def _default() -> AnswerCheck:
    return AnswerCheck()


def check_answers(texts: Iterable[str | None], **options: Unpack[AnswerOptions]) -> list[AnswerQuality]:
    """Check each of `texts` with the same options (see `AnswerCheck`). Returns the verdicts in the order of the texts.

    Example:
        >>> [quality.score for quality in check_answers(["It opens at nine in the morning.", None])]
        [1.0, 0.2]
    """
    check = AnswerCheck(**options)
    return [check(text) for text in texts]


class BestAnswer(msgspec.Struct, frozen=True):
    """Which of several answers is the best: `index` is its place among them, `quality` the verdict on it."""

    index: int
    quality: AnswerQuality


def best_answer(
    texts: Iterable[str | None],
    *,
    calls: Sequence[object] | None = None,
    question: str | Sequence[object] | None = None,
    **options: Unpack[AnswerOptions],
) -> BestAnswer:
    """Return the best of several answers to one question, with its place among them.

    The best is the answer of the highest score; of equal scores one that is not escalated, then the first.

    Args:
        texts: The answers; at least one.
        calls: The tool calls that all of them rest on, as in `check_answer`.
        question: The user's question.
        options: See `AnswerCheck`.

    Raises:
        BadOption: There is no answer to choose from, or an option cannot be used as given (a ValueError).

    Example:
        >>> best_answer(["I cannot help with that.", "The museum opens at nine."]).index
        1
    """
    check = AnswerCheck(**options)
    turn = read_turn(calls, question)
    qualities = [check.compared(text, turn, question=question) for text in texts]
    if not qualities:
        raise BadOption("best_answer needs at least one answer to choose from")
    index = max(range(len(qualities)), key=lambda at: (qualities[at].score, not qualities[at].should_escalate, -at))
    return BestAnswer(index, qualities[index])


def quality_summary(qualities: Iterable[AnswerQuality]) -> QualitySummary:
    """Summarise the verdicts `qualities` of many answers.

    Returns the mean score, the share that should be escalated, and the number of signals by type, the commonest first;
    zeros without verdicts.

    Example:
        >>> quality_summary(check_answers(["I cannot help with that.", "The museum opens at nine."])).escalation_rate
        0.5
    """
    every = tuple(qualities)
    count = len(every) or 1
    return QualitySummary(
        average_score=round(sum(each.score for each in every) / count, 4),
        escalation_rate=round(sum(each.should_escalate for each in every) / count, 4),
        common_issues=dict(Counter(signal.type for each in every for signal in each.signals).most_common()),
    )


def checked_text(text: object) -> str:
    """Return `text` as it is, "" for None. Raises `TypeError` for anything that is not a text."""
    if isinstance(text, str):
        return text
    if text is None:
        return ""
    hint = "; decode it first, as with .decode('utf-8', 'replace')" if isinstance(text, bytes | bytearray) else ""
    raise TypeError(f"the text of an answer must be a str (or None), not {type(text).__name__}{hint}")


def known_languages(languages: Iterable[str] | None) -> frozenset[str] | None:
    """Return the languages as a set. Raises `BadOption`, which names the known ones, for one without phrases."""
    if languages is None:
        return None
    wanted = frozenset(names_of("languages", languages))
    known = phrases().languages
    unknown = sorted(f"{language}" for language in wanted - known)
    if unknown:
        raise BadOption(f"languages: no phrases for {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return wanted


_ENDS: Final = frozenset(".!?。！？")  # noqa: RUF001 - full-width marks
_ANNOUNCES: Final = (":", "：", "…", "...")  # noqa: RUF001 - a full-width colon
_BEFORE_CALLS: Final = "tool_calls"
_CUT: Final = "truncated"
_SHORT: Final = "too_short"
# The cost of a text that only announces something: it informs, and never escalates alone.
_WEIGHT_ANNOUNCED: Final = 0.2


def may_announce(text: str) -> bool:
    """Whether a text ends as one may that goes on with a call: without the mark of a sentence, or with an ellipsis."""
    end = text.rstrip()
    return not end or end[-1] not in _ENDS or end.endswith("...")


def announced(text: str, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    """Return `signals` of a text alone; if it announces something, its end and length weigh little.

    "Let me see:" is short and stops at a colon, because a call follows.
    """
    if not any(_is_of_shape(signal) for signal in signals) or not announces(text):
        return list(signals)
    of_shape = [signal for signal in signals if _is_of_shape(signal)]
    others = [signal for signal in signals if not _is_of_shape(signal)]
    cut = next((signal for signal in of_shape if signal.label == _CUT), of_shape[0])
    return [*others, msgspec.structs.replace(cut, weight=min(cut.weight, _WEIGHT_ANNOUNCED))]


def _is_of_shape(signal: FailureSignal) -> bool:
    return signal.source == "shape" and signal.label in (_CUT, _SHORT)


def reason_before_calls(text: str, calls: Sequence[object]) -> str | None:
    """Return the finish reason `tool_calls` if `calls` show that `text` was said before one of them, else None.

    They do if they are messages and one of them has both this text and calls, or a call right after it. They also do if
    the last call has no result yet and the text announces something.
    """
    # Loaded only for the few answers that end like this.
    from toolvet.core.messages import Unknown, is_said_with_calls, read_calls  # noqa: PLC0415

    if is_said_with_calls(text, calls):
        return _BEFORE_CALLS
    if not text.rstrip().endswith(_ANNOUNCES):
        return None
    read = read_calls(calls)
    return _BEFORE_CALLS if read and (read[-1].result is None or isinstance(read[-1].result, Unknown)) else None


_THRESHOLD: Final = 0.7
_STRICT_THRESHOLD: Final = 0.75
_MOST_UNESCALATED: Final = 3
# A value that the calls do not support and that weighs less only informs: many of them prove no more than one.
_COUNTS: Final = 0.1
_ALWAYS: Final = (SignalType.REFUSAL, SignalType.TOOL_FAILURE)
_DEFAULT_WEIGHTS: Final[Mapping[SignalType, float]] = MappingProxyType({})

CLEAN = AnswerQuality(
    score=1.0,
    signals=(),
    should_escalate=False,
    reason="No failure signals detected.",
    assessment_confidence=certainty_of(()),
)
"""The verdict on an answer without signals: made once, because most answers have none."""


def checked_threshold(threshold: object, *, strict: bool) -> float:
    """Return the score below which an answer is escalated. Raises `BadOption` for one that is not from 0 to 1."""
    if threshold is None:
        return _STRICT_THRESHOLD if strict else _THRESHOLD
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise BadOption(f"threshold must be a number from 0 to 1, not {threshold!r}")
    return float(threshold)


def verdict(
    signals: Sequence[FailureSignal],
    *,
    threshold: float = _THRESHOLD,
    weights: Mapping[SignalType, float] = _DEFAULT_WEIGHTS,
) -> AnswerQuality:
    """Return the verdict that these signals give.

    Args:
        signals: The signals, each with its weight.
        threshold: The score below which the answer is escalated.
        weights: The caller's own weights of types: the most that all signals of a type cost together.
    """
    if not signals:
        return CLEAN
    ordered = tuple(sorted(signals, key=lambda signal: (-signal.weight, signal.position or 0)))
    total = score(ordered, weights)
    escalate = (
        total < threshold
        or sum(signal.source != "calls" or signal.weight >= _COUNTS for signal in ordered) > _MOST_UNESCALATED
        or any(signal.type in _ALWAYS and signal.type not in weights for signal in ordered)
    )
    return AnswerQuality(
        score=total,
        signals=ordered,
        should_escalate=escalate,
        reason=reason(ordered, total, escalate=escalate),
        assessment_confidence=certainty_of([signal.certainty for signal in ordered]),
        feedback=feedback(ordered),
        action=action_of(ordered) if escalate else Action.USE,
    )


_LONGEST_QUOTE = 60
_MOST_SENTENCES = 3


class SignalWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts about one kind of signal."""

    name: str = ""
    feedback: str = ""
    advice: str = ""
    action: Action | None = None
    contradicts: bool = False
    """Whether the calls plainly contradict an answer with this signal, so that it may be sent back to the model."""


@cache
def wording() -> dict[str, SignalWording]:
    """Return the texts about each signal type or `type.label`."""
    return read_toml("toolvet.core.checks.answer", "wording.toml", dict[str, SignalWording])


def reason(signals: Sequence[FailureSignal], score: float, *, escalate: bool) -> str:
    """Why an answer should or need not be looked at, in a sentence."""
    *names, last = dict.fromkeys(words_of(signal, "name") for signal in signals)
    quoted = quote(signals[0].evidence)
    named = f"{', '.join(names)} and {last}" if names else last
    found = f"Detected {named}" + (f' ("{quoted}")' if quoted else "")
    return f"{found}; escalation {'recommended' if escalate else 'not needed'} (score {score:g})."


def feedback(signals: Sequence[FailureSignal]) -> str:
    """What to change, in a sentence for each kind of signal, the gravest first and three at most."""
    return " ".join(_sentences(signals, "feedback"))


def advice(signals: Sequence[FailureSignal]) -> list[str]:
    """Return instructions for the next attempt, in a sentence for each kind of signal."""
    return _sentences(signals, "advice")


def action_of(signals: Sequence[FailureSignal]) -> Action:
    """What to do with an answer that has these signals: the action of the gravest one, which is the first."""
    for signal in signals:
        own = _of_label(signal)
        action = (own.action if own is not None else None) or wording()[signal.type.value].action
        if action is not None:
            return action
    return Action.RETRY


def _sentences(signals: Sequence[FailureSignal], what: str) -> list[str]:
    seen: dict[str, None] = {}
    for signal in signals:
        sentence = words_of(signal, what)
        seen[
            sentence.replace("{evidence}", quote(signal.evidence)).replace("{against}", quote(signal.against or ""))
        ] = None
    return list(seen)[:_MOST_SENTENCES]


def words_of(signal: FailureSignal, what: str) -> str:
    """Return the words of the signal's label, or those of its type if the label has none."""
    own = _of_label(signal)
    words: str = getattr(own, what) if own is not None else ""
    return words or str(getattr(wording()[signal.type.value], what))


def contradicts(signal: FailureSignal) -> bool:
    """Whether the signal says that the calls plainly contradict the answer."""
    own = _of_label(signal)
    return own is not None and own.contradicts


def _of_label(signal: FailureSignal) -> SignalWording | None:
    table = wording()
    label = signal.label or ""
    return table.get(f"{signal.type.value}-{label}") or table.get(f"{signal.type.value}-{label.partition('_')[0]}")


def turn_words(key: str) -> str:
    """Return the text about the turn under a key: `question`, `returned`, `failed`."""
    return wording()[f"turn-{key}"].advice


def quote(words: str) -> str:
    """The words on one line, and not many of them."""
    line = " ".join(words[: 4 * _LONGEST_QUOTE].split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"


_MOST_TOOLS = 5  # Named in one sentence.
_LONGEST_NAME = 60
_LONGEST_QUESTION = 200


def regeneration_advice(
    quality: AnswerQuality, *, question: str | None = None, calls: Sequence[object] | None = None
) -> str | None:
    """Return an instruction for the model before it answers again, in a few sentences; None if nothing is wrong.

    Args:
        quality: The verdict on the failed answer. Its signals give one sentence for each kind, the gravest first and
            three at most.
        question: The user's question. The instruction repeats it at the end, because the next attempt may see nothing
            else of the turn.
        calls: The tool calls of the turn, as `check_answer` takes them: the advice names those that returned something
            and those that failed.

    Example:
        >>> from toolvet import check_answer
        >>> regeneration_advice(check_answer("The museum opens at nine and closes at six."))
    """
    sentences = advice(quality.signals)
    if not sentences:
        return None
    if calls:
        # Loaded only when calls are given (start-up time).
        from toolvet.core.messages import read_calls  # noqa: PLC0415
        from toolvet.core.turn.ledger.outcome import outcome_of  # noqa: PLC0415

        outcomes = [outcome_of(call) for call in read_calls(calls)]
        # A call that was corrected and made again did what it was for.
        last = {each.call.name: each for each in outcomes}
        outcomes = [each for each in outcomes if each.failed is not True or last[each.call.name] is each]
        for key, failed in (("returned", False), ("failed", True)):
            named = dict.fromkeys(
                each.call.name[:_LONGEST_NAME] for each in outcomes if each.call.name and each.failed is failed
            )
            if named:
                sentences.append(turn_words(key).replace("{tools}", ", ".join(list(named)[:_MOST_TOOLS])))
    asked = " ".join((question or "").split())
    if asked:
        shown = asked if len(asked) <= _LONGEST_QUESTION else f"{asked[: _LONGEST_QUESTION - 1].rstrip()}…"
        sentences.append(turn_words("question").replace("{question}", shown))
    return " ".join(sentences)
