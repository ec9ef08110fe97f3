"""`check_answer`: says how good one answer is, by its text and by the tool calls of its turn."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from re import Pattern as Regex
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import msgspec

from toolvet.core.checks.answer import (
    AnswerQuality,
    BadOption,
    CallFailure,
    FailureSignal,
    PartialCall,
    QualitySummary,
    custom_patterns as read_custom_patterns,
    own_rules,
    read_answer,
)
from toolvet.core.checks.answer.phrases import SignalPhrases, phrases
from toolvet.core.checks.answer.shape import finish_kind
from toolvet.core.turn.announcing import announces
from toolvet.core.turn.verdict import CLEAN, checked_threshold, verdict

if TYPE_CHECKING:
    from toolvet.core.checks.answer.model import Model


CustomPatterns = Mapping[str, Iterable[str | Regex[str]]]


class AnswerOptions(TypedDict, total=False):
    """The options of an answer check, as keywords. `AnswerCheck` says what each means and its default."""

    min_length: int
    strict: bool
    custom_patterns: CustomPatterns | None
    replace_patterns: bool
    languages: Iterable[str] | None
    packs: Iterable[str] | None
    exceptions: CustomPatterns | None
    weights: Mapping[str, float] | None
    threshold: float | None
    model: "Model | None"


class AnswerCheck:
    """A check of answers with its options, for many answers under the same ones.

    `check_answer`, `check_answers`, `best_answer`, `AnswerStream` and `vet_stream` take the same options as keywords.

    Args:
        min_length: How many characters an answer should at least have; a shorter one is an `empty_response`. A Chinese
            character counts as three, a Japanese or Korean one as two. Default 20; `min_length=1` accepts "42".
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
        model: A learned model of your own, from `toolvet review learn` (`toolvet.core.checks.answer.model.read_model`
            reads its file). Default None: the one that comes with toolvet.

    Raises:
        BadOption: An option cannot be used as given (a ValueError; the message says what can).
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
        min_length: int = 20,
        strict: bool = False,
        custom_patterns: CustomPatterns | None = None,
        replace_patterns: bool = False,
        languages: Iterable[str] | None = None,
        packs: Iterable[str] | None = None,
        exceptions: CustomPatterns | None = None,
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        model: "Model | None" = None,
    ) -> None:
        self.min_length = min_length
        self.model = model
        self.strict = strict
        self.custom = read_custom_patterns(custom_patterns, replace=replace_patterns)
        self.languages = known_languages(languages)
        self.packs = _pack_phrases(packs)
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
        text = checked_text(text)
        if finish_reason is None and calls and may_announce(text):
            finish_reason = reason_before_calls(text, calls)
        signals = read_answer(
            text,
            min_length=self.min_length,
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
        if calls is not None:
            # Loaded only when calls are given: claims and values take milliseconds to load.
            from toolvet.core.turn.grounding import with_calls  # noqa: PLC0415

            kept, found, failed, partial = with_calls(
                text, calls, question, signals, goes_on=finish_kind(finish_reason) == "calling"
            )
            signals = [*kept, *found]
        quality = self.verdict_on(text, signals) if signals else CLEAN
        if not failed and not partial and trace is None:
            return quality
        return msgspec.structs.replace(quality, failed_calls=failed, partial_calls=partial, trace_id=trace)

    def verdict_on(self, text: str, signals: Sequence[FailureSignal]) -> AnswerQuality:
        """Return the verdict that `signals` of `text` give under these options."""
        return verdict(self.rules.apply(text, signals), threshold=self.threshold, weights=self.rules.weights)


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
        question: What was asked, or the messages of the conversation up to this answer, with their system prompt.
            Values that they mention need no call; what the assistant said in them counts for nothing.
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
        question: What was asked.
        options: See `AnswerCheck`.

    Raises:
        BadOption: There is no answer to choose from, or an option cannot be used as given (a ValueError).

    Example:
        >>> best_answer(["I cannot help with that.", "The museum opens at nine."]).index
        1
    """
    check = AnswerCheck(**options)
    qualities = [check(text, calls=calls, question=question) for text in texts]
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


def _pack_phrases(packs: Iterable[str] | None) -> SignalPhrases | None:
    if packs is None:
        return None
    # It brings the reader of phrase files, which takes 3 ms.
    from toolvet.core.checks.answer.packs import pack_phrases  # noqa: PLC0415

    return pack_phrases(packs)


def known_languages(languages: Iterable[str] | None) -> frozenset[str] | None:
    """Return the languages as a set. Raises `BadOption`, which names the known ones, for one without phrases."""
    if languages is None:
        return None
    wanted = frozenset((languages,) if isinstance(languages, str) else languages)
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
# What a text that only announces something costs: it informs, and never escalates alone.
_WEIGHT_ANNOUNCED: Final = 0.2


def may_announce(text: str) -> bool:
    """Whether a text ends as one may that goes on with a call: without the mark of a sentence, or with an ellipsis."""
    end = text.rstrip()
    return not end or end[-1] not in _ENDS or end.endswith("...")


def announced(text: str, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    """Return `signals` of a text alone; where it announces something, its end and length weigh little.

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
    """Return the finish reason `tool_calls` where `calls` show that `text` was said before one of them, else None.

    They do where they are messages and one of them has both this text and calls, or a call right behind it, and where
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
